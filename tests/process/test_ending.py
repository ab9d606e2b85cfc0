"""Order and time of an ending: cases 18 to 30, 53 to 55."""
import os
import signal

from case import test
from endwell import status_field
from journal import check, equal, lasted, overlap, soon, wait_until

MS, S = 1000, 1_000_000


def asked_and_exited(case, name):
    return case.log.first("signal", name=name)["t"], case.log.only("exiting", name=name)["t"]


@test
def case_18_the_database_is_asked_only_after_the_last_worker_is_gone(case):
    plan = case.plan()
    plan.actor("web", "serve --term-ms 400", Phase="http")
    plan.actor("worker", "serve --term-ms 1500", Phase="workers")
    plan.actor("data", "serve --term-ms 50", Phase="db")
    run = case.run(plan).ready()
    for name in ("web", "worker", "data"):
        case.serving(name)
    equal(run.end(), 0, "exit code")
    web, worker, data = (asked_and_exited(case, name) for name in ("web", "worker", "data"))
    check(web[1] <= worker[0], f"worker was asked at {worker[0]}, web exited at {web[1]}")
    check(worker[1] <= data[0], f"data was asked at {data[0]}, worker exited at {worker[1]}")
    journal = run.journal
    journal.order(journal.only("signal_received"), journal.only("ending_started"),
                  journal.only("readiness_changed", ready=False), journal.only("phase_started", phase="http"),
                  journal.only("service_asked", service="web"), journal.only("service_exited", service="web"),
                  journal.only("service_gone", service="web"), journal.only("phase_finished", phase="http"),
                  journal.only("phase_started", phase="workers"), journal.only("service_asked", service="worker"),
                  journal.only("service_gone", service="worker"), journal.only("phase_finished", phase="workers"),
                  journal.only("phase_started", phase="db"), journal.only("service_asked", service="data"),
                  journal.only("service_gone", service="data"), journal.only("phase_finished", phase="db"),
                  journal.only("ending_finished"))
    for line in journal.all("service_gone"):
        equal((line["cause"], line["certain"], line["killed"]), ("clean", True, 0), f"how {line['service']} went")


@test
def case_19_services_of_one_phase_end_side_by_side(case):
    plan = case.plan(Phases="one")
    for name in ("a", "b", "c"):
        plan.actor(name, "serve --term-ms 1500", Phase="one")
    run = case.run(plan).ready()
    for name in ("a", "b", "c"):
        case.serving(name)
    equal(run.end(), 0, "exit code")
    spans = [(run.journal.only("service_asked", service=name)["mono_us"],
              run.journal.only("service_exited", service=name)["mono_us"]) for name in ("a", "b", "c")]
    check(overlap(spans[0], spans[1]) and overlap(spans[1], spans[2]) and overlap(spans[0], spans[2]), f"{spans}")
    lasted(run.journal.only("phase_finished")["took_us"], 1500 * MS, "the phase lasts as long as its longest")


@test
def case_20_one_that_ignores_term_is_killed_at_its_limit_and_the_others_do_not_mind(case):
    plan = case.plan(Phases="one last")
    plan.actor("deaf", "serve --ignore", Phase="one", TimeoutStopSec="2s")
    plan.actor("good", "serve --term-ms 200", Phase="one")
    plan.actor("data", "serve", Phase="last")
    run = case.run(plan).ready()
    for name in ("deaf", "good", "data"):
        case.serving(name)
    equal(run.end(), 81, "exit code")
    asked, killed = run.journal.only("service_asked", service="deaf"), run.journal.only("service_killed")
    equal((asked["signal"], killed["signal"], killed["service"]), ("SIGTERM", "SIGKILL", "deaf"), "who was killed")
    equal(killed["reason"], "stop_timeout", "why it was killed")
    lasted(run.journal.span_us(asked, killed), 2 * S, "from asking to killing")
    gone = run.journal.only("service_gone", service="deaf")
    equal((gone["cause"], gone["killed"]), ("interrupted", 1), "how it went")
    check(run.journal.only("service_exited", service="deaf")["escalated"], "service_exited says escalated")
    equal(run.journal.only("service_gone", service="good")["cause"], "clean", "the other one")
    equal(run.journal.only("ending_finished")["killed"], 1, "killed in the summary")
    check("deaf" in run.errors().splitlines()[-1] and "81" in run.errors().splitlines()[-1],
          f"the last line does not explain 81: {run.errors().splitlines()[-1]}")


