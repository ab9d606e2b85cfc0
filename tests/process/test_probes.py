"""Probes: how a service becomes ready, is found ill, and is left in peace. Cases 8 and 40."""
import os
import signal
import socket
import threading

from case import test
from endwell import children, read_link, status_field
from journal import check, equal, lasted, wait_until, within
from servers import HttpServer, RawServer, closed_port, read_request

MS, S = 1000, 1_000_000
OFTEN = "period=100ms"


class Health(HttpServer):
    """Answers with `status`, which a test may change; counts."""

    def __init__(self, status=200):
        super().__init__()
        self.status = status

    def url(self, path="/health", host="127.0.0.1"):
        return super().url(path, host)

    def finish_request(self, request, client_address):
        read_request(request)
        self.requests.append(self.status)
        request.sendall(b"HTTP/1.1 %d Said\r\nContent-Length: 0\r\n\r\n" % self.status)

    def say(self, status):
        """The probe has been answered so at least once."""
        self.status = status
        begun = len(self.requests)
        wait_until(lambda: status in self.requests[begun:], f"a request that was answered with {status}")


def plan_with(case, name="web", steps="serve", supervisor=(), **keys):
    plan = case.plan(**{"Phases": "one", **dict(supervisor)})
    plan.actor(name, steps, Phase="one", **keys)
    return plan


def prober_of(run):
    """Its pid, as the outside sees it; 0: none lives."""
    found = [pid for pid in children(run.pid) if os.path.basename(read_link(f"/proc/{pid}/exe")) == "endwell-prober"]
    return found[0] if found else 0


def wait_for_prober(run):
    return wait_until(lambda: prober_of(run), "the prober")


def changed(run, probe, **fields):
    return run.journal.until("probe_changed", probe=probe, **fields)


# Ready


@test
def a_service_is_ready_when_its_url_answers(case):
    health = case.serve(Health(503))
    run = case.run(plan_with(case, ReadinessProbe=f"{health.url()} {OFTEN}"))
    case.serving("web")
    wait_until(lambda: len(health.requests) >= 3, "three requests")
    run.journal.none("service_ready")
    health.say(200)
    run.ready()
    journal = run.journal
    journal.order(journal.only("service_started"), journal.only("probe_changed", probe="readiness", ok=True),
                  journal.only("service_ready"), journal.only("startup_finished"))
    equal(run.end(), 0, "exit code")


@test
def a_service_is_ready_when_its_port_takes_a_connection(case):
    port = closed_port()
    run = case.run(plan_with(case, ReadinessProbe=f"tcp://127.0.0.1:{port} {OFTEN}"))
    case.serving("web")
    wait_for_prober(run)
    run.journal.none("service_ready")
    with socket.socket() as server:
        server.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        server.bind(("127.0.0.1", port))
        server.listen()
        run.ready()
        with server.accept()[0] as connection:
            equal(connection.recv(1), b"", "what the probe sends")
        equal(run.end(), 0, "exit code")


@test
def a_service_is_ready_when_its_unix_socket_takes_a_connection(case):
    path = case.path("socket")
    run = case.run(plan_with(case, ReadinessProbe=f"unix:{path} {OFTEN}"))
    case.serving("web")
    wait_for_prober(run)
    run.journal.none("service_ready")
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(path)
        server.listen()
        run.ready()
        equal(run.end(), 0, "exit code")


@test
def a_service_is_ready_when_its_command_succeeds(case):
    flag = case.path("flag")
    run = case.run(plan_with(case, ReadinessProbe=f"exec:test -e {flag} {OFTEN}"))
    case.serving("web")
    run.journal.none("service_ready")
    case.file("flag")
    run.ready()
    equal(prober_of(run), 0, "commands need no prober")
    equal(run.end(), 0, "exit code")
    within(run.journal.span_us(run.journal.only("service_started"), run.journal.only("service_ready")), 0, 30 * S, "time")


@test
def a_fast_start_is_seen_fast_whatever_the_period(case):
    flag = case.path("flag")
    steps = f"sleep 150 , write {flag} , serve"
    run = case.run(plan_with(case, steps=steps, ReadinessProbe=f"exec:test -e {flag} period=60s")).ready()
    lasted(run.journal.only("service_ready")["took_us"], 150 * MS, "how long it took")
    equal(run.end(), 0, "exit code")


