"""Starting, restarting and giving up: cases 36, 37, 57 and 58."""
import os
import shutil
import signal
import subprocess
import tempfile
import time

from case import test
from endwell import children, status_field
from journal import check, equal, lasted, wait_until, within

MS, S = 1000, 1_000_000


@test
def phases_start_in_the_reverse_order_of_their_ending(case):
    plan = case.plan()
    plan.actor("web", "serve", Phase="http")
    plan.actor("worker", "notify READY=1 , serve", Phase="workers", Type="notify")
    plan.actor("data", "sleep 300 , notify READY=1 , serve", Phase="db", Type="notify")
    run = case.run(plan).ready()
    case.serving("web")
    equal(run.end(), 0, "exit code")
    journal = run.journal
    journal.order(journal.only("service_starting", service="data"), journal.only("service_ready", service="data"),
                  journal.only("service_starting", service="worker"), journal.only("service_ready", service="worker"),
                  journal.only("service_starting", service="web"), journal.only("service_ready", service="web"),
                  journal.only("startup_finished"))
    journal.only("readiness_changed", ready=True)
    lasted(journal.only("service_ready", service="data")["took_us"], 300 * MS, "how long data took")


def crash_loop(case, name="loop"):
    plan = case.plan()
    plan.actor("web", "serve --term-ms 200", Phase="http")
    plan.actor("other", "serve --term-ms 200", Phase="workers")
    plan.actor(name, f"attempts {case.path('runs')} 1000 3", Phase="workers", RestartSec="10ms", StartLimitBurst=3)
    plan.actor("data", "serve", Phase="db")
    return case.run(plan)


@test
def case_36_an_essential_service_that_reaches_its_cap_ends_the_container_in_order(case):
    run = crash_loop(case)
    equal(run.wait(), 83, "exit code")
    journal = run.journal
    equal(len(journal.all("service_starting", service="loop")), 3, "starts")
    gave_up = journal.only("service_gave_up", service="loop")
    equal(gave_up["failures"], 3, "failures")
    journal.order(gave_up, journal.only("ending_started"), journal.only("service_asked", service="data"))
    check(journal.only("ending_started")["cause"] in ("essential", "start_failed"), "cause of the ending")
    check("loop" in run.errors().splitlines()[-1] and "83" in run.errors().splitlines()[-1], "the last line explains")


@test
def case_57_an_essential_that_gives_up_later_ends_a_running_container_with_83(case):
    gate = case.fifo("gate")
    plan = case.plan(Phases="http db")
    plan.actor("web", "serve --term-ms 300", Phase="http")
    plan.actor("data", f"say waiting , eof {gate} , exit 4", Phase="db", Restart="no")
    run = case.run(plan).ready()
    case.serving("web"), case.log.until("waiting")
    with open(gate, "wb"):
        pass
    equal(run.wait(), 83, "exit code")
    equal(run.journal.only("ending_started")["cause"], "essential", "cause of the ending")
    case.log.only("exiting", name="web")


@test
def a_service_that_is_not_essential_gives_up_and_the_rest_goes_on(case):
    plan = case.plan(Phases="one")
    plan.actor("web", "serve", Phase="one")
    plan.actor("loop", "exit 1", Phase="one", Essential="no", RestartSec="1ms", StartLimitBurst=4)
    run = case.run(plan)
    equal(run.journal.until("service_gave_up")["failures"], 4, "failures")
    case.serving("web")
    run.ready()
    equal(run.end(), 0, "exit code")
    equal(len(run.journal.all("service_starting", service="loop")), 4, "starts")