@test
def case_21_the_deadline_wins_over_a_chain_that_would_last_longer(case):
    plan = case.plan(Phases="one", GraceSec=12, DeadlineSec=10)
    plan.actor("a", "serve --ignore", Phase="one", TimeoutStopSec="4s", After="b")
    plan.actor("b", "serve --ignore", Phase="one", TimeoutStopSec="4s", After="c")
    plan.actor("c", "serve --ignore", Phase="one", TimeoutStopSec="4s")
    run = case.run(plan).ready()
    for name in ("a", "b", "c"):
        case.serving(name)
    equal(run.end(), 82, "exit code")
    received = run.journal.only("signal_received")
    killed = run.journal.all("service_killed")
    equal([line["service"] for line in killed], ["a", "b", "c"], "who was killed, in order")
    equal([line["reason"] for line in killed], ["stop_timeout", "stop_timeout", "deadline"], "why they were killed")
    for line, wanted in zip(killed, (4 * S, 8 * S, 9750 * MS)):
        lasted(run.journal.span_us(received, line), wanted, f"when {line['service']} was killed")
    check("c" in run.errors().splitlines()[-1], "the last line names who was cut")


@test
def case_22_no_timer_of_the_ending_rings_when_everybody_goes_at_once(case):
    plan = case.plan(GraceSec=600)
    for phase in ("http", "workers", "db"):
        plan.actor(f"{phase}-one", "serve --term-ms 50", Phase=phase)
        plan.actor(f"{phase}-two", "serve --term-ms 50", Phase=phase)
    run = case.run(plan).ready()
    for phase in ("http", "workers", "db"):
        case.serving(f"{phase}-one"), case.serving(f"{phase}-two")
    equal(run.end(), 0, "exit code")
    journal = run.journal
    for event in ("service_killed", "service_left", "readiness_acknowledged"):
        journal.none(event)
    for phase in ("http", "workers", "db"):
        last = max((line for line in journal.all("service_gone") if line["service"].startswith(phase)), key=lambda one: one["seq"])
        finished = journal.only("phase_finished", phase=phase)
        between = [line["event"] for line in journal.read() if last["seq"] < line["seq"] < finished["seq"]]
        equal(between, [], f"what came between the last one gone and the end of {phase}")
        soon(finished["mono_us"] - last["mono_us"], f"from the last one gone to the end of {phase}")
        check(journal.only("phase_started", phase=phase)["limit_us"] > 60 * S, f"the limit of {phase}")


@test
def case_24_a_member_that_ignores_term_holds_the_stop_until_it_is_killed(case):
    plan = case.plan(Phases="one last")
    plan.actor("web", "spawn as member + serve --ignore , as leader , serve", Phase="one", TimeoutStopSec="2s")
    plan.actor("data", "serve", Phase="last")
    run = case.run(plan).ready()
    member = case.serving("member")["pid"]
    case.serving("leader"), case.serving("data")
    equal(run.end(), 81, "exit code")
    exited, gone = run.journal.only("service_exited", service="web"), run.journal.only("service_gone", service="web")
    killed = run.journal.only("service_killed")
    equal(killed["pid"], member, "who was killed")
    run.journal.order(exited, killed, gone, run.journal.only("service_asked", service="data"))
    asked = run.journal.first("service_asked", service="web")
    equal(killed["reason"], "stop_timeout", "why it was killed")
    lasted(run.journal.span_us(asked, killed), 2 * S, "from asking to killing")
    equal(case.signals("member"), [signal.SIGTERM], "the member was asked too")


