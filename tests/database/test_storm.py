"""Many at once: workers that are killed at any instant, reapers, operators; and case 39."""
import collections
import json
import os
import random
import signal
import subprocess
import sys
import threading
import time

from case import test
from invariants import ALWAYS, AT_REST, EFFECTS, holds
from journal import check, equal, wait_until
from ledger import token

PROGRAM = os.path.join(os.path.dirname(os.path.realpath(__file__)), "programs/chaos.py")
WORKERS, REAPERS, OPERATORS = 16, 4, 2
PATIENCE_SECONDS = 240

# What has to have happened, whatever chance and the machine's load did: until then the storm goes on.
WANTED = {
    "jobs done": "select count(*) from @schema@.job where state = 'done'",
    "effects under hold": "select count(*) from effect",
    "parts done": "select count(*) from @schema@.item where state = 'done'",
    "parts in doubt": "select count(*) from @schema@.item where state = 'in_doubt'",
    **{outcome: f"select count(*) from @schema@.attempt where outcome = '{outcome}'"
       for outcome in ("failed", "released", "expired", "worker_died")},
}


class Process:
    def __init__(self, case, role, seed):
        self.case, self.role = case, role
        self.log = case.path(f"{role}.{seed}.log")
        with open(self.log, "wb") as log:
            self.process = subprocess.Popen([sys.executable, PROGRAM, role, case.yard.server().dsn(case.database), case.schema,
                                             str(seed)], stdin=subprocess.PIPE, stdout=log, stderr=subprocess.STDOUT)
        case.cleaners.insert(0, self.kill)

    def text(self):
        with open(self.log, encoding="utf-8", errors="replace") as file:
            return file.read()

    def name(self):
        lines = self.text().split("\n")
        return lines[0] if len(lines) > 1 else None

    def stop(self):
        if self.process.poll() is None:
            self.process.stdin.write(b"stop\n")
            self.process.stdin.flush()

    def kill(self):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGKILL)
        self.process.stdin.close()
        return self.process.wait()

    def counts(self):
        self.process.wait(120)
        equal(self.process.returncode, 0, f"{self.role} ended with\n{self.text()[-3000:]}\n")
        return json.loads(self.text().strip().split("\n")[-1])["counts"]


class Storm:
    def __init__(self, case):
        self.case, self.chance, self.seeds = case, random.Random(case.seed), case.seed
        self.workers, self.others, self.kills, self.told = [], [], 0, 0

    def start(self, role):
        self.seeds += 1
        return Process(self.case, role, self.seeds)

    def begin(self):
        self.workers = [self.start("worker") for _ in range(WORKERS)]
        self.others = [self.start("reaper") for _ in range(REAPERS)] + [self.start("operator") for _ in range(OPERATORS)]

    def murder(self):
        """One dies; sometimes somebody knows, sometimes only its lease does, and sometimes it is told to drain before."""
        number = self.chance.randrange(WORKERS)
        victim, ledger = self.workers[number], self.case.ledger
        alive = victim.process.poll() is None
        check(alive, f"a worker ended by itself:\n{victim.text()[-3000:]}")
        if victim.name() and self.chance.random() < 0.2:
            ledger.worker_drain(victim.name(), 100)
        victim.kill()
        if victim.name() and self.chance.random() < 0.6:
            while ledger.worker_dead(victim.name(), self.chance.choice(("crashed", "oom", "interrupted", "clean")), "killed"):
                self.told += 1
        self.kills += 1
        self.workers[number] = self.start("worker")

    def rage(self, seconds):
        end = time.monotonic() + seconds
        while time.monotonic() < end or self.unseen():
            check(time.monotonic() < end + PATIENCE_SECONDS, f"not seen in all this time: {self.unseen()}")
            time.sleep(0.1 * self.chance.random())
            self.murder()
            holds(self.case.admin, ALWAYS)
            for one in self.others:
                check(one.process.poll() is None, f"{one.role} ended by itself:\n{one.text()[-3000:]}")

    def unseen(self):
        return [name for name, sql in WANTED.items() if not self.case.admin.value(sql)]

    def settle(self):
        """Operators first, then the workers at their own pace; the reapers last, when nothing is left."""
        total = collections.Counter()
        for one in self.others[REAPERS:] + self.workers:
            one.stop()
        for one in self.others[REAPERS:] + self.workers:
            total.update(one.counts())
        for one in self.others[:REAPERS]:
            one.stop()
        for one in self.others[:REAPERS]:
            total.update(one.counts())
        return total


