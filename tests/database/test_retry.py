"""A retry that gives up: cases 6 to 15, 53, 54 and 57."""
from case import test
from journal import check, equal, within
from ledger import Token, columns, token

BOUND = 200  # of loops that have to end by themselves


@test
def case_06_three_parallel_reaps_are_disjoint_and_charge_each_job_once(case):
    """Without the lock of the reapers, which is another case: look, claim and worker_dead recover beside them."""
    case.queue()
    case.ledger.enqueue_many("q", "", ["1"] * 10)
    held = [token(row) for row in case.ledger.claim("q", case.worker(), 10)]
    case.pass_time(120)
    found = case.together([lambda one: one.reap(4)] * 3)
    taken = [row.id for rows in found for row in rows]
    equal(len(taken), len(set(taken)), "jobs that two of them took")
    check(all(len(rows) <= 4 for rows in found), f"batches: {[len(rows) for rows in found]}")
    while rows := case.ledger.reap(4):
        taken += [row.id for row in rows]
    equal(sorted(taken), sorted(one.id for one in held), "all of them, each once")
    equal(case.admin.rows("select deaths, attempts, count(*) from @schema@.job group by 1, 2"), [(1, 1, 10)], "charges")
    equal(case.count("attempt"), 10, "attempts that were written down")


@test
def case_06_recoveries_by_every_entrance_at_once_charge_each_job_once(case):
    case.queue(backoff_ms=600_000)
    case.ledger.enqueue_many("q", "", ["1"] * 10)
    worker = case.worker()
    held = [token(row) for row in case.ledger.claim("q", worker, 10)]
    case.pass_time(120)
    works = [lambda one: one.reap(4)] * 3 + [lambda one: one.claim("q", one.worker_up(), 4)] * 3
    works += [lambda one, job=job: one.look(job.id) for job in held]
    works += [lambda one: one.worker_dead(worker)] * 2
    case.together(works)
    case.ledger.reap()
    row = case.admin.one("select max(attempts) as most, min(attempts) as least, max(deaths) as deaths from @schema@.job")
    equal((row.most, row.least), (1, 1), "attempts")
    check(row.deaths <= 1, f"deaths {row.deaths}")
    equal((case.count("attempt"), case.admin.value("select max(gen) from @schema@.job")), (10, held[0].gen + 1), "charges")


@test
def case_07_twenty_claimers_take_five_hundred_jobs_each_exactly_once(case):
    case.queue()
    case.ledger.enqueue_many("q", "", ["1"] * 500)

    def work(one):
        worker, mine = one.worker_up(), []
        while found := one.claim("q", worker, 3):
            mine += [row.id for row in found]
        return mine

    taken = [job for mine in case.together([work] * 20) for job in mine]
    equal((len(taken), len(set(taken))), (500, 500), "claims and jobs")
    equal(case.admin.value("select max(gen) from @schema@.job"), 1, "generation")


@test
def case_09_a_job_that_kills_its_worker_each_time_stops_after_its_deaths(case):
    case.queue(max_attempts=50)
    job, claims = case.job(), 0
    while found := case.ledger.claim("q", case.worker()):
        claims += 1
        equal(case.row(job).attempts, claims, "counted and committed before the work begins")
        verdict = case.crash(found[0].id)
        check(claims < BOUND, "it never stops")
    equal((claims, verdict, case.state_of(job)), (3, "dead", "dead"), "claims")
    equal([row.id for row in case.ledger.dead()], [job], "dead")


@test
def case_10_a_label_that_somebody_sets_back_makes_no_spent_job_claimable(case):
    held = case.running(max_attempts=1)
    equal(case.ledger.fail(*held, "e"), "dead", "fail")
    case.ledger.rows("update @schema@.job set state = 'ready' where id = %s", held.id)
    equal(case.ledger.claim("q", case.worker(), 10), [], "claim")
    equal(case.ledger.claim_job(held.id, case.worker())[0].verdict, "exhausted", "claim_job")
    equal(case.ledger.claim_next("q", case.worker(), 10), [], "claim_next")
    row = case.row(held.id)
    equal((row.claimable, row.is_dead, case.state_of(held.id)), (False, True, "dead"), "row")
    equal(case.admin.value("select count(*) from @schema@.job where claimable"), 0, "what a scan finds")
    equal([row.id for row in case.ledger.dead()], [held.id], "dead")
    equal(case.ledger.enqueue("q", dedup=None)[0].status, "ready", "another job")