@test
def readiness_goes_and_comes_back_and_the_service_lives_on(case):
    health = case.serve(Health())
    run = case.run(plan_with(case, ReadinessProbe=f"{health.url()} {OFTEN} failures=2 successes=2")).ready()
    pid = case.serving("web")["pid"]
    health.say(503)
    line = changed(run, "readiness", ok=False)
    equal(line["detail"], "HTTP 503", "why")
    run.journal.until("readiness_changed", ready=False)
    check("readiness probe: HTTP 503" in run.verb("status").stdout, "the status says why")
    health.say(200)
    run.journal.until("readiness_changed", count=2, ready=True)
    equal(run.end(), 0, "exit code")
    equal({one["pid"] for one in case.log.all("serving")}, {pid}, "runs")
    equal([line["ok"] for line in run.journal.all("probe_changed")], [True, False, True], "changes")


@test
def who_never_becomes_ready_fails_by_timeout_start_sec_and_gives_up(case):
    health = case.serve(Health(503))
    run = case.run(plan_with(case, ReadinessProbe=f"{health.url()} {OFTEN}", TimeoutStartSec="400ms", RestartSec="1ms",
                             StartLimitBurst=2))
    equal(run.wait(), 83, "exit code")
    equal(run.journal.only("service_gave_up")["failures"], 2, "failures")
    run.journal.none("service_ready")
    begun, ended = run.journal.all("service_starting"), run.journal.all("service_exited")
    equal((len(begun), len(ended)), (2, 2), "runs")
    lasted(run.journal.span_us(begun[0], ended[0]), 400 * MS, "how long each was waited for")


# Alive


@test
def who_is_found_dead_is_killed_and_started_again(case):
    health = case.serve(Health())
    run = case.run(plan_with(case, LivenessProbe=f"{health.url()} {OFTEN} failures=2", RestartSec="1ms")).ready()
    case.serving("web")
    health.say(200)
    health.say(500)
    line = changed(run, "liveness", ok=False)
    equal(line["detail"], "HTTP 500", "why")
    health.say(200)
    case.serving("web", 2)
    equal(run.end(), 0, "exit code")
    journal = run.journal
    equal(journal.first("service_asked")["reason"], "liveness", "why it was asked")
    equal(journal.first("service_gone")["cause"], "timeout", "the cause")
    journal.order(line, journal.first("service_asked"), journal.first("service_exited"), journal.first("service_gone"),
                  journal.first("service_restart_scheduled"), journal.last("service_started"))


@test
def who_is_found_dead_again_and_again_gives_up(case):
    run = case.run(plan_with(case, LivenessProbe=f"tcp://127.0.0.1:{closed_port()} {OFTEN} failures=1", RestartSec="1ms",
                             StartLimitBurst=3))
    equal(run.wait(), 83, "exit code")
    equal(len(run.journal.all("service_starting")), 3, "starts")
    equal(run.journal.only("service_gave_up")["failures"], 3, "failures")
    equal({line["detail"] for line in run.journal.all("probe_changed")}, {"connection refused"}, "why")


@test
def a_start_up_probe_holds_the_others_back_until_it_succeeds(case):
    startup, liveness = case.serve(Health(503)), case.serve(Health(500))
    run = case.run(plan_with(case, StartupProbe=f"{startup.url()} {OFTEN} failures=1000",
                             LivenessProbe=f"{liveness.url()} {OFTEN} failures=2", RestartSec="1ms", StartLimitBurst=1))
    case.serving("web")
    wait_until(lambda: len(startup.requests) >= 5, "five looks")
    run.journal.none("service_ready")
    equal(liveness.requests, [], "looks of the liveness probe")
    startup.say(200)
    equal(run.wait(), 83, "exit code: now the liveness probe has its say")
    journal = run.journal
    journal.order(changed(run, "startup", ok=True), journal.only("service_ready"), changed(run, "liveness", ok=False))


@test
def a_start_up_probe_that_fails_too_often_is_a_failed_start(case):
    run = case.run(plan_with(case, StartupProbe=f"exec:false {OFTEN} failures=2", RestartSec="1ms", StartLimitBurst=2))
    equal(run.wait(), 83, "exit code")
    equal(len(run.journal.all("service_starting")), 2, "starts")
    equal({line["detail"] for line in run.journal.all("probe_changed", probe="startup")}, {"exit code 1"}, "why")


# Commands


