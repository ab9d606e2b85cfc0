"""endwell, tini and dumb-init, each as the first process around one command, and what can be looked at from outside.

A look is a function of `start(words, options, …)` that answers a value, which the three may be compared by."""
import os
import signal
import subprocess
import tempfile

from endwell import ACTOR, BINARY, children, descendants, read_link, status_field
from journal import Follower, wait_until
from shell import Terminal, TYPIST, state

PROGRAMS = {"endwell": [BINARY, "run"], "tini": ["/usr/bin/tini"], "dumb-init": ["/usr/bin/dumb-init"]}
MARK = signal.SIGRTMAX  # the highest number is taken last of all that wait


class Init:
    """One of the three as the first process of a PID namespace. options: as tini writes them, or {program: options}."""

    def __init__(self, case, program, words, options="", *, shell="exec \"$@\"", stdin=subprocess.DEVNULL, below=(),
                 terminal=None):
        self.program, self.case = program, case
        self.folder = tempfile.mkdtemp(dir=case.directory)
        self.log = Follower(os.path.join(self.folder, "log"), self.alive)
        options = options.get(program, "") if isinstance(options, dict) else options
        run = os.path.join(self.folder, "run")
        os.mkdir(run)
        script = f"mount --bind {run} /run && {shell}"
        command = ["setpriv", "--pdeathsig", "SIGKILL", "unshare", "--pid", "--fork", "--kill-child", "--mount-proc",
                   "/bin/sh", "-c", script, "sh", *below, *PROGRAMS[program], *options.split(), "--", *words]
        environment = {**case.environment, "ACTOR_LOG": self.log.path}
        self.terminal = terminal
        self.ends = [open(os.path.join(self.folder, name), "wb+") for name in ("out", "err")]
        output, errors = (terminal.its, terminal.its) if terminal else self.ends
        self.process = subprocess.Popen(command, stdin=terminal.its if terminal else stdin, stdout=output,
                                        stderr=errors, cwd=self.folder, env=environment)
        case.runs.append(self)

    def alive(self):
        return self.process.poll() is None

    @property
    def pid(self):
        """Of the program itself, behind the shell that prepared its place."""
        wanted = os.path.realpath(PROGRAMS[self.program][0])
        def find():
            return next((one for one in descendants(self.process.pid) if read_link(f"/proc/{one}/exe") == wanted), None)
        return wait_until(find, self.program, alive=self.alive)

    def outside(self, inner):
        return next(one for one in descendants(self.process.pid) if status_field(one, "NSpid")[-1:] == [str(inner)])

    def command_pid(self):
        return self.outside(self.log.first("serving", name="command")["pid"])

    def serving(self, count=1):
        self.log.until("serving", count=count)
        return self

    def send(self, number):
        os.kill(self.pid, number)

    def mark(self):
        """Everything that was sent before has been passed on, or will never be."""
        before = len(self.signals(marks=True))
        self.send(MARK)
        wait_until(lambda: self.signals(marks=True)[before:].count(MARK) == 1, "the mark", alive=self.alive)

    def signals(self, name="command", marks=False):
        return [line["signal"] for line in self.log.all("signal", name=name) if marks or line["signal"] != MARK]

    def code(self):
        return self.process.wait(60)

    def kill_command(self):
        os.kill(self.command_pid(), signal.SIGKILL)
        return self.code()

    def text(self, name="out"):
        with open(os.path.join(self.folder, name), encoding="utf-8", errors="replace") as file:
            return file.read()

    def explain(self):
        shown = self.terminal.text() if self.terminal else f"{self.text()}\n{self.text('err')}"
        return f"--- {self.program}:\n{shown}"

    def clean(self):
        self.process.kill()
        self.process.wait()
        self.log.close()
        for end in self.ends:
            end.close()


def actor(steps):
    return [ACTOR, "as", "command", ",", *steps.split()]