@test
def case_10_the_columns_that_judge_cannot_be_written(case):
    held = case.running()
    for column in ("claimable", "is_dead"):
        case.ledger.refused("428C9", lambda: case.ledger.rows(f"update @schema@.job set {column} = true"))
    case.ledger.refused("23514", lambda: case.ledger.rows(
        "update @schema@.job set worker_id = null where id = %s", held.id))


@test
def case_11_a_job_with_one_attempt_is_dead_after_one_failure(case):
    held = case.running(max_attempts=1)
    equal(case.ledger.fail(*held, "e", "class"), "dead", "fail")
    equal(case.ledger.claim("q", case.worker()), [], "a second claim")
    equal([(row.outcome, row.error_class, row.error) for row in case.attempts(held.id)], [("failed", "class", "e")], "attempt")


@test
def case_12_a_job_that_was_looping_before_the_deploy_comes_to_rest_by_itself(case):
    case.queue()
    job, claims = case.job(), 0
    case.admin.rows("update @schema@.job set attempts = 4 where id = %s", job)
    while found := case.ledger.claim("q", case.worker()):
        claims += 1
        case.crash(found[0].id)
        check(claims < BOUND, "it never stops")
    equal((claims, case.state_of(job)), (1, "dead"), "claims")


@test
def case_13_four_jobs_with_three_deaths_each_are_one_line_of_culprits(case):
    case.queue()
    jobs = [case.job(kind="thumbnail") for _ in range(4)]
    for _ in range(3):
        for _ in range(4):
            case.crash(case.take().id)
    found = case.ledger.culprits()
    equal(len(found), 1, "lines")
    row = found[0]
    equal((row.queue, row.kind, row.failures, row.distinct_jobs), ("q", "thumbnail", 12, 4), "the line")
    check(set(row.jobs) <= set(jobs) and row.jobs, f"examples {row.jobs}")
    check(row.first_at <= row.last_at, "since when")
    case.pass_time(25 * 3600)
    equal((case.ledger.culprits(), len(case.ledger.culprits("26 hours"))), ([], 1), "a day later")


@test
def case_13_releases_and_cancellations_are_nobodys_fault(case):
    case.queue()
    job = case.job()
    case.ledger.release(*case.take())
    case.ledger.worker_dead(case.row(case.take().id).worker_id, "interrupted")
    held = case.take()
    case.ledger.cancel(job)
    case.ledger.fail(*held, "stopped")
    equal((case.ledger.culprits(), len(case.attempts(job))), ([], 3), "culprits, and attempts that were written down")


@test
def case_14_a_job_that_dies_before_its_first_sign_of_progress_is_counted(case):
    case.queue(max_attempts=2)
    job = case.job()
    for count in (1, 2):
        held = case.take()
        equal((case.row(job).attempts, case.row(job).progress), (count, None), "at the claim")
        case.crash(held.id)
    equal(case.state_of(job), "dead", "state")


@test
def case_15_a_row_that_foreign_sql_inserts_spent_never_runs_and_shows_as_dead(case):
    case.queue()
    job = case.ledger.value("""insert into @schema@.job(queue, state, attempts, max_attempts)
        values ('q', 'ready', 5, 5) returning id""")
    equal(case.ledger.claim("q", case.worker(), 5), [], "claim")
    equal(case.ledger.claim_job(job, case.worker())[0].verdict, "exhausted", "claim_job")
    equal(([row.id for row in case.ledger.dead()], case.state_of(job)), ([job], "dead"), "where it shows")
    equal(case.ledger.retry([job], "me"), [(job, "ok")], "a person may let it run")
    equal(case.take().id, job, "then it runs")


@test
def case_53_of_two_callers_of_one_button_one_runs_and_the_other_is_told_who_does(case):
    case.queue()
    job = case.job()
    workers = [case.worker(), case.worker()]
    found = case.together([lambda one, worker=worker: one.claim_job(job, worker)[0] for worker in workers])
    equal(sorted(row.verdict for row in found), ["ok", "running"], "verdicts")
    won, lost = sorted(found, key=lambda row: row.verdict)
    equal((won.gen, won.attempt, won.lease_ms), (1, 1, 60000), "who runs it")
    equal(lost.holder, workers[found.index(won)], "the holder")
    within(lost.lease_left.total_seconds(), 1, 60, "lease left")
    check(lost.silent is not None and lost.since is not None, "since when, and how long silent")
    equal(lost.claim_id, None, "the other's claim is not given away")


