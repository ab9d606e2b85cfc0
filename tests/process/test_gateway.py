"""The gateway: what it says when, to whom, and that nothing else suffers from it, nor it from strangers."""
import http.client
import json
import os
import random
import re
import signal
import socket
import subprocess
import threading
import time

from case import test
from endwell import children, read_link, status_field
from journal import check, equal, lasted, wait_until
from servers import closed_port

S = 1_000_000
PATHS = ("/livez", "/readyz", "/startupz", "/metrics", "/status")


class Site:
    """A plan with a gateway on a port of its own, and what its clients do."""

    def __init__(self, case, phases="one", supervisor=(), **keys):
        self.case, self.port = case, closed_port()
        self.plan = case.plan(Phases=phases, **dict(supervisor))
        self.plan.section("[Gateway]", {"Listen": f"tcp://127.0.0.1:{self.port}", **keys})

    def run(self):
        self.endwell = self.case.run(self.plan)
        return self.endwell

    def get(self, path, method="GET", headers=None, timeout=60):
        """Status and text; 0 when nobody is there."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=timeout)
        try:
            connection.request(method, path, headers=headers or {})
            answer = connection.getresponse()
            return answer.status, answer.read().decode()
        except (ConnectionError, http.client.BadStatusLine):
            return 0, ""
        finally:
            connection.close()

    def until(self, path, status):
        wait_until(lambda: self.get(path)[0] == status, f"{path} to answer {status}", alive=self.endwell.alive)
        return self.get(path)[1]

    def raw(self, data, count=1):
        """What comes back for these bytes: the status of each of `count` answers; -1: the connection was closed."""
        with socket.create_connection(("127.0.0.1", self.port), timeout=60) as connection:
            try:
                connection.sendall(data)
            except (BrokenPipeError, ConnectionResetError):
                pass  # refused before all of it was sent
            found, text = [], b""
            while len(found) < count:
                try:
                    more = connection.recv(65536)
                except ConnectionResetError:
                    more = b""
                text += more
                found = [int(status) for status in re.findall(rb"HTTP/1\.1 (\d{3}) [^\r]*\r\nDate: ", text)]
                if not more:
                    return found + [-1] * (count - len(found))
            return found

    def pid(self):
        """Of the gateway, as the outside sees it; 0: none lives."""
        found = [pid for pid in children(self.endwell.pid)
                 if os.path.basename(read_link(f"/proc/{pid}/exe")) == "endwell-gateway"]
        return found[0] if found else 0

    def followed(self, since=0):
        """All that /events says until it ends, in a thread: join it, then look at `.lines`."""
        return Follower(self.port, since)


class Follower(threading.Thread):
    def __init__(self, port, since):
        super().__init__(daemon=True)
        self.port, self.since, self.lines, self.missed = port, since, [], []
        self.begun = threading.Event()
        self.start()

    def run(self):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        connection.request("GET", f"/events?since={self.since}")
        answer = connection.getresponse()
        equal(answer.headers["Content-Type"], "text/event-stream; charset=utf-8", "the type of /events")
        event = None
        for line in answer:
            self.begun.set()
            if line.startswith(b"event: "):
                event = line[7:].strip()
            elif line.startswith(b"data: "):
                (self.missed if event == b"missed" else self.lines).append(json.loads(line[6:]))
                event = None


def one_web(site, **keys):
    site.plan.actor("web", "serve", Phase="one", **keys)
    return site


@test
def readiness_and_start_are_told_as_endwell_sees_them(case):
    site = one_web(Site(case), ReadinessProbe=f"exec:test -e {case.path('ready')} period=100ms timeout=30s")
    run = site.run()
    wait_until(lambda: site.get("/startupz")[1] == "start: still starting\n", "the reason", alive=run.alive)
    equal(site.get("/startupz")[0], 503, "/startupz during the start")
    equal(site.get("/readyz")[0], 503, "/readyz during the start")
    equal(site.get("/livez")[0], 200, "/livez during the start")
    text = site.get("/readyz?verbose")[1]
    check("[-]service/web" in text and "readyz check failed" in text, f"the reasons: {text}")
    case.file("ready")
    run.ready()
    site.until("/readyz", 200)
    equal([site.get(path)[0] for path in ("/livez", "/startupz")], [200, 200], "livez and startupz")
    equal(site.get("/livez")[1], "ok\n", "the text")
    text = site.get("/readyz?verbose")[1]
    check("[+]endwell ok" in text and "readyz check passed" in text, f"the reasons: {text}")
    os.unlink(case.path("ready"))
    text = site.until("/readyz", 503)
    check("services" in text, f"why it is not ready: {text}")
    equal(site.get("/startupz")[0], 200, "/startupz, which goes back no more")
    equal(run.end(), 0, "exit code")


@test(repeat=(5, 200))
def readyz_is_503_before_the_first_process_is_asked(case):
    for turn in range(case.repeat):
        site = one_web(Site(case, supervisor={"RuntimeDirectory": case.path(f"run.{turn}")}))
        answers = case.path(f"answers.{turn}")
        site.plan.section("[Hook look]", {"Service": "web", "On": "pre-stop", "TimeoutSec": "20s",
                                          "Exec": f"curl -s --output {answers}.text http://127.0.0.1:{site.port}/readyz",
                                          "OnFailure": "abort"})
        run = site.run().ready()
        case.serving("web", turn + 1)
        site.until("/readyz", 200)
        stop, seen = threading.Event(), []

        def load():
            while not stop.is_set():
                asked = time.clock_gettime_ns(time.CLOCK_MONOTONIC) // 1000
                seen.append((asked, site.get("/readyz")[0]))
        threads = [threading.Thread(target=load, daemon=True) for _ in range(2)]
        for thread in threads:
            thread.start()
        time.sleep(random.random() / 50)  # so that SIGTERM meets another moment of the load in each turn
        equal(run.end(), 0, "exit code")
        stop.set()
        for thread in threads:
            thread.join()
        journal = run.journal
        acknowledged, asked = journal.only("readiness_acknowledged"), journal.only("service_asked", service="web")
        journal.order(journal.only("readiness_changed", ready=False), acknowledged, asked)
        late = [status for at, status in seen if at >= asked["mono_us"] and status not in (503, 0)]
        equal(late, [], "answers to who asked after the first process was asked to stop")
        check("ending" in case.text(f"answers.{turn}.text"), "what /readyz said meanwhile")


@test
def the_ending_goes_on_when_the_gateway_is_killed_before_at_or_after_sigterm(case):
    for turn, when in enumerate(("before", "at", "after")):
        site = one_web(Site(case, supervisor={"RuntimeDirectory": case.path(f"run.{turn}")}))
        site.plan.actor("slow", "serve", Phase="one")
        run = site.run().ready()
        case.serving("web", turn + 1), case.serving("slow", turn + 1)
        site.until("/readyz", 200)
        gateway = site.pid()
        check(gateway > 0, "no gateway")
        if when == "at":
            os.kill(gateway, signal.SIGSTOP)  # it holds its connection, and will never acknowledge
        if when == "before":
            os.kill(gateway, signal.SIGKILL)
            wait_until(lambda: site.pid() != gateway, "the gateway's end")
        run.send(signal.SIGTERM)
        if when == "after":
            run.journal.until("ending_started")
        if when != "before":
            try:
                os.kill(gateway, signal.SIGKILL)
            except ProcessLookupError:
                pass  # the ending was quicker
        equal(run.wait(), 0, f"exit code, {when}")
        journal = run.journal
        lasted(journal.span_us(journal.only("readiness_changed", ready=False), journal.only("phase_started")),
               0, f"the wait, {when}")
        check(journal.span_us(journal.only("readiness_changed", ready=False), journal.only("phase_started")) < 20 * S,
              "the wait has a limit")
        if when == "at":
            journal.none("readiness_acknowledged")


@test
def a_gateway_that_dies_is_started_again_and_counts_on(case):
    site = one_web(Site(case))
    site.plan.shell("flips", "exit 1", Phase="one", Essential="no", StartLimitBurst=3, RestartSec="10ms")
    run = site.run()
    run.journal.until("service_gave_up", service="flips")
    before = metrics(site)
    first = site.pid()
    os.kill(first, signal.SIGKILL)
    wait_until(lambda: site.pid() not in (0, first), "another gateway", alive=run.alive)
    site.until("/livez", 200)
    wait_until(lambda: metrics(site).get(("endwell_connected", ())) == 1, "its connection", alive=run.alive)
    after = metrics(site)
    for name in ("endwell_service_exits_total", "endwell_service_starts_total", "endwell_service_restarts_total"):
        equal({key: value for key, value in after.items() if key[0] == name},
              {key: value for key, value in before.items() if key[0] == name}, name)
    check("the gateway was killed by SIGKILL; it is started again" in run.errors(), "it was said")
    equal(run.end(), 0, "exit code")


def metrics(site):
    """(name, labels) → value, by the parser of Prometheus' own client."""
    from prometheus_client.parser import text_string_to_metric_families
    status, text = site.get("/metrics")
    equal(status, 200, "/metrics")
    return {(sample.name, tuple(sorted(sample.labels.items()))): sample.value
            for family in text_string_to_metric_families(text) for sample in family.samples}