@test
def a_command_finds_what_a_hook_finds_and_nothing_to_write_to(case):
    plan = case.plan(Phases="one")
    folder = case.path("folder")
    os.mkdir(folder)
    plan.actor("web", "serve", Phase="one", WorkingDirectory=folder, Environment="OF_THE_SERVICE=yes",
               ReadinessProbe=f"exec:{os.environ['ENDWELL_ACTOR']} as probe , report period=60s")
    run = case.run(plan).ready()
    serving = case.serving("web")
    report = case.log.until("report", name="probe")
    started = run.journal.only("service_started")
    environment = report["environment"]
    for name, wanted in (("ENDWELL_SERVICE", "web"), ("ENDWELL_INSTANCE", "1"), ("ENDWELL_OWNER", started["owner"]),
                         ("ENDWELL_PHASE", "one"), ("MAINPID", str(started["pid"])), ("OF_THE_SERVICE", "yes")):
        equal(environment.get(name), wanted, name)
    check("NOTIFY_SOCKET" not in environment, "a check is not its service's voice")
    equal(report["group"], report["pid"], "a group of its own")
    check(report["group"] != serving["pid"], "not the service's")
    equal({number: path for number, path in report["descriptors"].items()},
          {number: "/dev/null" for number in ("0", "1", "2")}, "descriptors")
    equal(run.end(), 0, "exit code")


@test
def a_command_runs_as_the_user_of_its_service(case):
    plan = case.plan(Phases="one")
    plan.service("web", "sleep infinity", Phase="one", User="nobody", UMask="0027", TimeoutStartSec="20s", Restart="no",
                 ReadinessProbe="exec:sh -c 'test $$(id -u) = 65534 -a $$(umask) = 0027 -a $$USER = nobody' period=60s")
    run = case.run(plan).ready()
    equal(run.journal.only("probe_changed")["detail"], "exit code 0", "what it found")
    equal(run.end(), 0, "exit code")


@test
def what_a_command_says_by_its_end(case):
    actor = os.environ["ENDWELL_ACTOR"]
    for number, (command, detail) in enumerate(((f"{actor} exit 7", "exit code 7"), (f"{actor} die 11", "killed by SIGSEGV"),
                                                (case.file("program", "#!/nonexistent/interpreter\n", 0o755),
                                                 "could not be run (exec): No such file or directory"))):
        plan = plan_with(case, supervisor={"RuntimeDirectory": case.path(f"run.{number}")},
                         LivenessProbe=f"exec:{command} {OFTEN} failures=1", RestartSec="1ms", StartLimitBurst=1)
        run = case.run(plan)
        equal(run.wait(), 83, "exit code")
        equal(run.journal.only("probe_changed")["detail"], detail, "detail")


@test
def a_command_that_hangs_is_killed_with_its_whole_group(case):
    actor = os.environ["ENDWELL_ACTOR"]
    steps = (f"{actor} as probe , spawn as child + serve --ignore , spawn --double as grandchild + serve --ignore , "
             "serve --ignore")
    plan = plan_with(case, LivenessProbe=f"exec:{steps} {OFTEN} timeout=500ms failures=1", RestartSec="1ms",
                     StartLimitBurst=1, Essential="no")
    plan.actor("other", Phase="one")
    run = case.run(plan)
    group = [case.serving(name)["pid"] for name in ("probe", "child", "grandchild")]
    equal(run.journal.until("probe_changed")["detail"][:9], "timed out", "detail")
    for pid in group:
        wait_until(lambda: not run.lives(pid), f"the end of {pid}")
    run.journal.until("service_gave_up")
    equal(run.end(), 0, "exit code")
    equal(len(case.log.all("serving", name="probe")), 1, "checks")


@test
def a_command_that_hangs_is_killed_with_what_left_its_group_and_is_still_below_it(case):
    actor = os.environ["ENDWELL_ACTOR"]
    steps = f"{actor} as probe , spawn --setsid as away + serve --ignore , serve --ignore"
    run = case.run(plan_with(case, LivenessProbe=f"exec:{steps} period=5s timeout=2s failures=1000"))
    for pid in [case.serving(name)["pid"] for name in ("probe", "away")]:
        wait_until(lambda: not run.lives(pid), f"the end of {pid}")
    equal(run.end(), 0, "exit code")
    run.journal.none("service_killed")


@test
def a_command_leaves_nothing_of_its_group_behind(case):
    actor, gate = os.environ["ENDWELL_ACTOR"], case.fifo("gate")
    steps = f"{actor} spawn --double as left + serve --ignore , eof {gate}"
    run = case.run(plan_with(case, ReadinessProbe=f"exec:{steps} period=60s timeout=60s"))
    left = case.serving("left")["pid"]
    with open(gate, "wb"):
        pass
    run.ready()
    wait_until(lambda: not run.lives(left), "the end of what the check left behind")
    equal(run.end(), 0, "exit code")
    run.journal.none("service_killed")


