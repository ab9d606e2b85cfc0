"""The single command and TTY=yes on a terminal: below a shell with job control, and as the first process."""
import os
import signal
import termios
import time

from case import test
from endwell import children
from journal import Journal, check, equal, lasted, wait_until
from shell import Shell, Terminal, TYPIST as SCRIPT, state, words_of

S = 1_000_000
RUN = '"$ENDWELL" run'
TYPIST = '"$TYPIST"'
BOTH = (True, False)  # the shell in a PID namespace of its own, and outside


def begun(case, name="typist", count=1):
    return case.log.until("begun", count=count, name=name)


def signals(case, name="typist"):
    return [line["signal"] for line in case.log.all("signal", name=name)]


def stopped(shell, *pids):
    for pid in pids:
        shell.until_state(pid, "T")


def running(shell, *pids):
    for pid in pids:
        shell.until_state(pid, "RS")


def typed(case, shell, text, name="typist"):
    """The program reads what is typed."""
    shell.type(text + "\n")
    case.log.until("line", name=name, text=text)


@test
def a_ctrl_c_is_the_commands_alone_and_once(case):
    for count, first in enumerate(BOTH, 1):
        shell = Shell(case, first)
        since = shell.begin(f"{RUN} -- {TYPIST} typist --catch INT --catch QUIT")
        report = begun(case, count=count)
        equal((report["group"], report["foreground"]), (report["pid"],) * 2, "its group, and that in the foreground")
        equal(report["tty"], [True] * 3, "its input, output and error are the terminal")
        shell.type("\x03")
        case.log.until("signal", count=2 * count - 1)
        shell.type("\x1c")
        case.log.until("signal", count=2 * count)
        shell.type("exit 7\n")
        shell.prompt(since)
        equal(shell.run("echo code=$?").strip(), "code=7", "the command's own code")
        equal(signals(case)[-2:], [signal.SIGINT, signal.SIGQUIT], "signals of the command")
        equal(shell.foreground(), os.getpgid(shell.pid), "who has the terminal afterwards")


@test
def a_ctrl_c_and_a_ctrl_backslash_that_end_the_command_end_endwell_with_their_codes(case):
    for first in BOTH:
        for key, number in (("\x03", signal.SIGINT), ("\x1c", signal.SIGQUIT)):
            shell = Shell(case, first)
            since = shell.begin(f"{RUN} -- cat")
            shell.until_foreground(shell.program())
            shell.type(key)
            shell.prompt(since)
            equal(shell.run("echo code=$?").strip(), f"code={128 + number}", "exit code")


@test
def a_ctrl_z_gives_the_shell_its_terminal_back_and_fg_gives_it_to_the_command_again(case):
    for first in BOTH:
        shell, name = Shell(case, first), f"typist{first}"
        since = shell.begin(f"{RUN} -- {TYPIST} {name}")
        begun(case, name)
        endwell, program = shell.endwell(), shell.program()
        for count in (1, 2, 3):
            shell.suspend(since)
            stopped(shell, endwell, program)
            equal(shell.foreground(), os.getpgid(shell.pid), "who has the terminal")
            equal(shell.run("echo here").strip(), "here", "the shell")
            since = shell.begin("fg")
            heard = case.log.until("signal", count=count, name=name)
            equal((heard["signal"], heard["foreground"]), (signal.SIGCONT, begun(case, name)["group"]),
                  "the one signal that the command was continued by, and the group in the foreground then")
            running(shell, endwell, program)
            typed(case, shell, f"line {count}", name)
        shell.type("exit 5\n")
        shell.prompt(since)
        equal(shell.run("echo code=$?").strip(), "code=5", "exit code")
        equal(signals(case, name), [signal.SIGCONT] * 3, "signals of the command")