@test
def metrics_are_what_the_journal_says_and_do_not_grow_with_restarts(case):
    site = one_web(Site(case))
    site.plan.shell("flips", "exit 1", Phase="one", Essential="no", StartLimitBurst=0, RestartSec="5ms",
                    RestartMaxDelaySec="5ms")
    run = site.run()
    run.journal.until("service_gone", count=3, service="flips")
    run.journal.until("service_started", service="web")
    site.until("/livez", 200)
    wait_until(lambda: metrics(site).get(("endwell_connected", ())) == 1, "the connection", alive=run.alive)
    few = set(metrics(site))
    run.journal.until("service_gone", count=60, service="flips")
    run.send(signal.SIGUSR1)
    run.journal.until("signal_received")
    wait_until(lambda: metrics(site)["endwell_signals_total", (("effect", "dump"),)] == 1, "the signal")
    found = metrics(site)
    equal(set(found), few, "the names and labels after 60 more restarts")
    crashed = found["endwell_service_exits_total", (("cause", "crashed"), ("service", "flips"))]
    check(crashed >= 60, f"crashes of flips: {crashed}")
    equal(found["endwell_service_exits_total", (("cause", "crashed"), ("service", "web"))], 0, "crashes of web")
    check(found["endwell_service_restarts_total", (("service", "flips"),)] >= crashed - 1, "restarts of flips")
    equal(found["endwell_service_starts_total", (("service", "web"),)], 1, "starts of web")
    equal(found["endwell_service_instances_ready", (("phase", "one"), ("service", "web"))], 1, "who is ready")
    equal(found["endwell_info", (("mode", "production"), ("version", json.loads(site.get("/status")[1])["version"]))],
          1, "which endwell")
    tool = subprocess.run(["promtool", "check", "metrics"], input=site.get("/metrics")[1], text=True,
                          capture_output=True, check=False)
    equal((tool.returncode, tool.stderr), (0, ""), "promtool")
    equal(run.end(), 0, "exit code")


