"""Starts, stops and restarts by persons: in order, waited for, refused in an ending; signals, hooks, health, waiting."""
import json
import os
import signal
import subprocess

from callers import Callers, free_port
from case import test
from endwell import BINARY
from journal import check, equal, wait_until

WEB = os.environ.get("ENDWELL_WEB", "")


def three(case, **keys):
    """web requires cache, and cache comes after log; an old one that nobody knows."""
    plan = case.plan(Phases="one")
    plan.actor("log", "serve", Phase="one")
    plan.actor("cache", "serve", Phase="one", After="log", **keys)
    plan.actor("web", "serve", Phase="one", Requires="cache")
    plan.actor("other", "serve", Phase="one")
    return plan


def started(case):
    run = case.run(three(case)).ready()
    for name in ("log", "cache", "web", "other"):
        case.serving(name)
    return run


def status_of(run, name):
    services = run.connect().result("status")["services"]
    return {service["service"]: service for service in services}[name]["instances"][0]


def done(run, *words, code=0):
    shown = run.verb(*words)
    equal(shown.returncode, code, f"exit code of {words}: {shown.stdout}{shown.stderr}")
    return shown


def order(run, event, names, after=0):
    """The services whose `event` comes after a seq, in the order of the journal."""
    return [line["service"] for line in run.journal.all(event) if line["seq"] > after and line["service"] in names]


@test
def a_stop_asks_those_who_require_it_first_and_they_stay_stopped(case):
    run = started(case)
    before = run.journal.read()[-1]["seq"]
    done(run, "stop", "cache")
    equal(order(run, "service_asked", ("web", "cache"), before), ["web", "cache"], "the order of asking")
    gone, asked = run.journal.until("service_gone", service="web"), run.journal.until("service_asked", service="cache")
    check(gone["seq"] < asked["seq"], "cache was asked before web was gone")
    for name in ("web", "cache"):
        equal(status_of(run, name)["state"], "stopped", f"the state of {name}")
    for name in ("log", "other"):
        equal(status_of(run, name)["state"], "ready", f"the state of {name}")
    request = run.journal.until("request_received", method="stop")
    equal(request["detail"], "cache", "who was named")
    equal(run.connect().result("status")["ready"], False, "readiness while an essential service is stopped")
    equal(run.end(), 0, "exit code")


@test
def a_start_brings_what_is_required_and_waits_until_it_is_ready(case):
    run = started(case)
    done(run, "stop", "cache")
    before = run.journal.read()[-1]["seq"]
    shown = done(run, "start", "web")
    check("web" in shown.stdout and "cache" in shown.stdout, f"what is said: {shown.stdout}")
    equal(order(run, "service_starting", ("web", "cache"), before), ["cache", "web"], "the order of starting")
    equal(run.connect().result("status")["ready"], True, "readiness")
    equal(done(run, "start", "web").stdout, "nothing to do: that is how it is already\n", "a second start")
    equal(run.end(), 0, "exit code")


@test
def a_restart_takes_along_those_who_require_it_and_nobody_else(case):
    run = started(case)
    pids = {name: status_of(run, name)["pid"] for name in ("log", "cache", "web", "other")}
    before = run.journal.read()[-1]["seq"]
    done(run, "restart", "cache")
    equal(order(run, "service_asked", pids, before), ["web", "cache"], "the order of asking")
    equal(order(run, "service_starting", pids, before), ["cache", "web"], "the order of starting")
    for name, pid in pids.items():
        equal(status_of(run, name)["pid"] == pid, name in ("log", "other"), f"{name} has the same pid")
    equal(run.end(), 0, "exit code")


