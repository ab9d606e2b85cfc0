"""A database that restarts, freezes or forgets to notify. cases/worker.md 13, 14, 16."""
import os
import signal
import socket
import threading
import time

from database_case import Yard
from endwell import descendants
from journal import check, equal, wait_until
from worker_case import WorkerCase, test


class OwnServer:
    """A case with a server of its own, which it may stop."""

    def __init__(self, case):
        self.outer = case
        self.yard = Yard("direct", fsync="on", full_page_writes="on")
        self.case = WorkerCase(self.yard, case.name, case.repeat, case.seed)
        self.outer.explain = self.case.explain

    def __enter__(self):
        return self.case

    def __exit__(self, *_):
        if self.yard.cluster.process is None:
            self.yard.cluster.start()
        self.case.clean()
        self.yard.clean()


def again(case):
    """Sessions that live on the server of now."""
    case.admin, case.ledger = case.direct(), case.direct()


@test
def case_13_jobs_go_on_while_the_database_restarts_and_each_result_is_written_once(outer):
    with OwnServer(outer) as case:
        case.queue(lease_ms=60000)
        worker = case.work("read -r n; echo $n >> began; while ! test -e go; do sleep 0.02; done; echo $n >> ended; echo $n",
                           "--concurrency", "8", "--poll", "100ms").ready()
        for number in range(8):
            case.job(payload=str(number))
        wait_until(lambda: len(case.lines("began")) == 8, "eight jobs")
        case.yard.cluster.stop("immediate")
        worker.until("lost the ledger")
        case.file("go")
        wait_until(lambda: len(case.lines("ended")) == 8, "the end of the eight commands")
        check(worker.lives(), "the worker lives")
        case.yard.cluster.start()
        again(case)
        case.all_done(8)
        rows = case.admin.rows("select id, attempts, gen, result from @schema@.job order by id")
        equal([(row.attempts, row.gen, row.result.strip()) for row in rows], [(1, 1, str(n)) for n in range(8)], "jobs")
        equal(sorted(case.lines("began")), [str(n) for n in range(8)], "commands that were begun")
        equal(case.admin.value("select count(*) from @schema@.attempt"), 0, "failed attempts")
        more = case.job(payload="8")
        case.done(more)
        equal(worker.end(), 0, "exit code")


@test(repeat=(3, 30))
def case_13_a_restart_at_any_instant_loses_and_doubles_no_job(outer):
    with OwnServer(outer) as case:
        case.queue(lease_ms=2000, backoff_ms=1, max_deaths=100, max_attempts=100)
        worker = case.work("read -r n; sleep 0.0$((n % 5)); echo $n", "--concurrency", "8", "--poll", "100ms").ready()
        for number in range(case.repeat):
            case.ledger.enqueue_many("q", "k", [str(n) for n in range(100)])
            time.sleep(case.random.uniform(0.05, 0.6))  # the random instant itself
            case.yard.cluster.restart(case.random.choice(["immediate", "fast"]))
            again(case)
        case.sweep()
        case.all_done(100 * case.repeat)
        wrong = case.admin.value("select count(*) from @schema@.job where result is null or state <> 'done'")
        equal((wrong, case.held()), (0, 0), "jobs without a result, jobs that run")
        equal(worker.end(), 0, "exit code")


@test
def case_14_a_database_that_was_frozen_for_longer_than_the_lease_makes_no_effect_twice(outer):
    with OwnServer(outer) as case:
        case.queue(lease_ms=1000, backoff_ms=1, on_doubt="redo")
        program = case.python("effects.py", f"""
import os, time, psycopg2
db = psycopg2.connect(os.environ["DATABASE_URL"]); db.autocommit = True
key = [os.environ["ENDWELL_" + name] for name in ("JOB_ID", "GENERATION", "CLAIM_ID")]
for item in range(6):
    with db.cursor() as cursor:
        cursor.execute('select {case.quoted}.item_begin(%s, %s, %s, %s)', (*key, str(item)))
        if cursor.fetchone()[0] != "go":
            continue
        with open("effects", "a") as file:
            file.write(f"{{key[0]}} {{item}}\\n")
        cursor.execute('select {case.quoted}.item_end(%s, %s, %s, %s, true)', (*key, str(item)))
    time.sleep(0.2)
""")
        workers = [case.work(program, "--concurrency", "2", "--poll", "100ms").ready() for _ in range(2)]
        jobs = [case.job() for _ in range(4)]
        wait_until(lambda: len(case.lines("effects")) >= 8, "some effects")
        frozen = [case.yard.cluster.process.pid, *descendants(case.yard.cluster.process.pid)]
        for pid in frozen:
            os.kill(pid, signal.SIGSTOP)
        case.yard.cluster.stopped = True
        time.sleep(2.5)  # longer than the lease: that is what this is about
        for pid in frozen:
            os.kill(pid, signal.SIGCONT)
        case.yard.cluster.stopped = False
        case.sweep()
        for job in jobs:
            case.done(job)
        effects = case.lines("effects")
        equal(sorted(effects), sorted(f"{job} {item}" for job in jobs for item in range(6)), "effects")
        equal([worker.end() for worker in workers], [0, 0], "exit codes")


