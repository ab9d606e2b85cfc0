"""What services hand over to be kept for their next run, and the newline by which they say that they are ready."""
import os
import signal

from case import test
from endwell import read_link, status_field
from journal import check, equal, soon, wait_until

HERE = os.path.dirname(os.path.realpath(__file__))
HOLDER = "/usr/bin/python3 " + os.path.join(HERE, "programs/holder.py")


def plan_of_two_runs(case, first, second="ready", **keys):
    """The first run says `first` and is killed, the others say `second`."""
    once = case.path("once")
    plan = case.plan(Phases="one", LogLevel="warning")
    plan.shell("web", f'[ -e {once} ] && exec {HOLDER} {second}; : > {once}; exec {HOLDER} {first}', Phase="one",
               RestartSec="10ms", **{"Type": "notify", "FileDescriptorStoreMax": 5, **keys})
    return plan


def kill_first(case, run):
    case.serving("web")
    os.kill(run.outside(case.log.first("found", name="web")["pid"]), signal.SIGKILL)
    return case.log.until("found", count=2, name="web")


def held(run):
    """What endwell has open that was made by a service: files without a name, and the sockets of pairs."""
    links = [read_link(f"/proc/{run.pid}/fd/{name}") for name in os.listdir(f"/proc/{run.pid}/fd")]
    return sorted(link for link in links if "memfd:" in link and "endwell" not in link)


def passed(line):
    return list(zip(line["names"], [one.get("text") for one in line["fds"]]))


@test
def what_is_stored_comes_back_after_a_restart_under_its_name(case):
    run = case.run(plan_of_two_runs(case, "store session store cache 2 ready barrier")).ready()
    line = kill_first(case, run)
    equal(passed(line), [("session", "session 0"), ("cache", "cache 0"), ("cache", "cache 1")], "what came back")
    check(line["mine"], "LISTEN_PID is not the service's own")
    equal([one["fd"] for one in line["fds"]], [3, 4, 5], "descriptors")
    equal(run.end(), 0, "exit code")


@test
def what_is_stored_comes_behind_the_sockets(case):
    path = case.path("socket")
    run = case.run(plan_of_two_runs(case, "store session ready barrier", Listen=f"unix:{path} name=front")).ready()
    line = kill_first(case, run)
    equal(line["names"], ["front", "session"], "names")
    check(line["fds"][0]["listens"] and line["fds"][1]["text"] == "session 0", f"what came: {line['fds']}")
    equal(run.end(), 0, "exit code")


@test
def it_is_kept_until_the_service_rests_and_no_longer(case):
    plan = plan_of_two_runs(case, "store session ready barrier", "ready exit 0", Essential="no", Restart="on-failure")
    plan.actor("other", "serve", Phase="one")
    run = case.run(plan).ready()
    case.serving("web"), case.serving("other")
    equal(len(held(run)), 1, "held while the service runs")
    kill_first(case, run)
    run.journal.until("service_gone", service="web", count=2)
    wait_until(lambda: not held(run), "everything of the service is closed", alive=run.alive)
    equal(run.end(), 0, "exit code")


@test
def more_than_the_most_is_closed(case):
    run = case.run(plan_of_two_runs(case, "store a 3 store b 4 ready barrier", FileDescriptorStoreMax=5)).ready()
    line = kill_first(case, run)
    equal(passed(line), [("a", "a 0"), ("a", "a 1"), ("a", "a 2"), ("b", "b 0"), ("b", "b 1")], "what came back")
    check("web stores more descriptors than FileDescriptorStoreMax" in run.errors(), "the log does not say so")
    equal(run.end(), 0, "exit code")


@test
def without_a_store_nothing_is_kept(case):
    run = case.run(plan_of_two_runs(case, "store a 3 ready barrier", FileDescriptorStoreMax=0)).ready()
    case.serving("web")
    equal(held(run), [], "what endwell holds")
    line = kill_first(case, run)
    equal(line["listen"], {}, "what the next run finds")
    equal(run.end(), 0, "exit code")


@test
def what_is_forgotten_by_name_does_not_come_back(case):
    run = case.run(plan_of_two_runs(case, "store a store b store a forget a store c ready barrier")).ready()
    equal(passed(kill_first(case, run)), [("b", "b 0"), ("c", "c 0")], "what came back")
    equal(run.end(), 0, "exit code")


@test
def what_is_stored_again_is_there_once(case):
    run = case.run(plan_of_two_runs(case, "store a ready barrier", "again a again b barrier ready")).ready()
    kill_first(case, run)
    case.serving("web", 2)
    os.kill(run.outside(case.log.all("found", name="web")[1]["pid"]), signal.SIGKILL)
    equal(passed(case.log.until("found", count=3, name="web")), [("a", "a 0")], "what came back")
    equal(run.end(), 0, "exit code")


@test
def a_connection_that_is_hung_up_is_forgotten_unless_that_is_refused(case):
    words = "store-hung gone store-hung-unwatched kept store file ready barrier"
    run = case.run(plan_of_two_runs(case, words)).ready()
    equal(kill_first(case, run)["names"], ["kept", "file"], "what came back")
    equal(run.end(), 0, "exit code")


