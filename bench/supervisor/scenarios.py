"""scenarios.py - what is done with each contender in one round, and what that measured.

Each scenario answers {measure: value}; a value of None means: it cannot do that, or it did not happen, and then
`notes` says so. Nothing is measured without a look at whether the thing really happened."""
import os
import shutil
import socket
import statistics
import subprocess
import tempfile
import time
from dataclasses import dataclass

import arena
from arena import Arena, Trouble
from contenders import Shape


SERVING_PORT = 21000  # and some more; below what the kernel gives to clients
COLLECT_SEC = 10  # after the last orphan; runsvdir looks every 5 s


@dataclass
class Effort:
    """How much is done in a round."""
    repeats: int = 10
    services: int = 1000
    orphans: int = 20000
    chain: int = 100
    restarts: int = 20
    idle_services: int = 100
    idle_sec: float = 4.0
    checked_sec: float = 10.0


class Stage:
    """Where scenarios run: the programs, the temporary folder, the effort, and the notes that the report prints."""

    def __init__(self, programs, folder, effort):
        self.programs, self.folder, self.effort, self.notes = programs, folder, effort, []
        self.missed_windows = {}  # contender: deaf windows whose end the poll did not see; measured again

    def note(self, contender, text):
        line = f"{contender.name}: {text}"
        if line not in self.notes:
            self.notes.append(line)

    def launch(self, contender, shape, deaf=False):
        folder = tempfile.mkdtemp(prefix=contender.name.replace(" ", "-") + "-", dir=self.folder)
        run = Arena(self.programs, folder, contender.command(folder, shape), places=shape.count, deaf=deaf,
                    port=shape.port)
        return run

    def done(self, run):
        run.__exit__()
        shutil.rmtree(run.folder)


def usec(later_nsec, earlier_nsec):
    return (later_nsec - earlier_nsec) / 1000


def median(values):
    return statistics.median(values) if values else None


def settle(seconds):
    """Time for the supervisor to finish what it does after a start; no figure contains it."""
    time.sleep(seconds)


def check_code(stage, contender, run):
    when, code = run.wait_end()
    if code != 0:
        stage.note(contender, f"ended with code {code}")
    return when


# One child.


def one_ending(stage, contender, figures):
    run = stage.launch(contender, Shape())
    try:
        run.wait_started()
        settle(0.05)
        figures["memory_one"].append(sum(map(arena.private_dirty_kib, run.supervising())))
        figures["descriptors_one"].append(arena.descriptors(run.pid))
        sent = run.signal(contender.ends_by)
        ended = check_code(stage, contender, run)
        asked, left = run.board.get(0, "asked"), run.board.get(0, "leaving")
        if not asked:
            stage.note(contender, "the service never got its SIGTERM: PID 1 was gone before")
            return
        figures["ask"].append(usec(asked, sent))
        if contender.waits:
            figures["exit"].append(usec(ended, left))
    finally:
        stage.done(run)


def one_child(stage, contender):
    figures = {"memory_one": [], "descriptors_one": [], "ask": [], "exit": []}
    for _ in range(stage.effort.repeats):
        one_ending(stage, contender, figures)
    return {measure: median(values) for measure, values in figures.items()}


def deaf_window(stage, contender):
    windows, missed = [], 0
    while len(windows) < stage.effort.repeats and missed < stage.effort.repeats:
        run = stage.launch(contender, Shape(), deaf=True)
        try:
            if run.deaf_nsec:
                windows.append(usec(run.deaf_nsec, run.exec_nsec))
            else:
                missed += 1
        finally:
            stage.done(run)
    stage.missed_windows[contender.name] = stage.missed_windows.get(contender.name, 0) + missed
    return {"deaf": median(windows)}


# Orphans.


def collect_orphans(stage, contender, run):
    """(CPU of PID 1 an orphan in µs, how many were collected)."""
    wanted, before = stage.effort.orphans, run.population()
    cpu = arena.cpu_nsec(run.pid)
    run.board.want_orphans(wanted)
    run.wait_for("orphans made", lambda: run.board.orphans()[1], 300)
    made = run.board.orphans()[0]
    if made != wanted:
        stage.note(contender, f"only {made} of {wanted} orphans could be made")
    deadline = time.monotonic() + COLLECT_SEC
    while run.population() > before and time.monotonic() < deadline:
        time.sleep(0.01)
    used = arena.cpu_nsec(run.pid) - cpu
    collected = made - max(0, run.population() - before)
    if collected != made:
        stage.note(contender, f"{made - collected} of {made} orphans were still zombies {COLLECT_SEC} s after "
                                   "the last was made")
    return used / 1000 / collected if collected else None, collected