@test
def case_53_after_a_crash_the_button_waits_for_the_lease_and_works_then(case):
    case.queue(backoff_ms=3_600_000, backoff_cap_ms=3_600_000)
    job = case.job()
    first = case.ledger.claim_job(job, case.worker())[0]
    case.pass_time(30)
    equal(case.ledger.claim_job(job, case.worker())[0].verdict, "running", "before the lease is over")
    case.pass_time(31)
    second = case.ledger.claim_job(job, case.worker())[0]
    equal((second.verdict, second.attempt), ("ok", 2), "after it")
    check(second.gen > first.gen, "generation")
    equal(case.ledger.complete(job, first.gen, first.claim_id), "stale", "the first")
    equal(case.ledger.complete(job, second.gen, second.claim_id), "ok", "the second")
    equal(case.ledger.claim_job(job, case.worker())[0].verdict, "ended", "and then")


@test
def case_53_the_button_says_why_it_does_not_work(case):
    case.queue("paused", paused=True)
    equal(case.ledger.claim_job(case.job("paused"), case.worker())[0].verdict, "paused", "a paused queue")
    held = case.running(max_attempts=1)
    case.ledger.fail(*held, "e")
    equal(case.ledger.claim_job(held.id, case.worker())[0].verdict, "exhausted", "a dead job")
    held = case.running()
    case.ledger.cancel(held.id)
    case.ledger.release(*held)
    equal(case.ledger.claim_job(held.id, case.worker())[0].verdict, "ended", "a cancelled job")
    equal(case.ledger.claim_job(1 << 40, case.worker())[0].verdict, "gone", "an unknown job")


def one_run(case, worker, poison):
    """The worker claims what it can; it is killed as soon as the poison is among it."""
    held = [token(row) for row in case.ledger.claim("q", worker, 8)]
    if poison in {one.id for one in held}:
        case.ledger.worker_dead(worker)
        case.admin.rows("update @schema@.job set run_at = clock_timestamp() where state = 'ready'")
        return case.worker(), len(held)
    if held:
        ids, gens, claims = columns(held)
        check(all(row.verdict == "ok" for row in case.ledger.complete_many(ids, gens, claims)), "complete_many")
    return worker, len(held)


@test
def case_54_the_poison_among_seven_innocents_is_buried_alone(case):
    case.queue(max_attempts=20)
    jobs = [case.job() for _ in range(8)]
    worker, claimed, rounds = case.worker(), 1, 0
    while claimed and rounds < BOUND:
        worker, claimed = one_run(case, worker, jobs[3])
        rounds += 1
    equal([case.state_of(job) for job in jobs], ["done"] * 3 + ["dead"] + ["done"] * 4, f"after {rounds} runs")
    equal(case.admin.value("select max(deaths) from @schema@.job where id <> %s", jobs[3]), 0, "deaths of innocents")
    outcomes = [row.outcome for row in case.attempts(jobs[3])]
    equal((outcomes[0], set(outcomes[1:]), case.row(jobs[3]).deaths), ("worker_died_shared", {"worker_died"}, 3), "the poison")


@test
def case_54_a_solo_job_runs_beside_nothing(case):
    case.queue()
    jobs = [case.job() for _ in range(3)]
    busy = case.worker()
    equal(case.take(busy).id, jobs[0], "a first job")
    case.admin.rows("update @schema@.job set solo = true where id = %s", jobs[1])
    equal([row.id for row in case.ledger.claim("q", busy, 5)], [jobs[2]], "claimed by who holds something")
    check(case.ledger.claim_job(jobs[1], busy)[0].verdict != "ok", "claim_job by who holds something")
    alone = case.worker()
    more = case.job()
    equal([row.id for row in case.ledger.claim("q", alone, 5)], [jobs[1]], "claimed by who holds nothing")
    equal(case.ledger.claim("q", alone, 5), [], "claimed beside a solo job")
    check(case.ledger.claim_job(more, alone)[0].verdict != "ok", "claim_job beside a solo job")


