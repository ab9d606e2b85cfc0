"""A server that crashes, restarts, fails over, or is reached by single statements: cases 19, 31, 37 and 49."""
from case import test
from database_case import DatabaseCase, Yard
from journal import check, equal, wait_until
from ledger import Session, columns, token


def own(case, **settings):
    """The same test on a server that nobody else uses."""
    yard = Yard(case.yard.way, **settings)
    case.cleaners.append(yard.clean)
    inner = DatabaseCase(yard, case.name, case.repeat, case.seed)
    case.cleaners.insert(0, inner.clean)
    return inner


def again(case):
    """After the server was away: fresh sessions."""
    for session in case.sessions:
        session.close()
    case.sessions.clear()
    case.admin, case.ledger = case.direct(), case.session()


@test(alone=True)
def case_19_no_claim_is_lost_in_a_crash_although_the_session_does_not_wait_for_the_disk(case):
    case = own(case, fsync="on", wal_writer_delay="10s")
    case.queue()
    case.ledger.enqueue_many("q", "", ["1"] * 400)
    worker, session = case.worker(), case.direct()
    session.rows("set synchronous_commit = off")
    held = [token(session.claim("q", worker)[0]) for _ in range(400)]
    case.yard.cluster.restart("immediate")
    again(case)
    equal(case.admin.value("select count(*) from @schema@.job where state = 'running' and attempts = 1"), 400, "claims kept")
    equal({row.verdict for row in case.ledger.beat_many(*columns(held))}, {"ok"}, "beats")


@test(alone=True)
def case_19_reports_that_a_crash_lost_are_made_again_and_then_taken(case):
    case = own(case, fsync="on", wal_writer_delay="10s")
    case.queue()
    case.ledger.enqueue_many("q", "", ["1"] * 100)
    lost = 0
    while not lost:  # now and then the log is written just before the crash
        held = [token(row) for row in case.ledger.claim("q", case.worker(), 10)]
        check(held, "no report was ever lost")
        session = case.direct()
        session.rows("set synchronous_commit = off")
        for one in held:
            equal(session.complete(*one), "ok", "complete")
        case.yard.cluster.restart("immediate")
        again(case)
        lost = case.admin.value("select count(*) from @schema@.job where state = 'running'")
        said = [row.verdict for row in case.ledger.complete_many(*columns(held))]
        equal((said.count("ok"), said.count("already")), (lost, 10 - lost), "said again")
    equal(case.admin.value("select count(*) from @schema@.job where state = 'done' and total_attempts <> 1"), 0, "done twice")


@test(alone=True)
def case_31_a_server_that_was_restarted_takes_nobody_before_a_fresh_lease_is_over(case):
    case = own(case)
    held = case.running()
    case.pass_time(120)
    case.yard.cluster.restart("fast")
    again(case)
    case.ledger.claim("q", case.worker())
    case.ledger.look(held.id)
    equal(case.row(held.id).gen, held.gen, "recovered by claim or look before the reaper was here")
    equal(case.ledger.reap(), [], "the first pass")
    case.ledger.look(held.id)
    equal(case.row(held.id).gen, held.gen, "recovered by look after it")
    case.pass_time(55)
    equal(case.ledger.reap(), [], "within a lease")
    case.pass_time(6)
    equal([row.verdict for row in case.ledger.reap()], ["ready"], "after it")


@test(alone=True)
def case_37_on_a_standby_look_answers_and_after_its_promotion_nobody_is_taken_at_once(case):
    case = own(case)
    held = case.running()
    case.pass_time(120)
    standby = case.yard.cluster.standby()
    case.cleaners.append(standby.clean)
    session = case.keep(Session(standby.dsn(case.database), case.schema))
    wait_until(lambda: session.rows("select 1 from @schema@.job where id = %s", held.id), "the job on the standby")
    found = session.look(held.id)[0]
    equal((found.status, found.gen, session.value("select pg_is_in_recovery()")), ("expired", held.gen, True), "look")
    session.refused("25006", lambda: session.beat(*held))
    case.yard.cluster.stop("immediate")
    standby.promote()
    for one in (session.look, lambda job: session.claim("q", session.worker_up()) + session.reap()):
        one(held.id)
        equal(session.value("select gen from @schema@.job where id = %s", held.id), held.gen, "nobody is taken at once")
    case.pass_time(61, session=session)
    equal([row.verdict for row in session.reap()], ["ready"], "a lease later")


@test
def case_49_through_a_pooler_of_single_statements_a_job_lives_its_whole_life(case):
    """Where each statement may go to another connection, and no transaction can be opened."""
    case.queue(backoff_ms=1)
    jobs = [case.job(payload='"' + "x" * 400 + '"') for _ in range(3)]
    one = case.keep(Session(case.yard.pooler.dsn(case.database, "singly"), case.schema))
    one.refused(None, lambda: one.rows("begin"))  # and hangs up
    one = case.keep(Session(case.yard.pooler.dsn(case.database, "singly"), case.schema))
    worker = one.worker_up()
    held = [token(row) for row in one.claim("q", worker, 3)]
    equal([row.id for row in held], jobs, "claimed")
    equal([row.verdict for row in one.beat_many(*columns(held))], ["ok"] * 3, "beats")
    equal((one.item_begin(*held[0], "a"), one.item_end(*held[0], "a", True)), ("go", "ok"), "an item")
    equal(one.complete(*held[0]), "ok", "complete")
    equal(one.fail(*held[1], "e", retry_in="1 hour"), "retry", "fail")
    equal((one.worker_drain(worker), one.release(*held[2])), (1, "ok"), "the end")
    equal([one.look(job)[0].status for job in jobs], ["done", "scheduled", "ready"], "states")
