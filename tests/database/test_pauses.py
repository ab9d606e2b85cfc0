"""A worker that is stopped at each boundary of its statements, while the reaper and a second worker run to completion."""
import itertools

import psycopg2

from case import test
from invariants import ALWAYS, EFFECTS, holds
from journal import check, equal
from ledger import token

ENDS = {"complete": lambda one, held: one.complete(*held), "fail": lambda one, held: one.fail(*held, "e", retry_in="0 s"),
        "release": lambda one, held: one.release(*held), "snooze": lambda one, held: one.snooze(*held, "0 s"),
        "held": None}
STATEMENTS = ("claim", "beat", "item_begin", "item_end", "end")
GOOD = {"ok", "go", "retry", "dead", "cancelled"}


class Life:
    """A worker that takes one statement at a time, and performs its effect where the ledger says go."""

    def __init__(self, case, session, end):
        self.case, self.session, self.end = case, session, end
        self.worker, self.token, self.said, self.performed = session.worker_up(), None, {}, 0

    def step(self, name):
        self.said[name] = getattr(self, f"do_{name}")()

    def do_claim(self):
        found = self.session.claim("q", self.worker)
        self.token = token(found[0]) if found else None
        return "ok" if found else "nothing"

    def do_beat(self):
        return self.session.beat(*self.token, '"half"')

    def do_item_begin(self):
        answer = self.session.item_begin(*self.token, "charge")
        self.performed += answer == "go"
        return answer

    def do_item_end(self):
        return self.session.item_end(*self.token, "charge", True, '"paid"') if self.said["item_begin"] == "go" else "skipped"

    def do_end(self):
        return ENDS[self.end](self.session, self.token) if ENDS[self.end] else self.with_effect()

    def with_effect(self):
        """The effect and the end of the job in one transaction, unless one is open already."""
        inside = self.session.connection.info.transaction_status != 0
        self.session.rows("savepoint s" if inside else "begin")
        try:
            self.session.hold(*self.token)
            self.session.rows("insert into effect values (%s)", self.token.id)
            answer = self.session.complete(*self.token)
            self.session.rows("release s" if inside else "commit")
            return answer
        except psycopg2.Error as error:
            equal(error.pgcode, "EW409", "why the effect was refused")
            self.session.rows("rollback to s" if inside else "rollback")
            return "stale"

    def live(self, names):
        for name in names:
            if name != "claim" and self.token is None:
                return
            self.step(name)


def others_run(case):
    """A reaper and a second worker, until nothing is left to do for them."""
    case.session_two.reap()
    case.admin.rows("""update @schema@.job set run_at = clock_timestamp() - interval '1 s' where id in
        (select id from @schema@.job where state = 'ready' for update skip locked)""")
    life = Life(case, case.session_two, "complete")
    life.live(STATEMENTS)
    case.session_two.reap()
    return life


def one_pause(case, at, inside, silent, end):
    """`at` statements were made; the last of them is `inside` a transaction that is still open."""
    what = f"after {STATEMENTS[at - 1]}, {'inside' if inside else 'outside'}, {'silent' if silent else 'alive'}, {end}"
    case.admin.rows("truncate @schema@.job, @schema@.item, @schema@.attempt, @schema@.worker, @schema@.payload, effect cascade")
    case.admin.rows("update @schema@.pulse set tick_at = clock_timestamp()")
    job = case.job()
    first = Life(case, case.session_one, end)
    outside = STATEMENTS[:at - 1] if inside else STATEMENTS[:at]
    first.live(outside)
    if silent:
        case.pass_time(61)
    if inside:
        first.session.rows("begin")
        first.live(STATEMENTS[at - 1:at])
    second = others_run(case)
    holds(case.admin, ALWAYS)
    first.live(STATEMENTS[at:])
    if inside:
        first.session.rows("commit")
    judge(case, job, first, second, what)


def judge(case, job, first, second, what):
    holds(case.admin, ALWAYS, EFFECTS)
    row = case.row(job)
    completed = [life for life in (first, second)
                 if life.said.get("end") == "ok" and (life is second or life.end in ("complete", "held"))]
    check(len(completed) <= 1, f"{what}: two completed: {first.said}, {second.said}")
    equal(row.state == "done", len(completed) == 1, f"{what}: done; {first.said}, {second.said}")
    paid = case.admin.rows("select state from @schema@.item where job_id = %s and key = 'charge'", job)
    reported = "ok" in (first.said.get("item_end"), second.said.get("item_end"))
    check(not reported or paid[0].state == "done", f"{what}: a report that was taken is lost: {paid}")
    check(first.performed + second.performed <= 1, f"{what}: the effect was performed twice: {first.said}, {second.said}")
    if first.said.get("end") not in GOOD and first.token:
        check(second.token is not None or row.gen > first.token.gen, f"{what}: refused for nothing: {first.said}")


@test
def a_worker_that_is_paused_at_each_boundary_never_does_harm_when_it_goes_on(case):
    case.queue()
    case.admin.rows("create table effect(job_id bigint)")
    case.session_one, case.session_two = case.session(), case.session()
    for at, inside, silent, end in itertools.product(range(1, len(STATEMENTS) + 1), (False, True), (False, True), ENDS):
        one_pause(case, at, inside, silent, end)


@test
def a_worker_that_is_paused_holds_up_neither_reaper_nor_other_workers(case):
    """Whatever it did last inside its open transaction: they answer, and take the other job."""
    case.queue()
    for name in STATEMENTS:
        case.admin.rows("truncate @schema@.job, @schema@.item, @schema@.attempt cascade")
        first, other = case.job(), case.job()
        life = Life(case, case.session(), "complete")
        life.live(STATEMENTS[:STATEMENTS.index(name)])
        life.session.rows("begin")
        life.live([name])
        equal(life.token.id, first, "claimed first")
        equal(case.later(lambda one: one.reap()).result(), [], f"reap beside {name}")
        equal([row.id for row in case.later(lambda one: one.claim("q", one.worker_up(), 5)).result()], [other], f"beside {name}")
        life.session.rows("commit")