@test
def case_54_a_worker_that_is_always_busy_makes_room_for_a_solo_job(case):
    """Two slots, and each free one is filled at once: so it would never hold nothing."""
    case.queue()
    busy = case.worker()
    held = [case.take(busy) for _ in [case.job(), case.job()]]
    alone = case.job()
    case.admin.rows("update @schema@.job set solo = true where id = %s", alone)
    for age in range(0, 45, 3):
        case.admin.rows("update @schema@.job set run_at = clock_timestamp() - %s * interval '1 s' where id = %s", age, alone)
        case.job()
        case.ledger.complete(*held.pop(0))
        held += [token(row) for row in case.ledger.claim("q", busy, 2 - len(held))]
        check(age >= 10 or len(held) == 2, f"it stood back after {age} s already")
        if alone in [one.id for one in held]:
            return
    check(False, f"never alone: {held}")


@test
def case_54_at_any_time_half_of_the_workers_work_on_beside_a_solo_job_that_waits(case):
    case.queue()
    case.ledger.enqueue_many("q", "", ["1"] * 60)
    workers = [case.worker() for _ in range(20)]
    for worker in workers:
        case.take(worker)
    alone = case.job()
    case.admin.rows("update @schema@.job set solo = true where id = %s", alone)

    def working(age):
        case.admin.rows("update @schema@.job set run_at = clock_timestamp() - %s * interval '1 s' where id = %s", age, alone)
        return {worker for worker in workers if case.ledger.claim("q", worker, 1)}

    first, second = working(12), working(25)
    equal((first | second, first & second), (set(workers), set()), "who worked on, first and then")


@test
def case_54_nobody_stands_back_for_a_solo_job_that_could_not_run_anyway(case):
    case.queue()
    case.job(concurrency_key="k")
    busy, other = case.worker(), case.worker()
    case.take(busy)
    alone = case.job(concurrency_key="k")
    case.admin.rows("update @schema@.job set solo = true where id = %s", alone)
    case.ledger.enqueue_many("q", "", ["1"] * 8)
    case.take(other)
    for age in (15, 30):
        case.admin.rows("update @schema@.job set run_at = clock_timestamp() - %s * interval '1 s' where id = %s", age, alone)
        equal([len(case.ledger.claim("q", worker)) for worker in (busy, other)], [1, 1], f"claims after {age} s")


@test
def case_57_snooze_release_and_interruption_together_give_back_no_more_than_the_limit(case):
    case.queue(max_releases=4, max_attempts=3)
    job, claims = case.job(), 0
    ways = [lambda held: case.ledger.snooze(*held, "0 s"), lambda held: case.ledger.release(*held),
            lambda held: case.ledger.worker_dead(case.row(job).worker_id, "interrupted")]
    while found := case.ledger.claim("q", case.worker()):
        ways[claims % 3](token(found[0]))
        claims += 1
        check(claims < BOUND, "it never stops")
    equal((claims, case.row(job).total_attempts, case.state_of(job)), (7, 7, "dead"), "claims: attempts and releases")


@test
def case_57_a_job_that_is_interrupted_for_ever_ends_dead(case):
    case.queue()
    job, claims = case.job(), 0
    while found := case.ledger.claim("q", case.worker()):
        case.ledger.worker_dead(case.row(found[0].id).worker_id, "interrupted")
        claims += 1
        check(claims < BOUND, "it never stops")
    equal((claims, case.state_of(job), case.row(job).deaths), (25, "dead", 0), "claims")
    equal(case.ledger.claim_job(job, case.worker())[0].verdict, "exhausted", "claim_job")


@test
def every_claim_has_a_name_of_its_own_that_no_other_claim_has(case):
    """A number alone repeats itself when the commit of a claim is lost."""
    case.queue()
    case.job()
    worker, session = case.worker(), case.session()
    session.rows("begin")
    lost = token(session.claim("q", worker)[0])
    session.rows("rollback")
    held = case.take()
    equal((held.id, held.gen), (lost.id, lost.gen), "the number repeats itself")
    check(held.claim != lost.claim, "the name does not")
    equal(case.ledger.complete(*lost), "stale", "who lost his claim")
    equal(case.ledger.beat(*held), "ok", "who has it")
    case.ledger.refused("23514", lambda: case.ledger.rows("update @schema@.job set worker_id = null"))
    check(isinstance(held, Token), "a token")