def come_to_rest(case):
    """What was left by the last who died: expired, and done by one who makes no mistake."""
    ledger, worker = case.ledger, case.worker()
    for _ in range(60):
        case.pass_time(120)
        ledger.reap()
        case.admin.rows("update @schema@.job set run_at = clock_timestamp() where state = 'ready'")
        while found := ledger.claim("q", worker, 50):
            for row in found:
                check(ledger.complete(*token(row)) in ("ok", "stale"), "complete")
        if not case.admin.value("select count(*) from @schema@.job where state = 'running' or claimable"):
            ledger.reap()
            return
    raise AssertionError("it does not come to rest")


@test(repeat=(10, 60), alone=True)
def sixteen_workers_that_are_killed_at_random_break_no_invariant(case):
    case.queue(lease_ms=1000, backoff_ms=2, backoff_cap_ms=20, max_attempts=4, max_running=40, max_running_key=2)
    case.admin.rows("create table effect(job_id bigint, n int default 1)")
    storm = Storm(case)
    storm.begin()
    storm.rage(case.repeat)
    total = storm.settle()
    come_to_rest(case)
    holds(case.admin, ALWAYS, AT_REST, EFFECTS)
    equal(case.admin.value("select deadlocks from pg_stat_database where datname = %s", case.database), 0, "deadlocks")
    print(f"     seed {case.seed}: {storm.kills} killed, {storm.told} jobs given back by word, {total['claimed']} claimed, "
          f"{total['complete ok'] + total['held complete ok']} completed one by one, {total['hold EW409']} holds refused; "
          f"{case.count('job')} jobs, {case.count('attempt')} attempts that did not succeed")


def nap_beyond_the_lease(case, chance, held):
    """As if it had slept: it is silent already, and waits until somebody noticed."""
    case.session_of_naps().rows("""update @schema@.job set beat_at = clock_timestamp() - interval '1 hour'
        where id = %s and gen = %s and state = 'running'""", held.id, held.gen)
    if chance.random() < 0.7:
        wait_until(lambda: case.session_of_naps().value("select gen > %s or state <> 'running' from @schema@.job where id = %s",
                                                        held.gen, held.id), "a rescue")


@test
def case_39_a_storm_of_naps_beyond_the_lease_ends_without_a_deadlock_and_each_completion_is_taken_once(case):
    case.queue(backoff_ms=1, backoff_cap_ms=2, max_attempts=60, max_deaths=60)
    case.ledger.enqueue_many("q", "", ["1"] * 300)
    local, over = threading.local(), threading.Event()

    def session_of_naps():
        if not hasattr(local, "session"):
            local.session = case.direct()
        return local.session

    case.session_of_naps = session_of_naps

    def work(one, seed):
        chance, worker, said = random.Random(seed), one.worker_up(), collections.Counter()
        while one.value("select count(*) from @schema@.job where state <> 'done'"):
            for row in one.claim("q", worker, 2):
                if chance.random() < 0.4:
                    nap_beyond_the_lease(case, chance, token(row))
                said[one.complete(*token(row))] += 1
        return said

    def sweep(one):
        count = 0
        while not over.is_set():
            count += len(one.reap(20))
        return count

    reapers = [case.later(sweep) for _ in range(3)]
    workers = [case.later(lambda one, seed=seed: work(one, seed)) for seed in range(case.seed, case.seed + 8)]
    total = collections.Counter()
    try:
        for one in workers:
            total.update(one.result())
    finally:
        over.set()
    rescued = sum(one.result() for one in reapers)
    equal((total["ok"], total["already"]), (300, 0), f"completions that were taken, of {dict(total)}")
    check(total["stale"] > 0 and rescued > 0, f"nobody was rescued or refused: {dict(total)}, {rescued}")
    holds(case.admin, ALWAYS, AT_REST)
    equal(case.admin.value("select deadlocks from pg_stat_database where datname = %s", case.database), 0, "deadlocks")
