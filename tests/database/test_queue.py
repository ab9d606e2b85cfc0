"""The queue: cases 41 to 46, and pauses and limits."""
from case import test
from journal import check, equal, wait_until
from ledger import token


@test
def case_41_a_key_is_taken_once_however_many_ask_at_once(case):
    case.queue()
    found = case.together([lambda one: one.enqueue("q", dedup="key")[0]] * 20)
    equal((len({row.id for row in found}), sum(row.created for row in found)), (1, 1), "ids, created")
    equal(case.count("job"), 1, "jobs")
    case.queue("other")
    check(case.ledger.enqueue("other", dedup="key")[0].created, "the same key in another queue")


@test
def case_41_a_dead_job_keeps_its_key_until_somebody_discards_it(case):
    held = case.running(dedup="key")
    case.ledger.fail(*held, "poison", fatal=True)
    equal(tuple(case.ledger.enqueue("q", dedup="key")[0]), (held.id, False, "dead"), "enqueue")
    case.ledger.rows("update @schema@.job set state = 'ready' where id = %s", held.id)
    equal(tuple(case.ledger.enqueue("q", dedup="key")[0]), (held.id, False, "dead"), "with its label edited")
    equal(case.ledger.discard([held.id], "me"), [(held.id, "ok")], "discard")
    check(case.ledger.enqueue("q", dedup="key")[0].created, "a new one")


@test
def case_41_a_holder_that_finishes_in_between_loses_no_job(case):
    """The enqueue waits for who has the key, finds it done, and makes a new one."""
    held = case.running(dedup="key")
    other = case.session()
    with other.transaction():
        equal(other.complete(*held), "ok", "complete")
        later = case.later(lambda one: one.enqueue("q", dedup="key")[0])
        wait_until(lambda: later.done() or case.waiting(), "the enqueue's wait, or its answer")
    found = later.result()
    row = case.row(found.id)
    check(found.created or found.status == "running", f"the answer: {found}")
    check(row.state == "ready" if found.created else found.id == held.id, f"the job that was promised: {row}")


@test
def case_41_a_key_whose_holder_rolls_back_is_free(case):
    case.queue()
    other = case.session()
    other.rows("begin")
    check(other.enqueue("q", dedup="key")[0].created, "the first")
    later = case.later(lambda one: one.enqueue("q", dedup="key")[0])
    case.await_lock(later)
    other.rows("rollback")
    check(later.result().created, "the second")


@test
def case_41_a_storm_of_producers_and_workers_loses_no_key(case):
    case.queue()

    def produce(one):
        return [one.enqueue("q", dedup="key")[0].status for _ in range(60)]

    def consume(one):
        worker, count = one.worker_up(), 0
        for _ in range(150):
            for row in one.claim("q", worker):
                count += one.complete(*token(row)) == "ok"
        return count

    found = case.together([produce] * 4 + [consume] * 2)
    statuses = {status for one in found[:4] for status in one}
    check(statuses <= {"ready", "running", "expired"}, f"answers: {statuses}")
    done = case.admin.value("select count(*) from @schema@.job where state = 'done'")
    equal(done, sum(found[4:]), "completed")
    check(case.count("job") - done <= 1, "more than one job of a key that has not ended")


@test
def case_42_no_more_run_at_once_than_a_queue_allows(case):
    case.queue(max_running=2)
    case.ledger.enqueue_many("q", "", ["1"] * 12)
    found = case.together([lambda one: one.claim("q", one.worker_up(), 1)] * 6)
    held = [token(row) for rows in found for row in rows]
    equal(len(held), 2, "claimed by six at once")
    equal(case.ledger.claim("q", case.worker(), 5), [], "claimed while it is full")
    case.ledger.worker_dead(case.row(held[0].id).worker_id)
    equal(len(case.ledger.claim("q", case.worker(), 5)), 1, "claimed when a holder died: a slot is a row, and leaks nowhere")
    case.ledger.complete(*held[1])
    running = case.admin.value("select count(*) from @schema@.job where state = 'running'")
    equal(len(case.ledger.claim("q", case.worker(), 5)), 2 - running, "the rest")


