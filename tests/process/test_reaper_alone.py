"""The program endwell-reaper by itself: without endwell, with a database that is not what it should be, and with a control
socket that hangs, lies, or tells of more dead than it can hold."""
import os
import re
import signal
import socket
import subprocess
import time

from bases import Frozen, base, furnish, own_base
from case import test
from endwell import status_field
from fake_control import FakeControl
from journal import check, equal, wait_until
from ledger import Session

PROGRAM = os.path.realpath(os.path.join(os.path.dirname(os.environ["ENDWELL_BINARY"]), "../reaper/endwell-reaper"))


class Reaper:
    def __init__(self, case, database, *words, before=(), **environment):
        self.case, self.path = case, case.path("reaper.err")
        environment = {**case.environment, "ENDWELL_DATABASE_URL": database, **environment}
        with open(self.path, "wb") as errors:
            self.process = subprocess.Popen([*before, PROGRAM, *words], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                            stderr=errors, env=environment)
        case.cleaners.append(self.clean)

    def alive(self):
        return self.process.poll() is None

    def errors(self):
        return self.case.text("reaper.err")

    def says(self, text):
        wait_until(lambda: text in self.errors(), f"the words: {text}", alive=self.alive)

    def end(self, number=signal.SIGTERM):
        self.process.send_signal(number)
        return self.process.wait(60)

    def clean(self):
        if self.alive():
            self.process.kill()
            self.process.wait()


def once(case, database, *words, **environment):
    return subprocess.run([PROGRAM, *words], env={**case.environment, "DATABASE_URL": database, **environment},
                          stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60, check=False)


def claim(data, queue="q"):
    """A worker that holds one job, and never says a word again."""
    job, worker = data.job(queue), data.admin.worker_up()
    equal([one.id for one in data.admin.claim(queue, worker)], [job], "what was claimed")
    return job, worker


def ended(data, job, timeout=60):
    return wait_until(lambda: data.attempts(job), f"the end of the attempt of {job}", timeout)[0]


@test
def without_endwell_it_sweeps_and_prunes(case):
    data = base(case)
    data.queue(lease_ms=1000, keep="0 s")
    job, _ = claim(data)
    data.admin.rows("select endwell.cancel(%s)", data.job())
    reaper = Reaper(case, data.url, "--interval", "50ms")
    equal(ended(data, job).outcome, "expired", "why it ended")
    equal(reaper.end(), 0, "exit code")
    equal(once(case, data.url, "--once").returncode, 0, "exit code of --once")
    equal([row.state for row in data.admin.rows("select state from @schema@.job")], ["ready"], "what is left")


@test
def once_goes_on_until_nothing_is_left(case):
    data = base(case)
    data.queue(lease_ms=1000)
    worker = data.admin.worker_up()
    data.admin.enqueue_many("q", "", ["{}"] * 100)
    equal(len(data.admin.claim("q", worker, 100)), 100, "claimed")
    wait_until(lambda: data.admin.value("select bool_and(beat_at + interval '1 s' < clock_timestamp()) from @schema@.job"),
               "the end of the leases")
    done = once(case, data.url, "--once", "--batch", "7")
    equal((done.returncode, done.stdout), (0, ""), "how it ended")
    check("given back 100, buried 0" in done.stderr, done.stderr)


@test
def what_it_cannot_do_it_says_and_answers_with_a_code(case):
    data = own_base(case, ledger=False)
    for words, code, text in (
            (["--help"], 0, ""), (["--batch", "0"], 64, "--batch"), (["--frequency", "1"], 64, "--frequency"),
            (["--once"], 69, "endwell ledger migrate"), (["--once", "-c", case.path("none.ini")], 78, "none.ini")):
        done = once(case, data.url, *words)
        equal(done.returncode, code, f"exit code of {words}")
        check(text in done.stderr, f"{words}: {done.stderr}")
    done = once(case, "postgresql://app:s3cret@[::1/x", "--once")
    equal(done.returncode, 78, "exit code of a bad URL")
    check("s3cret" not in done.stderr, done.stderr)
    done = once(case, f"host=/nowhere password=s3cret port={data.cluster.port}", "--once")
    equal(done.returncode, 69, "exit code without a server")
    check("s3cret" not in done.stderr and "/nowhere" in done.stderr, done.stderr)
    config = case.file("endwell.ini", f"[Service x]\nUnknown=1\n[Database]\nUrl={data.cluster.dsn('postgres')}\n")
    furnish(data.cluster, "postgres")
    equal(once(case, "host=/nowhere", "--once", "-c", config).returncode, 0, "exit code of -c FILE")


