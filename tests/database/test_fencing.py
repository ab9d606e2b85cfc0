"""Fencing and repetition: cases 8, 16, 18 and 20, and what stands to be proven of hold."""
from case import test
from journal import check, equal
from ledger import Token, random_uuid, token

VERBS = {
    "beat": (lambda one, held: one.beat(*held, '"late"'), "stale"),
    "complete": (lambda one, held: one.complete(*held, '"late"'), "stale"),
    "fail": (lambda one, held: one.fail(*held, "late"), "stale"),
    "release": (lambda one, held: one.release(*held), "stale"),
    "snooze": (lambda one, held: one.snooze(*held, "1 s"), "stale"),
    "lease_left": (lambda one, held: one.lease_left(*held), None),
    "item_begin": (lambda one, held: one.item_begin(*held, "a"), "stale"),
    "item_end": (lambda one, held: one.item_end(*held, "a", True), "stale"),
    "beat_many": (lambda one, held: one.beat_many([held.id], [held.gen], [held.claim]), [("stale",)]),
    "complete_many": (lambda one, held: one.complete_many([held.id], [held.gen], [held.claim]), [("stale",)]),
}


def answer(found):
    return [(row.verdict,) for row in found] if isinstance(found, list) else found


def changes_nothing(case, held, living, why):
    """No verb of `held` does anything to the attempt of `living`, or to its items."""
    for name, (call, wanted) in VERBS.items():
        before = case.row(held.id), case.item(held.id, "a"), case.count("attempt")
        equal(answer(call(case.ledger, held)), wanted, f"{name} by {why}")
        equal((case.row(held.id), case.item(held.id, "a"), case.count("attempt")), before, f"what {name} by {why} left")
    case.ledger.refused("EW409", lambda: case.ledger.hold(*held))
    equal(case.ledger.beat(*living), "ok", f"the living after {why}")


def two_lives(case):
    """A holder that was given up, and who came after it; both of them have begun an item."""
    held = case.running()
    case.ledger.item_begin(*held, "a")
    case.crash(held.id)
    living = case.take()
    equal(case.ledger.item_begin(*living, "a", True), "go", "the item")
    return held, living


@test
def case_08_a_zombie_is_refused_by_every_verb_and_the_living_attempt_is_unchanged(case):
    held, living = two_lives(case)
    changes_nothing(case, held, living, "a zombie")


@test
def case_08_neither_the_right_number_nor_the_right_name_alone_is_a_fence(case):
    held, living = two_lives(case)
    changes_nothing(case, Token(held.id, living.gen, held.claim), living, "who has the number and not the name")
    changes_nothing(case, Token(held.id, held.gen, living.claim), living, "who has the name and not the number")
    changes_nothing(case, Token(held.id, living.gen, random_uuid()), living, "who guessed the number")
    changes_nothing(case, Token(held.id, living.gen + 1, living.claim), living, "who counted one ahead")
    changes_nothing(case, Token(held.id, living.gen, None), living, "who names no claim")


@test
def case_08_a_zombie_is_refused_also_when_nobody_has_claimed_the_job_again(case):
    held = case.running()
    case.expire(held.id)
    case.ledger.reap()
    before = case.row(held.id)
    for name, (call, wanted) in VERBS.items():
        if name != "item_end":
            equal(answer(call(case.ledger, held)), wanted, name)
    equal(case.row(held.id), before, "the row")


@test
def case_16_a_report_whose_answer_was_lost_can_be_made_again(case):
    ways = {"complete": (lambda held: case.ledger.complete(*held, '"r"'), "ok"),
            "fail": (lambda held: case.ledger.fail(*held, "e", retry_in="1 hour"), "retry"),
            "release": (lambda held: case.ledger.release(*held), "ok"),
            "snooze": (lambda held: case.ledger.snooze(*held, "1 hour"), "ok")}
    for name, (way, first) in ways.items():
        held = case.running(name)
        equal(way(held), first, name)
        before = case.row(held.id)
        equal([way(held) for _ in range(3)], ["already"] * 3, f"{name} again")
        equal(case.row(held.id), before, f"the row after {name} again")
        check(len(case.attempts(held.id)) == (0 if name == "complete" else 1), "attempts that were written down")
        stranger = Token(held.id, held.gen, random_uuid())
        check("already" not in (case.ledger.complete(*stranger), case.ledger.fail(*stranger, "e"),
                                case.ledger.release(*stranger)), "already is for the same claim alone")


@test
def case_16_one_report_after_another_of_the_same_claim_changes_nothing(case):
    held = case.running()
    case.ledger.complete(*held, '"r"')
    before = case.row(held.id)
    check(case.ledger.fail(*held, "e") in ("already", "stale"), "fail after complete")
    check(case.ledger.release(*held) in ("already", "stale"), "release after complete")
    equal(case.row(held.id), before, "the row")
    held = case.running()
    case.ledger.release(*held)
    equal(case.ledger.complete(*held), "stale", "complete after release")
    equal(case.state_of(held.id), "ready", "state")


