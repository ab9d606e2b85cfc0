"""The control socket and the verbs that speak to it, also during a start and an ending, and against clients that misbehave."""
import json
import os
import socket
import subprocess
import time

from case import test
from endwell import BINARY
from journal import check, equal, lasted, soon, wait_until, within

S = 1_000_000


def one_service(case, steps="serve", **keys):
    plan = case.plan(Phases="one")
    plan.actor("web", steps, Phase="one", **keys)
    return plan


@test
def status_during_a_start_names_what_is_waited_for(case):
    plan = case.plan(Phases="http db")
    plan.actor("web", "serve", Phase="http")
    plan.actor("data", "serve", Phase="db", Type="notify")
    run = case.run(plan)
    case.serving("data")
    shown = run.verb("status")
    equal(shown.returncode, 0, f"exit code of status: {shown.stderr}")
    check("data" in shown.stdout, "data is not named")
    text = run.verb("status", "--json").stdout
    json.loads(text)
    check('"data"' in text and "starting" in text, f"the JSON: {text}")
    equal(run.end(), 0, "exit code")


@test
def status_during_an_ending_names_who_is_waited_for_since_when_and_until_when(case):
    plan = case.plan(Phases="http workers")
    plan.actor("web", "serve", Phase="http")
    plan.actor("stuck", "serve --ignore", Phase="workers", TimeoutStopSec="3s")
    plan.actor("quick", "serve", Phase="workers")
    run = case.run(plan).ready()
    for name in ("web", "stuck", "quick"):
        case.serving(name)
    run.send(15)
    run.journal.until("service_gone", service="quick")
    status = run.connect().result("status")
    text = json.dumps(status)
    check("stuck" in text and "workers" in text, f"the status: {text}")
    shown = run.verb("status").stdout
    check("stuck" in shown and "workers" in shown, f"the status for people: {shown}")
    equal(run.wait(), 81, "exit code")


@test
def status_without_a_running_endwell_is_69_and_says_so(case):
    done = subprocess.run([BINARY, "status", "--socket", case.path("nothing.sock")], capture_output=True, text=True,
                          timeout=60, env=case.environment, check=False)
    equal(done.returncode, 69, "exit code")
    check("nothing.sock" in done.stderr, f"the message: {done.stderr}")


@test
def verbs_find_their_endwell_by_the_environment_and_by_the_configuration(case):
    plan = one_service(case)
    run = case.run(plan).ready()
    for words, more in ((["status"], {"ENDWELL_SOCKET": run.socket_path()}),
                        (["status", "-c", case.path("endwell.ini")], {})):
        done = subprocess.run([BINARY, *words], capture_output=True, text=True, timeout=60,
                              env={**case.environment, **more}, check=False)
        equal(done.returncode, 0, f"exit code of {words} with {more}: {done.stderr}")
        check("web" in done.stdout, "web is not shown")
    equal(run.end(), 0, "exit code")


@test
def of_a_configuration_the_verbs_need_no_more_than_where_it_runs(case):
    run = case.run(one_service(case)).ready()
    changed = case.path("changed.ini")
    with open(changed, "w", encoding="utf-8") as file:
        file.write(f"[Supervisor]\nRuntimeDirectory={run.runtime}\nGrazeSec=oops\n"
                   "[Service web]\nExecStart=/no/such ${UNSET_HERE}\nEnvironmentFile=/no/such/file\nUser=nobody-at-all\n"
                   "[Nonsense]\nand more\n")
    for words in (["status"], ["events"], ["mark", "once", "begin"], ["shutdown"]):
        done = subprocess.run([BINARY, words[0], "-c", changed, *words[1:]], capture_output=True, text=True, timeout=60,
                              env=case.environment, check=False)
        equal((done.returncode, done.stderr), (0, ""), f"exit code of {words}")
    equal(run.wait(), 0, "exit code")


@test
def a_configuration_that_does_not_tell_where_it_runs_is_78_with_the_line(case):
    for text, wanted in (("[Supervisor]\nRuntimeDirectory=run\n", "wrong.ini:2: "),
                         ("[Supervisor]\n\nRuntimeDirectory=${UNSET_HERE}/run\n", "wrong.ini:3: "), (None, "wrong.ini: ")):
        if text is None:
            os.unlink(case.path("wrong.ini"))
        else:
            with open(case.path("wrong.ini"), "w", encoding="utf-8") as file:
                file.write(text)
        done = subprocess.run([BINARY, "status", "-c", case.path("wrong.ini")], capture_output=True, text=True, timeout=60,
                              env=case.environment, check=False)
        equal(done.returncode, 78, f"exit code with {text!r}")
        check(wanted in done.stderr, f"what is said: {done.stderr}")