def orphans_alone(stage, contender):
    run = stage.launch(contender, Shape(maker=True))
    try:
        run.wait_started()
        settle(0.2)
        cpu, collected = collect_orphans(stage, contender, run)
        return {"orphan_alone": cpu, "orphans_collected": collected}
    finally:
        stage.done(run)


# A thousand services.


def stop_all(stage, contender, run):
    """Milliseconds from the request until PID 1 ended, or, when it does not wait, until the last service left."""
    command = contender.stop_command(run.folder)
    if command:
        sent = time.monotonic_ns()
        subprocess.run(command, stdout=subprocess.DEVNULL, check=False)
        ended = max(run.board.all("leaving"))
        stage.note(contender, f"is stopped by `{command[0]} {command[3]}`, measured until the last service left")
    else:
        sent = run.signal(contender.ends_by)
        ended, code = run.wait_end(120)
        if code != 0:
            stage.note(contender, f"ended with code {code} when it stopped {run.board.places} services")
    gone = run.board.count("leaving")
    if gone != run.board.places:
        stage.note(contender, f"only {gone} of {run.board.places} services ended by themselves")
    return usec(ended, sent) / 1000


def started_msec(stage, contender, run):
    run.wait_started(120)
    if max(run.board.all("runs")) > 1:
        stage.note(contender, "started a service more than once")
    return usec(max(run.board.all("started")), run.exec_nsec) / 1000


def thousand(stage, contender):
    run = stage.launch(contender, Shape(count=stage.effort.services, maker=True))
    try:
        figures = {"start_many": started_msec(stage, contender, run)}
        settle(1)
        supervising = run.supervising()
        figures["memory_many"] = sum(map(arena.private_dirty_kib, supervising)) / 1024
        figures["descriptors_many"] = sum(map(arena.descriptors, supervising))
        figures["orphan_beside"], collected = collect_orphans(stage, contender, run)
        figures["orphans_collected_beside"] = collected
        settle(0.5)
        figures["stop_many"] = stop_all(stage, contender, run)
        return figures
    finally:
        stage.done(run)


def chain(stage, contender):
    run = stage.launch(contender, Shape(count=stage.effort.chain, chain=True))
    try:
        started_msec(stage, contender, run)
        settle(0.3)
        figures = {"stop_chain": stop_all(stage, contender, run)}
        asked, left = run.board.all("asked"), run.board.all("leaving")
        wrong = sum(1 for i in range(len(asked) - 1) if not asked[i] or asked[i] < left[i + 1])
        figures["chain_violations"] = wrong
        return figures
    finally:
        stage.done(run)


# Restart and rest.


def restart(stage, contender):
    """Each service has lived for more than a second, so that nobody's brake against quick restarts is in the figure."""
    count, times = stage.effort.restarts, []
    run = stage.launch(contender, Shape(count=count, restart=True))
    try:
        run.wait_started()
        settle(1.5)
        for i in range(count):
            before = run.board.get(i, "started")
            killed = run.signal(9, run.outer_pid(i))
            run.wait_for(f"service {i} again", lambda: run.board.get(i, "started") != before, 10, 0.001)
            times.append(usec(run.board.get(i, "started"), killed) / 1000)
        if run.board.all("runs") != [2] * count:
            stage.note(contender, f"runs of the restarted services: {run.board.all('runs')}")
        return {"restart": median(times)}
    finally:
        stage.done(run)


def call(port):
    """True: answered; None: refused; False: the connection was lost."""
    try:
        with socket.create_connection(("127.0.0.1", port), timeout=20) as one:
            return one.recv(2) == b"ok"
    except ConnectionRefusedError:
        return None
    except ConnectionResetError:
        return False


