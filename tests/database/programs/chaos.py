#!/usr/bin/python3
"""chaos.py ROLE DSN SCHEMA SEED - a client that does what workers, reapers and operators do, in an order of chance, until
"stop" comes on standard input; worker: it goes on until nothing can be claimed. Killed at any instant, it does no harm.

Prints its worker id first, and on the last line {"counts": …} of every answer. An error that the contract does not have
ends it with a traceback."""
import collections
import json
import os
import random
import select
import sys
import time

HERE = os.path.dirname(os.path.realpath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(HERE)), "support"))
sys.dont_write_bytecode = True

import psycopg2  # noqa: E402  the path above is needed first
from ledger import columns, Session, token  # noqa: E402

KEYS = 12


def told_to_stop(wait=0.0):
    return bool(select.select([sys.stdin], [], [], wait)[0])


class Client:
    def __init__(self, dsn, schema, seed):
        self.session, self.chance, self.counts = Session(dsn, schema), random.Random(seed), collections.Counter()

    def note(self, verb, answer):
        self.counts[f"{verb} {answer}"] += 1
        return answer

    def tell(self):
        print(json.dumps({"counts": self.counts}), flush=True)


class Worker(Client):
    def __init__(self, *arguments):
        super().__init__(*arguments)
        self.name = self.session.worker_up("chaos", os.getpid())
        print(self.name, flush=True)

    def nap(self):
        """Sometimes beyond the lease."""
        time.sleep(self.chance.choice((0, 0, 0, 0.002, 0.01, 0.05, 1.2 if self.chance.random() < 0.1 else 0)))

    def parts(self, held):
        for key in self.chance.sample("abc", self.chance.randrange(3)):
            if self.note("item_begin", self.session.item_begin(*held, key, self.chance.choice((None, True)))) == "go":
                self.nap()
                self.note("item_end", self.session.item_end(*held, key, self.chance.random() < 0.8))

    def with_effect(self, held):
        one = self.session
        try:
            with one.transaction():
                one.hold(*held)
                self.nap()
                one.rows("insert into effect(job_id) values (%s)", held.id)
                if self.note("held complete", one.complete(*held)) != "ok":
                    raise AssertionError("complete refused what hold had granted")
        except psycopg2.Error as error:
            if error.pgcode != "EW409":
                raise
            self.note("hold", "EW409")

    def end(self, held):
        one = self.session
        way = self.chance.choices(("complete", "effect", "fail", "died", "fatal", "release", "snooze", "forget"),
                                  (30, 30, 8, 3, 2, 5, 5, 2))[0]
        if way == "effect":
            self.with_effect(held)
        elif way != "forget":
            self.note(way, {"complete": lambda: one.complete(*held, '{"r": 1}'),
                            "fail": lambda: one.fail(*held, "e", retry_in="1 ms"),
                            "died": lambda: one.fail(*held, "e", "signal", "1 ms", died=True),
                            "fatal": lambda: one.fail(*held, "e", fatal=True),
                            "release": lambda: one.release(*held, "chaos"),
                            "snooze": lambda: one.snooze(*held, "2 ms")}[way]())

    def round(self):
        claimed = [token(row) for row in self.session.claim("q", self.name, self.chance.choice((1, 1, 2, 5)))]
        self.counts["claimed"] += len(claimed)
        if len(claimed) > 1 and self.chance.random() < 0.3:
            self.nap()
            for row in self.session.complete_many(*columns(claimed)):
                self.note("complete_many", row.verdict)
            return len(claimed)
        for held in claimed:
            self.nap()
            for row in self.session.beat_many(*columns([held])):
                self.note("beat_many", row.verdict)
            self.parts(held)
            self.note("beat", self.session.beat(*held, '{"at": 1}'))
            self.end(held)
        return len(claimed)

    def streamed(self):
        """A few rounds of claim_next, each reporting what the one before gave."""
        reports = ([], [], [])
        for wanted in (2, 2, 0):
            found = self.session.claim_next("q", self.name, wanted, *reports)
            for row in found:
                self.note("claim_next", row.tag)
            jobs = [token(row) for row in found if row.tag == "job"]
            reports = columns(jobs)
            self.nap()
        return len(reports[0])

    def run(self):
        while True:
            stopping = told_to_stop()
            found = self.round() if self.chance.random() < 0.8 else self.streamed()
            if not found and stopping:
                return
            if not found:
                told_to_stop(0.05)


class Reaper(Client):
    def run(self):
        while not told_to_stop(0.05 * self.chance.random()):
            for row in self.session.reap(self.chance.choice((1, 5, 500))):
                self.note("reap", row.verdict)


class Operator(Client):
    def one(self):
        count = self.session.value("select coalesce(max(id), 0) from @schema@.job")
        return max(1, count - self.chance.randrange(60))

    def run(self):
        ways = {"enqueue": (self.enqueue, 40), "enqueue_many": (self.enqueue_many, 10), "look": (self.look, 25), "cancel": (self.cancel, 6), "retry": (self.retry, 10),
                "discard": (self.discard, 3), "button": (self.button, 6), "read": (self.read, 1)}
        while not told_to_stop(0.004 * self.chance.random()):
            self.chance.choices([way for way, _ in ways.values()], [weight for _, weight in ways.values()])[0]()

    def enqueue(self):
        dedup = self.chance.choice((None, f"key {self.chance.randrange(KEYS)}"))
        lane = self.chance.choice((None, None, f"lane {self.chance.randrange(3)}"))
        self.note("enqueue", self.session.enqueue("q", payload='{"n": 1}', dedup=dedup, concurrency_key=lane,
                                                  priority=self.chance.randrange(3))[0].status)

    def enqueue_many(self):
        self.note("enqueue_many", self.session.enqueue_many("q", "bulk", ['{"n": 2}'] * 5))

    def look(self):
        for row in self.session.look(self.one()):
            self.note("look", row.status)

    def cancel(self):
        self.note("cancel", self.session.cancel(self.one()))

    def retry(self):
        for row in self.session.retry([row.id for row in self.session.dead(n=3)], "chaos"):
            self.note("retry", row.answer)

    def discard(self):
        for row in self.session.discard([row.id for row in self.session.dead(n=1)], "chaos"):
            self.note("discard", row.answer)

    def button(self):
        worker = self.session.worker_up("button")
        job = self.one()
        row = self.session.claim_job(job, worker)[0]
        if self.note("claim_job", row.verdict) == "ok" and self.chance.random() < 0.7:
            self.note("complete", self.session.complete(job, row.gen, row.claim_id))

    def read(self):
        self.session.stats()
        self.session.culprits()


def main():
    role, dsn, schema, seed = sys.argv[1:]
    client = {"worker": Worker, "reaper": Reaper, "operator": Operator}[role](dsn, schema, int(seed))
    client.run()
    client.tell()


if __name__ == "__main__":
    main()
