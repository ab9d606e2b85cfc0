"""`endwell run --` beside the real tini and dumb-init: the same command, the same signals, a row for each thing that
somebody may rely on. Where a peer differs the row says how, and why endwell does as it does; the manual lists these."""
import signal

from case import test
from inits import (MARK, Start, actor, dispositions, environment, exit_of, foreground, keys, leaves_a_child,
                   modes_after_a_kill, on_terminal, orphan_parent, output_of, parent_death, passed, reads_input,
                   repeated, rewritten, said, session, shell_exit, stop_key, stop_signal, with_member, zombies)
from journal import equal

SAME = "as endwell"
MISSING = "it has nothing of the kind"
NEVER = [signal.SIGKILL, signal.SIGSTOP, signal.SIGCHLD, 32, 33, MARK]
FAULTS = [signal.SIGILL, signal.SIGTRAP, signal.SIGABRT, signal.SIGBUS, signal.SIGFPE, signal.SIGSEGV, signal.SIGSYS]
STOPS = [signal.SIGTSTP, signal.SIGTTIN, signal.SIGTTOU]
CATCHABLE = [number for number in range(1, 65) if number not in NEVER + STOPS]


class Row:
    """endwell: what it answers. tini, dumb_init: SAME, another answer, or MISSING. why: of a difference."""

    def __init__(self, name, look, endwell, tini=SAME, dumb_init=SAME, why=""):
        self.name, self.look, self.endwell = name, look, endwell
        self.peers = {"tini": tini, "dumb-init": dumb_init}
        self.why = why