def serving(stage, contender):
    """Each server has lived for more than a second, and dies between two calls; then it is called every millisecond."""
    count, refused, times = min(stage.effort.restarts, 10), [], []
    run = stage.launch(contender, Shape(count=count, restart=True, port=SERVING_PORT))
    try:
        run.wait_started()
        for i in range(count):
            run.wait_for(f"an answer of {i}", lambda: call(SERVING_PORT + i), 10)
        settle(1.5)
        for i in range(count):
            killed, misses = run.signal(9, run.outer_pid(i)), 0
            while not (answer := call(SERVING_PORT + i)):
                misses += answer is None
                time.sleep(0.001)
            times.append(usec(time.monotonic_ns(), killed) / 1000)
            refused.append(misses)
        return {"refused": statistics.mean(refused), "unanswered": median(times)}
    finally:
        stage.done(run)


def idle(stage, contender):
    count = stage.effort.idle_services if contender.many else 1
    run = stage.launch(contender, Shape(count=count))
    try:
        run.wait_started()
        settle(1.5)
        supervising = run.supervising()
        before = arena.wake_ups(supervising)
        time.sleep(stage.effort.idle_sec)
        return {"idle": (arena.wake_ups(supervising) - before) / stage.effort.idle_sec}
    finally:
        stage.done(run)


# A thousand services that are checked.


class Target:
    """Whom the checks by HTTP are for: a server outside the namespace. It counts on the board, once that is there."""

    def __init__(self, programs):
        self.socket = socket.create_server(("127.0.0.1", 0), backlog=4096)
        self.port, self.programs, self.process = self.socket.getsockname()[1], programs, None

    def serve(self, board):
        fd = self.socket.fileno()
        self.process = subprocess.Popen([os.path.join(self.programs, "probe_target"), str(fd)], pass_fds=[fd],
                                        env={"BENCH_BOARD": board})

    def close(self):
        if self.process:
            self.process.kill()
            self.process.wait()
        self.socket.close()


def checked(stage, contender, how, period):
    """The CPU that PID 1 used while so many checks arrived, after all services have been checked once."""
    target = Target(stage.programs)
    run = stage.launch(contender, Shape(count=stage.effort.services, checks=how, period=period, target=target.port))
    try:
        target.serve(run.board.path)
        run.wait_started(120)
        run.wait_for("a check of each", lambda: run.board.checks() >= stage.effort.services, 120)
        settle(1)
        supervising = run.supervising() if how == "http" else [run.pid]  # commands come and go
        before, checks, begun = {pid: arena.cpu_nsec(pid) for pid in supervising}, run.board.checks(), time.monotonic()
        settle(stage.effort.checked_sec)
        used = {pid: arena.cpu_nsec(pid) - before[pid] for pid in supervising}
        checks, seconds = run.board.checks() - checks, time.monotonic() - begun
        wanted = stage.effort.services / period * seconds
        if not 0.9 * wanted <= checks <= 1.1 * wanted:
            stage.note(contender, f"{checks} checks by {how} arrived in {seconds:.1f} s, and not {wanted:.0f}")
        return checks and {f"check_{how}": used[run.pid] / 1000 / checks,
                           f"check_{how}_all": sum(used.values()) / 1000 / checks,
                           f"check_{how}_second": used[run.pid] / 1e6 / seconds} or {}
    finally:
        stage.done(run)
        target.close()


def checks_http(stage, contender):
    return checked(stage, contender, "http", 1)


def checks_exec(stage, contender):
    figures = checked(stage, contender, "exec", 10)
    figures.pop("check_exec_all", None)  # nobody else has a part in it
    return figures


SCENARIOS = {
    "one_child": (one_child, Shape()),
    "deaf_window": (deaf_window, Shape()),
    "orphans_alone": (orphans_alone, Shape()),
    "thousand": (thousand, Shape(count=1000)),
    "chain": (chain, Shape(count=100, chain=True)),
    "restart": (restart, Shape(count=20, restart=True)),
    "serving": (serving, Shape(count=10, restart=True, port=SERVING_PORT)),
    "idle": (idle, Shape()),
    "checks_http": (checks_http, Shape(count=1000, checks="http")),
    "checks_exec": (checks_exec, Shape(count=1000, checks="exec")),
}