@test
def shutdown_waits_and_tells_the_result(case):
    run = case.run(one_service(case, "serve --term-ms 500")).ready()
    case.serving("web")
    client = run.verb_begin("shutdown")
    equal(run.wait(), 0, "exit code")
    output, errors = client.communicate(timeout=60)
    equal(client.returncode, 0, f"exit code of shutdown: {output} {errors}")
    request = run.journal.only("request_received", method="shutdown")
    equal(request["peer_uid"], 0, "who asked")
    equal(run.journal.only("ending_started")["cause"], "request", "cause")


@test
def events_prints_the_journal_and_follows_it_to_the_end(case):
    run = case.run(one_service(case)).ready()
    case.serving("web")
    shown = run.verb("events", "--json")
    equal(shown.returncode, 0, f"exit code of events: {shown.stderr}")
    lines = [json.loads(line) for line in shown.stdout.splitlines()]
    equal([line["seq"] for line in lines], list(range(1, len(lines) + 1)), "seq")
    check(any(line["event"] == "startup_finished" for line in lines), "the start is there")
    since = run.verb("events", "--json", "--since", str(lines[-1]["seq"] - 1)).stdout.splitlines()
    check(json.loads(since[0])["seq"] in (lines[-1]["seq"], lines[-1]["seq"] - 1), "--since")
    people = run.verb("events").stdout
    check("web" in people, "events for people")
    follower = run.verb_begin("events", "--follow", "--json")
    follower.stdout.readline()
    equal(run.end(), 0, "exit code")
    rest = follower.communicate(timeout=60)[0].splitlines()
    equal(json.loads(rest[-1])["event"], "ending_finished", "the last line that a follower gets")


@test
def events_and_shutdown_name_a_service_as_the_log_does(case):
    plan = one_service(case)
    plan.actor("twin", "serve --ignore", Phase="one", Instances="2", TimeoutStopSec="100ms")
    run = case.run(plan).ready()
    said = run.verb("events").stdout
    check(" web started (pid " in said and " twin@2 started (pid " in said and "web@1" not in said, f"events: {said}")
    ended = run.verb("shutdown").stdout
    check("twin@1" in ended and "web@1" not in ended, f"shutdown: {ended}")
    equal(run.wait(), 81, "exit code")
    check(" twin@2 started (pid " in run.errors() and "web@1" not in run.errors(), f"the log: {run.errors()}")


@test
def mark_records_what_an_application_did(case):
    plan = case.plan(Phases="one")
    plan.shell("web", f'{BINARY} mark flush begin; {BINARY} mark flush end --rc 0; "$ACTOR" say marked-$?; '
               'exec "$ACTOR" serve', Phase="one")
    plan.section("[Hook flush]", {"LogPattern": "surely-never-printed", "Service": "web"})
    run = case.run(plan).ready()
    case.log.until("marked-0")
    equal([line["edge"] for line in run.journal.all("hook_marked", hook="flush")], ["begin", "end"], "edges")
    equal(run.end(), 0, "exit code")


@test
def a_gateway_that_does_not_acknowledge_holds_the_ending_for_a_second_at_most(case):
    run = case.run(one_service(case)).ready()
    case.serving("web")
    client = run.connect()
    client.send(b'{"method":"subscribe","params":{"since":0,"as":"gateway"}}\n')
    check(client.line() is not None, "no answer to subscribe")
    equal(run.end(), 0, "exit code")
    withdrawn = run.journal.only("readiness_changed", ready=False)
    run.journal.none("readiness_acknowledged")
    lasted(run.journal.span_us(withdrawn, run.journal.only("phase_started")), S, "the wait")
    client.close()