@test
def what_a_command_leaves_in_a_session_of_its_own_belongs_to_the_service(case):
    actor = os.environ["ENDWELL_ACTOR"]
    run = case.run(plan_with(case, ReadinessProbe=f"exec:{actor} spawn --double --setsid as left + serve period=60s"))
    run.ready()
    left = case.serving("left")["pid"]
    run.send(signal.SIGTERM)
    equal(run.wait(), 0, "exit code")
    asked = run.journal.until("service_asked", pid=left)
    equal(asked["service"], "web", "whose it is")


class Gate:
    """A FIFO at whose end actors wait. It has to be swung: who comes a moment late waits for the next time."""

    def __init__(self, path):
        self.path, self.fd = path, os.open(path, os.O_RDWR | os.O_CLOEXEC)

    def swing(self):
        if self.fd is None:
            self.fd = os.open(self.path, os.O_RDWR | os.O_CLOEXEC)
        else:
            self.clean()

    def clean(self):
        if self.fd is not None:
            os.close(self.fd)
        self.fd = None


@test(repeat=(50, 1000))
def case_8_a_command_and_its_service_that_end_together_get_each_its_own_status(case):
    actor, path = os.environ["ENDWELL_ACTOR"], case.fifo("gate")
    gate = case.serve(Gate(path))
    plan = plan_with(case, steps=f"say there , eof {path} , exit 3", Restart="always", RestartSec="1ms", StartLimitBurst=0,
                     RestartMaxDelaySec="1ms", Essential="no",
                     LivenessProbe=f"exec:{actor} as probe , say there , eof {path} , exit 5 period=100ms timeout=60s "
                     "failures=1000")
    plan.actor("other", "serve", Phase="one")
    run = case.run(plan)
    before = 0
    for number in range(1, case.repeat + 1):
        case.log.until("there", count=number, name="web")
        wait_until(lambda: case.log.all("there", name="probe", t=lambda t: t > before), f"a check of run {number}")
        exited = wait_until(lambda: (gate.swing(), run.journal.all("service_exited", service="web")[number - 1:])[1],
                            f"the end of run {number}")
        before = exited[0]["mono_us"]
    equal({(line["code"], line["status"]) for line in run.journal.all("service_exited", service="web")}, {("exited", 3)},
          "ends of the service")
    equal(run.end(), 0, "exit code")


# In the ending


@test
def case_40_a_liveness_probe_that_fails_during_the_drain_restarts_and_kills_nobody(case):
    health = case.serve(Health())
    run = case.run(plan_with(case, steps="serve --term-ms 1500", supervisor={"GraceSec": 20},
                             LivenessProbe=f"{health.url()} {OFTEN} failures=1",
                             ReadinessProbe=f"{health.url('/ready')} {OFTEN} failures=1")).ready()
    case.serving("web")
    health.say(200)
    run.send(signal.SIGTERM)
    run.journal.until("service_asked")
    health.status = 500
    equal(run.wait(), 0, "exit code: nobody was killed")
    journal = run.journal
    journal.none("service_killed")
    journal.none("service_restart_scheduled")
    equal(len(journal.all("service_started")), 1, "runs")
    lasted(journal.span_us(journal.only("service_asked"), journal.only("service_exited")), 1500 * MS, "its drain")
    equal([line for line in journal.all("probe_changed") if line["seq"] > journal.only("ending_started")["seq"]], [],
          "changes after the ending began")


@test
def checks_that_run_when_the_ending_begins_do_not_hold_it_up(case):
    actor = os.environ["ENDWELL_ACTOR"]
    server = case.serve(RawServer(lambda own, connection: (read_request(connection), own.released.wait())))
    plan = plan_with(case, LivenessProbe=f"exec:{actor} as probe , serve --ignore period=60s timeout=60s")
    plan.actor("other", Phase="one", LivenessProbe=f"{server.url()} period=60s timeout=60s")
    run = case.run(plan).ready()
    check_pid = case.serving("probe")["pid"]
    wait_until(lambda: server.connections, "the other check")
    run.send(signal.SIGTERM)
    equal(run.wait(), 0, "exit code")
    equal([line["pid"] for line in case.log.all("serving", name="probe")], [check_pid], "checks")
    within(run.journal.span_us(run.journal.only("ending_started"), run.journal.only("ending_finished")), 0, 20 * S, "time")


@test
def below_another_first_process_all_is_the_same(case):
    actor, health = os.environ["ENDWELL_ACTOR"], case.serve(Health())
    run = case.run(plan_with(case, LivenessProbe=f"{health.url()} {OFTEN}",
                             ReadinessProbe=f"exec:{actor} spawn --double --setsid as left + serve period=60s"),
                   namespace="nested").ready()
    left = case.serving("left")["pid"]
    health.say(200)
    run.send(signal.SIGTERM)
    equal(run.wait(), 0, "exit code")
    equal(run.journal.until("service_asked", pid=left)["service"], "web", "whose it is what a check left")