@test
def a_ledger_that_is_not_there_yet_is_waited_for(case):
    data = own_base(case, ledger=False)
    reaper = Reaper(case, data.url, "--interval", "50ms")
    reaper.says("endwell ledger migrate")
    furnish(data.cluster, "postgres")
    reaper.says("works again")
    equal(reaper.errors().count("endwell ledger migrate"), 1, "how often it was said")
    equal(reaper.end(), 0, "exit code")


@test
def a_server_that_does_not_let_it_in_is_waited_for(case):
    data = own_base(case)
    reaper = Reaper(case, data.url.replace("user=postgres", "user=reaper"), "--interval", "50ms")
    reaper.says("does not let us in")
    data.admin.rows("create role reaper login superuser")
    reaper.says("works again")
    equal(reaper.end(), 0, "exit code")


@test
def it_is_ready_without_its_database_and_gives_signs_of_life(case):
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    case.cleaners.append(listener.close)
    listener.bind(case.path("notify.sock"))
    listener.settimeout(60)
    reaper = Reaper(case, "host=/nowhere", NOTIFY_SOCKET=case.path("notify.sock"), WATCHDOG_USEC="500000")
    words = {listener.recv(4096).decode() for _ in range(6)}
    check("READY=1" in words and "WATCHDOG=1" in words, f"what it says: {words}")
    check(any(word.startswith("STATUS=waiting: the database") for word in words), f"what it says: {words}")
    equal(reaper.end(), 0, "exit code")


@test
def case_37_on_a_standby_it_waits_without_spinning_until_that_is_promoted(case):
    data = own_base(case)
    data.queue(lease_ms=1000)
    job, _ = claim(data)
    data.cluster.settings["log_connections"] = "on"
    standby = data.cluster.standby()
    case.cleaners.append(standby.clean)
    begun = time.monotonic()
    reaper = Reaper(case, standby.dsn("postgres"), "--interval", "50ms")
    reaper.says("takes no writes")

    def attempts():
        return [line for line in case_log(standby) if "application_name=endwell-reaper" in line]
    wait_until(lambda: len(attempts()) >= 5, "the fifth attempt to connect")
    check(time.monotonic() - begun > 0.6, "five attempts came faster than their pauses allow")
    wait_until(lambda: Session(standby.dsn("postgres")).look(job), "the job on the standby")
    data.cluster.stop("immediate")
    standby.promote()
    promoted = Session(standby.dsn("postgres"))
    case.cleaners.append(promoted.close)
    wait_until(lambda: promoted.rows("select * from @schema@.attempt where job_id = %s", job), "the job's recovery")
    equal(reaper.errors().count("takes no writes"), 1, "how often it was said")
    equal(reaper.end(), 0, "exit code")


def case_log(server):
    with open(server.log, encoding="utf-8", errors="replace") as file:
        return file.read().splitlines()


@test
def a_control_socket_that_hangs_costs_neither_the_sweeps_nor_the_end(case):
    data = base(case)
    data.queue(lease_ms=1000)
    job, _ = claim(data)
    case.serve(FakeControl(case.path("control.sock"), silent=True))
    reaper = Reaper(case, data.url, "--interval", "50ms", ENDWELL_SOCKET=case.path("control.sock"))
    equal(ended(data, job).outcome, "expired", "why it ended")
    reaper.says("does not answer at")
    equal(reaper.end(), 0, "exit code")


@test
def a_control_socket_that_lies_is_not_believed(case):
    lies = {"no_json": b"hello\n{]\n", "no_line": b"x" * 200_000, "nothing": b"\n" * 1000,
            "no_owner": b'{"result":{"subscribed":true,"since":0,"newest":1}}\n{"seq":1,"event":"service_gone","owner":'
                        b'"\'; drop schema endwell cascade; --","certain":true,"cause":"crashed"}\n'}
    data = base(case)
    for name, lie in lies.items():
        case.serve(FakeControl(case.path(name), lie=lie))
        job, _ = claim(data, data.queue(name, lease_ms=1000))
        reaper = Reaper(case, data.url, "--interval", "50ms", ENDWELL_SOCKET=case.path(name))
        equal(ended(data, job).outcome, "expired", f"why it ended ({name})")
        equal(reaper.end(), 0, f"exit code ({name})")