@test
def a_gateway_that_acknowledges_lets_the_ending_go_on(case):
    run = case.run(one_service(case)).ready()
    case.serving("web")
    client, reporter = run.connect(), run.connect()
    client.send(b'{"method":"subscribe","params":{"since":0,"as":"gateway"}}\n')
    check(client.line() is not None, "no answer to subscribe")
    run.send(15)
    while (line := client.line())["event"] != "readiness_changed" or line["ready"]:
        pass  # a gateway reads the journal until readiness is withdrawn
    reporter.result("report", event="readiness_acknowledged")
    equal(run.wait(), 0, "exit code")
    acknowledged = run.journal.only("readiness_acknowledged")
    equal(acknowledged["by"], "gateway", "by whom")
    run.journal.order(run.journal.only("readiness_changed", ready=False), acknowledged, run.journal.only("phase_started"))
    client.close(), reporter.close()


def a_quick_status(run, what):
    begun = time.monotonic()
    client = run.connect()
    client.result("status")
    client.close()
    soon((time.monotonic() - begun) * S, f"a status while {what}")


@test
def malformed_requests_get_an_error_line_and_the_connection_is_closed(case):
    run = case.run(one_service(case)).ready()
    case.serving("web")
    for raw in (b"nonsense\n", b"{\n", b"[]\n", b'"text"\n', b"{}\n", b'{"method":1}\n', b'{"method":"status","params":[]}\n',
                b"\xff\xfe\n", b'{"a":' * 5000 + b"1" + b"}" * 5000 + b"\n", b"\0\n"):
        client = run.connect()
        client.send(raw)
        answer = client.line()
        check(answer and "error" in answer and answer["error"]["message"], f"answer to {raw[:40]}: {answer}")
        equal(client.line(), None, f"the connection after {raw[:40]}")
        client.close()
    client = run.connect()
    answer = client.ask("surely_no_method")
    check("error" in answer, f"answer to an unknown method: {answer}")
    client.close()
    a_quick_status(run, "nonsense was sent")
    equal(run.end(), 0, "exit code")


@test
def a_request_without_an_end_is_cut_and_memory_stays_bounded(case):
    run = case.run(one_service(case)).ready()
    case.serving("web")
    before = run.resident_kib()
    client = run.connect()
    sent = 0
    try:
        while sent < 100 << 20:
            sent += client.client.send(b"x" * 65536)
    except OSError:
        pass
    check(sent < 4 << 20, f"{sent} bytes without a newline were taken")
    a_quick_status(run, "a request has no end")
    within(run.resident_kib() - before, -4096, 4096, "growth in KiB")
    client.close()
    equal(run.end(), 0, "exit code")


@test
def a_crowd_of_clients_is_held_to_64_and_others_are_still_served(case):
    run = case.run(one_service(case)).ready()
    case.serving("web")
    before = run.descriptors()
    crowd = [run.connect() for _ in range(264)]
    wait_until(lambda: run.verb("status").returncode == 0, "a place for one that asks something")
    within(run.descriptors() - before, 1, 64, "descriptors for 264 clients")
    for client in crowd:
        client.close()
    wait_until(lambda: run.descriptors() <= before, "all places are free again")
    a_quick_status(run, "the crowd is gone")
    equal(run.end(), 0, "exit code")


@test
def another_users_client_is_refused(case):
    run = case.run(one_service(case)).ready()
    case.serving("web")
    os.chmod(run.socket_path(), 0o666)  # what the file's mode would forbid, the peer's credentials must forbid too
    done = subprocess.run(["setpriv", "--reuid=nobody", "--regid=nogroup", "--clear-groups", BINARY, "shutdown", "--socket",
                           run.socket_path()], capture_output=True, text=True, timeout=60, env=case.environment, check=False)
    check(done.returncode != 0, "nobody could shut it down")
    run.journal.none("ending_started")
    equal(run.end(), 0, "exit code")


@test
def the_socket_is_for_its_owner_only_and_goes_at_the_end(case):
    run = case.run(one_service(case)).ready()
    case.serving("web")
    equal(os.stat(run.socket_path()).st_mode & 0o777, 0o600, "mode of the socket")
    equal(os.stat(run.runtime).st_mode & 0o777, 0o711, "mode of the runtime directory")
    equal(run.end(), 0, "exit code")
    check(not os.path.exists(run.socket_path()), "the socket is left behind")


