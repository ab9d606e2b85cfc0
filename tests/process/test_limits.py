"""Budgets, delays, modes, exit codes of an ending, and the one line that explains them."""
import json
import os

from case import test
from journal import check, equal, lasted, within

MS, S = 1000, 1_000_000


@test
def later_phases_are_protected_from_an_earlier_one(case):
    plan = case.plan(Phases="http db", GraceSec=6, DeadlineSec=5)
    plan.phase("db", TimeoutSec="3s")
    plan.actor("web", "serve --ignore", Phase="http")
    plan.actor("data", "serve --term-ms 2000", Phase="db")
    run = case.run(plan).ready()
    case.serving("web"), case.serving("data")
    equal(run.end(), 81, "exit code")
    killed = run.journal.only("service_killed")
    equal(killed["service"], "web", "who was killed")
    # 5 s less the reserve of 250 ms less the 3 s of db
    equal(killed["reason"], "phase_limit", "why it was killed")
    lasted(run.journal.span_us(run.journal.only("ending_started"), killed), 1750 * MS, "when it was killed")


@test
def time_that_a_phase_does_not_use_rolls_forward(case):
    plan = case.plan(Phases="http db", GraceSec=6, DeadlineSec=5)
    plan.phase("http", TimeoutSec="4s").phase("db", TimeoutSec="500ms")
    plan.actor("web", "serve", Phase="http")
    plan.actor("data", "serve --term-ms 2000", Phase="db")
    run = case.run(plan).ready()
    case.serving("web"), case.serving("data")
    equal(run.end(), 0, "exit code")
    run.journal.none("service_killed")


@test
def a_phases_delay_passes_before_anybody_in_it_is_asked(case):
    plan = case.plan(Phases="http db")
    plan.phase("http", DelaySec="800ms")
    plan.actor("web", "serve", Phase="http")
    plan.actor("data", "serve", Phase="db")
    run = case.run(plan).ready()
    case.serving("web"), case.serving("data")
    equal(run.end(), 0, "exit code")
    journal = run.journal
    started, asked = journal.only("phase_started", phase="http"), journal.only("service_asked", service="web")
    lasted(journal.span_us(started, asked), 800 * MS, "the delay")
    journal.order(journal.only("readiness_changed", ready=False), started)


@test
def in_development_everybody_is_asked_at_once_and_killed_after_a_second(case):
    plan = case.plan(Mode="development")
    plan.actor("web", "serve --ignore", Phase="http")
    plan.actor("worker", "serve --term-ms 300", Phase="workers")
    plan.actor("data", "serve", Phase="db")
    run = case.run(plan).ready()
    for name in ("web", "worker", "data"):
        case.serving(name)
    equal(run.end(), 81, "exit code")
    asked = run.journal.all("service_asked")
    equal(len(asked), 3, "how many were asked")
    run.journal.order(asked[-1], run.journal.first("service_exited"))  # nobody waited for another's end
    lasted(run.journal.span_us(asked[-1], run.journal.only("service_killed", service="web")), S, "the kill")


@test
def the_mode_of_the_environment_and_of_the_option_win(case):
    plan = case.plan(Phases="one", Mode="production")
    plan.actor("web", "serve", Phase="one")
    run = case.run(plan, environment={"ENDWELL_MODE": "staging"}).ready()
    equal(run.journal.only("supervisor_started")["mode"], "staging", "mode")
    equal(run.end(), 0, "exit code")


@test
def a_chain_of_after_is_stopped_from_its_far_end(case):
    plan = case.plan(Phases="one")
    plan.actor("a", "serve --term-ms 200", Phase="one", After="b")
    plan.actor("b", "serve --term-ms 200", Phase="one", After="c")
    plan.actor("c", "serve --term-ms 200", Phase="one")
    run = case.run(plan).ready()
    for name in ("a", "b", "c"):
        case.serving(name)
    equal(run.end(), 0, "exit code")
    journal = run.journal
    journal.order(journal.only("service_ready", service="c"), journal.only("service_starting", service="b"),
                  journal.only("service_ready", service="b"), journal.only("service_starting", service="a"))
    journal.order(journal.only("service_gone", service="a"), journal.only("service_asked", service="b"),
                  journal.only("service_gone", service="b"), journal.only("service_asked", service="c"))


@test
def what_an_asked_process_exits_with_changes_nothing(case):
    plan = case.plan(Phases="one")
    plan.actor("java", "serve --exit 143", Phase="one")
    plan.actor("odd", "serve --exit 3", Phase="one")
    plan.service("plain", "/bin/sleep 3600", Phase="one")
    run = case.run(plan).ready()
    case.serving("java"), case.serving("odd")
    equal(run.end(), 0, "exit code")


@test
def an_essential_that_fails_unasked_in_the_ending_is_83(case):
    gate = case.fifo("gate")
    plan = case.plan(Phases="http db")
    plan.actor("web", "serve --term-ms 1000", Phase="http")
    plan.actor("data", f"say waiting , eof {gate} , exit 5", Phase="db")
    run = case.run(plan).ready()
    case.serving("web"), case.log.until("waiting")
    run.send(15)
    run.journal.until("service_asked", service="web")
    with open(gate, "wb"):
        pass
    equal(run.wait(), 83, "exit code")
    equal(case.log.only("exiting", name="web")["code"], 0, "web drained to its end")