@test
def bg_continues_the_command_without_the_terminal_and_fg_of_a_running_job_finds_it_when_it_reads(case):
    for first in BOTH:
        shell, name = Shell(case, first), f"typist{first}"
        since = shell.begin(f"{RUN} -- {TYPIST} {name} --deaf")  # else it would read what is typed for the shell
        begun(case, name)
        endwell, program = shell.endwell(), shell.program()
        shell.suspend(since)
        shell.run("bg")
        heard = case.log.until("signal", name=name)
        check(heard["foreground"] != begun(case, name)["group"], "it has the terminal in the background")
        running(shell, endwell, program)
        since = shell.begin("fg")  # of a running job: bash sends no SIGCONT
        shell.until_foreground(endwell)
        os.kill(program, signal.SIGUSR1)
        typed(case, shell, "after fg", name)
        shell.until_foreground(program)
        shell.type("exit 0\n")
        shell.prompt(since)


@test
def a_ctrl_c_after_fg_of_a_running_job_is_the_commands(case):
    for first in BOTH:
        shell, name = Shell(case, first), f"typist{first}"
        shell.run(f"{RUN} -- {TYPIST} {name} --deaf --catch INT &")
        begun(case, name)
        since = shell.begin("fg")
        shell.until_foreground(shell.endwell())
        shell.type("\x03")
        equal(case.log.until("signal", name=name)["signal"], signal.SIGINT, "the signal of the command")
        shell.until_foreground(shell.program())
        os.kill(shell.program(), signal.SIGTERM)
        shell.prompt(since)
        equal(shell.run("echo code=$?").strip(), "code=143", "exit code: no ending began")
        equal(signals(case, name), [signal.SIGINT], "signals of the command")


@test
def a_command_that_is_started_in_the_background_stops_when_it_reads_as_a_shell_expects(case):
    for first in BOTH:
        shell = Shell(case, first)
        since = shell.place()
        shell.run(f"{RUN} -- cat &")
        endwell, program = shell.endwell(), shell.program()
        stopped(shell, endwell, program)
        check("Stopped" in shell.run("jobs") or "Stopped" in shell.text(since), "the shell does not know of it")
        equal(shell.foreground(), os.getpgid(shell.pid), "who has the terminal")
        since = shell.begin("fg")
        shell.until_foreground(program)
        shell.type("through cat\n")
        shell.until("through cat\r\nthrough cat", since)
        shell.type("\x04")
        shell.prompt(since)
        equal(shell.run("echo code=$?").strip(), "code=0", "exit code")


@test
def a_new_size_of_the_window_reaches_the_command(case):
    for first in BOTH:
        shell, name = Shell(case, first), f"typist{first}"
        since = shell.begin(f"{RUN} -- {TYPIST} {name}")
        begun(case, name)
        for count, (rows, columns) in enumerate(((30, 100), (40, 120)), 1):
            shell.set_size(rows, columns)
            heard = case.log.until("signal", count=count, name=name)
            equal((heard["signal"], heard["size"]), (signal.SIGWINCH, [columns, rows]), "the signal, and the size")
        shell.type("\x03")
        shell.prompt(since)


@test
def a_program_that_is_killed_in_raw_mode_leaves_the_terminal_as_it_was(case):
    for first in BOTH:
        shell, name = Shell(case, first), f"typist{first}"
        before = shell.run("stty -a")
        check("icanon" in before and "-icanon" not in before, before)
        for count, command in enumerate((f"{TYPIST} {name} --raw", f"sh -c '{TYPIST} {name} --raw; exit $?'"), 1):
            since = shell.begin(f"{RUN} -- {command}")
            begun(case, name, count)
            check(not shell.modes()[3] & termios.ICANON, "it did not put the terminal into raw mode")
            shell.type("x")
            case.log.until("line", count=count, name=name)
            os.kill(shell.named("typist.py"), signal.SIGKILL)
            shell.prompt(since)
            equal(shell.run("echo code=$?").strip(), "code=137", "exit code")
            equal(shell.run("stty -a"), before, "the terminal's modes")


@test
def a_raw_program_that_is_stopped_finds_its_modes_again_and_the_shell_its_own(case):
    for first in BOTH:
        shell, name = Shell(case, first), f"typist{first}"
        before = shell.run("stty -a")
        since = shell.begin(f"{RUN} -- sh -c 'stty raw -echo; exec {TYPIST} {name}'")
        begun(case, name)
        raw = shell.modes()
        os.kill(shell.program(), signal.SIGSTOP)
        shell.prompt(shell.until("Stopped", since))
        equal(shell.run("stty -a"), before, "the modes that the shell finds")
        since = shell.begin("fg")
        case.log.until("signal", name=name)
        equal(shell.modes(), raw, "the modes that the program finds")
        os.kill(shell.program(), signal.SIGKILL)
        shell.prompt(since)
        equal(shell.run("stty -a"), before, "the modes that the shell finds afterwards")