@test(repeat=(10, 50))
def a_restart_by_hand_refuses_no_connection(case):
    port = free_port()
    plan = case.plan(Phases="one", LogLevel="warning")
    plan.service("web", f"{WEB} --delay-ms 2", Phase="one", Type="notify", Listen=f"tcp://127.0.0.1:{port}")
    run = case.run(plan).ready()
    fresh, kept = (Callers(case, f"tcp:{port}", 8, mode) for mode in ("fresh", "kept"))
    for _ in range(case.repeat):
        done(run, "restart", "web")
        case.log.until("busy", pid=run.journal.all("service_ready")[-1]["pid"])
    for name, found in (("fresh", fresh.over()), ("kept", kept.over())):
        print(f"     {case.repeat} restarts by hand, {name}: {found}", flush=True)
        equal({key: found[key] for key in ("refused", "lost", "other")}, {"refused": 0, "lost": 0, "other": 0}, name)
    equal(run.end(), 0, "exit code")


@test
def a_stop_closes_the_sockets_and_a_start_opens_them_again(case):
    port = free_port()
    plan = case.plan(Phases="one")
    plan.service("web", f"{WEB} --delay-ms 1", Phase="one", Type="notify", Listen=f"tcp://127.0.0.1:{port}")
    run = case.run(plan).ready()
    done(run, "stop", "web")
    callers = Callers(case, f"tcp:{port}", 1, "fresh")
    wait_until(lambda: callers.over()["refused"] > 0, "a refused connection")
    done(run, "start", "web")
    callers = Callers(case, f"tcp:{port}", 1, "fresh")
    case.log.until("busy", pid=run.journal.all("service_ready")[-1]["pid"])
    equal(callers.over()["refused"], 0, "refused connections")
    equal(run.end(), 0, "exit code")


@test
def a_restart_runs_the_stop_hooks_and_a_stop_killed_at_its_limit_is_interrupted(case):
    plan = case.plan(Phases="one")
    plan.actor("web", "serve --ignore", Phase="one", TimeoutStopSec="300ms")
    plan.hook("before", "exit", Service="web", On="pre-stop")
    plan.hook("behind", "exit", Service="web", On="post-stop")
    run = case.run(plan).ready()
    case.serving("web")
    done(run, "restart", "web")
    gone = run.journal.until("service_gone", service="web")
    equal((gone["cause"], gone["killed"]), ("interrupted", 1), "the cause")
    for hook in ("before", "behind"):
        equal(run.journal.until("hook_finished", hook=hook)["status"], 0, f"hook {hook}")
    case.serving("web", count=2)
    equal(run.end(), 81, "exit code")


@test
def a_start_gives_a_fresh_count_to_who_had_failed_for_good(case):
    plan = case.plan(Phases="one")
    plan.actor("other", "serve", Phase="one")
    plan.service("bad", f"/bin/sh -c 'test -e {case.path('mended')} && exec sleep 1000; exit 3'", Phase="one",
                 Essential="no", StartLimitBurst=2, RestartSec="10ms")
    run = case.run(plan)
    run.journal.until("service_gave_up", service="bad")
    # Type=simple is ready as soon as it runs: that it fails again is seen by the next line of its journal.
    case.file("mended")
    done(run, "start", "bad")
    equal(status_of(run, "bad")["failures"], 0, "failures")
    equal(status_of(run, "bad")["state"], "ready", "the state")
    equal(run.end(), 0, "exit code")


@test
def a_start_that_fails_for_good_is_said_so(case):
    plan = case.plan(Phases="one")
    plan.actor("other", "serve", Phase="one")
    plan.service("bad", "/nonexistent/program", Phase="one", Essential="no", AutoStart="no", StartLimitBurst=1)
    run = case.run(plan).ready()
    shown = done(run, "start", "bad", code=1)
    check("bad failed for good" in shown.stderr, f"the message: {shown.stderr}")
    equal(run.end(), 0, "exit code")


@test
def autostart_no_waits_for_a_start_and_holds_up_neither_the_start_nor_readiness(case):
    plan = case.plan(Phases="one")
    plan.actor("web", "serve", Phase="one")
    plan.actor("tool", "serve", Phase="one", AutoStart="no")
    run = case.run(plan).ready()
    equal(status_of(run, "tool")["state"], "stopped", "the state of tool")
    equal(run.connect().result("status")["ready"], True, "readiness")
    done(run, "start", "tool")
    case.serving("tool")
    done(run, "stop", "tool")
    equal(run.connect().result("status")["ready"], True, "readiness after the stop")
    equal(run.end(), 0, "exit code")