class Start:
    """What a row gets: start(…) makes an Init of the program that is looked at."""

    def __init__(self, case, program):
        self.case, self.program = case, program

    def __call__(self, words, options="", **how):
        return Init(self.case, self.program, words, options, **how)


# ---- What is looked at: each answers a value that must be the same ----

def exit_of(words, options="", **how):
    return lambda start: start(words, options, **how).code()


def shell_exit(text, options=""):
    return exit_of(["/bin/sh", "-c", text], options)


def output_of(text, **how):
    def look(start):
        run = start(["/bin/sh", "-c", text], **how)
        run.code()
        return run.text()
    return look


def said(words, options="", number=0):
    """Whether anything is said, on stderr (tini: on stdout, too)."""
    def look(start):
        run = start(words, options)
        if number:
            run.serving().send(number)
        run.code()
        return bool((run.text() + run.text("err")).strip())
    return look


def passed(numbers):
    def look(start):
        run = start(actor("serve --ignore")).serving()
        for number in numbers:
            run.send(number)
        run.mark()
        run.kill_command()
        return sorted(set(run.signals()))  # CONT once more: endwell sends it behind what asks for the end
    return look


def stop_signal(number):
    """A job-control signal from outside: what becomes of a command that takes it?"""
    def look(start):
        run = start(actor("serve")).serving()
        run.send(number)
        pid = run.command_pid()
        answer = wait_until(lambda: run.signals() or state(pid) == "T" and "stopped", "either", alive=run.alive)
        run.kill_command()
        return answer
    return look


def repeated(number, count):
    """How often it arrives when each is sent after the one before has arrived, or was taken for a repetition."""
    def look(start):
        run = start(actor("serve --ignore")).serving()
        for _ in range(count):
            run.send(number)
            run.mark()
        run.kill_command()
        return run.signals().count(number)
    return look


def with_member(options):
    """Who gets a signal: the command, and a child of it in its process group."""
    def look(start):
        run = start(actor("spawn as member + serve --ignore , serve --ignore"), options).serving(2)
        run.send(signal.SIGUSR1)
        run.mark()
        if signal.SIGUSR1 not in run.signals("member"):
            run.send(signal.SIGUSR2)
            run.mark()
        found = {name: signal.SIGUSR1 in run.signals(name) for name in ("command", "member")}
        os.kill(run.outside(run.log.first("serving", name="member")["pid"]), signal.SIGKILL)
        run.kill_command()
        return found
    return look


def rewritten(options):
    def look(start):
        run = start(actor("serve --ignore"), options).serving()
        for number in (signal.SIGUSR1, signal.SIGHUP, signal.SIGUSR2):
            run.send(number)
            run.mark()
        run.kill_command()
        return sorted(run.signals())
    return look


def leaves_a_child(start):
    """The command ends on TERM at once, its child needs 200 ms for its end: does the child get there?"""
    run = start(actor("spawn as member + serve --term-ms 200 , serve")).serving(2)
    run.send(signal.SIGTERM)
    run.code()
    return bool(run.log.all("exiting", name="member"))


def orphan_parent(options):
    """Not the first process: whose child is an orphan then, the init's?"""
    def look(start):
        run = start(actor("spawn --double --setsid as orphan + serve , serve"), options, below=[ACTOR, "nest"])
        run.serving(2)
        who = {run.pid: "the init", children(run.process.pid)[0]: "the first process"}
        orphan = run.outside(run.log.first("serving", name="orphan")["pid"])
        return wait_until(lambda: who.get(int(status_field(orphan, "PPid")[0])), "the orphan's parent")
    return look


def parent_death(options):
    """Its parent dies: what does the command hear?"""
    def look(start):
        first = "/bin/sh -c '\"$@\" & wait' sh \"$@\"; exec sleep 3600"
        run = start(actor("serve --ignore"), options, below=["/bin/sh", "-c", first, "sh"]).serving()
        parent = int(status_field(run.pid, "PPid")[0])
        os.kill(parent, signal.SIGKILL)
        wait_until(lambda: int(status_field(run.pid, "PPid")[0]) != parent, "another parent")
        run.mark()
        return run.signals()
    return look