@test
def a_command_that_changes_the_modes_and_ends_well_has_changed_them(case):
    shell = Shell(case)
    shell.run(f"{RUN} -- stty -echok")
    check("-echok" in shell.run("stty -a"), "the change is gone")
    shell.run(f"{RUN} -- sh -c 'stty echok; exit 3'")
    check("-echok" not in shell.run("stty -a"), "the change is gone")


PAGER = ("import sys; sys.stdin.read(); tty = open('/dev/tty'); print('pager waits', flush=True); "
         "print('pager has', tty.readline().strip(), flush=True)")


@test
def a_pager_behind_a_pipe_gets_the_terminal_when_it_reaches_for_it(case):
    """endwell and the pager are one job: the command has the terminal, the pager is in the background."""
    for first in BOTH:
        shell = Shell(case, first)
        since = shell.begin(f"{RUN} -- echo hello | python3 -c \"{PAGER}\"")
        shell.until("pager waits\r", since)
        shell.type("key\n")
        shell.prompt(shell.until("pager has key\r", since))


LATER = ("import signal; signal.pthread_sigmask(signal.SIG_BLOCK, [10]); print('ready', flush=True); "
         "signal.sigwait([10]); ")
EAGER = ("import signal; signal.signal(signal.SIGINT, signal.SIG_IGN); tty = open('/dev/tty'); "
         "print('pager waits', flush=True); print('pager has', tty.readline().strip(), flush=True)")


@test
def a_pager_that_reads_while_the_command_has_the_terminal_shares_it(case):
    for first in BOTH:
        shell, name = Shell(case, first), f"typist{first}"
        since = shell.begin(f"{RUN} -- {TYPIST} {name} --deaf --catch INT | python3 -c \"{LATER}{EAGER}\"")
        shell.until("ready\r", since)
        begun(case, name)
        os.kill(shell.named("-c"), signal.SIGUSR1)  # not before the command has the terminal
        shell.until("pager waits\r", since)
        shell.until_foreground(shell.endwell())
        shell.type("\x03")
        equal(case.log.until("signal", name=name)["signal"], signal.SIGINT, "the command hears what is typed")
        shell.type("key\n")
        shell.until("pager has key\r", since)
        os.kill(shell.program(), signal.SIGTERM)
        shell.prompt(since)
        equal(signals(case, name), [signal.SIGINT], "signals of the command")


@test
def a_pager_that_was_stopped_when_the_command_ended_goes_on(case):
    for first in BOTH:
        shell, name = Shell(case, first), f"typist{first}"
        steadfast = "sh -c 'trap \"\" TTIN; exec sleep 3600'"  # without it bash would see that the whole job is stopped
        since = shell.begin(f"{RUN} -- {TYPIST} {name} --deaf | {steadfast} | python3 -c \"{LATER}{EAGER}\"")
        shell.until("ready\r", since)
        begun(case, name)
        endwell, program, pager = shell.endwell(), shell.program(), shell.named("-c")
        os.kill(endwell, signal.SIGSTOP)
        stopped(shell, endwell)
        os.kill(program, signal.SIGKILL)
        shell.until_state(program, "Z")
        os.kill(pager, signal.SIGUSR1)
        stopped(shell, pager)
        os.kill(endwell, signal.SIGCONT)
        shell.type("key\n")
        shell.until("pager has key\r", since)
        os.kill(shell.named("sleep"), signal.SIGTERM)
        shell.prompt(since)


@test
def a_command_whose_input_is_a_pipe_stops_by_ctrl_z_and_goes_on_all_the_same(case):
    for first in BOTH:
        shell, name = Shell(case, first), f"typist{first}"
        since = shell.begin(f"sleep 3600 | {RUN} -- {TYPIST} {name} --deaf")  # Ctrl-C ends its input, too
        begun(case, name)
        endwell, program = shell.endwell(), shell.program()
        shell.suspend(since)
        stopped(shell, endwell, program)
        since = shell.begin("fg")
        equal(case.log.until("signal", name=name)["signal"], signal.SIGCONT, "the signal of the command")
        running(shell, endwell, program)
        shell.type("\x03")
        shell.prompt(since)
        equal(shell.run("echo code=$?").strip(), "code=130", "exit code")
        equal(signals(case, name), [signal.SIGCONT], "signals of the command")


