"""The single command and TTY=yes on a terminal: below a shell with job control, and as the first process."""
import os
import signal
import termios

from case import test
from endwell import ACTOR
from journal import check, equal, wait_until
from shell import Shell, Terminal, state

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
            shell.type("\x1a")
            shell.prompt(shell.until("Stopped", since))
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
        shell.type("\x1a")
        shell.prompt(shell.until("Stopped", since))
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


EAGER = ("import signal; signal.signal(signal.SIGINT, signal.SIG_IGN); tty = open('/dev/tty'); "
         "print('pager waits', flush=True); print('pager has', tty.readline().strip(), flush=True)")


@test
def a_pager_that_reads_while_the_command_has_the_terminal_shares_it(case):
    for first in BOTH:
        shell, name = Shell(case, first), f"typist{first}"
        since = shell.begin(f"{RUN} -- {TYPIST} {name} --deaf --catch INT | python3 -c \"{EAGER}\"")
        begun(case, name)
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
def a_command_whose_input_is_a_pipe_stops_by_ctrl_z_and_goes_on_all_the_same(case):
    for first in BOTH:
        shell, name = Shell(case, first), f"typist{first}"
        since = shell.begin(f"sleep 3600 | {RUN} -- {TYPIST} {name} --deaf")  # Ctrl-C ends its input, too
        begun(case, name)
        endwell, program = shell.endwell(), shell.program()
        shell.type("\x1a")
        shell.prompt(shell.until("Stopped", since))
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
        shell.type("\x1a")
        shell.prompt(shell.until("Stopped", since))
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
        shell.type("\x1a")
        shell.prompt(shell.until("Stopped", since))
        stopped(shell, endwell, program)
        shell.run("kill %1")
        case.log.until("signal", name=name, signal=int(signal.SIGTERM))
        os.kill(program, signal.SIGKILL)
        wait_until(lambda: state(endwell) in ("", "Z"), "endwell's end")
