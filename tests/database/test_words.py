"""Each verb's words, one life after the other: enqueue, look, beat, complete, fail, cancel, retry, discard, prune, lists."""
from case import test
from journal import check, equal, within
from ledger import Token, random_uuid, token


def seconds(interval):
    return interval.total_seconds()


def bury(case, queue="q", **arguments):
    held = case.running(queue, **arguments)
    equal(case.ledger.fail(*held, "broken", fatal=True), "dead", "fail")
    return held


@test
def look_says_where_a_job_is_in_every_state(case):
    case.queue()
    ready, later = case.job(), case.job(delay="1 hour")
    equal((case.state_of(ready), case.state_of(later)), ("ready", "scheduled"), "before anybody came")
    held = case.take()
    equal(held.id, ready, "claimed")
    case.ledger.beat(*held, '{"step": 1}')
    found = case.ledger.look(ready)[0]
    equal((found.status, found.gen, found.attempts, found.max_attempts, found.deaths, found.releases, found.progress),
          ("running", held.gen, 1, 5, 0, 0, '{"step": 1}'), "while it runs")
    within(seconds(found.silent), 0, 60, "silence")
    case.ledger.complete(*held, '"r"')
    found = case.ledger.look(ready)[0]
    equal((found.status, found.result), ("done", '"r"'), "after it")
    equal(case.ledger.cancel(later), "cancelled", "cancel")
    equal(case.state_of(later), "cancelled", "cancelled")
    dead = bury(case)
    equal(case.ledger.look(dead.id)[0].last_error, "broken", "last error")
    equal(case.state_of(dead.id), "dead", "dead")
    case.ledger.discard([dead.id], "me")
    equal(case.state_of(dead.id), "discarded", "discarded")


@test
def enqueue_answers_an_existing_job_with_the_words_of_look(case):
    case.queue()
    first = case.ledger.enqueue("q", dedup="key", delay="1 hour")[0]
    equal((first.created, first.status), (True, "scheduled"), "the first")
    equal(tuple(case.ledger.enqueue("q", dedup="key")[0]), (first.id, False, "scheduled"), "while it is scheduled")
    case.due(first.id)
    equal(tuple(case.ledger.enqueue("q", dedup="key")[0]), (first.id, False, "ready"), "while it is ready")
    held = case.take()
    equal(tuple(case.ledger.enqueue("q", dedup="key")[0]), (first.id, False, "running"), "while it runs")
    case.expire(first.id)
    equal(tuple(case.ledger.enqueue("q", dedup="key")[0]), (first.id, False, "expired"), "when its lease is over")
    case.ledger.complete(*held)
    check(case.ledger.enqueue("q", dedup="key")[0].created, "a job that is done keeps no key")


@test
def enqueue_many_counts_its_jobs_and_keeps_payloads_of_every_size(case):
    case.queue()
    texts = ['{"n": 1}', '"' + "x" * 1000 + '"', None]
    equal(case.ledger.enqueue_many("q", "bulk", texts), 3, "enqueued")
    claimed = case.ledger.claim("q", case.worker(), 10)
    equal([row.payload for row in claimed], texts, "payloads in order")
    equal({row.kind for row in claimed}, {"bulk"}, "kinds")
    equal(case.ledger.enqueue_many("q", "bulk", []), 0, "nothing enqueued")


@test
def worker_up_is_idempotent_and_never_raises_the_gone(case):
    one = random_uuid()
    equal(case.ledger.worker_up("host", 7, None, one), one, "the first time")
    equal(case.ledger.worker_up(host="host", pid=7, id=one), one, "the second")
    row = case.admin.one("select * from @schema@.worker where id = %s", one)
    equal((row.host, row.pid, row.state), ("host", 7, "up"), "its row")
    check(case.ledger.worker_up() != case.ledger.worker_up(), "each call without an id is a worker of its own")
    case.queue()
    case.job()
    for state, fall in (("draining", lambda: case.ledger.worker_drain(one)), ("gone", lambda: case.ledger.worker_dead(one))):
        fall()
        equal(case.ledger.worker_up(id=one), one, "again")
        equal(case.admin.value("select state from @schema@.worker where id = %s", one), state, "the state stays")
        equal(case.ledger.claim("q", one), [], f"claimed while {state}")