@test
def an_endwell_that_was_stopped_alone_gets_the_terminal_back_with_fg(case):
    for first in BOTH:
        shell, name = Shell(case, first), f"typist{first}"
        since = shell.begin(f"{RUN} -- {TYPIST} {name}")
        begun(case, name)
        endwell, program = shell.endwell(), shell.program()
        os.kill(endwell, signal.SIGSTOP)
        shell.prompt(shell.until("Stopped", since))
        equal(shell.foreground(), os.getpgid(shell.pid), "who has the terminal")
        os.kill(endwell, signal.SIGCONT)
        running(shell, endwell)
        os.kill(program, signal.SIGKILL)
        wait_until(lambda: state(endwell) in ("", "Z"), "endwell's end")
        equal(shell.foreground(), os.getpgid(shell.pid), "who has the terminal, which was not ours any more")
        shell.run("wait")


@test
def one_endwell_below_another_stops_and_goes_on_as_one_job(case):
    for first in BOTH:
        shell, name = Shell(case, first), f"typist{first}"
        since = shell.begin(f"{RUN} -- {RUN} -- {TYPIST} {name}")
        begun(case, name)
        outer = shell.endwell()
        inner = shell.endwell(other_than=outer)
        program = shell.program(inner)
        shell.suspend(since)
        stopped(shell, outer, inner, program)
        since = shell.begin("fg")
        case.log.until("signal", name=name)
        running(shell, outer, inner, program)
        typed(case, shell, "through both", name)
        shell.type("exit 3\n")
        shell.prompt(since)
        equal(shell.run("echo code=$?").strip(), "code=3", "exit code")


@test
def a_job_that_is_ended_while_it_is_stopped_ends(case):
    for first in BOTH:
        shell, name = Shell(case, first), f"typist{first}"
        since = shell.begin(f"{RUN} -- {TYPIST} {name} --catch TERM")
        begun(case, name)
        endwell, program = shell.endwell(), shell.program()
        shell.suspend(since)
        stopped(shell, endwell, program)
        shell.run("kill %1")
        case.log.until("signal", name=name, signal=int(signal.SIGTERM))
        os.kill(program, signal.SIGKILL)
        wait_until(lambda: state(endwell) in ("", "Z"), "endwell's end")


# ---- A configuration ----

def contained(case, start):
    """As a container's runtime starts it: the first process, leader of a session whose terminal is its own."""
    terminal = Terminal()
    run = start(stdin=terminal.its, stdout=terminal.its, stderr=terminal.its, inside=["setsid", "--ctty"])
    case.runs.append(terminal)
    return run, terminal


def typist(plan, name="typist", words="", **keys):
    return plan.service(name, f"{SCRIPT} {name} {words}", TTY="yes", **keys)


@test
def a_foreground_service_has_the_terminal_and_the_others_have_none(case):
    plan = case.plan(Phases="http db")
    typist(plan, words="--catch INT --catch QUIT", Phase="http")
    plan.actor("data", "report , serve", Phase="db")
    run, terminal = contained(case, lambda **how: case.run(plan, **how))
    run.ready()
    report, other = begun(case), case.log.until("report", name="data")
    equal((report["group"], report["foreground"]), (report["pid"],) * 2, "its group, and that in the foreground")
    equal((report["tty"], report["session"]), ([True] * 3, 1), "its descriptors that are terminals, and its session")
    equal(other["session"], other["pid"], "the session of the other service")
    terminal.type("\x03")
    case.log.until("signal", name="typist")
    terminal.type("\x1c")
    case.log.until("signal", count=2, name="typist")
    equal(signals(case), [signal.SIGINT, signal.SIGQUIT], "signals of the foreground program")
    run.journal.none("signal_received")
    equal(run.end(), 0, "exit code")
    equal(case.signals("data"), [signal.SIGTERM], "signals of the other service")
    terminal.until_modes(terminal.modes_before)


