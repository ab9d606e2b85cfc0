"""An interactive bash on a pseudo-terminal, typed at from outside: to it, endwell is a job."""
import fcntl
import os
import select
import signal
import struct
import subprocess
import termios
import threading

from endwell import BINARY, children, descendants, read_link, status_field
from journal import check, wait_until, TIMEOUT_SECONDS

TYPIST = os.path.join(os.path.dirname(os.path.realpath(__file__)), "../process/programs/typist.py")


def state(pid):
    """R, S, T, Z …; nothing when it is gone."""
    return "".join(status_field(pid, "State")[:1])


class Terminal:
    """Our end of a pseudo-terminal. What it shows is read all the time, so that nobody waits for us."""

    def __init__(self):
        self.mine, self.its = os.openpty()
        self.woken, self.wake = os.pipe()
        self.shown, self.news = b"", threading.Condition()
        self.set_size(24, 80)
        self.modes_before = self.modes()
        self.reader = threading.Thread(target=self._read, daemon=True)
        self.reader.start()

    def _read(self):
        while self.woken not in select.select([self.mine, self.woken], [], [])[0]:
            try:
                more = os.read(self.mine, 65536)
            except OSError:
                more = b""
            with self.news:
                if not more:
                    return
                self.shown += more
                self.news.notify_all()

    def type(self, text):
        os.write(self.mine, text.encode())

    def text(self, since=0):
        with self.news:
            return self.shown[since:].decode(errors="replace")

    def place(self):
        with self.news:
            return len(self.shown)

    def until(self, text, since=0):
        """Waits until this is shown behind that place; the place behind it."""
        with self.news:
            found = self.news.wait_for(lambda: self.shown.find(text.encode(), since) >= 0, TIMEOUT_SECONDS)
            check(found, f"the terminal did not show {text!r} in {TIMEOUT_SECONDS} s")
            return self.shown.find(text.encode(), since) + len(text)

    def modes(self):
        """The flags: of input, of output, of the line, of the discipline."""
        return termios.tcgetattr(self.mine)[:4]

    def until_modes(self, wanted):
        wait_until(lambda: self.modes() == wanted, f"modes {wanted} (now {self.modes()})")

    def set_size(self, rows, columns):
        fcntl.ioctl(self.mine, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def foreground(self):
        """The group in the foreground, numbered as we see it."""
        return os.tcgetpgrp(self.mine)

    def hang_up(self):
        """The window is closed. Not before nobody reads any more: the number may be another file's a moment later."""
        if self.mine < 0:
            return
        os.write(self.wake, b"x")
        self.reader.join()
        for fd in (self.its, self.mine, self.woken, self.wake):
            os.close(fd)
        self.mine = -1


    def explain(self):
        return f"--- the terminal shows, its end:\n{self.text()[-4000:]}"

    def clean(self):
        self.hang_up()


class Shell(Terminal):
    """`first`: bash is the first process of a PID namespace; else it lives among our own processes."""

    def __init__(self, case, first=True):
        super().__init__()
        self.survivors = []
        self.case, self.first, self.number, self.typed = case, first, len(case.runs), 0
        root = case.path(f"root.{self.number}")
        os.makedirs(root)
        self.runtime = os.path.join(root, "endwell")
        namespaces = ["--mount", *(["--pid", "--fork", "--kill-child", "--mount-proc"] if first else [])]
        script = f"mount --bind {root} /run && exec setsid --ctty bash --norc --noprofile -i"
        command = ["setpriv", "--pdeathsig", "SIGKILL", "unshare", *namespaces, "/bin/sh", "-c", script]
        self.process = subprocess.Popen(command, stdin=self.its, stdout=self.its, stderr=self.its, cwd=case.directory,
                                        env={**case.environment, "PS1": r"[\#]> ", "TERM": "dumb", "HISTFILE": "",
                                             "ENDWELL": BINARY, "TYPIST": TYPIST})
        case.runs.append(self)
        self.pid = wait_until(self._find, "the shell")
        self.prompt()

    def _find(self):
        pids = children(self.process.pid) if self.first else [self.process.pid]
        return pids[0] if pids and os.path.basename(read_link(f"/proc/{pids[0]}/exe")) == "bash" else None

    def prompt(self, since=0):
        """Waits until the shell wants its next command; the place where that one will be shown."""
        return self.until(f"[{self.typed + 1}]> ", since)

    def suspend(self, since):
        """Ctrl-Z, until the shell has said that its job has stopped, and wants its next command."""
        self.type("\x1a")
        self.prompt(self.until("Stopped", since))

    def begin(self, command):
        """Types a command; the place behind it."""
        since = self.place()
        self.type(command + "\n")
        self.typed += 1
        return self.until("\n", since)

    def run(self, command):
        """What it shows until the next prompt."""
        since = self.begin(command)
        end = self.prompt(since)
        return self.text(since)[:end - since].rsplit("[", 1)[0].replace("\r", "")

    def endwell(self, other_than=None):
        def find():
            return next((pid for pid in self.descendants() if pid != other_than and "run" in words_of(pid)
                         and read_link(f"/proc/{pid}/exe") == os.path.realpath(BINARY)), None)
        return wait_until(find, "the endwell process below the shell")

    def named(self, word):
        """The descendant whose program, or script, has this name."""
        def find():
            found = [pid for pid in self.descendants() if word in [os.path.basename(one) for one in words_of(pid)[:2]]]
            return found[0] if len(found) == 1 else None
        return wait_until(find, f"one {word} below the shell")

    def program(self, endwell=None):
        """What endwell runs, once it is no longer endwell itself."""
        endwell = endwell or self.endwell()
        def find():
            return next((pid for pid in children(endwell) if read_link(f"/proc/{pid}/exe") not in
                         ("", read_link(f"/proc/{endwell}/exe"))), None)
        return wait_until(find, "the program below endwell")

    def descendants(self):
        return descendants(self.pid)

    def until_state(self, pid, wanted):
        wait_until(lambda: state(pid) in wanted, f"process {pid} in state {wanted} (now {state(pid)})")

    def until_foreground(self, pid):
        """Until the terminal belongs to this process' group."""
        wait_until(lambda: self.foreground() == os.getpgid(pid), f"the group of {pid} in the foreground")

    def hang_up(self):
        self.survivors = [(pid, start_of(pid)) for pid in self.descendants()]
        super().hang_up()

    def clean(self):
        """Also what outlived its shell, and is nobody's descendant any more."""
        for pid, start in [(self.pid, None), *((pid, None) for pid in self.descendants()), *self.survivors]:
            if start is None or start == start_of(pid):
                try:
                    os.kill(pid, signal.SIGKILL)
                except ProcessLookupError:
                    pass
        self.process.kill()
        self.process.wait()
        super().hang_up()


def start_of(pid):
    """What tells it from a later process of the same number."""
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as file:
            return file.read().rsplit(")", 1)[1].split()[19]
    except (FileNotFoundError, ProcessLookupError):
        return ""


def words_of(pid):
    try:
        with open(f"/proc/{pid}/cmdline", "rb") as file:
            return file.read().decode(errors="replace").split("\0")
    except (FileNotFoundError, ProcessLookupError):
        return []