@test
def an_unknown_worker_claims_nothing_and_leaves_a_tombstone_when_it_is_said_to_be_dead(case):
    case.queue()
    job = case.job()
    for bury_, state in ((case.ledger.worker_dead, "gone"), (case.ledger.worker_drain, "draining")):
        one = random_uuid()
        equal(case.ledger.claim("q", one), [], "claimed by an unknown worker")
        equal(case.ledger.claim_next("q", one, 1), [], "claim_next by an unknown worker")
        check(not [row for row in case.ledger.claim_job(job, one) if row.verdict == "ok"], "claim_job by an unknown worker")
        bury_(one)
        equal(case.ledger.worker_up(id=one), one, "it comes up after all")
        equal(case.admin.value("select state from @schema@.worker where id = %s", one), state, "its state")
        equal(case.ledger.claim("q", one), [], "claimed afterwards")


@test
def a_beat_answers_ok_then_cancel_then_stale(case):
    held = case.running()
    case.pass_time(30)
    before = case.ledger.lease_left(*held)
    within(seconds(before), 1, 31, "lease left")
    equal(case.ledger.beat(*held), "ok", "beat")
    check(case.ledger.lease_left(*held) > before, "a beat lengthens the lease")
    equal(case.ledger.cancel(held.id), "asked", "cancel")
    equal((case.ledger.beat(*held), case.ledger.lease_left(*held)), ("cancel", None), "after the request")
    equal(case.ledger.beat_many([held.id], [held.gen], [held.claim])[0].verdict, "cancel", "beat_many")
    equal(case.ledger.fail(*held, "stopped"), "cancelled", "fail")
    equal(case.ledger.beat(*held), "stale", "after its end")


@test
def a_beat_without_progress_keeps_the_progress_and_progress_outlives_the_attempt(case):
    held = case.running()
    case.ledger.beat(*held, '{"page": 7}')
    case.ledger.beat(*held)
    equal(case.ledger.fail(*held, "e", retry_in="0 s"), "retry", "fail")
    claimed = case.ledger.claim("q", case.worker())[0]
    equal((claimed.progress, claimed.attempt), ('{"page": 7}', 2), "the next attempt")


@test
def beat_many_never_waits_for_a_row_that_somebody_holds(case):
    one, two = case.running(), case.running()
    with case.admin.transaction():
        case.admin.rows("select 1 from @schema@.job where id = %s for update", one.id)
        found = case.ledger.beat_many([one.id, two.id], [one.gen, two.gen], [one.claim, two.claim])
        equal(sorted(found), sorted([(one.id, "busy"), (two.id, "ok")]), "while one row is held")


@test
def a_lease_is_bounded_by_the_hard_limit(case):
    case.queue(hard_timeout_ms=5000)
    held = case.running()
    within(seconds(case.ledger.lease_left(*held)), -60, 5, "lease left")
    case.pass_time(6)
    check(seconds(case.ledger.lease_left(*held)) < 0, "the hard limit is over")


@test
def a_failure_backs_off_between_half_and_the_whole_of_a_doubled_base(case):
    case.queue(backoff_ms=400_000, backoff_cap_ms=1_000_000, max_attempts=9)
    case.job()
    for low, high in ((200, 400), (400, 800), (500, 1000), (500, 1000)):
        held = case.take()
        equal(case.ledger.fail(*held, "e"), "retry", "fail")
        wait = case.admin.value("select run_at - finished from @schema@.job, (select max(ended_at) as finished"
                                " from @schema@.attempt) a where id = %s", held.id)
        within(seconds(wait), low - 0.5, high + 0.5, "backoff")
        equal(case.ledger.claim("q", case.worker()), [], "claimed before it is over")
        case.due(held.id)
    held = case.take()
    case.ledger.fail(*held, "e", retry_in="1 hour")
    within(seconds(case.admin.value("select run_at - clock_timestamp() from @schema@.job where id = %s", held.id)),
           3400, 3600, "a wait that was asked for")