@test
def the_last_service_that_a_person_stops_does_not_end_the_container(case):
    plan = case.plan(Phases="one")
    plan.actor("web", "serve", Phase="one")
    run = case.run(plan).ready()
    case.serving("web")
    done(run, "stop", "web")
    done(run, "start", "web")
    equal(run.end(), 0, "exit code")


@test
def one_instance_of_several_goes_alone(case):
    plan = case.plan(Phases="one")
    plan.actor("cache", "serve", Phase="one", Instances=2)
    plan.actor("web", "serve", Phase="one", Requires="cache")
    run = case.run(plan).ready()
    done(run, "stop", "cache@2")
    equal(run.journal.all("service_stopped")[-1]["instance"], 2, "who was stopped")
    equal(status_of(run, "web")["state"], "ready", "the state of web")
    done(run, "stop", "cache@1")
    equal(status_of(run, "web")["state"], "stopped", "the state of web, once none is left")
    equal(run.end(), 0, "exit code")


@test
def in_an_ending_all_are_refused_with_the_reason(case):
    plan = case.plan(Phases="one")
    plan.actor("web", "serve --ignore", Phase="one", TimeoutStopSec="3s")
    plan.hook("drill", "exit", Service="web", On="pre-stop")
    run = case.run(plan).ready()
    case.serving("web")
    run.send(signal.SIGTERM)
    run.journal.until("service_asked", service="web")
    for words in (("start", "web"), ("stop", "web"), ("restart", "web"), ("signal", "web", "HUP"),
                  ("hook", "run", "drill")):
        shown = done(run, *words, code=1)
        check("the ending has begun (signal)" in shown.stderr, f"{words}: {shown.stderr}")
    equal(run.wait(), 81, "exit code")


@test
def who_waits_for_a_start_is_told_of_an_ending(case):
    plan = case.plan(Phases="one")
    plan.actor("web", "serve", Phase="one")
    plan.actor("slow", "serve", Phase="one", Type="notify", AutoStart="no")
    run = case.run(plan).ready()
    waiter = run.verb_begin("start", "slow")
    case.serving("slow")
    run.send(signal.SIGTERM)
    _, errors = waiter.communicate(timeout=60)
    equal(waiter.returncode, 1, "exit code of start")
    check("overtaken by the ending" in errors, f"the message: {errors}")
    equal(run.wait(), 0, "exit code")


@test
def what_does_not_exist_is_refused_by_name(case):
    run = started(case)
    for words, what in ((("stop", "nobody"), "no service nobody"), (("stop", "web@2"), "no web@2"),
                        (("stop", "web@x"), "no web@x"), (("hook", "run", "nothing"), "no hook nothing"),
                        (("signal", "nobody", "HUP"), "no service nobody")):
        check(what in done(run, *words, code=1).stderr, f"{words}")
    equal(run.verb("signal", "web", "SIGNONE").returncode, 64, "a signal that is none")
    equal(run.end(), 0, "exit code")


@test
def the_answer_for_programs_names_each_and_its_end(case):
    run = started(case)
    found = json.loads(done(run, "restart", "cache", "--json").stdout)
    equal({one["service"]: one["result"] for one in found}, {"cache": "ready", "web": "ready"}, "the results")
    shown = done(run, "stop", "web", "--no-wait", "--json")
    equal([one["service"] for one in json.loads(shown.stdout)], ["web"], "who is reached")
    run.journal.until("service_stopped", service="web")
    equal(run.end(), 0, "exit code")


