"""One test: its directory on a tmpfs, its runs, its actors' log; and the list of all tests that were declared."""
import os
import shutil
import tempfile

from endwell import ACTOR, Endwell
from journal import Follower
from plan import Plan

TESTS = []


class Skipped(Exception):
    """What this test is about cannot be had on this machine: said with the reason, neither passed nor failed."""


class Declared:
    def __init__(self, function, repeat, full, alone):
        self.function, self.full, self.alone = function, full, alone
        self.repeat = repeat if isinstance(repeat, tuple) else (repeat, repeat)
        self.name = function.__name__
        self.module = function.__module__


def test(function=None, *, repeat=1, full=False, alone=False):
    """Declares a test. repeat: (quick, full) figures, read as `case.repeat`; full: only in the full tier; alone: measures
    time so closely, or needs so much, that nothing may run beside it."""
    def declare(one):
        TESTS.append(Declared(one, repeat, full, alone))
        return one
    return declare(function) if function else declare


class Case:
    def __init__(self, name, repeat):
        self.name, self.repeat, self.runs = name, repeat, []
        self.directory = tempfile.mkdtemp(prefix="endwell-test-", dir="/dev/shm")
        os.chmod(self.directory, 0o755)
        log = os.path.join(self.directory, "actors.jsonl")
        self.environment = {"PATH": "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin", "HOME": "/root", "LANG": "C.UTF-8",
                            "ACTOR_LOG": log, "ACTOR": ACTOR, "UBSAN_OPTIONS": "print_stacktrace=1"}
        self.log = Follower(log)
        self.cleaners = []

    def path(self, name):
        return os.path.join(self.directory, name)

    def plan(self, **supervisor):
        return Plan(self, **supervisor)

    def run(self, plan, **how):
        return Endwell(self, ["run", "-c", plan.write()], plan, **how)

    def run_command(self, words, options=(), **how):
        """`endwell run [OPTIONS] -- WORDS`: with a private tmpfs at /run, so that its journal can be read."""
        root = self.path(f"root.{len(self.runs)}")
        os.makedirs(root)
        shell = f'mount --bind {root} /run && exec "$@"'
        return Endwell(self, ["run", *options, "--", *words], shell=shell, runtime=os.path.join(root, "endwell"), **how)

    def run_actor(self, steps, options=(), **how):
        return self.run_command([ACTOR, "as", "command", ",", *steps.split()], options, **how)

    def serve(self, server):
        """A server (servers.py) that goes with the test."""
        self.cleaners.append(server.clean)
        return server

    def fifo(self, name):
        os.mkfifo(self.path(name))
        return self.path(name)

    def file(self, name, text="", mode=0o644):
        with open(self.path(name), "w", encoding="utf-8") as file:
            file.write(text)
        os.chmod(self.path(name), mode)
        return self.path(name)

    def text(self, name):
        with open(self.path(name), encoding="utf-8", errors="replace") as file:
            return file.read()

    def serving(self, name, count=1):
        return self.log.until("serving", count=count, name=name)

    def signals(self, name, **fields):
        """Numbers of the signals that this actor saw, SIGCONT left out."""
        return [line["signal"] for line in self.log.all("signal", name=name, **fields) if line["signal"] != 18]

    def explain(self):
        actors = "\n".join(str(line) for line in self.log.read()[-30:])
        return "\n".join(run.explain() for run in self.runs[-3:]) + f"\n--- actors, the end:\n{actors}"

    def clean(self):
        for run in self.runs:
            run.clean()
        for cleaner in self.cleaners:
            cleaner()
        self.log.close()
        shutil.rmtree(self.directory, ignore_errors=True)
