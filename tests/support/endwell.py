"""Runs the real `endwell` as the first process of a PID namespace, or below another one, and looks at it from outside."""
import os
import signal
import subprocess

import control
from journal import Journal, check, wait_until, TIMEOUT_SECONDS
from laws import broken_laws

BINARY = os.environ.get("ENDWELL_BINARY", "")
ACTOR = os.environ.get("ENDWELL_ACTOR", "")


def children(pid):
    try:
        with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as file:
            return [int(word) for word in file.read().split()]
    except (FileNotFoundError, ProcessLookupError):
        return []


def descendants(pid):
    """Those nearest first."""
    found, new = [], [pid]
    while new:
        new = [child for one in new for child in children(one)]
        found += new
    return found


def status_field(pid, name):
    """A line of /proc/PID/status as words; empty when the process is gone."""
    try:
        with open(f"/proc/{pid}/status", encoding="utf-8", errors="replace") as file:
            for line in file:
                if line.startswith(name + ":"):
                    return line.split()[1:]
    except (FileNotFoundError, ProcessLookupError):
        pass
    return []


def read_link(path):
    try:
        return os.readlink(path)
    except OSError:
        return ""


class Endwell:
    """One run. `words` stand behind `endwell`.

    namespace: "first" (PID 1), or "nested" (below a first process, so that it must become a subreaper).
    shell:     a script that is run inside first and ends in `exec "$@"`.
    inside:    words before `endwell`, there.
    user:      who it runs as: USER, or USER:GROUP."""

    def __init__(self, case, words, plan=None, *, namespace="first", shell=None, user=None, environment=None,
                 runtime=None, stdin=subprocess.DEVNULL, stdout=None, stderr=None, before=(),
                 inside=()):
        self.case, self.plan, self.namespace = case, plan, namespace
        self.runtime = runtime or (plan.runtime if plan else None)
        self.number = len(case.runs)
        self.stderr_path = os.path.join(case.directory, f"stderr.{self.number}")
        self.stdout_path = os.path.join(case.directory, f"stdout.{self.number}")
        self.code, self._pid, self.unchecked = None, None, self.runtime is None
        self.journal = Journal(os.path.join(self.runtime or "/nonexistent", "journal.jsonl"), self.alive)
        case.runs.append(self)
        command = ["setpriv", "--pdeathsig", "SIGKILL", *before, "unshare", "--pid", "--fork", "--kill-child", "--mount-proc"]
        if shell:
            command += ["/bin/sh", "-c", shell, "sh"]
        if namespace == "nested":
            command += [ACTOR, "nest"]
        if user:
            name, _, group = user.partition(":")
            command += ["setpriv", f"--reuid={name}", f"--regid={group or name}", "--init-groups"]
        command += [*inside, BINARY, *words]
        with open(self.stderr_path, "wb") as errors, open(self.stdout_path, "wb") as output:
            self.process = subprocess.Popen(command, stdin=stdin, stdout=output if stdout is None else stdout,
                                            stderr=errors if stderr is None else stderr, cwd=case.directory,
                                            env={**case.environment, **(environment or {})})

    def alive(self):
        if self.code is None:
            self.code = self.process.poll()
        return self.code is None

    def _find(self):
        found = children(self.process.pid)
        if found and self.namespace == "nested":
            found = children(found[0])
        return found[0] if found and read_link(f"/proc/{found[0]}/exe") == os.path.realpath(BINARY) else None

    @property
    def pid(self):
        """Of endwell itself, as the outside sees it."""
        if self._pid is None:
            self._pid = wait_until(self._find, "the endwell process", alive=self.alive)
        return self._pid

    def send(self, number):
        os.kill(self.pid, number)

    def ready(self):
        self.journal.until("startup_finished")
        return self

    def wait(self, timeout=TIMEOUT_SECONDS):
        """Its exit code, -N when signal N killed it. Every law is checked on its journal."""
        pid = self.process.pid
        try:
            self.code = self.process.wait(timeout)
        except subprocess.TimeoutExpired:
            check(False, f"endwell (below pid {pid}) did not end within {timeout} s")
        if not self.unchecked:
            plan = self.plan
            broken = broken_laws(self.journal.read(), self.code, plan and plan.phases, plan and plan.phase_of,
                                 plan is not None and plan.mode == "development")
            check(not broken, "; ".join(broken))
        return self.code

    def end(self, number=signal.SIGTERM, timeout=TIMEOUT_SECONDS):
        self.send(number)
        return self.wait(timeout)

    def errors(self):
        with open(self.stderr_path, encoding="utf-8", errors="replace") as file:
            return file.read()

    def output(self):
        with open(self.stdout_path, encoding="utf-8", errors="replace") as file:
            return file.read()

    def processes(self):
        """Pids, as the outside sees them, of everything in its PID namespace."""
        mine = read_link(f"/proc/{self.pid}/ns/pid")
        return [int(name) for name in os.listdir("/proc")
                if name.isdigit() and mine and read_link(f"/proc/{name}/ns/pid") == mine]

    def outside(self, inner):
        """The outside's pid of the process that is `inner` in the namespace."""
        for pid in self.processes():
            if status_field(pid, "NSpid")[-1:] == [str(inner)]:
                return pid
        raise AssertionError(f"no process {inner} in the namespace")

    def lives(self, inner):
        """A process with this pid is in the namespace, and be it as a zombie."""
        return any(status_field(pid, "NSpid")[-1:] == [str(inner)] for pid in self.processes())

    def zombies(self):
        return [pid for pid in self.processes() if status_field(pid, "State")[:1] == ["Z"]]

    def descriptors(self):
        return len(os.listdir(f"/proc/{self.pid}/fd"))

    def resident_kib(self):
        return int(status_field(self.pid, "VmRSS")[0])

    def socket_path(self):
        return os.path.join(self.runtime, "control.sock")

    def connect(self):
        return control.Connection(wait_until(lambda: control.connect(self.socket_path()), "the control socket",
                                             alive=self.alive))

    def verb(self, *words, timeout=TIMEOUT_SECONDS, **more):
        """A client command against this run; the finished process."""
        return subprocess.run([BINARY, words[0], "--socket", self.socket_path(), *words[1:]], capture_output=True,
                              text=True, timeout=timeout, env=self.case.environment, check=False, **more)

    def verb_begin(self, *words):
        return subprocess.Popen([BINARY, words[0], "--socket", self.socket_path(), *words[1:]], stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE, text=True, env=self.case.environment)

    def explain(self):
        return (f"--- run {self.number}: exit {self.code}\n--- journal, its end:\n{self.journal.tail()}\n"
                f"--- stderr, its end:\n{self.errors()[-4000:]}")

    def clean(self):
        if self.process.poll() is None:
            self.process.kill()  # the kernel takes its child along, and that child its namespace
            self.process.wait()
        self.journal.close()
