"""A lock that releases itself, and the reaper: cases 1 to 5, 31 to 38, 55 and 56."""
from case import test
from journal import check, equal, within
from ledger import token


def verdicts(rows):
    return [(row.id, row.verdict) for row in rows]


@test
def case_01_a_job_whose_holder_fell_silent_is_recovered_and_claimed_again(case):
    held = case.running()
    case.pass_time(61)
    found = case.ledger.reap()
    equal([(row.id, row.gen, row.verdict) for row in found], [(held.id, held.gen + 1, "ready")], "reap")
    row = case.row(held.id)
    equal((row.state, row.deaths, row.attempts, row.worker_id, row.gen), ("ready", 1, 1, None, held.gen + 1), "row")
    attempt = case.attempts(held.id)[0]
    equal((attempt.outcome, attempt.gen, attempt.claim_id, attempt.attempt), ("expired", held.gen, held.claim, 1), "attempt")
    case.due(held.id)
    again = case.take()
    equal((again.id, again.gen, case.row(held.id).attempts), (held.id, held.gen + 2, 2), "claimed again")


@test
def case_03_a_job_that_was_claimed_just_now_is_left_alone(case):
    held = case.running()
    before = case.row(held.id)
    equal(case.ledger.reap(), [], "reap")
    equal(case.row(held.id), before, "the row")
    case.pass_time(55)
    equal(case.ledger.reap(), [], "shortly before the end of the lease")


@test
def case_04_an_item_that_moved_is_life_although_the_job_is_old(case):
    held = case.running()
    case.ledger.item_begin(*held, "a")
    case.pass_time(120)
    case.expire(held.id)
    with case.admin.transaction():
        case.admin.rows("set local session_replication_role = replica")  # so that the item alone says that it lives
        case.admin.rows("update @schema@.item set updated_at = clock_timestamp() where job_id = %s", held.id)
    equal(case.ledger.reap(), [], "reap")
    equal(case.ledger.look(held.id)[0].status, "running", "look")
    equal(case.ledger.claim("q", case.worker()), [], "a claim that looks for expired jobs")
    equal(case.state_of(held.id), "running", "afterwards")


@test
def case_05_what_is_being_completed_or_beaten_while_the_reaper_looks_is_passed_by(case):
    for end, status in ((lambda one, held: one.complete(*held), "done"), (lambda one, held: one.beat(*held), "running")):
        held = case.running()
        case.pass_time(120)
        other = case.session()
        with other.transaction():
            equal(end(other, held), "ok", "the holder, late but the first")
            equal(case.session().reap(), [], "reap meanwhile")
        equal(case.ledger.reap(), [], "reap afterwards")
        equal((case.state_of(held.id), case.row(held.id).deaths), (status, 0), "the job")


@test
def case_55_an_item_that_is_not_committed_yet_spares_its_job(case):
    held = case.running()
    case.ledger.item_begin(*held, "a")
    case.pass_time(120)
    other = case.session()
    with other.transaction():
        other.rows("update @schema@.item set state = 'done', updated_at = clock_timestamp() where job_id = %s", held.id)
        later = case.later(lambda one: one.reap())
        equal(later.result(), [], "reap, which takes no locked row")
        looking = case.later(lambda one: one.look(held.id))
        claiming = case.later(lambda one: one.claim_job(held.id, one.worker_up()))
    check(looking.result()[0].status in ("running", "expired"), "look, which may have answered before the commit")
    equal(claiming.result()[0].verdict, "running", "claim_job")
    equal(case.ledger.reap(), [], "reap")
    equal((case.state_of(held.id), case.row(held.id).gen), ("running", held.gen), "the job")


@test
def case_31_a_reaper_that_was_away_takes_nobody_at_first_and_everybody_silent_a_lease_later(case):
    held = case.running()
    case.pass_time(1800, reaper=False)
    equal(case.ledger.claim("q", case.worker()), [], "a claim while the pulse is old")
    equal(case.ledger.look(held.id)[0].status in ("running", "expired"), True, "look while the pulse is old")
    equal(case.row(held.id).gen, held.gen, "nobody recovered it")
    equal(case.ledger.reap(), [], "the first pass")
    case.pass_time(55)
    equal(case.ledger.reap(), [], "within a lease of it")
    case.pass_time(6)
    equal(verdicts(case.ledger.reap()), [(held.id, "ready")], "after a lease of it")