@test
def a_failure_that_is_fatal_or_the_last_one_is_the_end(case):
    held = case.running()
    equal(case.ledger.fail(*held, "no use", "syntax", fatal=True), "dead", "a fatal one")
    row = case.row(held.id)
    equal((row.state, row.is_dead, row.claimable, row.error_class, row.attempts), ("dead", True, False, "syntax", 1), "row")
    held = case.running(max_attempts=1)
    equal(case.ledger.fail(*held, "e"), "dead", "the last one")
    check(case.row(held.id).finished_at, "a dead job has an end")


@test
def a_failure_that_died_is_a_death_too(case):
    held = case.running()
    equal(case.ledger.fail(*held, "signal 11", died=True), "retry", "fail")
    equal((case.row(held.id).deaths, case.row(held.id).attempts), (1, 1), "deaths and attempts")
    case.admin.rows("update @schema@.job set deaths = max_deaths - 1, run_at = clock_timestamp() where id = %s", held.id)
    equal(case.ledger.fail(*case.take(), "signal 11", died=True), "dead", "the last death that it may have")


@test
def release_and_snooze_give_the_attempt_back_and_keep_the_generation(case):
    held = case.running()
    equal(case.ledger.release(*held, "deploy"), "ok", "release")
    row = case.row(held.id)
    equal((row.state, row.attempts, row.releases, row.gen, row.worker_id), ("ready", 0, 1, held.gen, None), "released")
    again = case.take()
    equal((again.id, again.gen), (held.id, held.gen + 1), "claimed at once")
    equal(case.ledger.snooze(*again, "1 hour", "later"), "ok", "snooze")
    equal((case.state_of(held.id), case.row(held.id).attempts, case.row(held.id).releases), ("scheduled", 0, 2), "snoozed")
    equal([one.outcome for one in case.attempts(held.id)], ["released", "released"], "what is kept of them")
    equal(case.row(held.id).total_attempts, 2, "all attempts")


@test
def a_job_that_is_released_keeps_its_place_in_the_queue(case):
    case.queue()
    first, second = case.job(), case.job()
    held = case.take()
    equal(held.id, first, "claimed")
    case.ledger.release(*held)
    equal([row.id for row in case.ledger.claim("q", case.worker(), 2)], [first, second], "claimed then")


@test
def a_negative_wait_is_none(case):
    held = case.running()
    equal(case.ledger.fail(*held, "e", retry_in="-1 hour"), "retry", "fail")
    within(seconds(case.admin.value("select run_at - ended_at from @schema@.job j join @schema@.attempt a on job_id = j.id")),
           -1, 1, "wait")
    equal(case.ledger.snooze(*case.take(), "-1 hour"), "ok", "snooze")
    equal(case.take().id, held.id, "claimed again")


@test
def cancel_has_a_word_for_each_state(case):
    case.queue()
    ready = case.job()
    equal((case.ledger.cancel(ready), case.ledger.cancel(ready)), ("cancelled", "already"), "a ready job")
    dead = bury(case)
    equal(case.ledger.cancel(dead.id), "cancelled", "a dead job")
    done = case.running()
    case.ledger.complete(*done)
    equal(case.ledger.cancel(done.id), "already", "a job that is done")
    held = case.running()
    equal((case.ledger.cancel(held.id), case.ledger.cancel(held.id)), ("asked", "asked"), "a running job, twice")
    equal(case.state_of(held.id), "running", "a running job goes on until it hears of it")
    equal(case.ledger.complete(*held), "ok", "it may end well all the same")
    equal(case.state_of(held.id), "done", "state")


