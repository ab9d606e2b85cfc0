"""Sockets that endwell holds: how they are passed, whose they are, what stands in their way, and what outlives a run."""
import os
import signal
import socket
import stat

from callers import free_port
from case import test
from journal import check, equal, soon, wait_until

PROGRAMS = os.path.join(os.path.dirname(os.path.realpath(__file__)), "programs")
HOLDER = f"/usr/bin/python3 {PROGRAMS}/holder.py"
NOBODY = 65534


def holder_plan(case, words="ready", **keys):
    plan = case.plan(Phases="one", LogLevel="warning", RuntimeDirectory=case.path(f"run.{len(case.runs)}"))
    plan.service("web", f"{HOLDER} {words}", **{"Phase": "one", "Type": "notify", **keys})
    return plan


def found(case, count=1, **fields):
    return case.log.until("found", count=count, name="web", **fields)


def inodes(line):
    return [one["inode"] for one in line["fds"]]


def tcp(port):
    return f"tcp://127.0.0.1:{port}"


def connect(address):
    """A connected socket: to a port, or to the path of a Unix socket."""
    if isinstance(address, int):
        return socket.create_connection(("127.0.0.1", address), timeout=30)
    one = socket.socket(socket.AF_UNIX)
    one.settimeout(30)
    one.connect(address)
    return one


def refuses(address):
    try:
        connect(address).close()
    except (ConnectionRefusedError, FileNotFoundError):
        return True
    return False


def is_held(address):
    """A connection to a Unix socket succeeds though nobody accepts it."""
    return not refuses(address)


@test
def sockets_are_passed_as_systemd_passes_them(case):
    port, path = free_port(), case.path("socket")
    run = case.run(holder_plan(case, Listen=f"{tcp(port)} name=web unix:{path} name=admin")).ready()
    line = found(case)
    check(line["mine"], f"LISTEN_PID is not the service's own pid: {line['listen']}")
    equal(line["names"], ["web", "admin"], "LISTEN_FDNAMES")
    equal([one["fd"] for one in line["fds"]], [3, 4], "descriptors")
    equal([one["address"] for one in line["fds"]], [f"127.0.0.1:{port}", path], "addresses")
    for one in line["fds"]:
        check(one["listens"] and not one["nonblocking"] and not one["cloexec"], f"not as systemd passes it: {one}")
    equal(line["open"], [0, 1, 2, 3, 4], "open descriptors")
    equal(run.end(), 0, "exit code")


@test
def a_service_without_sockets_finds_nothing_of_them(case):
    plan = holder_plan(case, Listen=tcp(free_port()))
    plan.service("other", f"{HOLDER} ready", Phase="one", Type="notify")
    run = case.run(plan).ready()
    line = case.log.until("found", name="other")
    equal((line["listen"], line["open"]), ({}, [0, 1, 2]), "what the other service finds")
    equal(run.end(), 0, "exit code")


@test
def a_unix_socket_has_its_mode_and_its_services_owner(case):
    path, usual = case.path("socket"), case.path("usual")
    os.chmod(case.directory, 0o755)
    open(case.path("actors.jsonl"), "a", encoding="ascii").close()
    os.chmod(case.path("actors.jsonl"), 0o666)
    run = case.run(holder_plan(case, User="nobody", Listen=f"unix:{path} mode=0620 unix:{usual}"),
                   shell='umask 077; exec "$@"').ready()
    equal(found(case)["uid"], NOBODY, "who the service runs as")
    for name, mode in ((path, 0o620), (usual, 0o666)):
        about = os.lstat(name)
        equal((stat.S_IMODE(about.st_mode), about.st_uid, about.st_gid), (mode, NOBODY, NOBODY), f"mode and owner of {name}")
    equal(run.end(), 0, "exit code")


@test
def a_file_that_nobody_answers_on_is_replaced(case):
    path = case.path("socket")
    with socket.socket(socket.AF_UNIX) as stale:
        stale.bind(path)
        stale.listen()
    run = case.run(holder_plan(case, "ready accept", Listen=f"unix:{path}")).ready()
    with connect(path) as client:
        check(client.recv(100).startswith(b"served by"), "somebody else answered")
    equal(run.end(), 0, "exit code")