@test
def case_16_a_fatal_failure_said_again_is_already(case):
    held = case.running()
    equal(case.ledger.fail(*held, "e", fatal=True), "dead", "fail")
    equal(case.ledger.fail(*held, "e", fatal=True), "already", "again")
    equal(case.ledger.retry([held.id], "me"), [(held.id, "ok")], "retry")
    before = case.row(held.id)
    check(case.ledger.fail(*held, "e") in ("already", "stale"), "and after somebody gave it a new budget")
    equal(case.row(held.id), before, "the row of the new budget")


@test
def case_18_who_holds_his_job_commits_although_the_lease_is_long_over(case):
    held = case.running()
    case.ledger.rows("create table public.effect(job bigint primary key)")
    case.pass_time(3600)
    other = case.session()
    with other.transaction():
        other.hold(*held)
        other.rows("insert into public.effect values (%s)", held.id)
        equal(case.ledger.reap(), [], "reap, which passes by")
        looking = case.later(lambda one: one.look(held.id))
        equal(other.complete(*held), "ok", "complete")
    check(looking.result()[0].status in ("expired", "done"), "look, before or after the commit")
    equal((case.state_of(held.id), case.ledger.value("select count(*) from public.effect")), ("done", 1), "afterwards")


@test
def case_18_who_lost_his_job_cannot_commit_his_effect(case):
    held, living = two_lives(case)
    case.ledger.rows("create table public.effect(job bigint primary key)")
    other = case.session()
    other.rows("begin")
    other.rows("insert into public.effect values (%s)", held.id)
    other.refused("EW409", lambda: other.hold(*held))
    other.refused("25P02", lambda: other.complete(*living))
    other.rows("rollback")
    equal(case.ledger.value("select count(*) from public.effect"), 0, "effects")


@test
def hold_and_complete_of_two_sessions_do_not_deadlock(case):
    held = case.running()
    one = case.session()
    with one.transaction():
        one.hold(*held)
        later = case.later(lambda two: two.complete(*held))
        case.await_lock(later)
        equal(one.complete(*held), "ok", "the first")
    equal(later.result(), "already", "the second")


@test
def hold_lets_foreign_keys_and_readers_pass(case):
    held = case.running()
    case.ledger.rows("create table public.effect(job bigint references @schema@.job(id))")
    with case.ledger.transaction():
        case.ledger.hold(*held)
        other = case.later(lambda one: one.rows("insert into public.effect values (%s) returning job", held.id))
        equal(other.result(), [(held.id,)], "a row that refers to the job")


@test
def case_20_a_worker_that_was_stopped_for_two_leases_hears_that_it_is_stale(case):
    held = case.running()
    case.pass_time(120)
    equal([row.verdict for row in case.ledger.reap()], ["ready"], "reap")
    case.due(held.id)
    second = case.take()
    equal(case.ledger.complete(*second, '"second"'), "ok", "the second")
    equal((case.ledger.beat(*held), case.ledger.complete(*held, '"first"')), ("stale", "stale"), "the first")
    equal(case.ledger.look(held.id)[0].result, '"second"', "result")


@test
def completion_is_taken_after_the_lease_as_long_as_nobody_took_the_job(case):
    held = case.running()
    case.pass_time(3600)
    check(case.ledger.lease_left(*held).total_seconds() < 0, "lease left")
    equal(case.ledger.beat(*held), "ok", "a beat does as well")
    case.pass_time(3600)
    equal(case.ledger.complete(*held), "ok", "complete")
    equal(case.ledger.complete(*held), "already", "again")


@test
def claim_next_reports_and_claims_in_one_statement(case):
    case.queue()
    case.ledger.enqueue_many("q", "k", ['"a"', '"b"', '"c"'])
    worker = case.worker()
    first = case.ledger.claim_next("q", worker, 2)
    equal([(row.tag, row.payload, row.attempt, row.kind) for row in first], [("job", '"a"', 1, "k"), ("job", '"b"', 1, "k")],
          "the first")
    ids, gens, claims = ([getattr(row, name) for row in first] for name in ("id", "gen", "claim_id"))
    second = case.ledger.claim_next("q", worker, 2, ids + [0], gens + [1], claims + [random_uuid()])
    equal(sorted((row.tag, row.id) for row in second if row.tag != "job"), sorted([("gone", 0), ("ok", ids[0]), ("ok", ids[1])]),
          "reports")
    equal([row.payload for row in second if row.tag == "job"], ['"c"'], "claimed")
    again = case.ledger.claim_next("q", worker, 2, ids, gens, claims)
    equal([row.tag for row in again], ["already", "already"], "said again, with nothing left")
    last = [row for row in second if row.tag == "job"][0]
    equal([row.tag for row in case.ledger.claim_next("q", worker, 0, [last.id], [last.gen + 1], [last.claim_id])], ["stale"],
          "the wrong number, and nothing wanted")
    equal(case.ledger.beat(*token(last)), "ok", "it still has it")
