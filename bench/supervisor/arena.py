"""arena.py - one run of one program as PID 1: the shared board, the launcher, and what /proc says about the namespace."""
import mmap
import os
import select
import shutil
import struct
import subprocess
import time

HEADER, PLACE = 64, 64  # bytes; board.h has the same layout
NSEC_PER_USEC = 1000


class Trouble(Exception):
    """Something that should have happened did not; the text says what."""


class Board:
    FIELDS = {"started": 0, "asked": 8, "leaving": 16, "runs": 24, "pid": 32}

    def __init__(self, path, places):
        self.path, self.places = path, places
        fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
        os.ftruncate(fd, HEADER + PLACE * places)
        self.map = mmap.mmap(fd, HEADER + PLACE * places)
        os.close(fd)

    def get(self, place, field):
        return struct.unpack_from("<Q", self.map, HEADER + PLACE * place + self.FIELDS[field])[0]

    def all(self, field):
        return [self.get(i, field) for i in range(self.places)]

    def count(self, field):
        return sum(1 for value in self.all(field) if value)

    def want_orphans(self, number):
        struct.pack_into("<Q", self.map, 0, number)

    def orphans(self):
        """(how many were really made, when the maker was done or 0)"""
        return struct.unpack_from("<QQ", self.map, 8)

    def checks(self):
        return struct.unpack_from("<Q", self.map, 24)[0]

    def remove(self):
        self.map.close()
        os.unlink(self.path)


class Arena:
    """A program as PID 1 of a namespace of its own. Use as a context: leaving it kills what is left."""

    def __init__(self, programs, folder, argv, places=1, deaf=False, port=0):
        self.folder, self.output = folder, os.path.join(folder, "output")
        self.board = Board(os.path.join(folder, "board"), places)
        environment = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "BENCH_BOARD": self.board.path,
                       "BENCH_PORT": str(port)}
        argv = [shutil.which(argv[0], path=environment["PATH"]) or argv[0], *argv[1:]]  # no search inside the figures
        self.process = subprocess.Popen(
            [os.path.join(programs, "launch"), *(["-d"] if deaf else []), self.output, *argv],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment, cwd=folder)
        self.buffer = b""
        self.pid = self._hear("pid")[0]
        self.exec_nsec = self._hear("exec")[0]
        self.deaf_nsec = self._hear("deaf")[0] if deaf else None
        self.ended = None

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.stdin.close()
        self.process.wait()
        self.process.stdout.close()
        self.board.remove()

    def said(self):
        """The end of what the program printed, for the report of a trouble."""
        with open(self.output, errors="replace") as file:
            return file.read()[-600:]

    def _hear(self, word, timeout_sec=60):
        deadline = time.monotonic() + timeout_sec
        while b"\n" not in self.buffer:
            ready, _, _ = select.select([self.process.stdout], [], [], max(0, deadline - time.monotonic()))
            if not ready:
                raise Trouble(f"no '{word}' within {timeout_sec} s")
            more = os.read(self.process.stdout.fileno(), 4096)
            if not more:
                raise Trouble(f"the launcher ended before '{word}'")
            self.buffer += more
        line, self.buffer = self.buffer.split(b"\n", 1)
        words = line.decode().split()
        if words[0] != word:
            raise Trouble(f"expected '{word}', the launcher said '{line.decode()}'; output: {self.said()}")
        return [int(w) for w in words[1:]]

    def signal(self, number, pid=None):
        """Sends it and answers when (nanoseconds, just before)."""
        self.process.stdin.write(f"{pid or self.pid} {int(number)}\n".encode())
        self.process.stdin.flush()
        return self._hear("sent")[0]

    def wait_end(self, timeout_sec=60):
        """(when, exit code) of PID 1"""
        self.ended = self.ended or tuple(self._hear("ended", timeout_sec))
        return self.ended

    def wait_for(self, what, condition, timeout_sec=60, poll_sec=0.005):
        deadline = time.monotonic() + timeout_sec
        while not condition():
            if time.monotonic() > deadline:
                raise Trouble(f"{what}: not within {timeout_sec} s; output: {self.said()}")
            time.sleep(poll_sec)

    def wait_started(self, timeout_sec=60):
        places = self.board.places
        self.wait_for(f"{places} started", lambda: self.board.count("started") == places, timeout_sec)

    # What /proc says. Pids are the driver's own view, outside the namespace.

    def population(self):
        """How many processes the namespace has, dead ones that nobody collected included."""
        return sum(1 for name in os.listdir(f"/proc/{self.pid}/root/proc") if name.isdigit())

    def pids(self):
        mine = os.readlink(f"/proc/{self.pid}/ns/pid")
        found = []
        for name in os.listdir("/proc"):
            try:
                if name.isdigit() and os.readlink(f"/proc/{name}/ns/pid") == mine:
                    found.append(int(name))
            except OSError:
                continue  # it ended meanwhile, or it is no process of ours
        return found

    def supervising(self):
        """All processes of the namespace that are none of the probes: PID 1 and its helpers."""
        return [pid for pid in self.pids() if not is_probe(pid)]

    def outer_pid(self, place):
        inner = str(self.board.get(place, "pid"))
        for pid in self.pids():
            if status_field(pid, "NSpid").split()[-1] == inner:
                return pid
        raise Trouble(f"service {place} (pid {inner}) is not in the namespace")


def is_probe(pid):
    with open(f"/proc/{pid}/comm") as file:
        comm = file.read().strip()
    return comm.startswith("probe_") or os.path.basename(os.readlink(f"/proc/{pid}/exe")).startswith("probe_")


def status_field(pid, name):
    with open(f"/proc/{pid}/status") as file:
        for line in file:
            if line.startswith(name + ":"):
                return line.split(":", 1)[1].strip()
    raise Trouble(f"/proc/{pid}/status has no {name}")


def private_dirty_kib(pid):
    with open(f"/proc/{pid}/smaps_rollup") as file:
        for line in file:
            if line.startswith("Private_Dirty:"):
                return int(line.split()[1])
    raise Trouble(f"/proc/{pid}/smaps_rollup has no Private_Dirty")


def cpu_nsec(pid):
    """User and system time that the main thread ran; finer than the ticks of /proc/PID/stat."""
    with open(f"/proc/{pid}/schedstat") as file:
        return int(file.read().split()[0])


def descriptors(pid):
    return len(os.listdir(f"/proc/{pid}/fd"))


def wake_ups(pids):
    """Voluntary context switches of all threads: each one is a wait that ended, or will."""
    total = 0
    for pid in pids:
        for thread in os.listdir(f"/proc/{pid}/task"):
            total += int(status_field(f"{pid}/task/{thread}", "voluntary_ctxt_switches"))
    return total