@test
def a_socket_that_somebody_answers_on_is_never_taken_from_him(case):
    path = case.path("socket")
    with socket.socket(socket.AF_UNIX) as living:
        living.bind(path)
        living.listen()
        before = os.lstat(path).st_ino
        run = case.run(holder_plan(case, Listen=f"unix:{path}", RestartSec="1ms", StartLimitBurst=3))
        equal(run.wait(), 83, "exit code")
        equal(os.lstat(path).st_ino, before, "the file")
    exits = run.journal.all("service_exited")
    equal([line["error"] for line in exits], [f"listen unix:{path}: Address already in use"] * 3, "why")


@test
def a_port_that_is_taken_is_said_retried_and_given_up(case):
    port = free_port()
    with socket.create_server(("127.0.0.1", port)):
        run = case.run(holder_plan(case, Listen=f"{tcp(free_port())} {tcp(port)}", RestartSec="1ms"))
        equal(run.wait(), 83, "exit code")
    exits = run.journal.all("service_exited")
    equal(len(exits), 5, "attempts")
    for line in exits:
        equal((line["error"], line["status"]), (f"listen {tcp(port)}: Address already in use", 125), "how an attempt ended")
    equal(run.journal.only("service_gave_up")["reason"], "could not be started", "why it was given up")
    check(f"listen {tcp(port)}: Address already in use" in run.errors(), "the log says why")
    case.log.none("found")


@test
def a_port_that_becomes_free_is_taken_by_the_next_attempt(case):
    port, other = free_port(), free_port()
    with socket.create_server(("127.0.0.1", port)):
        run = case.run(holder_plan(case, Listen=f"{tcp(other)} {tcp(port)}", RestartSec="20ms", StartLimitBurst=0,
                                   RestartMaxDelaySec="20ms"))
        run.journal.until("service_exited", count=2)
        check(refuses(other), "what listens already is held though nobody will serve it")
    run.ready()
    equal([one["address"] for one in found(case)["fds"]], [f"127.0.0.1:{other}", f"127.0.0.1:{port}"], "addresses")
    equal(run.end(), 0, "exit code")


@test
def instances_share_one_socket(case):
    port = free_port()
    plan = holder_plan(case, "ready accept say served", Listen=f"{tcp(port)} unix:{case.path('socket')}", Instances=2)
    run = case.run(plan).ready()
    equal(inodes(found(case, instance=1)), inodes(found(case, instance=2)), "the sockets of both")
    for _ in range(2):  # each accepts one client and no more
        with connect(port) as client:
            check(client.recv(100).startswith(b"served by"), "nobody answered")
    equal(sorted(case.log.until("served", count=2) and [line["instance"] for line in case.log.all("served")]), [1, 2],
          "who served")
    equal(run.end(), 0, "exit code")


@test
def many_that_begin_at_once_all_begin(case):
    port, paths = free_port(), [case.path(f"socket.{number}") for number in range(40)]
    plan = case.plan(Phases="one", LogLevel="warning")
    plan.actor("web", "notify READY=1 , serve", Phase="one", Type="notify", Instances=40, Restart="no",
               Listen=[tcp(port), *(f"unix:{path}" for path in paths)])
    run = case.run(plan).ready()
    run.journal.none("service_exited")
    check(is_held(port) and all(is_held(path) for path in paths), "somebody cannot connect")
    case.serving("web", 40)
    equal(run.end(), 0, "exit code")


