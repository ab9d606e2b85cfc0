"""Hooks by HTTP: what their answers mean, their limits, and what becomes of them when the prober is hurt."""
import os
import signal
import ssl
import subprocess

from case import test
from endwell import children, read_link
from journal import check, equal, lasted, wait_until
from servers import HttpServer, RawServer, closed_port, read_request

MS, S = 1000, 1_000_000


def plan_with(case, request, on="pre-stop", supervisor=(), **keys):
    plan = case.plan(**{"Phases": "one", **dict(supervisor)})
    plan.actor("web", "serve", Phase="one")
    owner = {"Phase": "one"} if on in ("begin", "end") else {"Service": "web"}
    plan.section("[Hook asks]", {"Http": request, "On": on, **owner, **keys})
    return plan


def finished(run):
    line = run.journal.until("hook_finished", hook="asks")
    return line["code"], line["status"], line.get("error"), line["timed_out"]


def prober_of(run):
    """Its pid, as the outside sees it; 0: none lives."""
    found = [pid for pid in children(run.pid) if os.path.basename(read_link(f"/proc/{pid}/exe")) == "endwell-prober"]
    return found[0] if found else 0


@test
def a_hook_that_is_answered_with_200_has_succeeded(case):
    server = case.serve(HttpServer())
    run = case.run(plan_with(case, f"POST {server.url('/200?drain=1')}")).ready()
    case.serving("web")
    equal(prober_of(run), 0, "the prober before anybody needs it")
    equal(run.end(), 0, "exit code")
    equal(finished(run), ("exited", 0, None, False), "how it ended")
    equal([request[:2] for request in server.requests], [("POST", "/200?drain=1")], "what the server got")
    journal = run.journal
    journal.order(journal.only("hook_started", hook="asks"), journal.only("hook_finished", hook="asks"),
                  journal.only("service_asked", service="web"))
    check(not journal.only("hook_started", hook="asks").get("pid"), "it has no process")
    equal(journal.only("ending_finished")["hooks_failed"], 0, "hooks that failed")


@test
def each_edge_can_ask(case):
    server = case.serve(HttpServer())
    plan = case.plan(Phases="one")
    plan.actor("web", "serve", Phase="one")
    for edge in ("pre-start", "post-start", "pre-stop", "post-stop"):
        plan.section(f"[Hook {edge}]", {"Http": f"GET {server.url('/200?' + edge)}", "On": edge, "Service": "web"})
    for edge in ("begin", "end"):
        plan.section(f"[Hook {edge}]", {"Http": f"GET {server.url('/200?' + edge)}", "On": edge, "Phase": "one"})
    run = case.run(plan).ready()
    case.serving("web")
    run.journal.until("hook_finished", hook="post-start")
    equal(run.end(), 0, "exit code")
    equal([path.partition("?")[2] for _, path, _, _ in server.requests],
          ["pre-start", "post-start", "begin", "pre-stop", "post-stop", "end"], "the order")


@test
def another_answer_or_none_is_exit_code_1_with_a_reason(case):
    server = case.serve(HttpServer())
    for number, (request, error) in enumerate(((f"POST {server.url('/500')}", "HTTP 500"),
                                               (f"GET {server.url('/302')}", "HTTP 302"),
                                               (f"GET http://127.0.0.1:{closed_port()}/", "connection refused"),
                                               ("GET http://no-such-name.invalid/", "the name could not be resolved"))):
        plan = plan_with(case, request, supervisor={"RuntimeDirectory": case.path(f"run.{number}"), "GraceSec": 60},
                         OnFailure="abort", TimeoutSec="20s")
        run = case.run(plan).ready()
        case.serving("web", number + 1)
        equal(run.end(), 80, f"exit code after {error}")
        equal(finished(run), ("exited", 1, error, False), f"how {request} ended")
        check(f"failed: {error}" in run.errors(), f"{error} was said")


@test
def a_start_hook_that_is_refused_makes_a_failed_start(case):
    server = case.serve(HttpServer())
    plan = plan_with(case, f"POST {server.url('/503')}", on="pre-start", OnFailure="abort")
    plan.sections[1][1].update(RestartSec="1ms", StartLimitBurst=2)
    run = case.run(plan)
    equal(run.wait(), 83, "exit code")
    equal(len(server.requests), 2, "requests")
    case.log.none("serving")


