"""A restart refuses no connection, and an ending loses none that was accepted: under load, counted by the clients."""
import os
import signal

from callers import Callers, Wrk, free_port
from case import test
from journal import check, equal

WEB = os.environ.get("ENDWELL_WEB", "")
# A run of less than a second counts as a failure, and here they are all short.
AGAIN = {"RestartSec": "10ms", "RestartMaxDelaySec": "20ms", "StartLimitBurst": 0}
GOOD = {"refused": 0, "lost": 0, "other": 0}
FLAWLESS = {"connect": 0, "read": 0, "write": 0, "timeout": 0, "status": 0}


def web_plan(case, listen, words="--delay-ms 2", **keys):
    plan = case.plan(Phases="one", LogLevel="warning", RuntimeDirectory=case.path(f"run.{len(case.runs)}"))
    plan.service("web", f"{WEB} {words}", Phase="one", Type="notify", Listen=listen, **keys)
    return plan


def restart(case, run, number, how=signal.SIGTERM):
    """From outside, as an operator or a crash would, and in the midst of work."""
    ready = run.journal.until("service_ready", count=number)
    case.log.until("busy", pid=ready["pid"])
    os.kill(run.outside(ready["pid"]), how)


def restart_all(case, run, restarts, how=signal.SIGTERM):
    """As often, and back when the last run is at work."""
    for number in range(1, restarts + 1):
        restart(case, run, number, how)
    case.log.until("busy", pid=run.journal.until("service_ready", count=restarts + 1)["pid"])


def equal_part(found, wanted, what):
    equal({key: found[key] for key in wanted}, wanted, f"{what}: {found}")


def check_server(case, runs):
    """Each run of the server answered everything that it had accepted and was asked."""
    served = case.log.all("served")
    equal(len(served), runs, "runs of the server that ended as they should")
    for line in served:
        equal(line["answered"] + line["left"], line["asked"], f"what a run was asked and did: {line}")


@test(repeat=(10, 100))
def a_restart_refuses_no_connection(case):
    port, restarts = free_port(), case.repeat
    run = case.run(web_plan(case, f"tcp://127.0.0.1:{port}", Restart="always", **AGAIN)).ready()
    fresh, kept = (Callers(case, f"tcp:{port}", 8, mode) for mode in ("fresh", "kept"))
    restart_all(case, run, restarts)
    for name, found in (("fresh connections", fresh.over()), ("kept connections", kept.over())):
        print(f"     {restarts} restarts, {name}: {found}", flush=True)
        equal_part(found, GOOD, name)
    equal(len(run.journal.all("service_restart_scheduled")), restarts, "restarts in the journal")
    equal(run.end(), 0, "exit code")
    check_server(case, restarts + 1)


@test(repeat=(10, 100))
def wrk_sees_no_error_over_restarts(case):
    for mode in ("fresh", "kept"):
        port, restarts, before = free_port(), case.repeat, len(case.log.all("served"))
        run = case.run(web_plan(case, f"tcp://127.0.0.1:{port}", Restart="always", **AGAIN)).ready()
        wrk = Wrk(case, port, 16, mode)
        restart_all(case, run, restarts)
        found = wrk.over()
        print(f"     {restarts} restarts, wrk with {mode} connections: {found}", flush=True)
        equal_part(found, FLAWLESS, f"wrk with {mode} connections")
        equal(run.end(), 0, "exit code")
        equal(len(case.log.all("served")) - before, restarts + 1, "runs of the server")


@test(repeat=(5, 50))
def a_crash_refuses_no_connection_either(case):
    port, crashes = free_port(), case.repeat
    run = case.run(web_plan(case, f"tcp://127.0.0.1:{port}", **AGAIN)).ready()
    callers = Callers(case, f"tcp:{port}", 8, "fresh")
    restart_all(case, run, crashes, signal.SIGKILL)
    found = callers.over()
    print(f"     {crashes} crashes: {found}", flush=True)
    equal_part(found, {"refused": 0, "other": 0}, "calls")
    check(found["lost"] <= 8 * crashes, f"more was lost than what a crashed run had in hand: {found}")
    equal(run.end(), 0, "exit code")


@test(repeat=(5, 50))
def a_restart_refuses_nobody_on_a_unix_socket(case):
    path, restarts = case.path("web.socket"), case.repeat
    run = case.run(web_plan(case, f"unix:{path}", Restart="always", **AGAIN)).ready()
    callers = Callers(case, f"unix:{path}", 8, "fresh")
    restart_all(case, run, restarts)
    equal_part(callers.over(), GOOD, "calls")
    equal(run.end(), 0, "exit code")
    check_server(case, restarts + 1)


def end_under_load(case, words, number):
    """One ending; the number of connections that were made and came to nothing. What the server accepted it answered."""
    port = free_port()
    plan = web_plan(case, f"tcp://127.0.0.1:{port}", words)
    run = case.run(plan).ready()
    fresh, kept = (Callers(case, f"tcp:{port}", 8, mode) for mode in ("fresh", "kept"))
    case.log.until("busy", count=number)
    equal(run.end(), 0, "exit code")
    served = case.log.until("served", count=number)
    found = [fresh.over(), kept.over()]
    equal(served["answered"], served["asked"], f"what the server was asked and answered: {served}")
    equal(sum(one["answered"] for one in found), served["answered"], "answers that came, and that were sent")
    equal(sum(one["other"] for one in found), 0, "odd failures")
    check(sum(one["refused"] for one in found) > 0, "after the end nobody was refused")
    return sum(one["lost"] for one in found)


@test(repeat=(4, 20))
def an_ending_loses_nothing_that_was_accepted(case):
    # Who comes between the server's last look into the queue and its close is turned away by the kernel: not accepted.
    turned_away = sum(end_under_load(case, "--delay-ms 10", number) for number in range(1, case.repeat + 1))
    print(f"     {case.repeat} endings: 0 accepted and lost, {turned_away} turned away at the close", flush=True)


@test(repeat=(4, 20))
def an_ending_loses_nobody_at_all_when_the_server_shuts_the_door_first(case):
    lost = sum(end_under_load(case, "--last", number) for number in range(1, case.repeat + 1))
    print(f"     {case.repeat} endings: {lost} connections lost", flush=True)
    equal(lost, 0, "connections that were made and came to nothing")