@test
def each_instance_has_a_store_of_its_own(case):
    plan = case.plan(Phases="one", LogLevel="warning")
    plan.shell("web", f'exec {HOLDER} store number-$ENDWELL_INSTANCE ready barrier', Phase="one", Type="notify", Instances=2,
               RestartSec="10ms", FileDescriptorStoreMax=5)
    run = case.run(plan).ready()
    case.serving("web", 2)
    first = case.log.first("found", name="web", instance=1)
    os.kill(run.outside(first["pid"]), signal.SIGKILL)
    equal(case.log.until("found", count=2, name="web", instance=1)["names"], ["number-1"], "what the first finds")
    equal(run.end(), 0, "exit code")


@test
def a_flood_of_descriptors_delays_nobody_and_leaves_nothing(case):
    plan = case.plan(Phases="one", LogLevel="warning")
    plan.service("flood", f"/usr/bin/python3 {os.path.join(HERE, 'programs/store_flood.py')}", Phase="one",
                 FileDescriptorStoreMax=300, Instances=2)
    plan.actor("web", "notify READY=1 , serve", Phase="one", Type="notify")
    run = case.run(plan).ready()
    case.serving("web")
    case.log.until("flooding", count=2)
    wait_until(lambda: len(held(run)) == 600, "both have stored as many as they may", alive=run.alive)
    for _ in range(20):
        check("web" in run.verb("status", timeout=20).stdout, "no status beside the flood")
    check(run.descriptors() < 600 + 253 + 100, "more is open than what is stored, a message's, and endwell's own")
    equal(run.end(timeout=20), 0, "exit code")
    soon(run.journal.only("ending_finished")["took_us"], "the ending beside the flood")


# ---- Type=notify-fd:N ----


def line_plan(case, words, number=9, **keys):
    plan = case.plan(Phases="one", LogLevel="warning")
    plan.service("web", f"{HOLDER} {words}", Phase="one", **{"Type": f"notify-fd:{number}", **keys})
    return plan


@test
def a_newline_makes_the_service_ready_and_not_earlier(case):
    gate = case.path("gate")
    run = case.run(line_plan(case, f"line 9 nearly say nearly wait-for {gate} line 9 there\\\\n"))
    equal(case.log.until("found")["open"], [0, 1, 2, 9], "open descriptors")
    case.log.until("nearly")
    run.journal.none("service_ready")
    with open(gate, "w", encoding="ascii"):
        pass
    run.journal.until("service_ready")
    run.ready()
    equal(run.end(), 0, "exit code")


@test
def a_newline_of_a_process_that_is_gone_still_counts(case):
    gate = case.path("gate")
    run = case.run(line_plan(case, f"wait-for {gate} line 9 \\\\n exit 0", Essential="no", Restart="no"))
    pid = run.outside(case.log.until("found")["pid"])
    os.kill(run.pid, signal.SIGSTOP)  # so that it finds both at once, the newline and the end
    with open(gate, "w", encoding="ascii"):
        pass
    wait_until(lambda: status_field(pid, "State")[:1] == ["Z"], "the service has ended")
    os.kill(run.pid, signal.SIGCONT)
    exited = run.journal.until("service_exited", service="web")
    run.journal.order(run.journal.only("service_ready", service="web"), exited)
    equal(run.wait(), 0, "exit code")


@test
def an_end_without_a_newline_says_nothing(case):
    run = case.run(line_plan(case, "line 3 nearly close 3", number=3, TimeoutStartSec="500ms", StartLimitBurst=1))
    equal(run.wait(), 83, "exit code")
    run.journal.none("service_ready")
    equal(run.journal.only("service_gave_up")["reason"], "not ready in time", "reason")


@test
def each_run_is_ready_by_its_own_newline(case):
    once = case.path("once")
    plan = case.plan(Phases="one", LogLevel="warning")
    # The first run leaves a process behind that has its pipe, and writes into it when the second one is there.
    late = f"trap '' PIPE; while ! [ -e {case.path('late')} ]; do sleep 0.01; done; echo >&9; : > {case.path('written')}"
    plan.shell("web", f'[ -e {once} ] && exec {HOLDER} wait-for {case.path("gate")} line 9 "\\\\n"; : > {once}; '
               f'setsid sh -c "{late}" & exec {HOLDER} exit 1', Phase="one", Type="notify-fd:9", RestartSec="10ms",
               KillMode="process")
    run = case.run(plan)
    case.log.until("found", count=2)
    with open(case.path("late"), "w", encoding="ascii"):
        pass
    wait_until(lambda: os.path.exists(case.path("written")), "the late newline was written", alive=run.alive)
    run.verb("status")
    run.journal.none("service_ready")
    with open(case.path("gate"), "w", encoding="ascii"):
        pass
    run.journal.until("service_ready")
    run.end()


@test
def one_who_writes_without_an_end_is_not_read_without_an_end(case):
    plan = line_plan(case, "ready", TimeoutStartSec="2s", StartLimitBurst=1)
    plan.shell("noisy", "yes no-newline | tr -d '\\n' >&9; exec sleep 60", Phase="one", Type="notify-fd:9")
    run = case.run(plan)
    case.log.until("found")
    wait_until(lambda: not [pid for pid in run.processes() if read_link(f"/proc/{pid}/exe").endswith("/yes")],
               "the writer was told that nobody reads", alive=run.alive)
    run.wait()