@test
def a_signal_reaches_the_main_process_and_changes_nothing_else(case):
    plan = case.plan(Phases="one")
    plan.actor("web", "serve --ignore", Phase="one", TimeoutStopSec="100ms")
    run = case.run(plan).ready()
    case.serving("web")
    done(run, "signal", "web", "USR1")
    sent = run.journal.until("service_signalled", service="web")
    equal((sent["signal"], sent["reason"]), ("SIGUSR1", "request"), "the event")
    case.log.until("signal", name="web", signal=int(signal.SIGUSR1))
    done(run, "signal", "web", "KILL")
    gone = run.journal.until("service_gone", service="web")
    equal(gone["cause"], "crashed", "the cause")
    case.serving("web", count=2)
    equal(run.end(), 81, "exit code")


@test
def a_stopped_process_stays_stopped_until_it_is_continued(case):
    run = started(case)
    pid = run.outside(status_of(run, "other")["pid"])
    done(run, "signal", "other", "STOP")
    wait_until(lambda: open(f"/proc/{pid}/stat", encoding="ascii").read().split(") ")[1][0] == "T", "it is stopped")
    done(run, "signal", "other", "CONT")
    wait_until(lambda: open(f"/proc/{pid}/stat", encoding="ascii").read().split(") ")[1][0] != "T", "it goes on")
    equal(run.end(), 0, "exit code")


@test
def a_hook_runs_once_an_epoch_and_two_at_once_are_one(case):
    plan = case.plan(Phases="one")
    plan.actor("web", "serve", Phase="one")
    gate, count = case.fifo("gate"), case.path("count")
    plan.section("[Hook drill]", {"Exec": f"/bin/sh -c 'echo x >> {count}; read x < {gate}; exit 3'", "Service": "web",
                                  "On": "post-stop", "TimeoutSec": "10s"})
    run = case.run(plan).ready()
    both = [run.verb_begin("hook", "run", "drill") for _ in range(2)]
    run.journal.until("hook_started", hook="drill")
    run.journal.until("hook_refused", hook="drill", reason="already_ran")
    with open(gate, "w", encoding="ascii") as file:
        file.write("go\n")
    said = [one.communicate(timeout=60)[0] for one in both]
    equal([one.returncode for one in both], [1, 1], f"exit codes: {said}")
    check(all("exit 3" in text for text in said), f"both have the answer: {said}")
    equal(sum("which had begun already" in text for text in said), 1, f"one of them is marked: {said}")
    shown = done(run, "hook", "run", "drill", code=1)
    check("exit 3: it ran in this epoch already" in shown.stdout, f"the answer of then: {shown.stdout}")
    equal(case.text("count"), "x\n", "how often it ran")
    run.send(signal.SIGTERM)
    run.journal.until("ending_started")
    with open(gate, "w", encoding="ascii") as file:  # in the epoch of the ending it runs again
        file.write("go\n")
    equal(run.wait(), 0, "exit code")
    equal(case.text("count"), "x\nx\n", "how often it ran, with the ending")


@test
def health_tells_by_its_exit_code(case):
    plan = case.plan(Phases="one")
    plan.actor("web", "serve", Phase="one", Type="notify")
    run = case.run(plan)
    case.serving("web")
    equal([run.verb("health", word).returncode for word in ("--live", "--ready", "--startup")], [0, 1, 1], "starting")
    done(run, "signal", "web", "KILL")
    run.journal.until("service_restart_scheduled")
    equal(run.end(), 0, "exit code")
    equal(run.verb("health", "--live").returncode, 1, "of one that is gone")


@test
def health_and_wait_of_one_that_is_ready(case):
    run = started(case)
    equal([run.verb("health", *words).returncode for words in ((), ("--live",), ("--ready",), ("--startup",))],
          [0, 0, 0, 0], "ready")
    done(run, "wait", "--ready")
    done(run, "stop", "web")
    equal(run.verb("health").returncode, 1, "after a stop")
    shown = done(run, "wait", "--ready", "--timeout", "50ms", code=1)
    check("not everything was ready within 50 ms" in shown.stderr, f"the message: {shown.stderr}")
    waiter = run.verb_begin("wait", "--ready")
    done(run, "start", "web")
    equal(waiter.wait(60), 0, "a wait that is fulfilled")
    equal(run.end(), 0, "exit code")