@test
def case_42_no_more_run_at_once_of_one_key_than_a_queue_allows(case):
    for limit in (1, 2):
        queue = case.queue(f"limit {limit}", max_running_key=limit)
        for number in range(20):
            case.job(queue, concurrency_key="ab"[number % 2])
        free = case.job(queue)
        found = case.together([lambda one, queue=queue: one.claim(queue, one.worker_up(), 3)] * 6)
        held = [row.id for rows in found for row in rows]
        held += [row.id for row in case.ledger.claim(queue, case.worker(), 10)]
        keys = [case.row(job).concurrency_key for job in held]
        equal((keys.count("a"), keys.count("b"), held.count(free)), (limit, limit, 1), "running of each key, and of none")
        row = case.row([job for job in held if job != free][0])
        case.ledger.worker_dead(row.worker_id)
        found = case.ledger.claim(queue, case.worker(), 10)
        check(found, "claimed when a holder died")
        worst = case.admin.value("""select max(n) from (select count(*) as n from @schema@.job where state = 'running'
            and queue = %s and concurrency_key is not null group by concurrency_key) x""", queue)
        equal(worst, limit, "running of one key")


@test
def case_42_a_claim_that_has_not_committed_yet_fills_its_slot(case):
    case.queue(max_running=2)
    case.ledger.enqueue_many("q", "", ["1"] * 6)
    other = case.session()
    with other.transaction():
        equal(len(other.claim("q", other.worker_up(), 2)), 2, "claimed, and not committed")
        later = case.later(lambda one: one.claim("q", one.worker_up(), 2))
        wait_until(lambda: later.done() or case.waiting(), "the claim's wait, or its answer")
    equal(later.result(), [], "claimed by another meanwhile")
    case.queue("keyed", max_running_key=1)
    for _ in range(3):
        case.job("keyed", concurrency_key="a")
    free = {case.job("keyed") for _ in range(3)}
    with other.transaction():
        equal(len(other.claim("keyed", other.worker_up(), 1)), 1, "claimed, and not committed")
        later = case.later(lambda one: one.claim("keyed", one.worker_up(), 5))
        wait_until(lambda: later.done() or case.waiting(), "the claim's wait, or its answer")
    taken = {row.id for row in later.result()}
    check(taken and taken <= free, f"claimed by another meanwhile: {taken}, of those without a key: {free}")


@test
def case_42_a_job_of_a_busy_key_cannot_be_claimed_by_its_id(case):
    case.queue()
    first, second = (case.job(concurrency_key="a") for _ in range(2))
    equal(case.ledger.claim_job(first, case.worker())[0].verdict, "ok", "the first")
    check(case.ledger.claim_job(second, case.worker())[0].verdict != "ok", "the second")
    equal(case.row(second).attempts, 0, "its attempts")


@test
def case_43_what_is_enqueued_in_a_transaction_is_there_when_it_commits(case):
    case.queue()
    other, worker = case.session(), case.worker()
    with other.transaction():
        job = other.enqueue("q")[0].id
        equal((case.ledger.claim("q", worker), case.ledger.look(job)), ([], []), "before the commit")
    equal(case.take(worker).id, job, "after it")
    with other.transaction("rollback"):
        job = other.enqueue("q")[0].id
    equal((case.ledger.claim("q", worker), case.ledger.look(job)), ([], []), "after a rollback")


@test
def case_43_a_claim_that_is_rolled_back_counts_nothing(case):
    case.queue()
    job, worker = case.job(), case.worker()
    with case.ledger.transaction("rollback"):
        equal(len(case.ledger.claim("q", worker)), 1, "claimed")
    row = case.row(job)
    equal((row.attempts, row.total_attempts, row.gen, row.state), (0, 0, 0, "ready"), "row")