@test
def case_25_a_descendant_with_a_session_of_its_own_is_asked_awaited_and_named(case):
    plan = case.plan(Phases="one last")
    plan.actor("web", "spawn --double --setsid as far + serve --term-ms 1000 , as leader , serve", Phase="one")
    plan.actor("data", "serve", Phase="last")
    run = case.run(plan).ready()
    far = case.serving("far")["pid"]
    case.serving("leader"), case.serving("data")
    equal(run.end(), 0, "exit code")
    asked = run.journal.only("service_asked", pid=far)
    equal(asked["service"], "web", "whose it is")
    run.journal.order(run.journal.only("service_exited", service="web"), asked,
                      run.journal.only("orphan_gone", pid=far), run.journal.only("service_gone", service="web"),
                      run.journal.only("service_asked", service="data"))
    equal(case.signals("far"), [signal.SIGTERM], "signals of the descendant")
    lasted(case.log.only("exiting", name="far")["t"] - case.log.first("signal", name="far")["t"], S, "its end")


@test
def case_26_mixed_asks_the_leader_only_and_what_is_left_when_it_is_gone(case):
    plan = case.plan(Phases="one")
    plan.actor("web", "spawn as quick + serve , spawn as slow + serve --ignore , as leader , serve --term-ms 700",
               Phase="one", TimeoutStopSec="2s", KillMode="mixed")
    run = case.run(plan).ready()
    for name in ("quick", "slow", "leader"):
        case.serving(name)
    equal(run.end(), 81, "exit code")
    leader_gone = case.log.only("exiting", name="leader")["t"]
    for name in ("quick", "slow"):
        equal(case.signals(name), [signal.SIGTERM], f"signals of {name}")
        check(case.log.first("signal", name=name)["t"] >= leader_gone, f"{name} was asked while its leader lived")
    killed = run.journal.only("service_killed")
    equal(killed["pid"], case.serving("slow")["pid"], "who was killed")
    equal(killed["reason"], "stop_timeout", "why it was killed")
    lasted(run.journal.span_us(run.journal.first("service_asked"), killed), 2 * S, "when")


@test
def control_group_asks_the_whole_tree_at_once(case):
    plan = case.plan(Phases="one")
    plan.actor("web", "spawn as kept + serve --term-ms 100 , spawn --double --setsid as far + serve --term-ms 100 , "
               "as leader , serve --term-ms 800", Phase="one", KillMode="control-group")
    run = case.run(plan).ready()
    for name in ("kept", "far", "leader"):
        case.serving(name)
    equal(run.end(), 0, "exit code")
    leader_gone = case.log.only("exiting", name="leader")["t"]
    for name in ("kept", "far", "leader"):
        equal(case.signals(name), [signal.SIGTERM], f"signals of {name}")
        check(case.log.first("signal", name=name)["t"] < leader_gone, f"{name} was asked late")


@test
def kill_mode_process_leaves_the_rest_and_exits_84(case):
    plan = case.plan(Phases="one")
    plan.actor("web", "spawn --double --setsid as far + serve --ignore , as leader , serve", Phase="one",
               KillMode="process")
    run = case.run(plan).ready()
    far = case.serving("far")["pid"]
    case.serving("leader")
    equal(run.end(), 84, "exit code")
    equal(case.signals("far"), [], "signals of the descendant")
    check(run.journal.all("descendants_left"), f"nothing says that {far} was left")


@test
def a_kill_signal_of_its_own_is_what_the_main_process_gets(case):
    plan = case.plan(Phases="one")
    plan.actor("web", "spawn as member + serve , as leader , serve --stop 3", Phase="one", KillSignal="SIGQUIT")
    run = case.run(plan).ready()
    case.serving("member"), case.serving("leader")
    equal(run.end(), 0, "exit code")
    equal(case.signals("leader"), [signal.SIGQUIT], "signals of the main process")
    equal(case.signals("member"), [signal.SIGTERM], "signals of the rest of the tree")


@test
def case_28_a_service_that_waits_for_its_restart_is_not_started_again(case):
    plan = case.plan(Phases="one", GraceSec=60)
    plan.actor("flapper", "exit 1", Phase="one", RestartSec="40s", RestartMaxDelaySec="40s", StartLimitBurst=10)
    plan.actor("web", "serve", Phase="one")
    run = case.run(plan)
    run.journal.until("service_restart_scheduled", service="flapper")
    case.serving("web")
    equal(run.end(), 0, "exit code")
    run.journal.only("service_starting", service="flapper")
    soon(run.journal.only("ending_finished")["took_us"], "the ending did not wait for the restart")