def zombies(options):
    def look(start):
        run = start(actor("orphans 50 0 , serve"), options).serving()
        mine = read_link(f"/proc/{run.pid}/ns/pid")

        def none():
            return not [pid for pid in os.listdir("/proc") if pid.isdigit() and read_link(f"/proc/{pid}/ns/pid") == mine
                        and state(pid) == "Z"]
        wait_until(none, "no zombies")
        run.send(signal.SIGTERM)
        run.code()
        return bool(run.text("err").strip())
    return look


def reads_input(start):
    reading, writing = os.pipe()
    run = start(["cat"], stdin=reading)
    os.close(reading)
    os.write(writing, b"through cat")
    os.close(writing)
    return run.code(), run.text()


def environment(start):
    """The names that are there besides those that were given."""
    run = start(["/usr/bin/env", "-0"], shell='env -i GIVEN=1 ACTOR_LOG=x "$@"')
    run.code()
    return sorted(line.split("=")[0] for line in run.text().split("\0") if line and line[:5] not in ("GIVEN", "ACTOR"))


def dispositions(start):
    """What the command has blocked and ignored, below somebody who ignores SIGHUP."""
    run = start(actor("report"), shell="trap '' HUP && exec \"$@\"")
    run.code()
    report = run.log.only("report")
    return int(report["SigBlk"], 16), [number for number in range(1, 65) if int(report["SigIgn"], 16) >> number - 1 & 1]


def session(start):
    run = start(actor("report"))
    run.code()
    report = run.log.only("report")
    return report["session"] == report["pid"], report["group"] == report["pid"]


# ---- On a terminal, as a container's runtime makes it ----

ON_TERMINAL = "exec setsid --ctty \"$@\""


def on_terminal(look):
    def look_there(start):
        terminal = Terminal()
        try:
            return look(lambda words, options="": start(words, options, shell=ON_TERMINAL, terminal=terminal), terminal)
        finally:
            terminal.hang_up()
    return look_there


def keys(start, terminal):
    """Ctrl-C, Ctrl-\\ and a new size: what does the command hear?"""
    run = start([TYPIST, "command", "--deaf", "--catch", "INT", "--catch", "QUIT", "--catch", "TERM"])
    report = run.log.until("begun")
    terminal.type("\x03")
    run.log.until("signal", signal=int(signal.SIGINT))
    terminal.type("\x1c")
    run.log.until("signal", signal=int(signal.SIGQUIT))
    terminal.set_size(33, 99)
    run.log.until("signal", signal=int(signal.SIGWINCH))
    run.send(signal.SIGTERM)
    run.log.until("signal", signal=int(signal.SIGTERM))
    os.kill(run.outside(report["pid"]), signal.SIGKILL)
    return run.code(), [number for number in run.signals() if number != signal.SIGCONT]


def stop_key(start, terminal):
    """Ctrl-Z where nobody can continue what it stops: is the next line read?"""
    run = start([TYPIST, "command"])
    pid = run.outside(run.log.until("begun")["pid"])
    terminal.type("\x1a")
    terminal.type("next\n")
    return wait_until(lambda: "goes on" if run.log.all("line", text="next") else
                      "stays stopped" if state(pid) == "T" and run.program != "endwell" else None, "either")


def modes_after_a_kill(start, terminal):
    run = start([TYPIST, "command", "--raw"])
    os.kill(run.outside(run.log.until("begun")["pid"]), signal.SIGKILL)
    return run.code(), terminal.modes() == terminal.modes_before


def foreground(start, terminal):
    run = start([TYPIST, "command"])
    report = run.log.until("begun")
    terminal.type("exit 4\n")
    return run.code(), report["tty"], report["foreground"] == report["group"]