@test
def a_restart_has_the_same_sockets_and_serves_who_has_waited(case):
    port, path, gate = free_port(), case.path("socket"), case.path("gate")
    # The first run is over at once; the others serve one client each.
    words = f'ready wait-for {gate} accept'
    plan = holder_plan(case, words, Listen=f"{tcp(port)} unix:{path}", RestartSec="1s", StartLimitBurst=0)
    run = case.run(plan).ready()
    first = found(case)
    os.kill(run.outside(first["pid"]), signal.SIGKILL)
    run.journal.until("service_restart_scheduled")
    with connect(port) as client, connect(path) as other:
        client.settimeout(30)
        run.journal.none("service_starting", attempt=2)
        with open(gate, "w", encoding="ascii"):
            pass
        second = found(case, count=2)
        equal(inodes(second), inodes(first), "the sockets of the second run")
        equal(client.recv(100), f"served by {second['pid']}".encode(), "who served")
        other.close()
    equal(run.end(), 0, "exit code")


@test
def a_run_that_a_liveness_probe_ends_leaves_its_sockets_to_the_next(case):
    port, sick = free_port(), case.path("sick")
    plan = holder_plan(case, Listen=tcp(port), RestartSec="10ms", StartLimitBurst=0,
                       LivenessProbe=f"exec:/bin/test ! -e {sick} period=100ms failures=2")
    run = case.run(plan).ready()
    with open(sick, "w", encoding="ascii"):
        run.journal.until("service_asked", service="web", reason="liveness")
    os.unlink(sick)
    with connect(port):
        equal(inodes(found(case, count=2)), inodes(case.log.first("found")), "the sockets of the second run")
    run.journal.until("readiness_changed", ready=True, count=2)
    equal(run.end(), 0, "exit code")


@test
def a_run_that_the_watchdog_ends_leaves_its_sockets_to_the_next(case):
    once, port = case.path("once"), free_port()
    plan = case.plan(Phases="one", LogLevel="warning")
    plan.shell("web", f'[ -e {once} ] && exec {HOLDER} notify WATCHDOG_USEC=60000000 ready; : > {once}; exec {HOLDER} ready',
               Phase="one", Type="notify", Listen=tcp(port), RestartSec="10ms", WatchdogSec="500ms")
    run = case.run(plan)
    equal(inodes(found(case, count=2)), inodes(case.log.first("found")), "the sockets of the second run")
    run.journal.only("watchdog_expired", service="web")
    case.serving("web", 2)
    equal(run.end(), 0, "exit code")


@test
def what_a_run_has_done_to_its_sockets_does_not_outlive_it(case):
    port, path, once = free_port(), case.path("socket"), case.path("once")
    plan = case.plan(Phases="one", LogLevel="warning")
    plan.shell("web", f'[ -e {once} ] && exec {HOLDER} ready accept; : > {once}; exec {HOLDER} nonblock shut exit 1',
               Phase="one", Type="notify", Listen=f"unix:{path} {tcp(port)}", RestartSec="10ms")
    run = case.run(plan).ready()
    for one in found(case, count=2)["fds"]:
        check(one["listens"] and not one["nonblocking"], f"not as at first: {one}")
    check(is_held(port), "the port is not open again")
    with connect(path) as client:
        check(client.recv(100).startswith(b"served by"), "nobody answered")
    equal(run.end(), 0, "exit code")


@test
def what_an_instance_has_set_is_left_to_it_when_another_one_starts(case):
    plan = holder_plan(case, "ready nonblock say set", Listen=tcp(free_port()), Instances=2, RestartSec="10ms")
    run = case.run(plan).ready()
    case.log.until("set", count=2)
    os.kill(run.outside(found(case, instance=1)["pid"]), signal.SIGKILL)
    check(found(case, instance=1, count=2)["fds"][0]["nonblocking"], "the other instance's accept(2) would block now")
    equal(run.end(), 0, "exit code")


@test
def in_an_ending_the_copy_is_closed_before_the_service_is_asked(case):
    port, path, gate = free_port(), case.path("socket"), case.path("gate")
    run = case.run(holder_plan(case, f"slow {gate} ready", Listen=f"{tcp(port)} unix:{path}")).ready()
    case.serving("web")
    check(is_held(port) and is_held(path), "it is open before the ending")
    run.send(signal.SIGTERM)
    case.log.until("closed")
    check(refuses(port) and refuses(path), "the service has closed its own, and still somebody can connect")
    check(run.alive(), "and the service lives on, to finish what it has in hand")
    with open(gate, "w", encoding="ascii"):
        pass
    equal(run.wait(), 0, "exit code")