@test
def a_frozen_database_does_not_keep_a_worker_from_ending(outer):
    with OwnServer(outer) as case:
        case.queue()
        worker = case.work("exec sleep 1000", "--drain-timeout", "500ms").ready()
        job = case.job()
        worker.until(f"job {job} generation 1 attempt 1 began")
        frozen = [case.yard.cluster.process.pid, *descendants(case.yard.cluster.process.pid)]
        for pid in frozen:
            os.kill(pid, signal.SIGSTOP)
        case.yard.cluster.stopped = True
        equal(worker.end(), 75, "exit code")
        equal(worker.processes(), [], "processes that live on")
        check("left to their leases" in worker.log(), "it says what became of the job")
        for pid in frozen:
            os.kill(pid, signal.SIGCONT)
        case.yard.cluster.stopped = False


def listener(case):
    return case.admin.rows("select pid from pg_stat_activity where application_name = 'endwell-worker' and query ilike 'listen%%'")


@test
def case_16_without_a_listening_connection_jobs_are_still_found_by_asking(case):
    case.queue()
    worker = case.work("echo 1", "--poll", "200ms",
                       environment={"ENDWELL_DATABASE_LISTEN_URL": case.url_of(case.yard.cluster)}).ready()
    wait_until(lambda: listener(case), "the listening connection")
    for row in listener(case):
        case.admin.rows("select pg_terminate_backend(%s)", row.pid)
    case.done(case.job())
    worker.until("the connection that listens for new jobs ended")
    wait_until(lambda: listener(case), "the listening connection to come back")
    equal(worker.end(), 0, "exit code")


def rest(case, count, since="2000-01-01"):
    """So many workers have asked since then, got nothing, and ask no more."""
    wait_until(lambda: case.admin.value("select count(*) from pg_stat_activity where application_name = 'endwell-worker' and "
                                        "datname = current_database() and query ilike '%%claim%%' and state = 'idle' and "
                                        "state_change < clock_timestamp() - interval '300 ms' and state_change > %s", since) == count, "idle workers")


@test
def case_16_a_notification_wakes_a_worker_that_would_not_ask_for_an_hour(case):
    case.queue()
    for environment in ({}, {"ENDWELL_DATABASE_LISTEN_URL": case.url_of(case.yard.cluster)}):
        worker = case.work("echo 1", "--poll", "1h", environment=environment).ready()
        if environment:
            wait_until(lambda: listener(case), "the listening connection")
        rest(case, 1)
        silent = case.job()
        case.done(case.job(notify=True))
        case.done(silent)
        equal(worker.end(), 0, "exit code")


@test
def case_16_ten_thousand_jobs_in_one_transaction_wake_each_worker_once(case):
    case.queue(paused=True)
    case.admin.rows(f"alter database {case.database} set track_functions = 'all'")
    workers = [case.work("echo 1", "--poll", "1h").ready() for _ in range(3)]
    rest(case, 3)
    since = case.admin.value("select clock_timestamp()")
    with case.direct().transaction() as one:
        one.rows("select count(*) from generate_series(1, 10000) n, @schema@.enqueue('q', notify => true)")
    rest(case, 3, since)
    for worker in workers:
        equal(worker.end(), 0, "exit code")

    def calls():
        case.admin.rows("select pg_stat_clear_snapshot()")
        return case.admin.value("select coalesce(sum(calls), 0) from pg_stat_user_functions where funcname = 'claim'")
    wait_until(lambda: calls() >= 6, "one claim of each at its start, and one for the notification")
    equal(calls(), 6, "claims of 3 workers")


class Cutter:
    """A wire to the server that is cut once: behind a claim that the server has committed, before its answer."""

    def __init__(self, port, committed):
        self.port, self.committed, self.cuts = port, committed, 0
        self.listening = socket.create_server(("127.0.0.1", 0))
        self.url_port = self.listening.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self):
        while True:
            try:
                client, _ = self.listening.accept()
            except OSError:
                return
            server = socket.create_connection(("127.0.0.1", self.port))
            threading.Thread(target=self._up, args=(client, server), daemon=True).start()
            threading.Thread(target=self._down, args=(server, client), daemon=True).start()

    def _up(self, client, server):
        try:
            while data := client.recv(65536):
                last = self.cuts == 0 and b"claim(" in data
                self.cuts += last
                if last:
                    client.shutdown(socket.SHUT_RDWR)
                server.sendall(data)
                if last:
                    self.committed()
                    break
        except OSError:
            pass
        for one in (client, server):
            one.close()

    @staticmethod
    def _down(server, client):
        try:
            while data := server.recv(65536):
                client.sendall(data)
        except OSError:
            pass

    def clean(self):
        self.listening.close()


@test
def a_claim_whose_answer_was_lost_is_found_and_given_back(case):
    case.queue(lease_ms=3600000)
    job = case.job()
    watcher = case.direct()
    cutter = case.serve(Cutter(case.yard.cluster.port, lambda: wait_until(
        lambda: watcher.value("select state = 'running' from @schema@.job where id = %s", job), "the claim to be committed")))
    url = f"postgresql://postgres@127.0.0.1:{cutter.url_port}/{case.database}"
    worker = case.work("echo 1", "--poll", "100ms", url=url)
    row = case.done(job)
    equal((cutter.cuts, row.attempts, row.releases), (1, 1, 1), "cuts, attempts, releases")
    worker.until("claimed without our knowing")
    equal(worker.end(), 0, "exit code")