@test(repeat=(5, 50))
def case_28_a_service_that_restarts_at_full_speed_is_not_started_in_the_ending(case):
    for i in range(case.repeat):
        plan = case.plan(Phases="one", RuntimeDirectory=case.path(f"run.{i}"))
        plan.actor("flapper", "exit 1", Phase="one", RestartSec="1ms", RestartMaxDelaySec="1ms", StartLimitBurst=0,
                   Essential="no")  # it may die in the instant between the request and its asking
        run = case.run(plan)
        run.journal.until("service_exited", count=5)
        equal(run.end(), 0, "exit code")
        run.clean()


@test
def case_29_extending_moves_the_services_own_limit(case):
    plan = case.plan(Phases="one")
    plan.actor("web", "serve --term-ms 2500 --extend 1000000 400 5", Phase="one", TimeoutStopSec="1s")
    run = case.run(plan).ready()
    case.serving("web")
    equal(run.end(), 0, "exit code")
    run.journal.none("service_killed")
    check(len(run.journal.all("service_extended", service="web")) >= 4, "the extensions are in the journal")


@test
def case_29_extending_for_ever_does_not_move_the_deadline(case):
    plan = case.plan(Phases="one", GraceSec=6, DeadlineSec=4)
    plan.actor("web", "serve --term-ms 60000 --extend 1000000 300 1000", Phase="one", TimeoutStopSec="1s")
    run = case.run(plan).ready()
    case.serving("web")
    code = run.end()
    killed = run.journal.only("service_killed")
    equal(killed["reason"], "deadline", "why it was killed")
    lasted(run.journal.span_us(run.journal.only("signal_received"), killed), 3750 * MS, "when it was killed")
    equal(code, 82, "exit code")


@test
def case_30_the_log_service_stops_last_and_has_the_producers_last_line(case):
    pipe, log = case.fifo("lines"), case.path("collected.log")
    plan = case.plan(Phases="one")
    plan.actor("logger", f"collect {pipe} {log}", Phase="one")
    plan.actor("producer", f"serve --term-ms 300 --last {pipe} the-very-last-line", Phase="one", After="logger")
    run = case.run(plan).ready()
    case.serving("producer"), case.serving("logger")
    equal(run.end(), 0, "exit code")
    equal(case.text("collected.log"), "the-very-last-line\n", "what was collected")
    run.journal.order(run.journal.only("service_gone", service="producer"),
                      run.journal.only("service_asked", service="logger"))


@test
def case_53_a_background_process_of_the_group_is_asked_and_finishes(case):
    steps = "spawn as cleaner + serve --term-ms 1000 , as main , serve"
    plan = case.plan(Phases="one")
    plan.actor("web", steps, Phase="one")
    run = case.run(plan).ready()
    case.serving("cleaner"), case.serving("main")
    equal(run.end(), 0, "exit code")
    case.log.only("exiting", name="cleaner")
    run = case.run_actor(steps)
    case.serving("cleaner", 2), case.serving("main", 2)
    equal(run.end(), 0, "exit code of the single command")
    equal(len(case.log.all("exiting", name="cleaner")), 2, "cleaners that finished")


@test
def case_54_the_same_with_a_session_of_its_own(case):
    steps = "spawn --double --setsid as cleaner + serve --term-ms 1000 , as main , serve"
    plan = case.plan(Phases="one")
    plan.actor("web", steps, Phase="one")
    run = case.run(plan).ready()
    case.serving("cleaner"), case.serving("main")
    equal(run.end(), 0, "exit code")
    case.log.only("exiting", name="cleaner")
    run = case.run_actor(steps)
    case.serving("cleaner", 2), case.serving("main", 2)
    equal(run.end(), 0, "exit code of the single command")
    equal(len(case.log.all("exiting", name="cleaner")), 2, "cleaners that finished")