@test
def a_service_that_failed_for_good_holds_no_socket(case):
    port = free_port()
    plan = holder_plan(case, "exit 1", Listen=tcp(port), Essential="no", Restart="no")
    plan.actor("other", "serve", Phase="one")
    run = case.run(plan)
    run.journal.until("service_gave_up", service="web")
    wait_until(lambda: refuses(port), "the port is refused", alive=run.alive)
    case.serving("other")
    equal(run.end(), 0, "exit code")


@test
def ipv6_and_ipv4_of_one_port_go_together(case):
    port = free_port()
    run = case.run(holder_plan(case, Listen=f"tcp://0.0.0.0:{port} tcp://[::]:{port}")).ready()
    equal([one["address"] for one in found(case)["fds"]], [f"0.0.0.0:{port}", f":::{port}"], "addresses")
    equal(run.end(), 0, "exit code")


@test
def a_folder_that_is_missing_is_said_and_not_made(case):
    run = case.run(holder_plan(case, Listen=f"unix:{case.path('missing/socket')}", Restart="no"))
    equal(run.wait(), 83, "exit code")
    equal(run.journal.only("service_exited")["error"], f"listen unix:{case.path('missing/socket')}: No such file or directory",
          "why")
    check(not os.path.exists(case.path("missing")), "the folder was made")


@test
def a_socket_on_a_dead_file_system_holds_up_its_service_and_nobody_else(case):
    if not os.access("/dev/fuse", os.R_OK | os.W_OK):
        print("     there is no /dev/fuse here: not tested", flush=True)
        return
    folder = case.path("dead")
    os.makedirs(folder)
    plan = holder_plan(case, Listen=f"unix:{folder}/socket")
    plan.section("[Hook kill-folder]", {"Exec": f"/usr/bin/python3 {PROGRAMS}/dead_folder.py {folder}", "Service": "web",
                                        "On": "pre-start", "OnFailure": "abort"})
    plan.actor("other", "serve", Phase="one")
    run = case.run(plan)
    run.journal.until("hook_finished", hook="kill-folder", status=0)
    case.serving("other")
    for _ in range(3):
        check("web" in run.verb("status", timeout=10).stdout, "no status while the child waits")
    run.journal.none("service_started", service="web")
    equal(run.end(timeout=20), 0, "exit code")
    soon(run.journal.only("ending_finished")["took_us"], "the ending, which did not wait, too")
    case.log.none("found")


@test
def what_endwell_itself_was_passed_is_nobody_elses(case):
    plan = case.plan(Phases="one")
    plan.service("web", f"{HOLDER} ready", Phase="one", Type="notify")
    run = case.run(plan, environment={"LISTEN_FDS": "1", "LISTEN_PID": "1", "LISTEN_FDNAMES": "x"}).ready()
    equal(found(case)["listen"], {}, "what the service finds")
    equal(run.end(), 0, "exit code")


@test
def a_service_of_another_user_can_speak_to_endwell(case):
    binary = os.environ["ENDWELL_BINARY"]
    log = case.path("actors.jsonl")
    open(log, "a", encoding="ascii").close()
    os.chmod(log, 0o666)
    plan = case.plan(Phases="one")
    plan.shell("web", f'{binary} notify READY=1 STATUS=by-nobody; "$ACTOR" say notified-$?; exec "$ACTOR" serve',
               Phase="one", Type="notify", User="nobody")
    run = case.run(plan).ready()
    case.log.until("notified-0")
    equal(run.journal.until("service_status")["text"], "by-nobody", "text")
    about = os.stat(os.path.join(run.runtime, "notify/web"))
    equal((stat.S_IMODE(about.st_mode), about.st_uid), (0o600, NOBODY), "mode and owner of the socket")
    equal(stat.S_IMODE(os.stat(run.runtime).st_mode), 0o711, "mode of the runtime directory")
    equal(run.end(), 0, "exit code")