@test
def case_31_one_that_beats_in_its_fresh_lease_is_spared_although_the_reaper_was_away(case):
    held = case.running()
    case.pass_time(1800, reaper=False)
    case.ledger.reap()
    case.pass_time(50)
    equal(case.ledger.beat(*held), "ok", "beat")
    case.pass_time(50)
    equal(case.ledger.reap(), [], "reap")
    equal(case.ledger.complete(*held), "ok", "complete")


@test
def case_31_a_hard_limit_is_not_judged_either_before_the_fresh_lease_is_over(case):
    case.queue(hard_timeout_ms=300_000)
    held = case.running()
    case.pass_time(1800, reaper=False)
    case.ledger.reap()
    case.ledger.beat(*held)
    case.pass_time(30)
    case.ledger.beat(*held)
    equal(case.ledger.reap(), [], "within the fresh lease")
    case.pass_time(31)
    equal(verdicts(case.ledger.reap()), [(held.id, "ready")], "after it")
    equal(case.attempts(held.id)[0].outcome, "timed_out", "outcome")


@test
def case_31_a_clock_that_stepped_back_an_hour_takes_nobody(case):
    held = case.running()
    silent = case.running()
    case.expire(silent.id)
    case.pass_time(-3600, reaper=False)
    equal(case.ledger.reap(), [], "the first pass")
    equal([case.row(one.id).gen for one in (held, silent)], [held.gen, silent.gen], "generations")
    check(case.admin.value("select quiet_from > clock_timestamp() - interval '1 minute' from @schema@.pulse"), "quiet from now")
    check(case.admin.value("select tick_at <= clock_timestamp() from @schema@.pulse"), "the pulse ticks by the new clock")


@test
def case_33_a_second_reaper_returns_at_once_with_nothing(case):
    held = case.running()
    case.pass_time(120)
    with case.ledger.transaction():
        equal(verdicts(case.ledger.reap()), [(held.id, "ready")], "the first")
        equal(case.later(lambda one: one.reap()).result(), [], "the second, which waits for nobody")
    equal(case.row(held.id).deaths, 1, "deaths")


@test
def case_34_a_hard_limit_that_is_over_ends_an_attempt_although_it_beats(case):
    case.queue(hard_timeout_ms=100_000)
    held = case.running()
    for _ in range(3):
        case.pass_time(30)
        equal((case.ledger.beat(*held), case.ledger.reap()), ("ok", []), "before it")
    case.pass_time(30)
    case.ledger.beat(*held)
    equal(verdicts(case.ledger.reap()), [(held.id, "ready")], "after it")
    equal((case.attempts(held.id)[0].outcome, case.row(held.id).deaths), ("timed_out", 1), "what is kept")
    equal(case.ledger.complete(*held), "stale", "complete")


@test
def case_35_ten_thousand_expired_jobs_are_recovered_in_fifty_passes_the_oldest_first(case):
    case.queue()
    case.ledger.enqueue_many("q", "", ["1"] * 10_000)
    case.ledger.claim("q", case.worker(), 10_000)
    case.pass_time(3600)
    case.admin.rows("update @schema@.job set beat_at = beat_at + id * interval '1 millisecond', claimed_at = beat_at")
    oldest = case.admin.rows("select id from @schema@.job order by beat_at limit 200")
    passes, first, seen = 0, None, set()
    while found := case.ledger.reap(200):
        passes, first = passes + 1, first or {row.id for row in found}
        check(len(found) <= 200 and not seen & {row.id for row in found}, f"pass {passes}")
        seen |= {row.id for row in found}
        if passes % 10 == 0:
            case.admin.rows("vacuum @schema@.job")
    equal((passes, len(seen), first), (50, 10_000, {row.id for row in oldest}), "passes, jobs, and who was the first")


@test
def case_38_look_frees_a_stuck_job_and_leaves_a_healthy_one_untouched(case):
    held = case.running()
    before = case.row(held.id)
    equal(case.ledger.look(held.id)[0].status, "running", "the healthy one")
    equal(case.row(held.id), before, "its row, the transaction that wrote it included")
    case.pass_time(61)
    found = case.ledger.look(held.id)[0]
    check(found.status in ("ready", "scheduled"), f"the stuck one: {found.status}")
    equal((found.gen, found.deaths, case.row(held.id).state), (held.gen + 1, 1, "ready"), "its row")
    equal(case.ledger.beat(*held), "stale", "its late holder")


