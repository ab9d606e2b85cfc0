"""One test of the worker: a fresh database with a ledger, and workers (the real program) whose log, words and processes are
looked at from outside."""
import os
import random
import shlex
import signal
import socket
import subprocess
import threading
import time

from case import TESTS, test  # noqa: F401  suites take `test` from here
from database_case import DatabaseCase, settle
from endwell import descendants
from journal import check, wait_until, TIMEOUT_SECONDS
from ledger import random_uuid

BINARY = os.environ.get("ENDWELL_BINARY", "")
WORKER = os.environ.get("ENDWELL_WORKER", "")
PYTHON = "/usr/bin/python3"


def alive(pid):
    """It lives, and is no zombie that nobody has collected yet."""
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as file:
            return file.read().rpartition(")")[2].split()[0] not in "ZX"
    except (FileNotFoundError, ProcessLookupError):
        return False


def processes_with(marker):
    """Pids of everything whose first environment has this text: a worker's keepers and commands, whoever their parent is."""
    found = []
    for name in os.listdir("/proc"):
        if not name.isdigit():
            continue
        try:
            with open(f"/proc/{name}/environ", "rb") as file:
                if marker.encode() in file.read() and alive(int(name)):
                    found.append(int(name))
        except (FileNotFoundError, ProcessLookupError, PermissionError):
            pass
    return found


class Words:
    """What a process says to its supervisor; read all the time, so that nobody waits for us."""

    def __init__(self, path):
        self.path, self.lines = path, []
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.socket.bind(path)
        self.socket.settimeout(0.2)
        self.over = False
        self.thread = threading.Thread(target=self._read, daemon=True)
        self.thread.start()

    def _read(self):
        while not self.over:
            try:
                self.lines += self.socket.recv(65536).decode(errors="replace").splitlines()
            except TimeoutError:
                pass

    def has(self, line):
        return line in self.lines

    def close(self):
        self.over = True
        self.thread.join()
        self.socket.close()


class Worker:
    """One process of the real program. `command`: words, or a text for the shell."""

    def __init__(self, case, command, *options, queue="q", url=None, environment=None, before=(), owner=None):
        self.case, self.owner = case, owner or random_uuid()
        number = len(case.workers)
        case.workers.append(self)
        self.log_path = os.path.join(case.directory, f"worker.{number}.log")
        self.words = Words(os.path.join(case.directory, f"worker.{number}.notify"))
        words = ["/bin/sh", "-c", command] if isinstance(command, str) else command
        with open(self.log_path, "wb") as log:
            self.process = subprocess.Popen(
                ["setpriv", "--pdeathsig", "SIGKILL", *before, WORKER, "--queue", queue, "--log-level", "debug", *options, "--",
                 *words], stdin=subprocess.DEVNULL, stdout=log, stderr=log, cwd=case.directory, start_new_session=True,
                env={**case.environment, "ENDWELL_DATABASE_URL": url or case.url, "ENDWELL_DATABASE_SCHEMA": case.schema,
                     "ENDWELL_OWNER": self.owner, "NOTIFY_SOCKET": self.words.path, **(environment or {})})

    def log(self):
        with open(self.log_path, encoding="utf-8", errors="replace") as file:
            return file.read()

    def ready(self):
        wait_until(lambda: self.words.has("READY=1"), "READY=1 of a worker", alive=self.lives)
        return self

    def lives(self):
        return self.process.poll() is None

    def send(self, number=signal.SIGTERM):
        self.process.send_signal(number)

    def until(self, text):
        wait_until(lambda: text in self.log(), f"in a worker's log: {text}", alive=self.lives)

    def wait(self, timeout=TIMEOUT_SECONDS):
        try:
            return self.process.wait(timeout)
        except subprocess.TimeoutExpired:
            check(False, f"a worker did not end within {timeout} s")

    def end(self, number=signal.SIGTERM):
        self.send(number)
        return self.wait()

    def below(self):
        return descendants(self.process.pid)

    def processes(self):
        return processes_with(self.owner)

    def clean(self):
        if self.lives():
            self.process.send_signal(signal.SIGCONT)
            self.process.kill()
        self.process.wait()
        self.words.close()


class Sweeper:
    """A reaper as the ledger's contract has it: reap, again and again."""

    def __init__(self, case, period=0.05):
        self.session, self.period, self.over = case.direct(), period, False
        self.thread = threading.Thread(target=self._run, daemon=True)
        self.thread.start()

    def _run(self):
        while not self.over:
            self.session.reap()
            time.sleep(self.period)  # its own pace, not a wait for anything

    def stop(self):
        self.over = True
        self.thread.join()


class WorkerCase(DatabaseCase):
    def __init__(self, yard, name, repeat, seed):
        super().__init__(yard, name, repeat, seed)
        self.workers, self.sweepers = [], []
        self.random = random.Random(f"{seed} {name}")
        self.url = self.url_of(yard.server())
        settle(self.admin)

    def url_of(self, server, password=""):
        host = server.directory
        return f"postgresql://postgres{password}@/{self.database}?host={host}&port={server.port}"

    def work(self, command, *options, **more):
        return Worker(self, command, *options, **more)

    def sweep(self):
        sweeper = Sweeper(self)
        self.sweepers.append(sweeper)
        return sweeper

    def python(self, name, text):
        """A program of Python as a command."""
        return [PYTHON, self.file(name, text)]

    def done(self, job):
        wait_until(lambda: self.row(job).state == "done", f"job {job} to be done", alive=self.somebody)
        return self.row(job)

    def rests(self, job, state):
        wait_until(lambda: self.row(job).state == state, f"job {job} to be {state}", alive=self.somebody)
        return self.row(job)

    def is_running(self, job):
        wait_until(lambda: self.row(job).state == "running", f"job {job} to run", alive=self.somebody)
        return self.row(job)

    def all_done(self, count, queue="q"):
        wait_until(lambda: self.admin.value("select count(*) from @schema@.job where queue = %s and state = 'done'", queue)
                   >= count, f"{count} jobs to be done", alive=self.somebody)

    def somebody(self):
        return not self.workers or self.sweepers or any(one.lives() for one in self.workers)

    def held(self):
        return self.admin.value("select count(*) from @schema@.job where state = 'running'")

    def endwell(self, *words, **environment):
        return subprocess.run([BINARY, *words], capture_output=True, text=True, timeout=TIMEOUT_SECONDS, check=False,
                              env={**self.environment, "ENDWELL_DATABASE_URL": self.url, "ENDWELL_DATABASE_SCHEMA": self.schema,
                                   **environment})

    def lines(self, name):
        try:
            return self.text(name).splitlines()
        except FileNotFoundError:
            return []

    def explain(self):
        def telling(log):
            return "\n".join(line for line in log.splitlines() if "began in slot" not in line and "was done after" not in line)
        logs = "\n".join(f"--- worker {number}, exit {one.process.poll()}:\n{telling(one.log())[-3000:]}"
                         for number, one in enumerate(self.workers[-4:]))
        jobs = "\n".join(str(row) for row in self.admin.rows(
            "select id, state, gen, attempts, deaths, releases, error_class, left(last_error, 200) from @schema@.job "
            "order by id limit 20")) if self.yard.cluster.process else ""
        runs = "\n".join(run.explain() for run in self.runs[-2:])
        return f"{super().explain()}\n{runs}\n{logs}\n--- jobs:\n{jobs}"

    def clean(self):
        for sweeper in self.sweepers:
            sweeper.stop()
        for worker in self.workers:
            worker.clean()
        super().clean()


def shell(*lines):
    return "; ".join(lines)


def quote(text):
    return shlex.quote(text)