@test
def a_subscriber_that_never_reads_is_dropped_and_holds_up_nobody(case):
    plan = one_service(case)
    plan.actor("flapper", "exit 1", Phase="one", Essential="no", RestartSec="1ms", RestartMaxDelaySec="1ms",
               StartLimitBurst=3000)
    plan.sections[0][1]["LogLevel"] = "warning"
    run = case.run(plan).ready()
    case.serving("web")
    deaf = run.connect()
    deaf.client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1024)
    deaf.send(b'{"method":"subscribe","params":{"since":0}}\n')
    dropped = run.journal.until("client_dropped", timeout=120)
    check(dropped["reason"], "the reason is said")
    a_quick_status(run, "a subscriber does not read")
    equal(run.end(), 0, "exit code")
    deaf.close()


def grow(run, lines):
    """Makes the journal longer by so many lines, and more."""
    connection = run.connect()
    for _ in range(lines):
        connection.result("report", event="hook_marked", hook="drill", edge="begin")
    connection.close()


def seqs(shown):
    return [json.loads(line)["seq"] for line in shown.stdout.splitlines()]


@test
def events_over_a_rotation_are_whole(case):
    plan = case.plan(Phases="one", JournalMaxSize="64K", LogLevel="err")
    plan.actor("web", "serve", Phase="one")
    run = case.run(plan).ready()
    grow(run, 400)
    run.unchecked = True  # the journal's first file is one of two
    shown = run.verb("events", "--json", "--since", "0")
    equal(shown.stderr, "", "what is said on stderr")
    found = seqs(shown)
    equal(found, list(range(1, len(found) + 1)), "the events")
    equal(run.end(), 0, "exit code")


@test
def events_that_are_no_longer_kept_are_named(case):
    plan = case.plan(Phases="one", JournalMaxSize="64K", LogLevel="err")
    plan.actor("web", "serve", Phase="one")
    run = case.run(plan).ready()
    grow(run, 4000)
    run.unchecked = True
    for since in (0, 5):
        shown = run.verb("events", "--json", "--since", str(since))
        equal(shown.returncode, 0, f"exit code: {shown.stderr}")
        found = seqs(shown)
        check(found[0] > since + 2, f"nothing was lost: the first is {found[0]}")
        equal(shown.stderr, f"endwell events: events {since + 1} to {found[0] - 1} are no longer kept\n", "what is said")
        equal(found, list(range(found[0], found[-1] + 1)), "the events that are kept")
    kept = seqs(run.verb("events", "--json"))[0]
    equal(run.verb("events", "--json", "--since", str(kept - 2)).stderr,
          f"endwell events: event {kept - 1} is no longer kept\n", "of one event")
    equal(run.verb("events", "--json", "--since", str(kept - 1)).stderr, "", "where nothing is missing")
    equal(run.end(), 0, "exit code")


@test
def the_group_that_may_use_the_control_socket_may_and_no_other(case):
    plan = case.plan(Phases="one", ControlGroup="nogroup")
    plan.actor("web", "serve", Phase="one")
    run = case.run(plan).ready()
    case.serving("web")

    def asked_as(group):
        return subprocess.run(["setpriv", "--reuid=nobody", f"--regid={group}", "--clear-groups", BINARY, "status",
                               "--socket", run.socket_path()], capture_output=True, text=True, timeout=60, check=False,
                              env=case.environment)

    allowed, refused = asked_as("nogroup"), asked_as("games")
    equal(allowed.returncode, 0, f"exit code for the group: {allowed.stderr}")
    check("web" in allowed.stdout, f"what the group is shown: {allowed.stdout}")
    check(refused.returncode != 0 and "web" not in refused.stdout, f"another group was answered: {refused.stdout}")
    equal(run.end(), 0, "exit code")


@test
def the_log_has_the_format_that_is_asked_for(case):
    for form in ("json", "text"):
        plan = case.plan(Phases="one", LogFormat=form, RuntimeDirectory=case.path(f"run.{form}"))
        plan.actor("web", "serve --quiet", Phase="one")
        run = case.run(plan).ready()
        equal(run.end(), 0, f"exit code, {form}")
        lines = run.errors().splitlines()
        check(lines, f"nothing was logged in {form}")
        if form == "json":
            check(all(isinstance(json.loads(line), dict) for line in lines), f"not an object a line: {lines}")
        else:
            check(not any(line.startswith("{") for line in lines), f"not text: {lines}")