@test
def case_38_look_writes_nothing_where_there_is_nothing_to_free(case):
    held = case.running()
    done = case.running()
    case.ledger.complete(*done)
    with case.ledger.transaction():
        case.ledger.rows("set transaction read only")
        equal([case.ledger.look(one.id)[0].status for one in (held, done)], ["running", "done"], "in a transaction that may"
              " only read")


@test
def case_37_look_answers_where_it_may_not_write_and_says_what_it_cannot_free(case):
    held = case.running()
    case.pass_time(120)
    with case.ledger.transaction():
        case.ledger.rows("set transaction read only")
        found = case.ledger.look(held.id)[0]
        equal((found.status, found.gen), ("expired", held.gen), "a stuck job in a transaction that may only read")
    check(case.ledger.look(held.id)[0].status in ("ready", "scheduled"), "and then where it may write")


@test
def a_claim_that_finds_too_little_recovers_what_expired_in_its_queue(case):
    case.queue(backoff_ms=600_000)
    case.queue("other")
    stuck = [case.running() for _ in range(12)]
    elsewhere = case.running("other")
    case.pass_time(120)
    case.ledger.claim("q", case.worker())
    freed = [one for one in stuck if case.row(one.id).gen > one.gen]
    within(len(freed), 10, 10, "recovered by one claim")
    equal(case.row(elsewhere.id).gen, elsewhere.gen, "another queue's job")
    case.ledger.claim("q", case.worker())
    equal([one for one in stuck if case.row(one.id).gen == one.gen], [], "left after the second claim")


@test
def a_recovery_that_lost_the_race_changes_nothing(case):
    """look waits for the holder's row, and finds it alive when it has it."""
    held = case.running()
    case.pass_time(120)
    other = case.session()
    with other.transaction():
        equal(other.beat(*held), "ok", "beat")
        later = case.later(lambda one: one.look(held.id))
    equal(later.result()[0].gen, held.gen, "generation")
    equal((case.row(held.id).state, case.row(held.id).deaths), ("running", 0), "row")


@test
def a_sweep_takes_no_more_than_its_batch_and_waits_for_no_row(case):
    case.queue()
    stuck = [case.running() for _ in range(6)]
    case.pass_time(120)
    with case.admin.transaction():
        case.admin.rows("select 1 from @schema@.job where id = any(%s) for update", [stuck[0].id, stuck[1].id])
        found = case.session().reap(3)
        equal(len(found), 3, "taken")
        check(not {stuck[0].id, stuck[1].id} & {row.id for row in found}, "rows that somebody holds")
    equal(len(case.ledger.reap(n=2)), 2, "the next pass")
    equal(len(case.ledger.reap()), 1, "the rest")


@test
def a_job_whose_deaths_are_spent_is_buried_and_says_why(case):
    held = case.running()
    case.admin.rows("update @schema@.job set deaths = 2 where id = %s", held.id)
    case.pass_time(120)
    equal(verdicts(case.ledger.reap()), [(held.id, "dead")], "reap")
    row = case.row(held.id)
    equal((row.state, row.deaths, row.is_dead), ("dead", 3, True), "row")
    check(row.last_error and row.error_class, f"why: {row.error_class}, {row.last_error}")


@test(repeat=(240, 3600))
def case_56_a_reaper_that_starts_again_each_second_gives_each_stuck_job_at_most_one_fresh_lease(case):
    """Each second it was away for too long; a fresh lease of 60 s after a silence of 60 s makes 120 s."""
    case.admin.rows("update @schema@.pulse set stall_ms = 500")
    held = case.running()
    recovered = None
    for second in range(case.repeat):
        case.pass_time(1, reaper=False)
        if case.ledger.reap():
            recovered = second
            break
    check(recovered is not None, f"never recovered in {case.repeat} s")
    within(recovered, 58, 122, "recovered after")
    again = case.session()
    case.due(held.id)
    token(again.claim("q", case.worker())[0])
    times = 0
    for _ in range(case.repeat):
        case.pass_time(1, reaper=False)
        times += len(case.ledger.reap())
    equal(times, 1, "its next attempt was recovered, too, and once")