@test
def a_watch_shows_the_state_again_and_again_until_the_end(case):
    run = started(case)
    watcher = run.verb_begin("status", "--watch")
    first = [watcher.stdout.readline() for _ in range(3)]
    check("ready for" in first[0], f"the first lines: {first}")
    check(any("\x1b" in line for line in first) is False, f"no terminal, and a sequence for one: {first}")
    while "ready for" not in watcher.stdout.readline():  # the next one
        pass
    equal(run.end(), 0, "exit code")
    watcher.communicate(timeout=60)
    equal(watcher.returncode, 0, "exit code of the watch")


@test
def a_watch_redraws_in_place_on_a_terminal_and_without_colour_where_none_is_wanted(case):
    run = started(case)
    for more, coloured in (({}, True), ({"NO_COLOR": "1"}, False)):
        main, other = os.openpty()
        watcher = subprocess.Popen([BINARY, "status", "--watch", "--socket", run.socket_path()], stdout=other,
                                   env={**case.environment, **more, "TERM": "xterm"})
        os.close(other)
        text = b""
        while text.count(b"\x1b[H") < 2 or not text.endswith(b"\x1b[J"):
            text += os.read(main, 65536)
        watcher.kill()
        watcher.wait()
        os.close(main)
        check(b"\x1b[2J" in text and text.count(b"web") >= 2, f"what was drawn: {text!r}")
        equal(b"m" in b"".join(part[:6] for part in text.split(b"\x1b[")[1:] if part[:1].isdigit() and b"m" in part[:4]),
              coloured, f"colours: {text!r}")
    equal(run.end(), 0, "exit code")


@test
def status_names_whom_a_person_waits_for_and_when_that_is_over(case):
    plan = case.plan(Phases="one")
    plan.actor("slow", "serve --ignore", Phase="one", TimeoutStopSec="2s")
    run = case.run(plan).ready()
    case.serving("slow")
    waiter = run.verb_begin("stop", "slow")
    run.journal.until("service_asked", service="slow")
    shown = run.verb("status").stdout
    check("waiting for slow, killed in " in shown, f"the status: {shown}")
    equal(waiter.wait(60), 0, "exit code of stop")
    check("waiting for" not in run.verb("status").stdout, "nobody is waited for any more")
    equal(run.end(), 0, "exit code")


@test
def a_restart_of_the_second_instance_while_the_first_is_away_takes_along_who_requires_them(case):
    gate = case.fifo("gate")
    once = case.path("once")
    plan = case.plan(Phases="one")
    plan.shell("web", f'[ "$ENDWELL_INSTANCE" = 1 ] && [ -e {once} ] && read x < {gate}; '
               f'[ "$ENDWELL_INSTANCE" = 1 ] && : > {once}; {BINARY} notify READY=1; exec "$ACTOR" serve',
               Phase="one", Type="notify", Instances=2)
    plan.actor("user", "serve", Phase="one", Requires="web")
    run = case.run(plan).ready()
    case.serving("user")
    pid = status_of(run, "user")["pid"]
    before = run.journal.read()[-1]["seq"]
    done(run, "restart", "web@1", "--no-wait")
    wait_until(lambda: [line for line in run.journal.all("service_started", service="web", instance=1)
                        if line["seq"] > before], "the first instance is on its way")
    equal(status_of(run, "user")["pid"], pid, "the pid while the second instance serves")
    done(run, "restart", "web@2", "--no-wait")
    asked = run.journal.until("service_asked", service="user")
    check(asked["seq"] < run.journal.until("service_asked", service="web", instance=2)["seq"], "who requires goes first")
    with open(gate, "w", encoding="ascii") as file:
        file.write("go\n")
    wait_until(lambda: status_of(run, "user")["state"] == "ready", "it is back")
    check(status_of(run, "user")["pid"] != pid, "it was restarted")
    equal(run.end(), 0, "exit code")
