"""Collecting the dead, and exit codes: cases 1 to 8 and 56, and orphans by the thousand."""
import os

from case import test
from endwell import ACTOR
from journal import check, equal, wait_until


@test(repeat=(40, 1000))
def case_01_a_main_process_that_exits_just_after_its_orphan_never_hangs(case):
    for i in range(case.repeat):
        run = case.run_actor(f"race {i % 20 * 100} , exit 0")
        equal(run.wait(), 0, f"exit code of run {i}")


@test
def case_02_exit_127_of_the_command_is_passed_on(case):
    run = case.run_actor("exit 127")
    equal(run.wait(), 127, "exit code")
    exited = run.journal.only("service_exited")
    equal((exited["code"], exited["status"]), ("exited", 127), "how the command ended")


def one_line_that_names(run, word):
    lines = [line for line in run.errors().splitlines() if word in line]
    equal(len(lines), 1, f"lines on stderr that name {word}")


@test
def case_03_and_56_a_missing_command_is_127_and_one_line(case):
    run = case.run_command(["surely-no-such-command"])
    equal(run.wait(), 127, "exit code")
    one_line_that_names(run, "surely-no-such-command")
    run = case.run_command(["/surely/no/such/command"])
    equal(run.wait(), 127, "exit code with a path")
    one_line_that_names(run, "/surely/no/such/command")


@test
def case_03_and_56_a_directory_and_a_file_without_run_bit_are_126(case):
    plain = case.file("plain.sh", "#!/bin/sh\nexit 0\n", 0o644)
    for path in (plain, "/usr"):
        run = case.run_command([path])
        equal(run.wait(), 126, f"exit code of {path}")
        one_line_that_names(run, path)


@test
def a_script_whose_interpreter_is_missing_is_said_and_passed_on(case):
    script = case.file("script", "#!/surely/no/interpreter\n", 0o755)
    equal(case.run_command([script]).wait(), 127, "exit code")


@test
def case_04_a_command_killed_by_a_signal_is_128_and_its_number(case):
    for number, code in ((9, 137), (11, 139), (15, 143), (6, 134)):
        run = case.run_actor(f"die {number}")
        equal(run.wait(), code, f"exit code after signal {number}")
        exited = run.journal.only("service_exited")
        equal(exited["status"], number, "signal in the journal")
        check(exited["code"] in ("killed", "dumped"), f"code is {exited['code']}")


@test
def exit_codes_of_the_command_are_passed_on_whole(case):
    for code in (0, 1, 2, 64, 70, 78, 81, 83, 125, 126, 255):
        equal(case.run_actor(f"exit {code}").wait(), code, "exit code")


@test
def remapped_exit_codes_become_0(case):
    equal(case.run_actor("exit 143", ["-e", "143"]).wait(), 0, "exit code")
    equal(case.run_actor("exit 3", ["--remap-exit", "143", "--remap-exit", "3"]).wait(), 0, "exit code")
    equal(case.run_actor("exit 4", ["-e", "143", "-e", "3"]).wait(), 4, "exit code")


def orphans_while_statuses_stay_right(case, count, rate):
    plan = case.plan(Phases="one")
    plan.actor("forker", f"orphans {count} {rate} , serve", Phase="one")
    plan.actor("steady", "serve", Phase="one")
    plan.actor("late", f"eof {case.fifo('gate')} , exit 41", Phase="one", Restart="no", Essential="no")
    run = case.run(plan).ready()
    case.log.until("orphans_left", timeout=300)
    with open(case.path("gate"), "wb"):
        pass  # now the service ends, right behind all the orphans
    exited = run.journal.until("service_exited", service="late")
    equal((exited["code"], exited["status"]), ("exited", 41), "how the service ended")
    wait_until(lambda: not run.zombies(), "no zombie left", alive=run.alive)
    run.journal.none("service_exited", service="steady")
    run.journal.none("service_exited", service="forker")
    equal(run.end(), 83 if run.journal.all("service_gave_up", essential=True) else 0, "exit code")


@test(repeat=(3, 10))
def case_06_thirty_orphans_a_second_leave_no_zombie_and_statuses_stay_right(case):
    orphans_while_statuses_stay_right(case, 30 * case.repeat, 30)


@test(repeat=(2000, 20000), alone=True)
def twenty_thousand_orphans_are_all_collected_while_a_status_stays_right(case):
    orphans_while_statuses_stay_right(case, case.repeat, 0)