@test
def a_running_job_that_was_asked_ends_cancelled_by_every_way_but_completion(case):
    def interrupted(held):
        equal([row.verdict for row in case.ledger.worker_dead(case.row(held.id).worker_id, "interrupted")], ["cancelled"], "")

    def expired(held):
        case.expire(held.id)
        equal([row.verdict for row in case.ledger.reap()], ["cancelled"], "reap")

    def died(held):
        equal([row.verdict for row in case.ledger.worker_dead(case.row(held.id).worker_id)], ["cancelled"], "worker_dead")

    def looked_at(held):
        case.expire(held.id)
        equal(case.ledger.look(held.id)[0].status, "cancelled", "look")

    def snoozed(held):
        equal(case.ledger.snooze(*held, "1 s"), "ok", "snooze")

    def released(held):
        equal(case.ledger.release(*held), "ok", "release")

    for way in (expired, died, interrupted, looked_at, released, snoozed, lambda held: case.ledger.fail(*held, "e")):
        held = case.running()
        case.ledger.cancel(held.id)
        way(held)
        row = case.row(held.id)
        equal((row.state, row.claimable, row.worker_id), ("cancelled", False, None), "the end")
        equal([one.outcome for one in case.attempts(held.id)], ["cancelled"], "what is kept of the attempt")
        check(row.finished_at, "a cancelled job has an end")


@test
def retry_resets_what_was_spent_and_keeps_what_was_done(case):
    held = case.running(dedup="key")
    equal(case.ledger.item_begin(*held, "part"), "go", "item")
    case.ledger.item_end(*held, "part", True, '"paid"')
    case.ledger.beat(*held, '"half"')
    case.admin.rows("update @schema@.job set deaths = 2, releases = 3, solo = true where id = %s", held.id)
    equal(case.ledger.fail(*held, "e", fatal=True), "dead", "fail")
    before = case.row(held.id)
    equal(case.ledger.retry([held.id], "me"), [(held.id, "ok")], "retry")
    row = case.row(held.id)
    equal((row.state, row.claimable, row.attempts, row.deaths, row.releases, row.fatal, row.solo, row.cancel, row.claim_id),
          ("ready", True, 0, 0, 0, False, False, False, None), "what is reset")
    equal((row.claimed_at, row.beat_at, row.deadline_at, row.finished_at), (None, None, None, None), "time stamps")
    check(row.gen > before.gen and row.budget_no == before.budget_no + 1, "generation and budget are raised")
    equal((row.progress, row.total_attempts, case.item(held.id, "part").state), ('"half"', 1, "done"), "what is kept")
    again = case.take()
    equal(case.ledger.item_begin(*again, "part"), "done", "the paid part")
    audit = case.admin.one("select * from @schema@.audit where job_id = %s", held.id)
    equal((audit.verb, audit.by), ("retry", "me"), "the audit")
    check(audit.was is not None and audit.at is not None, "the audit says what was, and when")


@test
def only_dead_jobs_can_be_retried_or_discarded(case):
    case.queue()
    dead, ready, held = bury(case), case.job(delay="1 hour"), case.running()
    ids = [held.id, 0, dead.id, ready]
    wanted = sorted([(held.id, "stale"), (0, "gone"), (dead.id, "ok"), (ready, "stale")])
    for verb in ("retry", "discard"):
        equal(sorted(getattr(case.ledger, verb)(ids, "me")), wanted, verb)
        equal(sorted(getattr(case.ledger, verb)([dead.id], "me")), [(dead.id, "stale")], f"a second {verb}")
        if verb == "retry":
            equal(case.ledger.fail(*case.take(), "e", fatal=True), "dead", "dead again")
    equal(case.count("audit"), 2, "audit rows: one for each that was touched")