@test
def a_ctrl_c_that_ends_an_essential_foreground_program_ends_everything_well(case):
    for count, key in enumerate("\x03\x1c", 1):
        plan = case.plan(Phases="http db", RuntimeDirectory=case.path(f"run.{count}"))
        typist(plan, Phase="http")
        plan.actor("data", "serve", Phase="db")
        run, terminal = contained(case, lambda **how: case.run(plan, **how))
        run.ready()
        begun(case, count=count), case.log.until("serving", count=count, name="data")
        terminal.type(key)
        equal(run.wait(), 0, "exit code")
        equal(run.journal.only("ending_started")["cause"], "finished", "why it ended")
        run.journal.none("service_restart_scheduled")
        equal(case.signals("data"), [signal.SIGTERM] * count, "signals of the other service")


@test
def a_second_ctrl_c_after_one_that_ended_the_foreground_program_ends_fast(case):
    plan = case.plan(Phases="http db")
    typist(plan, Phase="http")
    plan.actor("data", "serve --ignore", Phase="db")
    run, terminal = contained(case, lambda **how: case.run(plan, **how))
    run.ready()
    begun(case), case.serving("data")
    terminal.type("\x03")
    run.journal.until("service_asked", service="data")
    terminal.type("\x03")
    equal(run.wait(), 81, "exit code")
    second = run.journal.only("signal_received")
    equal((second["signal"], second["effect"]), ("SIGINT", "ends_fast"), "what endwell received")
    killed = run.journal.only("service_killed", service="data")
    lasted(run.journal.span_us(second, killed), S, "from the second to the kill")


@test
def case_15_two_ctrl_c_on_a_terminal_with_ordinary_services_end_fast(case):
    plan = case.plan(Phases="one")
    plan.actor("web", "serve --ignore", Phase="one")
    run, terminal = contained(case, lambda **how: case.run(plan, **how))
    run.ready()
    case.serving("web")
    terminal.type("\x03")
    run.journal.until("service_asked", service="web")
    terminal.type("\x03")
    equal(run.wait(), 81, "exit code")
    equal([line["effect"] for line in run.journal.all("signal_received")], ["ending_begins", "ends_fast"], "effects")
    equal(case.signals("web"), [signal.SIGTERM], "signals of web")


@test
def a_foreground_service_that_is_killed_in_raw_mode_finds_a_sane_terminal_at_its_next_run(case):
    plan = case.plan(Phases="one")
    typist(plan, words="--raw", Phase="one", RestartSec="1ms", StartLimitBurst=0)
    run, terminal = contained(case, lambda **how: case.run(plan, **how))
    for count in range(1, 6):
        report = begun(case, count=count)
        equal(report["foreground"], report["group"], "the group in the foreground")
        equal(report["modes"], terminal.modes_before, f"the modes that run {count} finds")
        equal(run.journal.until("service_started", count=count)["pid"], report["pid"], "the pid")
        os.kill(run.outside(report["pid"]), signal.SIGKILL)
    begun(case, count=6)
    equal(run.end(), 0, "exit code")
    terminal.until_modes(terminal.modes_before)


@test
def each_run_of_a_foreground_service_finds_the_terminal_as_the_first_one_did(case):
    plan, found = case.plan(Phases="one"), case.path("found")
    plan.shell("editor", f"stty -a >>{found}; stty raw -echo; exit 1", Phase="one", TTY="yes", RestartSec="1ms",
               StartLimitBurst=4)
    run, terminal = contained(case, lambda **how: case.run(plan, **how))
    equal(run.wait(), 83, "exit code")
    runs = case.text("found").split("speed")[1:]
    equal((len(runs), len(set(runs))), (4, 1), "how many runs there were, and found how many sets of modes")


@test
def the_terminal_of_a_foreground_service_that_had_to_be_killed_is_as_it_was(case):
    plan = case.plan(Phases="one", GraceSec=2)
    typist(plan, words="--raw --catch TERM", Phase="one")
    run, terminal = contained(case, lambda **how: case.run(plan, **how))
    run.ready()
    begun(case)
    check(terminal.modes() != terminal.modes_before, "it did not change the modes")
    equal(run.end(), 82, "exit code")
    terminal.until_modes(terminal.modes_before)