@test
def status_is_that_of_the_control_socket_and_of_this_moment(case):
    site = one_web(Site(case), Instances=3)
    run = site.run().ready()
    case.serving("web", 3)
    site.until("/readyz", 200)
    status, text = site.get("/status")
    equal(status, 200, "/status")
    found, wanted = json.loads(text), run.connect().result("status")
    equal([one["pid"] for one in found["services"][0]["instances"]],
          [one["pid"] for one in wanted["services"][0]["instances"]], "the pids")
    equal(sorted(found), sorted(wanted), "the keys")
    equal(run.end(), 0, "exit code")


@test
def events_are_the_journal_from_the_first_line_to_the_last(case):
    site = one_web(Site(case))
    run = site.run().ready()
    case.serving("web")
    site.until("/readyz", 200)
    follower = site.followed()
    check(follower.begun.wait(60), "nothing was said")
    equal(run.end(), 0, "exit code")
    follower.join(60)
    check(not follower.is_alive(), "/events goes on after the end")
    equal(follower.missed, [], "what was missed")
    equal([line["seq"] for line in follower.lines], [line["seq"] for line in run.journal.read()], "the numbers")
    equal(follower.lines[-1]["event"], "ending_finished", "the last one")


@test
def requests_of_every_kind_have_their_right_answer(case):
    site = one_web(Site(case))
    run = site.run().ready()
    case.serving("web")
    site.until("/readyz", 200)
    host = b"Host: x\r\n"
    for data, wanted in (
            (b"GET /livez HTTP/1.1\r\n" + host + b"\r\n", [200]),
            (b"HEAD /readyz HTTP/1.1\r\n" + host + b"\r\n", [200]),
            (b"GET /livez HTTP/1.0\r\n\r\n", [200, -1]),
            (b"GET /livez HTTP/1.1\r\n\r\n", [400]),
            (b"POST /readyz HTTP/1.1\r\n" + host + b"Content-Length: 3\r\n\r\na=b", [405]),
            (b"DELETE / HTTP/1.1\r\n" + host + b"\r\n", [405]),
            (b"GET /livez HTTP/1.1\r\n" + host + b"Content-Length: 5\r\n\r\nhello"
             b"GET /nothing HTTP/1.1\r\n" + host + b"\r\n", [200, 404]),
            (b"GET /" + b"a" * 102400 + b" HTTP/1.1\r\n" + host + b"\r\n", [414]),
            (b"GET /livez HTTP/1.1\r\n" + host + b"X: " + b"a" * 102400 + b"\r\n\r\n", [431]),
            (b"GET /%2e%2e/%2e%2e/etc/passwd HTTP/1.1\r\n" + host + b"\r\n", [404]),
            (b"GET /../../etc/passwd HTTP/1.1\r\n" + host + b"\r\n", [404]),
            (b"GET /livez%00.html HTTP/1.1\r\n" + host + b"\r\n", [404]),
            (b"GET //livez HTTP/1.1\r\n" + host + b"\r\n", [404]),
            (b"GET /livez/ HTTP/1.1\r\n" + host + b"\r\n", [404]),
            (b"GET /livez?verbose&x=%ff HTTP/1.1\r\n" + host + b"\r\n", [200]),
            (b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03 nonsense\r\n\r\n", [400]),
            (b"".join(b"GET " + path.encode() + b" HTTP/1.1\r\n" + host + b"\r\n" for path in PATHS) * 4, [200] * 20)):
        equal(site.raw(data, len(wanted)), wanted, f"the answers to {data[:60]!r}")
    equal(site.get("/livez", "HEAD"), (200, ""), "HEAD has no body")
    check(site.pid() > 0, "the gateway lives")
    equal(run.end(), 0, "exit code")


@test
def idle_and_slow_connections_do_not_starve_a_probe(case):
    site = one_web(Site(case))
    run = site.run().ready()
    case.serving("web")
    site.until("/readyz", 200)
    crowd = []
    for number in range(1300):
        connection = socket.create_connection(("127.0.0.1", site.port), timeout=60)
        crowd.append(connection)
        try:
            if number >= 300:
                connection.send(b"GET /livez HT")  # a thousand of them go on no further
        except (ConnectionError, BrokenPipeError):
            pass  # it had to go already
        if number % 100 == 99:
            equal(site.get("/livez")[0], 200, f"/livez beside {number + 1} others")
            equal(site.get("/readyz")[0], 200, f"/readyz beside {number + 1} others")
    descriptors = len(os.listdir(f"/proc/{site.pid()}/fd"))
    check(descriptors < 600, f"descriptors of the gateway: {descriptors}")
    equal(run.end(), 0, "exit code")
    for connection in crowd:
        connection.close()


@test
def a_port_that_is_taken_is_said_once_and_tried_again(case):
    site = one_web(Site(case))
    taken = socket.socket()
    taken.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    taken.bind(("127.0.0.1", site.port))
    taken.listen()
    run = site.run().ready()
    case.serving("web")
    wait_until(lambda: "could not listen on" in run.errors(), "what is said of the port", alive=run.alive)
    gateway = site.pid()
    taken.close()
    site.until("/readyz", 200)
    equal(site.pid(), gateway, "the gateway, which did not die of it")
    equal(run.errors().count("could not listen on"), 1, "times that it was said")
    equal(run.end(), 0, "exit code")
    run.journal.only("readiness_acknowledged")


@test
def without_a_section_or_with_none_there_is_no_gateway(case):
    for turn, keys in enumerate((None, {"Listen": "none"})):
        plan = case.plan(Phases="one", RuntimeDirectory=case.path(f"run.{turn}"))
        plan.actor("web", "serve", Phase="one")
        if keys:
            plan.section("[Gateway]", keys)
        run = case.run(plan).ready()
        case.serving("web", turn + 1)
        names = [os.path.basename(read_link(f"/proc/{pid}/exe")) for pid in children(run.pid)]
        check("endwell-gateway" not in names, f"children: {names}")
        equal(run.end(), 0, "exit code")


@test
def what_strangers_talk_to_may_do_nothing_and_knows_no_secret(case):
    site = one_web(Site(case))
    case.environment["DATABASE_URL"] = "postgresql://user:hunter2@db/app"
    run = site.run().ready()
    case.serving("web")
    site.until("/readyz", 200)
    gateway = site.pid()
    equal([int(status_field(gateway, name)[0], 16) for name in ("CapBnd", "CapEff", "CapPrm")], [0, 0, 0], "capabilities")
    equal(status_field(gateway, "NoNewPrivs"), ["1"], "no_new_privs")
    with open(f"/proc/{gateway}/environ", "rb") as file:
        check(b"hunter2" not in file.read(), "the secret is in its environment")
    equal(run.end(), 0, "exit code")


@test
def ready_when_names_who_counts(case):
    site = Site(case, ReadyWhen="web")
    one_web(site)
    site.plan.actor("other", "serve", Phase="one",
                    ReadinessProbe=f"exec:test -e {case.path('other')} period=100ms timeout=30s")
    run = site.run()
    case.serving("web")
    site.until("/readyz", 200)
    equal(site.get("/startupz")[0], 503, "/startupz, which waits for all")
    text = site.get("/readyz?verbose")[1]
    check("[+]service/web ok" in text and "other" not in text, f"the reasons: {text}")
    pid = [one for one in json.loads(site.get("/status")[1])["services"] if one["service"] == "web"]
    os.kill(run.outside(pid[0]["instances"][0]["pid"]), signal.SIGKILL)
    run.journal.until("service_exited", service="web")
    run.journal.until("service_ready", count=2, service="web")
    site.until("/readyz", 200)
    case.file("other")
    run.ready()
    equal(run.end(), 0, "exit code")


@test
def the_page_is_only_there_where_it_is_wanted_and_names_are_text_in_it(case):
    for turn, dashboard in enumerate(("yes", "no")):
        site = one_web(Site(case, supervisor={"RuntimeDirectory": case.path(f"run.{turn}")}, Dashboard=dashboard))
        site.plan.actor("worker", "notify STATUS=<script>alert(1)</script> , serve", Phase="one", Type="simple")
        run = site.run().ready()
        case.serving("web", turn + 1)
        site.until("/readyz", 200)
        status, text = site.get("/")
        equal(status, 200 if dashboard == "yes" else 404, f"the page with Dashboard={dashboard}")
        check("<script>alert" not in text, "what a service says became a part of the page")
        if dashboard == "yes":
            check("web" in text and "ready" in text, f"the page: {text[:400]}")
        equal(run.end(), 0, "exit code")