@test
def case_46_jobs_come_by_priority_then_by_time_then_by_number(case):
    case.queue()
    when = case.admin.value("select clock_timestamp() - interval '1 hour'")
    jobs = [case.job(priority=priority, run_at=str(when) if early else None)
            for priority, early in ((5, False), (0, False), (0, True), (-1, False), (0, True))]
    order = [jobs[3], jobs[2], jobs[4], jobs[1], jobs[0]]
    equal([row.id for row in case.ledger.claim("q", case.worker(), 10)], order, "in one claim")
    case.queue("single")
    jobs = [case.job("single", priority=priority) for priority in (2, 1, 2, 1)]
    worker = case.worker()
    found = [case.ledger.claim("single", worker)[0].id for _ in range(4)]
    equal(found, [jobs[1], jobs[3], jobs[0], jobs[2]], "one by one")


@test
def case_46_a_claim_with_a_cursor_begins_behind_it_and_without_one_at_the_front(case):
    case.queue()
    jobs = [case.job() for _ in range(4)]
    worker = case.worker()
    first = case.take(worker)
    row = case.row(first.id)
    case.ledger.release(*first)
    case.admin.rows("update @schema@.job set run_at = %s where id = %s", row.run_at, first.id)
    found = case.ledger.claim("q", worker, 1, row.priority, str(row.run_at), row.id)
    equal([one.id for one in found], [jobs[1]], "behind the cursor")
    early = case.job(priority=-5)
    found = case.ledger.claim("q", worker, n=1, after_priority=row.priority, after_run_at=str(row.run_at), after_id=row.id)
    equal([one.id for one in found], [jobs[2]], "an urgent one is before the cursor")
    equal([one.id for one in case.ledger.claim("q", worker, 2)], [early, jobs[0]], "who drops the cursor sees it, and the retry")


@test
def a_paused_queue_gives_nothing_and_a_job_that_is_not_due_waits(case):
    case.queue(paused=True)
    case.job()
    equal(case.ledger.claim("q", case.worker(), 5), [], "paused")
    equal(case.ledger.claim_next("q", case.worker(), 5), [], "paused, claim_next")
    case.admin.rows("update @schema@.queue set paused = false")
    later = case.job(delay="1 hour")
    at = case.job(run_at=str(case.admin.value("select clock_timestamp() + interval '1 hour'")))
    equal(len(case.ledger.claim("q", case.worker(), 5)), 1, "resumed")
    equal([case.state_of(job) for job in (later, at)], ["scheduled"] * 2, "those that are not due")


@test
def a_claim_takes_no_job_of_another_queue_and_no_more_than_asked(case):
    for name in ("a", "b"):
        case.queue(name)
        case.ledger.enqueue_many(name, "", ["1"] * 5)
    found = case.ledger.claim("a", case.worker(), n=3)
    equal([case.row(row.id).queue for row in found], ["a"] * 3, "claimed")
    equal(case.ledger.claim("a", case.worker(), 0), [], "none asked for")
    equal(len(case.ledger.claim("a", case.worker(), 500)), 2, "the rest")


@test
def a_worker_says_that_it_lives_with_claims_and_beats_but_not_each_time(case):
    held = case.running()
    worker = case.row(held.id).worker_id

    def seen():
        return case.admin.value("select beat_at from @schema@.worker where id = %s", worker)

    case.pass_time(60)
    old = seen()
    case.ledger.beat_many([held.id], [held.gen], [held.claim])
    fresh = seen()
    check(fresh > old, "beat_many")
    case.ledger.beat_many([held.id], [held.gen], [held.claim])
    case.ledger.claim("q", worker)
    equal(seen(), fresh, "within ten seconds")
    case.pass_time(60)
    old = seen()
    case.job()
    case.take(worker)
    check(seen() > old, "claim")