def until_continued(case, run, count):
    heard = case.log.until("signal", count=count, name="typist")
    equal((heard["signal"], heard["foreground"]), (signal.SIGCONT, begun(case)["group"]), "the signal, the foreground")
    wait_until(lambda: state(run.outside(begun(case)["pid"])) in "RS", "the program runs")


@test
def where_no_shell_is_there_a_stopped_foreground_program_goes_on_at_once(case):
    """The first process of a container: nobody could continue it."""
    for single in (True, False):
        plan = case.plan(Phases="one")
        typist(plan, words="--catch INT", Phase="one")
        case.log.lines.clear()
        run, terminal = contained(case, lambda **how: case.run_command([SCRIPT, "typist", "--catch", "INT"],
                                                                      **how) if single else case.run(plan, **how))
        program = run.outside(begun(case)["pid"])
        terminal.type("\x1a")
        until_continued(case, run, 1)
        for count, number in enumerate((signal.SIGSTOP, signal.SIGTSTP, signal.SIGTTIN, signal.SIGTTOU), 2):
            os.kill(program, number)
            until_continued(case, run, count)
        check(state(run.pid) in "RS", "endwell stopped, too")
        terminal.set_size(50, 150)
        heard = case.log.until("signal", count=6, name="typist")
        equal((heard["signal"], heard["size"]), (signal.SIGWINCH, [150, 50]), "the new size")
        terminal.type("\x03")
        equal(case.log.until("signal", count=7, name="typist")["signal"], signal.SIGINT, "Ctrl-C")
        terminal.type("exit 0\n")
        equal(run.wait(), 0, "exit code")
        equal(len(signals(case)), 7, "signals of the program")


@test
def a_stopped_foreground_program_is_no_reason_to_end_late(case):
    plan = case.plan(Phases="one")
    typist(plan, Phase="one")
    shell = Shell(case)
    since = shell.begin(f"{RUN} -c {plan.write()}")
    begun(case)
    endwell, program = shell.endwell(), shell.program()
    shell.suspend(since)
    stopped(shell, endwell, program)
    shell.run("kill -TERM %1")
    wait_until(lambda: state(endwell) in ("", "Z"), "endwell's end")
    journal = Journal(os.path.join(plan.runtime, "journal.jsonl"))
    finished = journal.only("ending_finished")
    equal((finished["code"], finished["killed"]), (0, 0), "exit code, and how many had to be killed")
    journal.close()


@test
def no_limit_goes_by_while_the_foreground_program_and_endwell_are_stopped(case):
    plan = case.plan(Phases="one", LogLevel="warning")
    typist(plan, words="--tell READY=1", Phase="one", Type="notify", TimeoutStartSec="6s", Restart="no")
    shell = Shell(case)
    since = shell.begin(f"{RUN} -c {plan.write()}")
    report = begun(case)
    endwell, program = shell.endwell(), shell.program()
    shell.suspend(since)
    stopped(shell, endwell, program)
    begin = time.monotonic()
    wait_until(lambda: time.monotonic() > begin + 7, "its limit would be over")
    since = shell.begin("fg")
    case.log.until("signal", name="typist")
    typed(case, shell, "I am ready")
    journal = Journal(os.path.join(plan.runtime, "journal.jsonl"))
    ready = journal.until("service_ready")
    equal(ready["pid"], report["pid"], "the run that became ready")
    check(ready["took_us"] < 7 * S, "the time that it was stopped counts")
    shell.type("\x03")
    shell.prompt(since)
    equal(shell.run("echo code=$?").strip(), "code=0", "exit code")
    journal.none("service_asked", service="typist", signal="SIGKILL")
    journal.close()


