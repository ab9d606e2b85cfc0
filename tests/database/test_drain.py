"""Workers that end: cases 23, 25, 26, and what of 27 and 30 is the ledger's."""
from case import test
from journal import check, equal, wait_until
from ledger import Token, token


@test
def case_23_the_jobs_of_a_worker_that_is_dead_come_back_at_once_with_its_exit_status(case):
    case.queue()
    job, worker = case.job(), case.worker()
    held = case.take(worker)
    equal([tuple(row) for row in case.ledger.worker_dead(worker, "crashed", "exit status 139")],
          [(job, held.gen + 1, "ready")], "worker_dead")
    row = case.row(job)
    equal((row.state, row.attempts, row.deaths), ("ready", 1, 1), "row")
    check("exit status 139" in row.last_error, f"last_error: {row.last_error}")
    equal(case.attempts(job)[0].outcome, "worker_died", "outcome")
    equal(case.ledger.worker_dead(worker), [], "until it returns nothing")
    case.due(job)
    equal((case.ledger.claim("q", worker), case.ledger.worker_up(id=worker)), ([], worker), "who is gone claims nothing")
    equal(case.ledger.claim("q", worker), [], "not even when it comes up again")
    equal(case.ledger.complete(*held), "stale", "its late report")
    equal(case.take().id, job, "another worker")


@test
def each_cause_of_a_death_is_charged_as_the_contract_says(case):
    for cause, attempts, deaths, releases, outcome in (
            ("crashed", 1, 1, 0, "worker_died"), ("oom", 1, 1, 0, "worker_died"), ("timeout", 1, 1, 0, "worker_died"),
            ("a word of tomorrow", 1, 1, 0, "worker_died"), ("interrupted", 0, 0, 1, "interrupted"), ("clean", 1, 0, 0, None)):
        case.queue(cause)
        job, worker = case.job(cause), case.worker()
        held = case.take(worker, cause)
        equal([row.verdict for row in case.ledger.worker_dead(worker, cause)], ["ready"], f"verdict after {cause}")
        row = case.row(job)
        equal((row.attempts, row.deaths, row.releases, row.gen), (attempts, deaths, releases, held.gen + 1), f"after {cause}")
        check(outcome in (None, case.attempts(job)[0].outcome), f"outcome after {cause}: {case.attempts(job)[0].outcome}")


@test
def case_27_an_interrupted_job_is_ready_at_once_with_its_attempt_while_it_may_be_given_back(case):
    case.queue(max_releases=1)
    job = case.job()
    for attempts in (0, 1):
        worker = case.worker()
        case.take(worker)
        equal([row.verdict for row in case.ledger.worker_dead(worker, "interrupted")], ["ready"], "verdict")
        equal((case.row(job).attempts, case.row(job).deaths), (attempts, 0), "attempts, deaths")
    equal(case.take().id, job, "the next pod")


@test
def case_26_the_twenty_first_release_of_a_job_gives_no_attempt_back(case):
    case.queue()
    job = case.job()
    for count in range(1, 21):
        held = case.take()
        equal(case.ledger.release(*held), "ok", "release")
        row = case.row(job)
        equal((row.attempts, row.gen, row.releases), (0, held.gen, count), f"after release {count}")
    equal(case.ledger.release(*case.take()), "ok", "the 21st release")
    equal((case.row(job).attempts, case.state_of(job)), (1, "ready"), "after it")


@test
def case_26_who_releases_in_a_drain_gives_his_attempt_back(case):
    case.queue()
    job, worker = case.job(), case.worker()
    held = case.take(worker)
    equal(case.ledger.worker_drain(worker), 1, "drain")
    equal(case.ledger.release(*held, "drain"), "ok", "release")
    equal((case.ledger.worker_drain(worker), case.row(job).attempts, case.row(job).gen), (0, 0, held.gen), "afterwards")


@test
def case_25_a_drain_counts_the_claim_that_is_in_flight_and_nothing_comes_after_it(case):
    case.queue()
    for _ in range(3):
        case.job()
    worker, other = case.worker(), case.session()
    case.take(worker)
    with other.transaction():
        equal(len(other.claim("q", worker)), 1, "the claim in flight")
        equal(case.ledger.worker_drain(worker, 50), None, "a drain that gives up waiting: call again")
        late = case.later(lambda one: one.claim("q", worker))
        waiting = case.later(lambda one: one.worker_drain(worker, wait_ms=60_000))
        wait_until(case.waiting, "a drain that waits for the claim")
    equal(waiting.result(), 2, "the drain, once the claim has committed")
    check(len(late.result()) == 0, "a claim behind a drain that was set")
    equal(case.ledger.claim("q", worker), [], "a claim afterwards")
    equal(case.ledger.claim_next("q", worker, 1), [], "claim_next afterwards")
    equal(case.ledger.worker_drain(worker), 2, "what still runs")


@test
def case_25_a_drain_that_gave_up_waiting_has_been_set_all_the_same(case):
    case.queue()
    for _ in range(2):
        case.job()
    worker, other = case.worker(), case.session()
    with other.transaction():
        equal(len(other.claim("q", worker)), 1, "the claim in flight")
        equal(case.ledger.worker_drain(worker, 20), None, "the drain")
    for _ in range(3):
        equal(case.ledger.worker_drain(worker), 1, "called again")
    equal(case.ledger.claim("q", worker), [], "a claim")