@test
def case_54_even_if_it_ignores_term_it_is_gone_within_the_limit(case):
    plan = case.plan(Phases="one")
    plan.actor("web", "spawn --double --setsid as deaf + serve --ignore , as main , serve", Phase="one",
               TimeoutStopSec="2s")
    run = case.run(plan).ready()
    deaf = case.serving("deaf")["pid"]
    case.serving("main")
    equal(run.end(), 81, "exit code")
    killed = run.journal.only("service_killed")
    equal((killed["pid"], killed["service"]), (deaf, "web"), "who was killed")
    equal(killed["reason"], "stop_timeout", "why it was killed")
    lasted(run.journal.span_us(run.journal.first("service_asked"), killed), 2 * S, "when")


@test
def an_unattributed_orphan_is_asked_by_the_phase_that_ends_and_awaited(case):
    plan = case.plan(Phases="one last")
    plan.actor("web", "spawn --double --setsid --clear-env serve --term-ms 600 , as main , serve", Phase="one")
    plan.actor("data", "serve", Phase="last")
    run = case.run(plan).ready()
    case.serving("stranger"), case.serving("main"), case.serving("data")
    equal(run.end(), 0, "exit code")
    equal(case.signals("stranger"), [signal.SIGTERM], "signals of the orphan")
    check(case.log.only("exiting", name="stranger")["t"] <= case.log.first("signal", name="data")["t"],
          "data was asked while an orphan of an earlier phase lived")


@test
def case_55_three_that_ignore_term_cost_one_limit_not_three(case):
    plan = case.plan(Phases="one")
    for name in ("a", "b", "c"):
        plan.actor(name, "serve --ignore", Phase="one", TimeoutStopSec="5s")
    run = case.run(plan).ready()
    for name in ("a", "b", "c"):
        case.serving(name)
    equal(run.end(), 81, "exit code")
    run.journal.order(run.journal.all("service_asked")[2], run.journal.all("service_killed")[0])
    lasted(run.journal.only("ending_finished")["took_us"], 5 * S, "the ending")
    equal(run.journal.only("ending_finished")["killed"], 3, "killed")


def stop(run):
    """So that what happens now is heard together, later."""
    os.kill(run.pid, signal.SIGSTOP)
    wait_until(lambda: status_field(run.pid, "State")[:1] == ["T"], "endwell to have stopped")


def until_dead(pid):
    wait_until(lambda: status_field(pid, "State")[:1] == ["Z"], "the process to be dead and not collected")


@test
def one_that_crashed_in_the_ending_and_was_not_collected_before_its_turn_was_not_asked(case):
    plan = case.plan(Phases="http db")
    plan.actor("web", "serve --term-ms 60000", Phase="http")
    plan.actor("data", "serve", Phase="db")
    run = case.run(plan).ready()
    web, data = (run.outside(case.serving(name)["pid"]) for name in ("web", "data"))
    run.send(signal.SIGTERM)
    case.log.until("signal", name="web")
    stop(run)
    for pid in (web, data):  # in this order: the signal of the second death is merged into that of the first
        os.kill(pid, signal.SIGKILL)
        until_dead(pid)
    os.kill(run.pid, signal.SIGCONT)
    equal(run.wait(), 83, "exit code")
    run.journal.none("service_asked", service="data")
    exited = run.journal.only("service_exited", service="data")
    equal((exited["asked"], exited["code"]), (False, "killed"), "how it ended")


@test
def one_that_crashed_before_the_request_and_was_not_collected_is_judged_as_before_it(case):
    plan = case.plan(Phases="one")
    plan.actor("web", "serve", Phase="one", RestartSec="20s")
    run = case.run(plan).ready()
    web = run.outside(case.serving("web")["pid"])
    stop(run)
    os.kill(web, signal.SIGKILL)
    until_dead(web)
    run.send(signal.SIGTERM)
    os.kill(run.pid, signal.SIGCONT)
    equal(run.wait(), 0, "exit code")  # it would have been restarted
    run.journal.order(run.journal.only("service_exited", asked=False), run.journal.only("ending_started"))
    run.journal.none("service_asked")