@test
def case_37_restart_delays_double_up_to_their_cap(case):
    plan = case.plan(Phases="one")
    plan.actor("web", "serve", Phase="one")
    plan.actor("loop", "exit 1", Phase="one", Essential="no", RestartSec="100ms", RestartMaxDelaySec="400ms",
               StartLimitBurst=6)
    run = case.run(plan)
    run.journal.until("service_gave_up")
    scheduled = run.journal.all("service_restart_scheduled", service="loop")
    wanted = [100 * MS, 200 * MS, 400 * MS, 400 * MS, 400 * MS]
    equal(len(scheduled), len(wanted), "restarts")
    starts = run.journal.all("service_starting", service="loop")[1:]
    for line, delay, start in zip(scheduled, wanted, starts):
        within(line["delay_us"], delay * 9 // 10, delay * 11 // 10, f"delay {line['failures']}")
        lasted(run.journal.span_us(line, start), line["delay_us"], "the pause itself")
    equal([line["failures"] for line in scheduled], [1, 2, 3, 4, 5], "failures")
    equal(run.end(), 0, "exit code")


@test
def a_service_that_comes_up_at_last_is_kept(case):
    plan = case.plan(Phases="one")
    plan.actor("web", f"attempts {case.path('runs')} 2 1 , serve", Phase="one", RestartSec="10ms")
    run = case.run(plan)
    case.serving("web")
    run.ready()
    equal(run.end(), 0, "exit code")
    equal(len(run.journal.all("service_starting")), 3, "starts")
    owners = {line["owner"] for line in run.journal.all("service_started")}
    equal(len(owners), 3, "each run has an owner name of its own")


@test
def what_is_left_of_a_crashed_run_is_killed_before_the_next_begins(case):
    gate = case.fifo("gate")
    plan = case.plan(Phases="one")
    plan.actor("web", f"spawn --double --setsid as left + serve --ignore , eof {gate} , attempts {case.path('runs')} 1 9 , "
               "as good , serve", Phase="one", RestartSec="10ms")
    run = case.run(plan)
    for number in (1, 2):
        case.serving("left", number)
        with open(gate, "wb"):
            pass
    case.serving("good")
    journal = run.journal
    first = case.serving("left")
    killed = journal.only("service_killed", pid=first["pid"])
    journal.order(journal.only("service_exited"), killed, journal.first("service_gone"),
                  journal.all("service_starting")[1])
    equal(journal.first("service_gone")["cause"], "crashed", "cause")
    os.kill(run.outside(case.serving("left", 2)["pid"]), signal.SIGKILL)
    equal(run.end(), 0, "exit code")


@test
def a_oneshot_is_done_before_what_waits_for_it_and_never_ends_the_container(case):
    plan = case.plan(Phases="http db")
    plan.actor("migrate", "sleep 200 , exit 0", Phase="db", Type="oneshot", After="data")
    plan.actor("data", "notify READY=1 , serve", Phase="db", Type="notify")
    plan.actor("web", "serve", Phase="http")
    run = case.run(plan).ready()
    case.serving("web")
    journal = run.journal
    journal.order(journal.only("service_ready", service="data"), journal.only("service_starting", service="migrate"),
                  journal.only("service_exited", service="migrate"), journal.only("service_starting", service="web"))
    equal(run.end(), 0, "exit code")
    journal.none("service_asked", service="migrate")


@test
def an_essential_oneshot_that_fails_for_good_ends_the_container_with_83(case):
    plan = case.plan(Phases="http db")
    plan.actor("migrate", "exit 1", Phase="db", Type="oneshot", RestartSec="1ms", StartLimitBurst=2)
    plan.actor("web", "serve", Phase="http")
    run = case.run(plan)
    equal(run.wait(), 83, "exit code")
    run.journal.none("service_starting", service="web")
    equal(run.journal.only("ending_started")["cause"], "start_failed", "cause")


@test
def a_notify_service_that_is_not_ready_in_time_has_failed(case):
    plan = case.plan(Phases="one")
    plan.actor("web", "serve --ignore", Phase="one", Type="notify", TimeoutStartSec="500ms", StartLimitBurst=1)
    run = case.run(plan)
    equal(run.wait(), 83, "exit code")
    started, exited = run.journal.only("service_started"), run.journal.only("service_exited")
    check(run.journal.span_us(started, exited) >= 450 * MS, "it was cut before its time")
    run.journal.none("service_ready")


@test
def who_exits_with_0_before_it_was_ready_has_not_started(case):
    plan = case.plan(Phases="one")
    plan.actor("word", "exit 0", Phase="one", Type="notify", Essential="no", RestartSec="1ms", StartLimitBurst=2)
    plan.actor("line", "exit 0", Phase="one", Type="notify-fd:5", Essential="no", Restart="no")
    plan.actor("probed", "exit 0", Phase="one", Essential="no", Restart="no", ReadinessProbe=f"unix:{case.path('never')}")
    plan.actor("needs", "serve", Phase="one", Essential="no", Requires="word")
    plan.actor("keeps", "serve", Phase="one")
    run = case.run(plan)
    for name, failures in (("word", 2), ("line", 1), ("probed", 1)):
        gave_up = run.journal.until("service_gave_up", service=name)
        equal((gave_up["failures"], gave_up["reason"]), (failures, "ended before it was ready"), name)
    run.journal.until("service_gave_up", service="needs")
    run.ready()
    equal(run.end(), 0, "exit code")
    run.journal.none("service_starting", service="needs")
    equal({line["clean"] for line in run.journal.all("service_exited", status=0, asked=False)}, {False}, "clean")
    check("exited with 0 before it was ready" in run.errors(), "it is said")


@test
def an_essential_service_that_exits_with_0_before_it_was_ready_ends_the_container_with_83(case):
    plan = case.plan(Phases="one")
    plan.actor("word", "exit 0", Phase="one", Type="notify", RestartSec="1ms", StartLimitBurst=2)
    plan.actor("after", "serve", Phase="one", After="word")
    run = case.run(plan)
    equal(run.wait(), 83, "exit code")
    equal(run.journal.only("ending_started")["cause"], "start_failed", "cause")
    run.journal.none("service_starting", service="after")


@test
def the_last_words_of_a_short_life_count_as_its_readiness(case):
    plan = case.plan(Phases="one")
    plan.actor("brief", "notify READY=1 , exit 0", Phase="one", Type="notify", Essential="no", Restart="no")
    plan.actor("needs", "serve", Phase="one", Requires="brief")
    run = case.run(plan)
    case.serving("needs")
    run.ready()
    equal(run.end(), 0, "exit code")
    run.journal.none("service_gave_up")


@test
def what_requires_a_failed_service_does_not_start(case):
    plan = case.plan(Phases="one")
    plan.actor("base", "exit 1", Phase="one", Type="notify", Essential="no", RestartSec="1ms", StartLimitBurst=2)
    plan.actor("needs", "serve", Phase="one", Essential="no", Requires="base")
    plan.actor("after", "serve", Phase="one", After="base")
    run = case.run(plan)
    case.serving("after")
    run.journal.none("service_starting", service="needs")
    equal(run.end(), 0, "exit code")


@test
def what_requires_a_service_stops_when_that_fails_for_good(case):
    gate = case.fifo("gate")
    plan = case.plan(Phases="one")
    plan.actor("base", f"eof {gate} , exit 1", Phase="one", Essential="no", Restart="no")
    plan.actor("needs", "serve", Phase="one", Essential="no", Requires="base")
    plan.actor("other", "serve", Phase="one")
    run = case.run(plan).ready()
    case.serving("needs")
    with open(gate, "wb"):
        pass
    run.journal.until("service_gone", service="needs")
    run.journal.none("ending_started")
    equal(run.end(), 0, "exit code")
    equal(len(run.journal.all("service_starting", service="needs")), 1, "starts")


@test
def case_35_a_service_that_flaps_stops_at_its_cap_and_its_dependents_by_their_kind(case):
    plan = case.plan(Phases="one")
    plan.actor("base", "say up , sleep 300 , exit 1", Phase="one", Essential="no", RestartSec="100ms", StartLimitBurst=3)
    plan.actor("needs", "serve", Phase="one", Essential="no", Requires="base")
    plan.actor("after", "serve", Phase="one", After="base")
    run = case.run(plan).ready()
    gave_up = run.journal.until("service_gave_up", service="base")
    equal(gave_up["failures"], 3, "failures")
    told = run.journal.until("service_asked", service="needs")
    gone = run.journal.until("service_gone", service="needs")
    run.journal.order(gave_up, told, gone)
    run.journal.none("ending_started")
    case.serving("after")
    equal(run.end(), 0, "exit code")
    equal(len(run.journal.all("service_starting", service="base")), 3, "starts of the one that flaps")
    equal(len(run.journal.all("service_starting", service="needs")), 1, "starts of the one that needs it")
    equal(len(run.journal.all("service_starting", service="after")), 1, "starts of the one that only comes after it")


@test
def a_quick_clean_exit_counts_as_failed_and_a_success_status_as_clean(case):
    plan = case.plan(Phases="one")
    plan.actor("web", "serve", Phase="one")
    plan.actor("quick", "exit 0", Phase="one", Essential="no", Restart="always", RestartSec="1ms", StartLimitBurst=3)
    plan.actor("fine", "sleep 1200 , exit 7", Phase="one", Essential="no", SuccessExitStatus="7 SIGUSR1")
    run = case.run(plan)
    equal(run.journal.until("service_gave_up", service="quick")["failures"], 3, "failures")
    equal(run.journal.until("service_gone", service="fine")["cause"], "clean", "cause")
    equal(run.end(), 0, "exit code")
    run.journal.only("service_starting", service="fine")


@test
def a_recycle_is_restarted_and_not_counted(case):
    plan = case.plan(Phases="one")
    plan.actor("web", "serve", Phase="one")
    plan.actor("worker", f"notify READY=1 , sleep 1100 , notify STOPPING=1 , attempts {case.path('runs')} 3 0 , as kept , serve",
               Phase="one", Type="notify", Restart="always", RestartSec="1ms", StartLimitBurst=2)
    run = case.run(plan)
    case.serving("kept")
    run.journal.none("service_gave_up")
    equal(len(run.journal.all("service_starting", service="worker")), 4, "starts")
    equal([line["failures"] for line in run.journal.all("service_restart_scheduled")], [0, 0, 0], "failures")
    equal(run.end(), 0, "exit code")


@test
def a_missing_program_is_said_with_its_step_and_counts_as_a_failed_start(case):
    plan = case.plan(Phases="one")
    plan.service("web", "/surely/no/such/program", Phase="one", RestartSec="1ms", StartLimitBurst=2)
    run = case.run(plan)
    equal(run.wait(), 83, "exit code")
    exited = run.journal.first("service_exited")
    equal(exited["status"], 127, "status")
    check("/surely/no/such/program" in run.errors(), "stderr names the program")


@test
def a_start_for_which_there_are_no_descriptors_says_what_it_wanted_them_for(case):
    plan = case.plan(Phases="one")
    plan.actor("web", "serve", Phase="one", StartLimitBurst=1,
               Listen=" ".join(f"unix:{case.path(f'{number}.sock')}" for number in range(16)))
    run = case.run(plan, shell='ulimit -n 24; exec "$@"')
    equal(run.wait(), 83, "exit code")
    error = run.journal.only("service_exited")["error"]
    check(error.startswith("socket: "), f"the error: {error}")


@test
def case_58_a_classic_daemon_that_says_nothing_has_exited_and_left_descendants(case):
    plan = case.plan(Phases="one")
    plan.actor("web", "serve", Phase="one")
    plan.actor("classic", "spawn --double --setsid as daemon + serve --term-ms 200 , sleep 1200 , exit 0", Phase="one",
               Type="simple", Essential="no")
    run = case.run(plan).ready()
    daemon = case.serving("daemon")["pid"]
    journal = run.journal
    exited = journal.until("service_exited", service="classic")
    equal((exited["code"], exited["status"], exited["asked"]), ("exited", 0, False), "how the first process ended")
    gone = journal.until("service_gone", service="classic")
    journal.order(exited, journal.only("service_asked", pid=daemon), journal.only("orphan_gone", pid=daemon), gone)
    case.log.only("exiting", name="daemon")
    equal(run.end(), 0, "exit code")


@test
def case_58_a_daemon_that_says_mainpid_is_followed(case):
    gate = case.fifo("gate")
    plan = case.plan(Phases="one")
    plan.actor("classic", "spawn --double --setsid as daemon + notify MAINPID=PID READY=1 + barrier + say known "
               f"+ serve --term-ms 200 , eof {gate} , exit 0", Phase="one", Type="notify")
    run = case.run(plan).ready()
    daemon = case.log.until("known")
    with open(gate, "wb"):
        pass  # the first process ends now, as the first process of a classic daemon does
    first = case.log.until("eof")["pid"]
    wait_until(lambda: not run.lives(first), "the first process is collected", alive=run.alive)
    case.serving("daemon")
    run.journal.none("service_exited")
    equal(run.end(), 0, "exit code")
    equal(case.signals("daemon"), [15], "signals of the daemon")
    exited = run.journal.only("service_exited", service="classic")
    equal((exited["pid"], exited["asked"]), (daemon["pid"], True), "whose end was the service's")


@test
def a_runtime_directory_on_a_disk_has_its_journal_too(case):
    folder = tempfile.mkdtemp(prefix="endwell-test-", dir="/var/tmp")
    case.cleaners.append(lambda: shutil.rmtree(folder, ignore_errors=True))
    plan = case.plan(Phases="one", RuntimeDirectory=os.path.join(folder, "run"))
    plan.actor("web", "serve", Phase="one")
    run = case.run(plan).ready()
    case.serving("web")
    equal(run.end(), 0, "exit code")
    equal(run.journal.last("ending_finished")["code"], 0, "the journal goes to its end")


@test
def an_orphan_from_outside_belongs_to_no_service_that_has_not_started_yet(case):
    gate = case.fifo("gate")
    plan = case.plan(Phases="http db")
    plan.actor("web", "serve", Phase="http")
    plan.actor("once", f"say up , eof {gate} , exit 0", Phase="db", Type="oneshot")
    plan.actor("data", "say up , serve", Phase="db", Type="notify")
    run = case.run(plan)
    case.log.until("up", count=2)
    subprocess.run(["nsenter", "--target", str(run.pid), "--pid", "/bin/sh", "-c", "sleep 3600 &"], check=True, timeout=60)
    with open(gate, "wb"):
        pass
    adopted = run.journal.until("orphan_adopted")  # its name may still be the shell's
    equal(adopted.get("service"), None, "whose it is")
    equal(run.end(), 0, "exit code")


@test
def a_service_whose_output_waits_for_a_reader_still_ends_when_it_is_asked(case):
    plan = case.plan(Phases="one")
    plan.actor("web", "serve", Phase="one", StandardOutput=f"append:{case.fifo('nobody-reads')}")
    run = case.run(plan)
    run.journal.until("service_starting")
    pid = wait_until(lambda: children(run.pid), "the child", alive=run.alive)[0]
    wait_until(lambda: status_field(pid, "State")[:1] == ["S"], "it waits", alive=run.alive)
    equal(run.end(), 0, "exit code")
    run.journal.none("service_killed")


@test
def a_child_that_hangs_before_exec_does_not_keep_endwell_busy(case):
    plan = case.plan(Phases="one")
    plan.actor("first", "serve", Phase="one")
    # Nobody reads from it, so its opening hangs; by then this child has a copy of the pipe of the one before it.
    plan.actor("hangs", "serve", Phase="one", StandardOutput=f"append:{case.fifo('out')}")
    run = case.run(plan)
    run.journal.until("service_started", service="first")
    case.serving("first")

    def is_idle():
        """Asleep whenever one looks: however slow the machine is, what has something to do is not."""
        for _ in range(100):
            if status_field(run.pid, "State")[:1] != ["S"]:
                return False
            time.sleep(0.005)
        return True
    wait_until(is_idle, "endwell to be idle while nothing happens", alive=run.alive)
    run.journal.none("service_started", service="hangs")
    run.end()


@test
def a_start_that_takes_long_says_whom_it_waits_for_and_why(case):
    gate = case.fifo("gate")
    plan = case.plan(Phases="http db")
    plan.actor("web", "serve", Phase="http")
    plan.actor("data", f"eof {gate} , notify READY=1 , serve", Phase="db", Type="notify")
    run = case.run(plan)
    line = run.journal.until("startup_progress")
    equal((line["phase"], line["left"], line["waiting_for"]), ("db", 1, ["data"]), "whom it waits for")
    equal(line["detail"], "data (no READY=1 yet)", "why")
    check(line["mono_us"] - run.journal.first("supervisor_started")["mono_us"] >= 4_500_000, "it was told too early")
    wait_until(lambda: "still waiting for data (no READY=1 yet)" in run.errors(), "a line in the log", alive=run.alive)
    with open(gate, "wb"):
        pass
    run.ready()
    equal(run.end(), 0, "exit code")