@test
def a_beat_never_waits_for_a_drain_and_a_drain_not_for_a_beat(case):
    held = case.running()
    worker, other = case.row(held.id).worker_id, case.session()
    with other.transaction():
        equal(other.beat(*held), "ok", "beat")
        equal(case.later(lambda one: one.worker_drain(worker, 60_000)).result(), 1, "a drain beside a beat")
    with other.transaction():
        equal(other.worker_drain(worker), 1, "drain")
        later = case.later(lambda one: one.beat_many([held.id], [held.gen], [held.claim]))
        equal(later.result()[0].verdict, "ok", "a beat beside a drain")
        equal(case.later(lambda one: one.beat(*held)).result(), "ok", "a single beat beside a drain")


@test
def case_30_when_nobody_reports_the_lease_recovers_and_the_old_name_never_matches(case):
    case.queue()
    job, old = case.job(), case.worker()
    held = case.take(old)
    case.pass_time(61)
    new = case.worker()
    case.ledger.reap()
    case.due(job)
    again = case.take(new)
    equal((case.ledger.worker_dead(old), case.ledger.beat(*again)), ([], "ok"), "a late word about the old worker")
    equal(case.ledger.beat(*held), "stale", "the old claim")
    equal(case.row(job).worker_id, new, "the holder")


@test
def case_54_each_of_several_jobs_of_a_dead_worker_is_charged_its_attempt_and_no_death(case):
    case.queue()
    jobs, worker = [case.job() for _ in range(3)], case.worker()
    held = [token(row) for row in case.ledger.claim("q", worker, 3)]
    found = case.ledger.worker_dead(worker)
    equal(sorted((row.id, row.verdict) for row in found), [(job, "ready") for job in jobs], "worker_dead")
    for job in jobs:
        row = case.row(job)
        equal((row.attempts, row.deaths, row.solo, case.attempts(job)[0].outcome), (1, 0, True, "worker_died_shared"), "charged")
    check(all(case.ledger.complete(*one) == "stale" for one in held), "late reports")


@test
def case_54_who_dies_alone_with_one_job_is_charged_a_death_also_when_he_held_others_before(case):
    case.queue()
    jobs, worker = [case.job() for _ in range(2)], case.worker()
    held = [token(row) for row in case.ledger.claim("q", worker, 2)]
    equal(case.ledger.complete(*held[0]), "ok", "complete")
    case.ledger.worker_dead(worker)
    equal((case.row(jobs[1]).deaths, case.row(jobs[1]).solo), (1, False), "the one that was left")


@test
def case_54_shared_deaths_bury_nobody_before_a_solo_run(case):
    """A job whose deaths are nearly spent runs beside another when the worker dies: it is not charged the last one."""
    case.queue()
    jobs, worker = [case.job() for _ in range(2)], case.worker()
    case.admin.rows("update @schema@.job set deaths = max_deaths - 1")
    equal(len(case.ledger.claim("q", worker, 2)), 2, "claimed")
    case.ledger.worker_dead(worker)
    equal([case.row(job).deaths for job in jobs], [2, 2], "deaths")
    equal([case.state_of(job) == "dead" for job in jobs], [False, False], "dead")


@test
def case_54_a_claim_that_commits_while_one_asks_for_the_gate_is_no_hole_for_a_solo_job(case):
    """Ours stands before PostgreSQL's own function, and holds the second claim up between its look and its gate."""
    case.queue()
    plain, alone, worker = case.job(), case.job(), case.worker()
    first, second = case.session(), case.direct()
    case.admin.rows("""create function public.pg_try_advisory_xact_lock(space int, gate int) returns boolean
        language plpgsql as $$ begin perform pg_catalog.pg_advisory_xact_lock(54);
        return pg_catalog.pg_try_advisory_xact_lock(space, gate); end $$""")
    second.rows("set search_path = public, pg_catalog")
    with case.admin.transaction():
        case.admin.rows("select pg_advisory_xact_lock(54)")
        with first.transaction():
            equal([row.id for row in first.claim("q", worker)], [plain], "the claim in flight")
            case.session().rows("update @schema@.job set solo = true where id = %s", alone)
            later = case.later(lambda one: one.claim("q", worker), second)
            wait_until(lambda: later.done() or case.waiting(), "the second claim's wait")
            check(not later.done(), "the second claim did not come to the gate")
    equal(later.result(), [], "claimed beside a job")


@test
def a_release_in_a_hurry_by_two_sessions_counts_once(case):
    held = case.running()
    found = case.together([lambda one: one.release(*held)] * 6)
    equal(sorted(found), ["already"] * 5 + ["ok"], "answers")
    equal((case.row(held.id).releases, case.row(held.id).attempts), (1, 0), "row")
    check(isinstance(held, Token), "a token")


@test
def a_death_is_told_once_however_many_tell_it(case):
    case.queue()
    job, worker = case.job(), case.worker()
    case.take(worker)
    found = case.together([lambda one: one.worker_dead(worker)] * 6)
    equal(sum(len(rows) for rows in found), 1, "rows")
    equal((case.row(job).deaths, len(case.attempts(job))), (1, 1), "deaths")
