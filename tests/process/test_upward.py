"""What the parent of an endwell hears on its $NOTIFY_SOCKET, when that is a real socket of a real process."""
import os
import signal
import socket
import time

from case import test
from journal import TIMEOUT_SECONDS, check, equal, wait_until

class Parent:
    """The socket that a service manager would hold, and what came to it."""

    def __init__(self, case, name="parent.sock"):
        self.path = case.path(name)
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.socket.bind(self.path)
        case.cleaners.append(self.socket.close)
        self.said = []

    def environment(self, **more):
        return {"NOTIFY_SOCKET": self.path, **more}

    def next(self, timeout=TIMEOUT_SECONDS):
        """The next message as its lines; None when none came."""
        self.socket.settimeout(timeout)
        try:
            words = self.socket.recv(65536).decode().splitlines()
        except (BlockingIOError, socket.timeout):
            return None
        self.said.append(words)
        return words

    def until(self, wanted):
        """The first message, of those not looked at yet, with a line that begins so."""
        end = time.monotonic() + TIMEOUT_SECONDS
        while True:
            words = self.next(max(0.01, end - time.monotonic()))
            check(words is not None, f"nothing with {wanted} was said, but {self.said[-20:]}")
            if any(line.startswith(wanted) for line in words):
                return words

    def drain(self):
        """Everything that is there already."""
        while self.next(0) is not None:
            pass

    def fill(self):
        """Until nothing more goes in."""
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as sender:
            sender.setblocking(False)
            try:
                while True:
                    sender.sendto(b"STATUS=full", self.path)
            except BlockingIOError:
                pass


@test
def the_parent_hears_what_start_up_waits_for_then_ready_then_the_ending(case):
    parent, gate = Parent(case), case.fifo("gate")
    plan = case.plan(Phases="one", GraceSec=20)
    plan.actor("web", f"eof {gate} , notify READY=1 , serve", Phase="one", Type="notify")
    plan.actor("other", "serve", Phase="one")
    run = case.run(plan, environment=parent.environment())
    first = parent.until("EXTEND_TIMEOUT_USEC=")
    check(any(line.startswith("STATUS=endwell ") for line in first), f"said first: {first}")
    equal(parent.until("STATUS=waiting"), ["STATUS=waiting for web"], "the status of start-up")
    check(not any("READY=1" in words for words in parent.said), "ready before it was")
    with open(gate, "wb"):
        pass
    ready = parent.until("READY=1")
    check(any(line.startswith("STATUS=start-up finished") for line in ready), f"said with ready: {ready}")
    run.ready()
    run.send(signal.SIGTERM)
    stopping = parent.until("STOPPING=1")
    # 20 s of grace make a deadline of 18 s, and a margin of 1 s.
    check("EXTEND_TIMEOUT_USEC=19000000" in stopping, f"said with stopping: {stopping}")
    equal(run.wait(), 0, "exit code")
    parent.drain()
    check(parent.said[-1][0].startswith("STATUS=ended in "), f"said last: {parent.said[-1]}")
    equal(sum(line == "READY=1" for words in parent.said for line in words), 1, "times ready")
    equal(sum(line == "STOPPING=1" for words in parent.said for line in words), 1, "times stopping")


@test
def a_slow_ending_says_what_it_waits_for(case):
    parent, gate = Parent(case), case.fifo("gate")
    plan = case.plan(Phases="one", GraceSec=40)
    plan.shell("web", f'trap "" TERM; "$ACTOR" say up; exec cat {gate}', Phase="one")
    run = case.run(plan, environment=parent.environment()).ready()
    case.log.until("up")
    run.send(signal.SIGTERM)
    equal(parent.until("STATUS=phase one waits"), ["STATUS=phase one waits for 1: web"], "the status of the ending")
    with open(gate, "wb"):
        pass
    equal(run.wait(), 0, "exit code")