@test
def a_clean_exit_of_an_essential_service_ends_the_container_with_0(case):
    plan = case.plan(Phases="http db")
    plan.actor("job", "sleep 1100 , exit 0", Phase="http")
    plan.actor("data", "serve", Phase="db")
    run = case.run(plan)
    equal(run.wait(), 0, "exit code")
    equal(run.journal.only("ending_started")["cause"], "finished", "cause")
    run.journal.only("service_asked", service="data")


@test
def the_end_of_the_last_service_that_could_run_ends_the_container(case):
    plan = case.plan(Phases="one")
    plan.actor("job", "sleep 1100 , exit 0", Phase="one", Essential="no")
    plan.actor("other", "sleep 1300 , exit 0", Phase="one", Essential="no")
    run = case.run(plan)
    equal(run.wait(), 0, "exit code")
    equal(run.journal.only("ending_started")["cause"], "finished", "cause")


@test
def exit_code_from_passes_a_services_code_on_after_a_clean_ending(case):
    for code in (0, 42):
        plan = case.plan(Phases="one", ExitCodeFrom="job", RuntimeDirectory=case.path(f"run.{code}"))
        plan.actor("job", f"as job{code} , serve --exit {code}", Phase="one")
        plan.actor("web", "serve", Phase="one")
        run = case.run(plan).ready()
        case.serving(f"job{code}")
        equal(run.end(), code, "exit code")


@test
def exit_code_from_does_not_hide_a_kill(case):
    plan = case.plan(Phases="one", ExitCodeFrom="job")
    plan.actor("job", "serve --exit 42", Phase="one")
    plan.actor("deaf", "serve --ignore", Phase="one", TimeoutStopSec="500ms")
    run = case.run(plan).ready()
    case.serving("job"), case.serving("deaf")
    equal(run.end(), 81, "exit code")


@test
def the_termination_message_is_one_line_that_explains_the_code(case):
    message = case.file("termination", "old text that is longer than what comes now " * 20)
    plan = case.plan(Phases="one", TerminationMessagePath=message)
    plan.actor("deaf", "serve --ignore", Phase="one", TimeoutStopSec="500ms")
    run = case.run(plan).ready()
    case.serving("deaf")
    equal(run.end(), 81, "exit code")
    text = case.text("termination")
    equal(text.strip().count("\n"), 0, "lines in the message")
    check("81" in text and "deaf" in text and len(text) <= 4096 and "old text" not in text, f"the message: {text}")


@test
def the_journal_is_json_lines_with_every_common_field(case):
    plan = case.plan(Phases="one")
    plan.actor("web", "serve", Phase="one")
    run = case.run(plan).ready()
    case.serving("web")
    equal(run.end(), 0, "exit code")
    with open(os.path.join(run.runtime, "journal.jsonl"), encoding="utf-8") as file:
        for number, text in enumerate(file, 1):
            line = json.loads(text)
            equal(line["seq"], number, "seq")
            check({"seq", "mono_us", "time", "epoch", "event"} <= set(line), f"a common field is missing: {line}")
            check(line["time"].endswith("Z") and len(line["time"]) == 27, f"time: {line['time']}")
    first = run.journal.read()[0]
    equal(first["event"], "supervisor_started", "the first line")
    equal((first["pid"], first["pid_namespace"], first["mode"]), (1, True, "production"), "who we are")
    equal(first["config"], case.path("endwell.ini"), "config")
    equal(first["deadline_us"], 27 * S, "the deadline of a grace of 30 s")


@test
def the_journal_is_rotated_at_its_size_and_loses_nothing(case):
    plan = case.plan(Phases="one", JournalMaxSize="64K", LogLevel="warning")
    plan.actor("web", "serve", Phase="one")
    plan.actor("flapper", f"attempts {case.path('runs')} 60 1 , serve", Phase="one", RestartSec="1ms",
               RestartMaxDelaySec="1ms", StartLimitBurst=0)
    run = case.run(plan)
    run.unchecked = True  # two generations hold the last events only, and the laws want them from the first on
    case.serving("flapper")
    equal(run.end(), 0, "exit code")
    for name in ("journal.jsonl", "journal.jsonl.1"):
        size = os.stat(os.path.join(run.runtime, name)).st_size
        within(size, 1, 64 * 1024 + 4096, f"size of {name}")
    check(not os.path.exists(os.path.join(run.runtime, "journal.jsonl.2")), "more than two generations are kept")


def mappings(pid):
    """(permissions, file, resident KiB) of each."""
    found = []
    with open(f"/proc/{pid}/smaps", encoding="utf-8") as file:
        for line in file:
            words = line.split()
            if "-" in words[0] and not words[0].endswith(":"):
                found.append([words[1], words[5] if len(words) > 5 else "", 0])
            elif words[0] == "Rss:":
                found[-1][2] = int(words[1])
    return found


@test
def libraries_that_nobody_calls_have_no_page_in_the_first_process(case):
    plan = case.plan(Phases="one")
    plan.actor("web", "serve", Phase="one")
    run = case.run(plan).ready()
    unused = [line for line in mappings(run.pid) if line[0] == "r-xp" and ("/libgcrypt" in line[1] or "/liblzma" in line[1])]
    equal(len(unused), 2, f"the libraries that libsystemd brings along: {unused}")
    equal([kib for _, _, kib in unused], [0, 0], f"resident KiB of their text: {unused}")
    equal(run.end(), 0, "exit code")