# The prober


@test
def a_prober_that_is_killed_costs_no_service_anything(case):
    health = case.serve(Health())
    run = case.run(plan_with(case, LivenessProbe=f"{health.url()} {OFTEN} failures=1",
                             ReadinessProbe=f"{health.url('/ready')} {OFTEN} failures=1")).ready()
    for _ in range(2):
        prober = wait_for_prober(run)
        os.kill(prober, signal.SIGKILL)
        wait_until(lambda: prober_of(run) not in (0, prober), "the next prober")
        health.say(200)
    check("the prober was killed by SIGKILL" in run.errors(), "it was said")
    equal(run.end(), 0, "exit code")
    equal([line["probe"] for line in run.journal.all("probe_changed")], ["readiness"], "changes")
    equal(len(run.journal.all("service_started")), 1, "runs")


@test
def a_prober_that_is_stopped_costs_no_service_anything_and_is_replaced(case):
    health = case.serve(Health())
    run = case.run(plan_with(case, LivenessProbe=f"{health.url()} {OFTEN} timeout=200ms failures=1",
                             ReadinessProbe=f"{health.url('/ready')} {OFTEN} timeout=200ms failures=1")).ready()
    prober = wait_for_prober(run)
    os.kill(prober, signal.SIGSTOP)
    wait_until(lambda: prober_of(run) not in (0, prober), "the next prober")
    check("the prober said nothing for 5 s" in run.errors(), "it was said")
    health.say(200)
    equal(run.end(), 0, "exit code")
    equal([line["probe"] for line in run.journal.all("probe_changed")], ["readiness"], "changes")
    equal(len(run.journal.all("service_started")), 1, "runs")


@test
def a_prober_that_is_stopped_at_the_end_is_collected_all_the_same(case):
    health = case.serve(Health())
    run = case.run(plan_with(case, LivenessProbe=f"{health.url()} {OFTEN}")).ready()
    health.say(200)
    prober = wait_for_prober(run)
    os.kill(prober, signal.SIGSTOP)
    equal(run.end(), 0, "exit code")
    check(not os.path.exists(f"/proc/{prober}"), "it was collected")
    check("the prober" not in run.errors(), run.errors())


@test
def servers_that_answer_badly_fail_their_probe_and_nothing_else(case):
    def never_answers(server, connection):
        read_request(connection)
        server.released.wait()

    def garbage(server, connection):
        connection.sendall(bytes(range(256)) * 4)
        server.released.wait()

    def endless(server, connection):
        read_request(connection)
        connection.sendall(b"HTTP/1.1 200 OK\r\n")
        while True:
            connection.sendall(b"X-More: " + b"x" * 1000 + b"\r\n")

    health, plan = case.serve(Health()), case.plan(Phases="one")
    plan.actor("good", Phase="one", LivenessProbe=f"{health.url()} {OFTEN} failures=1")
    for name, serve in (("silent", never_answers), ("garbage", garbage), ("endless", endless)):
        url = case.serve(RawServer(serve)).url()
        plan.actor(name, Phase="one", Essential="no", Restart="no",
                   LivenessProbe=f"{url} period=1s timeout=500ms failures=2")
    run = case.run(plan)
    for name, detail in (("silent", "timed out"), ("garbage", "the answer is not HTTP"),
                         ("endless", "the headers are too long")):
        equal(run.journal.until("probe_changed", service=name, ok=False)["detail"], detail, name)
        run.journal.until("service_gave_up", service=name)
    health.say(200)
    equal(run.end(), 0, "exit code")
    run.journal.none("probe_changed", service="good")
    equal(len(run.journal.all("service_started", service="good")), 1, "runs of the good one")


@test
def two_hundred_probes_at_once(case):
    count = 100
    present, lock, gate = [], threading.Lock(), threading.Event()

    def holds(server, connection):
        read_request(connection)
        with lock:
            present.append(connection)
            if len(present) == count:
                gate.set()
        gate.wait()
        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")

    server, plan = case.serve(RawServer(holds)), case.plan(Phases="one")
    plan.actor("web", "serve --quiet", Phase="one", Instances=count,
               ReadinessProbe=f"{server.url()} period=60s timeout=30s")
    plan.actor("other", "serve --quiet", Phase="one", Instances=count, ReadinessProbe="exec:true period=60s timeout=30s")
    run = case.run(plan).ready()
    equal(len(run.journal.all("service_ready")), 2 * count, "ready")
    equal(status_field(run.pid, "State")[0], "S", "PID 1 sleeps")
    equal(run.end(), 0, "exit code")