@test
def dead_lists_page_by_page_and_also_what_was_relabelled(case):
    buried = [bury(case, queue).id for queue in ("q", "other", "q")]
    equal([row.id for row in case.ledger.dead()], buried, "all of them")
    equal([row.id for row in case.ledger.dead("q")], [buried[0], buried[2]], "of one queue")
    equal([row.id for row in case.ledger.dead(after=buried[0], n=1)], [buried[1]], "the page behind")
    case.admin.rows("update @schema@.job set state = 'ready' where id = %s", buried[0])
    equal([row.id for row in case.ledger.dead()], buried, "with one whose label was edited")
    equal(case.ledger.claim("q", case.worker(), 10), [], "claimed")
    row = case.ledger.dead()[0]
    equal((row.queue, row.attempts, row.deaths, row.total_attempts, row.last_error), ("q", 1, 0, 1, "broken"), "a line")
    check(row.since, "since when")


@test
def stats_count_every_queue(case):
    case.queue("idle")
    case.queue("q")
    jobs = [case.job() for _ in range(3)]
    case.job(delay="1 hour")
    held = case.take()
    gone = case.take()
    case.expire(gone.id)
    case.admin.rows("update @schema@.job set run_at = clock_timestamp() - interval '1 minute' where id = %s", jobs[2])
    bury(case, "deadly")
    found = {row.queue: row for row in case.ledger.stats()}
    row = found["q"]
    equal((row.ready, row.scheduled, row.expired, row.dead), (1, 1, 1, 0), f"of q ({held})")
    within(row.running, 1, 2, "running")
    within(seconds(row.oldest_due), 60, 120, "the oldest that is due")
    equal((found["deadly"].dead, found["deadly"].oldest_due), (1, None), "of the other")
    check("idle" in found, "a queue with nothing in it has a line, too")


@test
def prune_keeps_what_is_young_live_or_dead_and_obeys_the_queues_own_time(case):
    case.queue("short", keep="1 hour")
    done = {}
    for queue in ("q", "short"):
        held = case.running(queue, payload='"' + "x" * 500 + '"')
        case.ledger.item_begin(*held, "part")
        equal(case.ledger.complete(*held), "ok", "complete")
        done[queue] = held.id
    failed = case.running("q")
    case.ledger.fail(*failed, "e", retry_in="90 days")
    dead = bury(case)
    equal(case.ledger.prune(), 0, "pruned of what is young")
    case.pass_time(2 * 3600)
    case.ledger.prune()
    equal(case.admin.rows("select id from @schema@.job where queue = 'short'"), [], "the queue that keeps an hour")
    equal(len(case.ledger.look(done["q"])), 1, "the queue that says nothing")
    case.pass_time(8 * 86400)
    case.ledger.prune()
    equal(case.ledger.look(done["q"]), [], "done for more than seven days")
    equal([case.state_of(one) for one in (failed.id, dead.id)], ["scheduled", "dead"], "those that have not ended, or badly")
    equal(case.admin.value("select count(*) from @schema@.item") + case.count("payload"), 0, "items and payloads went along")
    equal(case.count("attempt"), 0, "old attempts")


@test
def prune_takes_no_more_than_it_was_told_and_the_workers_that_are_long_silent(case):
    case.queue()
    for _ in range(5):
        case.job()
    held = [token(row) for row in case.ledger.claim("q", case.worker(), 5)]
    for one in held[:4]:
        case.ledger.complete(*one)
    case.worker()
    case.pass_time(3600)
    equal(case.ledger.prune(3, "1 minute"), 3, "pruned")
    equal(case.ledger.prune(n=3, older="1 minute"), 1, "pruned then")
    case.pass_time(8 * 86400)
    case.ledger.prune()
    left = case.admin.rows("select id from @schema@.worker")
    equal([row.id for row in left], [case.row(held[4].id).worker_id], "workers that are left: the one with a running job")
    check(isinstance(held[4], Token), "the job that still runs")