@test
def a_configuration_in_the_background_stops_when_its_foreground_program_reads_and_its_services_run_on(case):
    plan = case.plan(Phases="one", LogLevel="warning")
    plan.service("reader", "/bin/cat", Phase="one", TTY="yes")
    plan.actor("web", "serve --stop 12", Phase="one")
    shell = Shell(case)
    shell.run(f"{RUN} -c {plan.write()} &")
    endwell = shell.endwell()
    case.serving("web")
    stopped(shell, endwell, shell.named("cat"))
    running(shell, shell.named("actor"))
    equal(shell.foreground(), os.getpgid(shell.pid), "who has the terminal")
    since = shell.begin("fg")
    shell.until_foreground(shell.named("cat"))
    shell.type("to the reader\n")
    shell.until("to the reader\r\nto the reader", since)
    shell.type("\x04")
    case.log.until("signal", name="web", signal=int(signal.SIGTERM))
    os.kill(shell.named("actor"), signal.SIGUSR2)
    shell.prompt(since)
    equal(shell.run("echo code=$?").strip(), "code=0", "exit code")


@test
def a_window_that_is_closed_ends_what_runs_below_its_shell(case):
    for first in BOTH:
        for words in (f"-- {TYPIST} typist", f"--grace 2s -- {TYPIST} typist --deaf --catch HUP", None):
            plan = case.plan(Phases="one", GraceSec=2)
            typist(plan, Phase="one")
            plan.actor("web", "serve", Phase="one")
            case.log.lines.clear()
            shell = Shell(case, first)
            shell.begin(f"{RUN} {words or '-c ' + plan.write()}")
            begun(case)
            endwell, program = shell.endwell(), shell.program()
            if not words:
                case.serving("web")
            shell.hang_up()
            wait_until(lambda: state(endwell) in ("", "Z") and state(program) in ("", "Z"), "endwell's end")


@test
def a_hang_up_is_told_to_the_foreground_program_of_a_container_and_the_others_live_on(case):
    plan = case.plan(Phases="one")
    typist(plan, words="--deaf --catch HUP", Phase="one", Essential="no")
    plan.actor("web", "serve", Phase="one")
    run, terminal = contained(case, lambda **how: case.run(plan, **how))
    run.ready()
    begun(case), case.serving("web")
    terminal.hang_up()
    equal(case.log.until("signal", name="typist")["signal"], signal.SIGHUP, "the signal of the program")
    equal(run.journal.until("signal_received")["effect"], "passed_on", "what endwell did with it")
    run.journal.none("ending_started")
    equal(run.end(), 0, "exit code")
    equal(case.signals("web"), [signal.SIGTERM], "signals of web")


@test
def without_a_terminal_a_foreground_service_gets_what_there_is(case):
    plan = case.plan(Phases="one")
    typist(plan, Phase="one")
    reading, writing = os.pipe()
    run = case.run(plan, stdin=reading)
    os.close(reading)
    report = begun(case)
    equal((report["tty"], report["session"]), ([False] * 3, report["pid"]), "its descriptors and its session")
    os.write(writing, b"through a pipe\n")
    case.log.until("line", text="through a pipe")
    os.close(writing)
    equal(run.wait(), 0, "exit code")
    check("standard input is no terminal here" in run.errors(), "nothing was said of it")


@test
def a_shell_as_foreground_service_has_its_jobs_and_its_death_costs_nobody_the_terminal(case):
    plan = case.plan(Phases="one")
    plan.service("shell", "/bin/bash --norc --noprofile -i", Phase="one", TTY="yes", RestartSec="1ms",
                 Environment="TERM=dumb PS1=ready>")
    run, terminal = contained(case, lambda **how: case.run(plan, **how))
    terminal.until("ready>")
    terminal.type("cat\n")
    shell = run.outside(run.journal.until("service_started")["pid"])
    cat = wait_until(lambda: next((pid for pid in children(shell) if words_of(pid)[0] == "cat"), None), "its job")
    wait_until(lambda: terminal.foreground() == cat, "the job in the foreground")
    terminal.type("\x1a")
    terminal.until("ready>", terminal.until("Stopped"))
    wait_until(lambda: state(cat) == "T" and state(shell) in "RS", "the job is the shell's to stop")
    terminal.type("fg\n")
    wait_until(lambda: terminal.foreground() == cat, "the job in the foreground again")
    place = terminal.place()
    os.kill(shell, signal.SIGKILL)
    place = terminal.until("ready>", place)
    terminal.type("echo $((6 * 7))\n")
    terminal.until("42", place)
    terminal.type("exit\n")
    equal(run.wait(), 0, "exit code")