@test
def a_hook_that_is_not_answered_is_cut_at_its_limit(case):
    server = case.serve(RawServer(lambda own, connection: (read_request(connection), own.released.wait())))
    run = case.run(plan_with(case, f"GET {server.url()}", TimeoutSec="2s")).ready()
    case.serving("web")
    run.send(signal.SIGTERM)
    wait_until(lambda: server.connections, "the request")
    run.connect().result("status")
    run.journal.none("hook_finished")
    equal(run.wait(), 0, "exit code")
    equal(finished(run), ("exited", 1, None, True), "how it ended")
    lasted(run.journal.span_us(run.journal.only("hook_started"), run.journal.only("hook_finished")), 2 * S,
           "its limit")
    equal(server.connections[0].recv(1), b"", "its connection is closed")


@test
def the_prober_is_killed_under_a_hook_and_only_that_one_fails(case):
    server = case.serve(RawServer(lambda own, connection: (read_request(connection), own.released.wait())))
    good = case.serve(HttpServer())
    plan = plan_with(case, f"GET {server.url()}", supervisor={"GraceSec": 60}, TimeoutSec="20s")
    plan.section("[Hook later]", {"Http": f"GET {good.url('/200')}", "On": "post-stop", "Service": "web"})
    run = case.run(plan).ready()
    case.serving("web")
    run.send(signal.SIGTERM)
    wait_until(lambda: server.connections, "the request")
    os.kill(prober_of(run), signal.SIGKILL)
    equal(run.wait(), 0, "exit code")
    equal(finished(run), ("exited", 1, "the prober died", False), "how it ended")
    later = run.journal.only("hook_finished", hook="later")
    equal((later["status"], later.get("error")), (0, None), "the next one, by another prober")


@test
def a_prober_that_is_stopped_holds_up_neither_a_hook_nor_the_end(case):
    server = case.serve(HttpServer())
    plan = plan_with(case, f"GET {server.url('/200')}", on="post-start")
    plan.section("[Hook last]", {"Http": f"GET {server.url('/200')}", "On": "pre-stop", "Service": "web",
                                 "TimeoutSec": "500ms"})
    run = case.run(plan).ready()
    case.serving("web")
    run.journal.until("hook_finished", hook="asks")
    os.kill(prober_of(run), signal.SIGSTOP)
    run.send(signal.SIGTERM)
    equal(run.wait(), 0, "exit code")
    line = run.journal.only("hook_finished", hook="last")
    check(line["timed_out"], "it was cut")
    lasted(run.journal.span_us(run.journal.only("hook_started", hook="last"), line), 500 * MS, "its limit")


@test
def a_stop_during_the_start_calls_a_start_hook_off(case):
    server = case.serve(RawServer(lambda own, connection: (read_request(connection), own.released.wait())))
    run = case.run(plan_with(case, f"GET {server.url()}", on="pre-start", TimeoutSec="60s"))
    wait_until(lambda: server.connections, "the request")
    equal(run.end(), 0, "exit code")
    code, status, error, timed_out = finished(run)
    equal((code, status, error, timed_out), ("exited", 1, "called off", False), "how it ended")
    case.log.none("serving")


@test
def a_hook_may_go_by_https_and_the_certificate_counts(case):
    key, certificate = case.path("key.pem"), case.path("certificate.pem")
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
                    "-keyout", key, "-out", certificate, "-days", "2", "-subj", "/CN=localhost", "-addext",
                    "subjectAltName=DNS:localhost"], check=True, capture_output=True)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    server = case.serve(HttpServer(context=context))
    for number, (environment, wanted) in enumerate((({}, ("exited", 1, "the certificate could not be verified", False)),
                                                    ({"SSL_CERT_FILE": certificate}, ("exited", 0, None, False)))):
        plan = plan_with(case, f"GET https://localhost:{server.port}/200",
                         supervisor={"RuntimeDirectory": case.path(f"run.{number}")})
        run = case.run(plan, environment=environment).ready()
        case.serving("web", number + 1)
        equal(run.end(), 0, "exit code")
        equal(finished(run), wanted, f"how it ended with {environment}")


@test
def a_secret_in_a_url_is_nowhere_to_be_seen(case):
    secret = "hunter2"
    url = f"http://127.0.0.1:{closed_port()}/{secret}?token={secret}"
    run = case.run(plan_with(case, f"GET {url}", on="post-start")).ready()
    case.serving("web")
    run.journal.until("hook_finished")
    status = run.verb("status", "--json").stdout
    for pid in run.processes():
        with open(f"/proc/{pid}/cmdline", encoding="utf-8", errors="replace") as file:
            check(secret not in file.read(), f"the command line of {pid}")
    equal(run.end(), 0, "exit code")
    for where, text in (("status", status), ("the log", run.errors()), ("the journal", str(run.journal.read()))):
        check(secret not in text, f"{where}: {text}")
