"""What the tests of the ledger's client share: a cluster, its mishaps, and a program that drives one connection."""
import contextlib
import os
import queue
import re
import signal
import subprocess
import sys
import threading
import time

HERE = os.path.dirname(os.path.realpath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "support"))

import psycopg2  # noqa: E402
from journal import check, wait_until  # noqa: E402
from postgres import Cluster, Pooler  # noqa: E402, F401

PATIENCE_SECONDS = 30


def family(pid):
    """A process and everybody below it."""
    found, pids = [pid], []
    while found:
        one = found.pop()
        pids.append(one)
        try:
            with open(f"/proc/{one}/task/{one}/children", encoding="utf-8") as file:
                found += [int(word) for word in file.read().split()]
        except OSError:
            pass
    return pids


def signal_family(cluster, number):
    for pid in family(cluster.process.pid):
        try:
            os.kill(pid, number)
        except ProcessLookupError:
            pass


class Frozen:
    """Within it, every process of the server stands still."""

    def __init__(self, cluster):
        self.cluster = cluster

    def __enter__(self):
        signal_family(self.cluster, signal.SIGSTOP)

    def __exit__(self, *_):
        signal_family(self.cluster, signal.SIGCONT)


def sql(cluster, text, *values, database="postgres"):
    """The rows; each call is a transaction of its own."""
    with contextlib.closing(psycopg2.connect(cluster.dsn(database))) as connection:
        connection.autocommit = True
        with connection.cursor() as cursor:
            cursor.execute(text, values or None)
            return cursor.fetchall() if cursor.description else None


def url(server, user="postgres", password=None, database="postgres"):
    secret = f":{password}" if password else ""
    return f"postgresql://{user}{secret}@127.0.0.1:{server.port}/{database}"


def demand_password(cluster, user, password):
    """From now on this role has to say its password on loopback."""
    sql(cluster, f"create role {user} login password '{password}'")
    path = os.path.join(cluster.data, "pg_hba.conf")
    with open(path, encoding="utf-8") as file:
        text = file.read()
    with open(path, "w", encoding="utf-8") as file:
        file.write(f"host all {user} 127.0.0.1/32 scram-sha-256\n{text}")
    sql(cluster, "select pg_reload_conf()")


class Talker:
    """tests/ledger/programs/talker.c; its lines are awaited in order, others are passed over."""

    def __init__(self, program, place, **limits):
        environment = {"PATH": "/usr/bin:/bin", **{f"TALKER_{key.upper()}": str(value) for key, value in limits.items()}}
        if place is not None:
            environment["TALKER_URL"] = place
        for name in ("ASAN_OPTIONS", "UBSAN_OPTIONS"):
            if name in os.environ:
                environment[name] = os.environ[name]
        self.process = subprocess.Popen(["setpriv", "--pdeathsig", "SIGKILL", program], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment)
        self.lines, self.all = queue.Queue(), []
        threading.Thread(target=self.read, daemon=True).start()

    def read(self):
        for line in self.process.stdout:
            self.lines.put(line.rstrip("\n"))
        self.lines.put(None)

    def say(self, line):
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()

    def next(self):
        try:
            line = self.lines.get(timeout=PATIENCE_SECONDS)
        except queue.Empty:
            line = None
        check(line is not None, f"nothing more came; so far: {self.all}")
        self.all.append(line)
        return line

    def await_line(self, pattern):
        """The match of the next line that has the pattern at its front."""
        while True:
            match = re.match(pattern, self.next())
            if match:
                return match

    def ask(self, question, pattern):
        self.say(question)
        return self.await_line("answer \\d+ " + pattern)

    def end(self):
        """Its exit status, and what it said on stderr."""
        if self.process.poll() is None:
            try:
                self.process.stdin.close()
            except BrokenPipeError:
                pass
        try:
            status = self.process.wait(PATIENCE_SECONDS)
        except subprocess.TimeoutExpired:
            self.process.kill()
            raise
        with self.process.stderr:
            said = self.process.stderr.read()
        self.process.stdout.close()
        self.process.stdin.close()
        return status, said

    def __enter__(self):
        return self

    def __exit__(self, kind, *_):
        status, said = self.end()
        if kind is None:
            check(status == 0 and said == "", f"it ended with {status} and said: {said}")


def milliseconds():
    return time.monotonic() * 1000