@test
def no_child_finds_the_parents_socket_or_watchdog(case):
    parent = Parent(case)
    plan = case.plan(Phases="one")
    names = "NOTIFY_SOCKET WATCHDOG_USEC WATCHDOG_PID"
    plan.shell("web", f'for n in {names}; do eval "$ACTOR say $n=\\${{$n:-none}}"; done; exec "$ACTOR" serve', Phase="one")
    plan.section("[Hook look]", {"Service": "web", "On": "pre-stop", "TimeoutSec": "10",
                                 "Exec": "/bin/sh -c '\"$$ACTOR\" say hook=$${WATCHDOG_USEC:-none}$${NOTIFY_SOCKET:-none}'"})
    run = case.run(plan, environment=parent.environment(WATCHDOG_USEC="60000000", WATCHDOG_PID="1")).ready()
    case.serving("web")
    own = os.path.join(plan.runtime, "notify/web")
    for found in (f"NOTIFY_SOCKET={own}", "WATCHDOG_USEC=none", "WATCHDOG_PID=none"):
        case.log.until(found)
    equal(run.end(), 0, "exit code")
    case.log.until("hook=nonenone")


@test
def a_watchdog_is_answered_in_time_and_only_while_the_loop_turns(case):
    interval = 4  # seconds: what a loaded machine is late by must not count
    parent = Parent(case)
    run = case.run(one_service(case), environment=parent.environment(WATCHDOG_USEC=str(interval * 1_000_000),
                                                                     WATCHDOG_PID="1")).ready()
    parent.until("WATCHDOG=1")
    for _ in range(2):
        before = time.monotonic()
        parent.until("WATCHDOG=1")
        check(time.monotonic() - before < interval, "the watchdog was not answered in time")
    run.send(signal.SIGSTOP)
    wait_until(lambda: state_of(run.pid) == "T", "endwell stopped")
    parent.drain()
    check(parent.next(interval * 0.75) is None, f"a stopped loop said {parent.said[-1]}")
    run.send(signal.SIGCONT)
    parent.until("WATCHDOG=1")
    equal(run.end(), 0, "exit code")


def state_of(pid):
    with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as file:
        return file.read().rpartition(")")[2].split()[0]


def one_service(case):
    plan = case.plan(Phases="one")
    plan.actor("web", "serve", Phase="one")
    return plan


@test
def somebody_elses_watchdog_is_not_answered(case):
    parent = Parent(case)
    run = case.run(one_service(case), environment=parent.environment(WATCHDOG_USEC="40000", WATCHDOG_PID="777")).ready()
    parent.until("READY=1")
    run.send(signal.SIGTERM)
    parent.until("STATUS=ended")
    check(not any("WATCHDOG=1" in words for words in parent.said), f"said: {parent.said}")
    equal(run.wait(), 0, "exit code")


@test
def a_parent_that_does_not_read_costs_nothing_and_hears_ready_when_it_does(case):
    parent = Parent(case)
    parent.fill()
    run = case.run(one_service(case), environment=parent.environment(WATCHDOG_USEC="200000", WATCHDOG_PID="1")).ready()
    case.serving("web")
    parent.drain()
    parent.until("READY=1")
    parent.fill()
    equal(run.end(), 0, "exit code")
    took = run.journal.only("ending_finished")["took_us"]
    check(took < 15_000_000, f"the ending took {took} us")


@test
def a_parent_that_is_gone_costs_nothing(case):
    run = case.run(one_service(case), environment={"NOTIFY_SOCKET": case.path("nobody.sock"),
                                                   "WATCHDOG_USEC": "200000"}).ready()
    case.serving("web")
    equal(run.end(), 0, "exit code")


@test
def systemd_notify_of_the_parents_kind_reads_the_same_words(case):
    """A whole endwell as a service of another endwell: the outer one takes what the inner one says."""
    inner = case.plan(Phases="one", RuntimeDirectory=case.path("inner"))
    inner.actor("web", "serve", Phase="one")
    path = inner.write("inner.ini")
    outer = case.plan(Phases="one")
    outer.service("inner", f"{os.environ['ENDWELL_BINARY']} run -c {path}", Phase="one", Type="notify")
    run = case.run(outer).ready()
    run.journal.until("service_ready", service="inner")
    run.journal.until("service_status", service="inner", text=lambda text: text.startswith("ready"))
    case.serving("web")
    equal(run.end(), 0, "exit code")
    run.journal.only("service_extended", service="inner", usec=28_000_000)
