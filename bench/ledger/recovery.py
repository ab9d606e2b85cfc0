"""recovery.py - from the death of a worker to the moment at which its job may be claimed again.

Under the real endwell as PID 1, with the reaper that it starts: told, each kill by itself. And with endwell killed too: by
its next start, which tells of the dead, and by a reaper elsewhere, which has nothing but the lease."""
import contextlib
import json
import os
import signal
import subprocess
import tempfile
import time

from cluster import PORT

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
WORKER = os.path.join(ROOT, "tests/process/programs/ledger_worker.py")
KILLS, LOSSES = 30, 3  # a round
LEASE_MSEC, INTERVAL_SEC = 2000, 1
POLICY = "update endwell.queue set backoff_ms = 0, max_attempts = 1000000, max_deaths = 1000000, lease_ms = %s"
PATIENCE_SEC = 60


def wait_until(test, what):
    deadline = time.monotonic() + PATIENCE_SEC
    while not (found := test()):
        if time.monotonic() > deadline:
            raise RuntimeError(f"waited {PATIENCE_SEC} s in vain for {what}")
        time.sleep(0.0005)
    return found


class Container:
    """One worker under endwell, which is the first process of a PID namespace."""

    def __init__(self, endwell, folder, cluster, database):
        self.endwell, self.folder, self.log = endwell, folder, os.path.join(folder, "workers.jsonl")
        url = f"host={cluster.folder} port={PORT} user=postgres dbname={database}"
        self.environment = {**os.environ, "ACTOR_LOG": self.log, "WORKER_DATABASE": url}
        self.config = os.path.join(folder, "endwell.ini")
        with open(self.config, "w") as file:
            file.write(f"[Supervisor]\nRuntimeDirectory={folder}/run\n[Database]\nUrl={url}\n[Reaper]\nIntervalSec=1h\n"
                       f"[Service worker]\nExecStart=/usr/bin/python3 {WORKER} default hold\nPhase=workers\n"
                       "RestartSec=1ms\nRestartMaxDelaySec=1ms\nStartLimitBurst=0\n")
        open(self.log, "w").close()
        self.process = None

    def start(self):
        with open(os.path.join(self.folder, "stderr"), "ab") as errors:
            self.process = subprocess.Popen(
                ["unshare", "--pid", "--fork", "--kill-child", "--mount-proc", self.endwell, "run", "-c", self.config],
                env=self.environment, stdin=subprocess.DEVNULL, stdout=errors, stderr=errors)

    def claims(self):
        with open(self.log) as file:
            return [json.loads(line) for line in file if '"claimed"' in line]

    def inside(self):
        with open(f"/proc/{self.process.pid}/task/{self.process.pid}/children") as file:
            return int(file.read().split()[0])

    def worker(self, number):
        """The outside's pid of whoever has made claim `number`."""
        inner = wait_until(lambda: len(found := self.claims()) >= number and found[number - 1], f"claim {number}")["pid"]
        children = f"/proc/{self.inside()}/task/{self.inside()}/children"
        with open(children) as file:
            pids = [int(word) for word in file.read().split()]
        return next(pid for pid in pids if pid_inside(pid) == inner)

    def listens(self):
        with open(os.path.join(self.folder, "stderr")) as file:
            return file.read().count("sweeping every")

    def end(self, number):
        os.kill(self.inside(), number)
        self.process.wait()


def pid_inside(pid):
    with open(f"/proc/{pid}/status") as file:
        return next(int(line.split()[-1]) for line in file if line.startswith("NSpid:"))


@contextlib.contextmanager
def container(endwell, cluster, database):
    with tempfile.TemporaryDirectory(prefix="endwell-bench-", dir="/dev/shm") as folder:
        one = Container(endwell, folder, cluster, database)
        try:
            yield one
        finally:
            if one.process and one.process.poll() is None:
                one.process.kill()
                one.process.wait()


def generation(cursor):
    cursor.execute("select gen from endwell.job")
    return cursor.fetchone()[0]


def span_after(cursor, deed):
    """Milliseconds from the deed until the job is nobody's."""
    before, begin = generation(cursor), time.monotonic()
    deed()
    wait_until(lambda: generation(cursor) > before, "the job's return")
    return (time.monotonic() - begin) * 1000


def told(cursor, one):
    one.start()
    wait_until(one.listens, "the reaper")
    for number in range(1, KILLS + 1):
        victim = one.worker(number)
        yield span_after(cursor, lambda victim=victim: os.kill(victim, signal.SIGKILL))
    one.worker(KILLS + 1)
    one.end(signal.SIGKILL)


def told_by_the_next_start(cursor, one, claims):
    """From the start on: how long it was away before is not ours."""
    for number in range(1, LOSSES + 1):
        yield span_after(cursor, one.start)
        one.worker(claims + number)
        one.end(signal.SIGKILL)


def left_to_the_lease(cursor, one, claims, reaper):
    """The lease counts from the claim: the worker gives no other sign of life."""
    with subprocess.Popen([reaper, "--interval", f"{INTERVAL_SEC}s"], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                          stderr=subprocess.DEVNULL, env={**os.environ, "DATABASE_URL": one.environment["WORKER_DATABASE"]}) as process:
        try:
            for number in range(1, LOSSES + 1):
                one.start()
                one.worker(claims + number)
                yield span_after(cursor, lambda: one.end(signal.SIGKILL))
                os.unlink(os.path.join(one.folder, "run/journal.jsonl"))  # the next start is to know nothing
        finally:
            process.kill()


def recovery(stage, _number):
    endwell = stage.options.endwell
    reaper = os.path.realpath(os.path.join(os.path.dirname(endwell), "../reaper/endwell-reaper"))
    if not (os.access(endwell, os.X_OK) and os.access(reaper, os.X_OK)) or os.geteuid() != 0:
        stage.note(f"recovery: left out; it needs root, {endwell} and {reaper} (--endwell)")
        return
    cluster = stage.tools.cluster
    os.chmod(cluster.folder, 0o755)  # the reaper has no capabilities, not even as root
    with cluster.copy(stage.templates.of("endwell", 1)) as database, cluster.cursor(database) as cursor, \
            container(os.path.realpath(endwell), cluster, database) as one:
        cursor.execute(POLICY, (3_600_000,))
        cursor.execute("update endwell.job set max_attempts = 1000000, max_deaths = 1000000, lease_ms = 3600000")
        for span in told(cursor, one):
            yield "recovered", "told", span
        for span in told_by_the_next_start(cursor, one, KILLS + 1):
            yield "recovered", "next_start", span
        cursor.execute("update endwell.job set lease_ms = %s", (LEASE_MSEC,))
        wait_until(lambda: given_back(cursor), "the last job's return")
        for span in left_to_the_lease(cursor, one, KILLS + 1 + LOSSES, reaper):
            yield "recovered", "lease", span


def given_back(cursor):
    """Of the run before, so that each run begins with a job that nobody has."""
    cursor.execute("select * from endwell.reap()")
    cursor.execute("select state = 'ready' from endwell.job")
    return cursor.fetchone()[0]