@test
def more_dead_than_it_can_hold_are_asked_for_again_and_none_is_forgotten(case):
    data = own_base(case)
    control = case.serve(FakeControl(case.path("control.sock")))
    dead = {control.gone() for _ in range(6_000)}
    data.cluster.stop("fast")
    reaper = Reaper(case, data.url, "--interval", "1h", ENDWELL_SOCKET=case.path("control.sock"))
    reaper.says("asked for again later")
    size = int(status_field(reaper.process.pid, "VmRSS")[0])
    check(size < (40 << 10 if "asan" not in PROGRAM else 400 << 10), f"it takes {size} KiB")
    data.cluster.start()
    data.again()
    job, worker = claim(data, data.queue(lease_ms=3_600_000))
    control.tell("service_exited", service="worker", instance=1, owner=worker, code="killed", status=11)
    control.gone(worker)
    equal(ended(data, job, 300).error, "killed by SIGSEGV", "why the last one's job ended")
    known = {row.id for row in data.admin.rows("select id from @schema@.worker where state = 'gone'")}
    equal(len(dead - known), 0, "dead that the database never heard of")
    check(1 < len(control.connections) < 20, f"it subscribed {len(control.connections)} times")
    equal(reaper.end(), 0, "exit code")
    equal([report["event"] for report in control.reports], ["database_quiet", "reaper_settled"], "reports")


@test
def what_was_locked_at_the_first_look_is_found_at_the_second(case):
    data = base(case)
    job, worker = claim(data, data.queue(lease_ms=3_600_000))
    control = case.serve(FakeControl(case.path("control.sock")))
    reaper = Reaper(case, data.url, "--interval", "1h", ENDWELL_SOCKET=case.path("control.sock"))
    reaper.says("listening to endwell")
    other = Session(data.cluster.dsn(data.name))
    case.cleaners.append(other.close)
    other.rows("begin"), other.rows("select 1 from @schema@.job where id = %s for no key update", job)
    control.gone(worker)
    wait_until(lambda: data.admin.rows("select 1 from @schema@.worker where id = %s and state = 'gone'", worker),
               "the first look")
    other.rows("rollback")
    equal(ended(data, job).outcome, "worker_died", "why it ended")
    equal(reaper.end(), 0, "exit code")


@test
def a_frozen_database_does_not_hold_up_its_end(case):
    data = own_base(case)
    reaper = Reaper(case, data.url, "--interval", "50ms")
    wait_until(lambda: data.admin.value("select count(*) from pg_stat_activity where application_name = 'endwell-reaper'"),
               "its connection")
    with Frozen(data.cluster):
        equal(reaper.end(), 0, "exit code")


RESOLVER = """
import fcntl, os, socket, struct, subprocess, sys
subprocess.run(["mount", "--bind", sys.argv[1], "/etc/resolv.conf"], check=True)
deaf = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
fcntl.ioctl(deaf, 0x8914, struct.pack("16sH", b"lo", 0x41))  # SIOCSIFFLAGS: up, running
deaf.bind(("127.0.0.1", 53))
os.set_inheritable(deaf.fileno(), True)
open(sys.argv[2], "w").close()
os.execv(sys.argv[3], sys.argv[3:])
"""


@test
def a_name_that_nobody_resolves_does_not_hold_up_its_end(case):
    resolver = case.file("resolv.conf", "nameserver 127.0.0.1\noptions timeout:30 attempts:5\n")
    reaper = Reaper(case, "host=db.example.com dbname=x", before=["unshare", "--net", "--mount", "/usr/bin/python3", "-c",
                                                                RESOLVER, resolver, case.path("begun")])
    wait_until(lambda: os.path.exists(case.path("begun")), "the namespace", alive=reaper.alive)
    wait_until(lambda: "endwell-reaper" in os.readlink(f"/proc/{reaper.process.pid}/exe"), "the reaper", alive=reaper.alive)
    wait_until(lambda: status_field(reaper.process.pid, "SigCgt") and caught(reaper.process.pid, signal.SIGTERM), "its signals")
    equal(reaper.end(), 0, "exit code")
    check("left to the leases" in reaper.errors(), f"its last word: {reaper.errors()}")


def caught(pid, number):
    return int(status_field(pid, "SigCgt")[0], 16) >> (number - 1) & 1


@test
def where_no_endwell_is_and_never_was_it_leaves(case):
    data = base(case)
    reaper = Reaper(case, data.url, ENDWELL_SOCKET=case.path("nobody.sock"))
    equal(reaper.process.wait(60), 69, "exit code")
    check(re.search(r"nobody answers at endwell's control socket \S+nobody.sock", reaper.errors()), reaper.errors())