ROWS = [
    *(Row(f"exit_code_{code}", shell_exit(f"exit {code}"), code) for code in (0, 1, 7, 126, 127, 128, 137, 255)),
    *(Row(f"death_by_signal_{one}", shell_exit(f"kill -{one} $$"), 128 + one) for one in (1, 2, 6, 9, 11, 15)),
    Row("no_such_command", exit_of(["surely-no-such-command"]), 127, dumb_init=2, why="a shell says 127"),
    Row("a_directory_as_command", exit_of(["/tmp"]), 126, dumb_init=2, why="a shell says 126"),
    Row("no_command", exit_of([]), 64, tini=1, dumb_init=1, why="sysexits(3): a failure of its own, not the command's"),
    Row("a_bad_option", exit_of(["true"], "-Z"), 64, tini=1, dumb_init=1, why="the same"),
    Row("remap_exit", shell_exit("exit 143", "-e 143"), 0, dumb_init=MISSING),
    Row("remap_of_another_exit", shell_exit("exit 3", "-e 143"), 3, dumb_init=MISSING),
    Row("remap_of_several", shell_exit("exit 3", "-e 143 -e 3"), 0, dumb_init=MISSING),
    Row("remap_of_a_signal", shell_exit("kill -TERM $$", "-e 143"), 0, dumb_init=MISSING),
    Row("letters_in_one_word", shell_exit("exit 5", "-vvgws"), 5, dumb_init=MISSING),
    Row("verbose", said(["true"], "-v"), True),
    Row("very_verbose", shell_exit("exit 6", "-vvv"), 6),
    Row("silence_when_it_ends_well", said(["true"]), False),
    Row("silence_when_it_fails", said(["false"]), False),
    Row("silence_when_it_dies", said(["/bin/sh", "-c", "kill -TERM $$"]), False),
    Row("silence_when_it_is_asked", said(actor("serve"), number=signal.SIGTERM), False),
    Row("signals", passed(CATCHABLE), CATCHABLE, tini=[one for one in CATCHABLE if one not in FAULTS],
        why="what can be caught is the command's business, whatever it is"),
    Row("stop_signal", stop_signal(signal.SIGTSTP), [signal.SIGTSTP], dumb_init="stopped",
        why="it may want to tidy up"),
    Row("stop_signals_of_a_terminal", passed(STOPS), STOPS, tini=[signal.SIGTSTP], dumb_init=MISSING, why="the same"),
    Row("a_repeated_int", repeated(signal.SIGINT, 3), 3),
    Row("a_repeated_hup", repeated(signal.SIGHUP, 3), 3),
    Row("a_repeated_term", repeated(signal.SIGTERM, 3), 1, tini=3, dumb_init=3,
        why="platforms repeat it, and a second one makes many programs drop what they are finishing"),
    Row("who_gets_a_signal", with_member(""), {"command": True, "member": False},
        dumb_init={"command": True, "member": True}, why="as tini; dumb-init's default is -g here"),
    Row("who_gets_a_signal_with_g", with_member({"tini": "-g", "endwell": "-g"}), {"command": True, "member": True}),
    Row("who_gets_a_signal_with_c", with_member({"dumb-init": "-c", "endwell": "-c"}),
        {"command": True, "member": False}),
    Row("rewrite", rewritten("-r 10:12 -r 1:0"), [12, 12], tini=MISSING),
    Row("rewrite_by_its_long_name", rewritten("--rewrite 10:30 --rewrite 12:0"), [1, 30], tini=MISSING),
    Row("what_the_command_leaves_behind", leaves_a_child, True, tini=False, dumb_init=False,
        why="it is asked and waited for, within the grace"),
    Row("orphans_below_another_process", orphan_parent(""), "the init", tini="the first process",
        dumb_init="the first process", why="always a subreaper: else nobody could wait for them"),
    Row("orphans_with_s", orphan_parent("-s"), "the init", dumb_init=MISSING),
    Row("a_dead_parent", parent_death(""), []),
    Row("a_dead_parent_with_p", parent_death("-p SIGUSR2"), [signal.SIGUSR2], dumb_init=MISSING),
    Row("zombies", zombies(""), False),
    Row("zombies_with_w", zombies("-w"), True, dumb_init=MISSING),
    Row("standard_input", reads_input, (0, "through cat")),
    Row("a_closed_input", output_of("test -e /dev/fd/0 && echo open; true", shell='exec "$@" <&-'), "open\n",
        tini="", dumb_init="", why="else the first file that the program opens becomes its input"),
    Row("other_descriptors", output_of("cat <&7", shell='echo seven >seven && exec "$@" 7<seven'), "seven\n"),
    Row("process_substitution", exit_of(["/bin/bash", "-c", 'cat "$1" | grep -q inside', "bash", "/dev/fd/63"],
                                        shell="exec bash -c '\"$@\" 63< <(echo inside)' bash \"$@\""), 0),
    Row("environment", environment, ["ENDWELL_EPOCH", "ENDWELL_INSTANCE", "ENDWELL_OWNER", "ENDWELL_PHASE",
                                     "ENDWELL_RUNTIME_DIRECTORY", "ENDWELL_SERVICE", "ENDWELL_SOCKET", "NOTIFY_SOCKET"],
        tini=[], dumb_init=[], why="where endwell is, and who the command is to it"),
    Row("limits_and_directory", output_of("umask; ulimit -n; ulimit -c; nice; pwd | grep -c endwell-test",
                                          shell='umask 027 && ulimit -Sn 321 && exec nice -n 3 "$@"'),
        "0027\n321\n0\n3\n1\n"),
    Row("dispositions", dispositions, (0, []), tini=(0, [signal.SIGHUP]),
        why="a command below endwell can be asked by any signal; so nohup does not reach through"),
    Row("session", session, (True, True), tini=(False, True), why="as dumb-init: a session tells whose a process is"),
    Row("terminal", on_terminal(foreground), (4, [True] * 3, True)),
    Row("terminal_keys", on_terminal(keys), (137, [signal.SIGINT, signal.SIGQUIT, signal.SIGWINCH, signal.SIGTERM])),
    Row("terminal_stop_key", on_terminal(stop_key), "goes on", tini="stays stopped",
        why="nobody at that terminal could ever continue it"),
    Row("terminal_after_a_kill", on_terminal(modes_after_a_kill), (137, True), tini=(137, False),
        dumb_init=(137, False), why="a program that was cut off did not mean to leave it so"),
]


def compare(row):
    def compare_row(case):
        for program, wanted in {"endwell": row.endwell, **row.peers}.items():
            if wanted is not MISSING:
                found = row.look(Start(case, program))
                equal(found, row.endwell if wanted is SAME else wanted, program)
    compare_row.__name__, compare_row.__module__ = row.name, __name__
    return compare_row


for each in ROWS:
    test(compare(each))