@test
def case_07_an_unknown_orphan_that_exits_changes_nothing(case):
    plan = case.plan(Phases="one", LogLevel="debug")
    plan.actor("web", f"spawn --double --setsid --clear-env eof {case.fifo('gate')} , serve", Phase="one")
    run = case.run(plan)
    run.journal.until("readiness_changed", ready=True)
    case.serving("web")
    before = len(run.errors())
    with open(case.path("gate"), "wb"):
        pass
    pid = case.log.until("eof", name="stranger")["pid"]
    wait_until(lambda: not run.lives(pid), "the orphan is collected", alive=run.alive)
    wait_until(lambda: str(pid) in run.errors()[before:], "the orphan is said at level debug", alive=run.alive)
    kinds = {line["event"] for line in run.journal.read() if line["seq"] > run.journal.only("readiness_changed")["seq"]}
    check(kinds <= {"orphan_adopted", "orphan_gone"}, f"more happened: {kinds}")
    equal(run.end(), 0, "exit code")


@test
def case_08_a_hook_and_a_service_that_end_at_one_instant_get_their_own_status(case):
    gate = case.fifo("gate")
    plan = case.plan(Phases="one")
    plan.actor("web", f"notify READY=1 , eof {gate} , exit 7", Type="notify", Phase="one", Restart="no", Essential="no")
    plan.actor("other", "serve", Phase="one")
    plan.hook("beside", f"say waiting , eof {gate} , exit 3", Service="web", On="post-start")
    run = case.run(plan)
    case.log.until("waiting")
    run.journal.until("service_ready", service="web")
    with open(gate, "wb"):
        pass
    exited = run.journal.until("service_exited", service="web")
    finished = run.journal.until("hook_finished", hook="beside")
    equal((exited["code"], exited["status"]), ("exited", 7), "the service's status")
    equal((finished["code"], finished["status"]), ("exited", 3), "the hook's status")
    run.end()


@test
def a_child_starts_clean_and_knows_who_it_is(case):
    plan = case.plan(Phases="one")
    plan.actor("web", "report , serve", Phase="one", Instances=2, WorkingDirectory="/usr",
               Environment='PLAIN=yes "SPACED=a b"')
    run = case.run(plan).ready()
    seen = [case.log.until("report", instance=number) for number in (1, 2)]
    for number, report in enumerate(seen, 1):
        started = run.journal.only("service_started", instance=number)
        environment = report["environment"]
        equal(set(report["descriptors"]), {"0", "1", "2"}, "descriptors")
        equal(report["descriptors"]["0"], "/dev/null", "descriptor 0")
        equal(report["session"], report["pid"], "its own session")
        equal(report["parent"], 1, "its parent")
        equal(report["pid"], started["pid"], "its pid in the journal")
        equal(report["directory"], "/usr", "its directory")
        equal(environment["ENDWELL_OWNER"], started["owner"], "its owner")
        equal(environment["ENDWELL_SERVICE"], "web", "ENDWELL_SERVICE")
        equal(environment["ENDWELL_INSTANCE"], str(number), "ENDWELL_INSTANCE")
        equal(environment["ENDWELL_PHASE"], "one", "ENDWELL_PHASE")
        equal(environment["ENDWELL_EPOCH"], "1", "ENDWELL_EPOCH")
        equal(environment["ENDWELL_SOCKET"], run.socket_path(), "ENDWELL_SOCKET")
        equal(environment["ENDWELL_RUNTIME_DIRECTORY"], run.runtime, "ENDWELL_RUNTIME_DIRECTORY")
        equal((environment["PLAIN"], environment["SPACED"]), ("yes", "a b"), "Environment=")
        check(os.path.exists(environment["NOTIFY_SOCKET"]), "the notify socket is not there")
    check(seen[0]["environment"]["ENDWELL_OWNER"] != seen[1]["environment"]["ENDWELL_OWNER"], "two share an owner")
    equal(run.end(), 0, "exit code")


@test
def a_child_has_the_descriptor_limit_that_endwell_was_given(case):
    plan = case.plan(Phases="one")
    plan.actor("web", "report , serve", Phase="one")
    run = case.run(plan, before=["prlimit", "--nofile=4321:20000"]).ready()
    equal(case.log.until("report")["soft_files"], 4321, "soft limit of the child")
    with open(f"/proc/{run.pid}/limits", encoding="ascii") as file:
        files = [line.split() for line in file if line.startswith("Max open files")][0]
    equal(files[3], "20000", "soft limit of endwell itself")
    equal(run.end(), 0, "exit code")


@test
def below_another_first_process_endwell_adopts_and_collects_too(case):
    plan = case.plan(Phases="one")
    plan.actor("web", "orphans 50 0 , spawn --double --setsid as far + serve --term-ms 300 , serve", Phase="one")
    run = case.run(plan, namespace="nested").ready()
    case.serving("far")
    wait_until(lambda: not run.zombies(), "no zombie left", alive=run.alive)
    check(not run.journal.only("supervisor_started")["pid_namespace"], "it is not the first process")
    equal(run.end(), 0, "exit code")
    equal(case.signals("far"), [15], "signals of the descendant")
    case.log.only("exiting", name="far")


@test
def below_another_first_process_a_command_is_run_the_same_way(case):
    run = case.run_command([ACTOR, "exit", "5"], namespace="nested")
    equal(run.wait(), 5, "exit code")
