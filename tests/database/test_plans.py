"""What the statements cost, by their plans and buffers and never by time: cases 47 and 48, and the traps that were measured."""
from case import test
from journal import check, equal, within
from ledger import columns, token
from plans import buffers, Planner

LARGE = 20_000
CALLS = 3  # a plan may be another one at the second call


def fill(case, count, queue="q", state="ready", **more):
    """Rows by foreign SQL, as fast as they come; the ended ones a day old."""
    case.admin.rows("set statement_timeout = 0")
    ended = state in ("done", "dead", "cancelled", "discarded")
    values = {"queue": f"'{queue}'", "state": f"'{state}'", "run_at": "clock_timestamp() - interval '1 day'",
              "finished_at": "clock_timestamp() - interval '1 day'" if ended else "null", **more}
    case.admin.rows(f"insert into @schema@.job({', '.join(values)}) select {', '.join(values.values())}"
                    f" from generate_series(1, {count}) as n")
    case.admin.rows("vacuum analyze @schema@.job")


def crowd(case):
    """A table in which a scan of the whole would be seen: ready, scheduled, ended and running jobs of two queues."""
    case.queue()
    case.queue("other")
    fill(case, LARGE)
    fill(case, LARGE // 4, "other")
    fill(case, LARGE, state="done")
    fill(case, LARGE // 10, state="dead")
    fill(case, LARGE // 10, run_at="clock_timestamp() + interval '1 day'")


@test
def case_47_no_verb_of_the_daily_round_scans_the_whole_table(case):
    crowd(case)
    planner, worker, held = Planner(case.direct()), case.worker(), []

    def one_job(session):
        held.append(token(session.claim("q", worker)[0]))

    one_job(case.ledger)
    second = case.worker()
    rounds = {
        "claim": one_job,
        "claim of fifty": lambda one: held.extend(token(row) for row in one.claim("q", worker, 50)),
        "claim with a cursor": lambda one: one.claim("q", worker, 1, 0, "2000-01-01", held[-1].id),
        "claim of an empty queue": lambda one: one.claim("default", worker, 5),
        "claim_next": lambda one: one.claim_next("q", worker, 2, *columns(held[:1])),
        "claim_job": lambda one: one.claim_job(held[-1].id + 1000, second),
        "beat": lambda one: one.beat(*held[0]), "beat_many": lambda one: one.beat_many(*columns(held)),
        "lease_left": lambda one: one.lease_left(*held[0]), "item_begin": lambda one: one.item_begin(*held[0], "a"),
        "item_end": lambda one: one.item_end(*held[0], "a", True), "look": lambda one: one.look(held[0].id),
        "enqueue": lambda one: one.enqueue("q", dedup="key"), "enqueue_many": lambda one: one.enqueue_many("q", "", ["1"]),
        "hold": lambda one: one.hold(*held[-1]), "complete": lambda one: one.complete(*held.pop()),
        "fail": lambda one: one.fail(*held.pop(), "e"), "release": lambda one: one.release(*held.pop()),
        "complete_many": lambda one: one.complete_many(*columns([held.pop(), held.pop()])),
        "reap": lambda one: one.reap(), "cancel": lambda one: one.cancel(held[-1].id + 2000),
        "worker_drain": lambda one: one.worker_drain(second), "worker_dead": lambda one: one.worker_dead(second),
        "prune": lambda one: one.prune(10), "dead": lambda one: one.dead("q", n=10)}
    for name, work in rounds.items():
        for _ in range(CALLS):
            scans = planner.scans(work, case.schema)
            check([scan for scan in scans if scan[1] == "job"] or name in ("worker_drain",), f"{name} reads no job: {scans}")
            bad = [scan for scan in scans if scan[0] == "Seq Scan" and scan[1] in ("job", "item", "payload", "attempt")]
            equal([scan for scan in bad if scan[1] == "job"], [], f"whole tables that {name} reads")
            most = max((scan[2] for scan in scans if scan[1] == "job"), default=0)
            check(most <= 1200, f"{name} looks at {most} jobs: {scans}")


@test
def a_claim_at_the_head_of_many_blocked_jobs_of_one_key_stays_small(case):
    case.queue()
    fill(case, LARGE, concurrency_key="'busy'")
    case.admin.rows("insert into @schema@.job(queue, priority) select 'q', 1 from generate_series(1, 10)")
    case.admin.rows("vacuum analyze @schema@.job")
    worker = case.worker()
    case.take(worker)
    session = case.direct()
    touched = [buffers(session, "select * from @schema@.claim('q', %s)", worker) for _ in range(3)]
    check(max(touched[1:]) < 500, f"claims behind {LARGE} blocked jobs touch {touched} blocks")
    equal(case.admin.value("select count(*) from @schema@.job where state = 'running' and concurrency_key is null"), 3, "claimed")


@test
def case_47_with_one_old_open_transaction_the_cursor_keeps_claims_small(case):
    """Nothing that died since can be cleaned away: who begins at the front walks over all of it."""
    case.queue()
    fill(case, LARGE)
    old = case.direct()
    old.rows("begin isolation level repeatable read")
    old.rows("select count(*) from @schema@.job")
    worker, session = case.worker(), case.direct()
    touched, cursor = [], None
    for _ in range(40):
        after = f", after_priority => {cursor.priority}, after_run_at => '{cursor.run_at}', after_id => {cursor.id}" \
            if cursor else ""
        touched.append(buffers(session, f"select * from @schema@.claim('q', %s, 50{after})", worker))
        held = [token(row) for row in case.admin.rows(
            "select id, gen, claim_id from @schema@.job where state = 'running' order by run_at, id")]
        cursor = case.row(held[-1].id)
        session.complete_many(*columns(held))
    check(max(touched[-5:]) <= 2 * max(touched[1:6]), f"blocks that a claim touches: {touched}")
    without = buffers(session, "select * from @schema@.claim('q', %s, 50)", worker)
    with_cursor = buffers(session, "select * from @schema@.claim('q', %s, 50, %s, %s, %s)", worker, cursor.priority,
                          str(cursor.run_at), cursor.id)
    check(with_cursor < without, f"with the cursor {with_cursor} blocks, without {without}")
    old.rows("rollback")


@test
def case_48_beats_are_hot_updates(case):
    case.queue()
    case.ledger.enqueue_many("q", "", ["1"] * 500)
    worker, session = case.worker(), case.direct()
    held = [token(row) for row in session.claim("q", worker, 500)]
    case.admin.rows("vacuum analyze @schema@.job")

    def updates():
        session.rows("select pg_stat_force_next_flush()")
        return session.one("select n_tup_upd as all, n_tup_hot_upd as hot from pg_stat_user_tables where relname = 'job'"
                           " and schemaname = %s", case.schema)

    before = updates()
    for _ in range(40):
        for first in range(0, 500, 20):
            session.beat_many(*columns(held[first:first + 20]))
    after = updates()
    beats, hot = after.all - before.all, after.hot - before.hot
    within(beats, 20_000, 20_000, "beats")
    check(hot > 0.95 * beats, f"{hot} of {beats} beats were HOT")


@test
def no_index_of_jobs_knows_when_they_last_beat(case):
    found = case.admin.rows("""select c.relname from pg_index i join pg_class c on c.oid = indexrelid
        join pg_attribute a on a.attrelid = indrelid and a.attname in ('beat_at', 'progress')
        where indrelid = %s::regclass and (a.attnum = any(indkey)
        or pg_get_indexdef(indexrelid) ~ 'beat_at|progress')""", f"{case.quoted}.job")
    equal(found, [], "indexes")


@test(full=True, alone=True)
def case_48_a_sweep_is_as_small_beside_ten_million_finished_jobs_as_beside_ten_thousand(case):
    case.queue()
    touched = {}
    for count, more in ((10_000, 10_000), (10_000_000, 9_990_000)):
        fill(case, more, state="done")
        case.ledger.enqueue_many("q", "", ["1"] * 100)
        case.ledger.claim("q", case.worker(), 100)
        case.admin.rows("vacuum analyze @schema@.job")
        case.admin.rows("update @schema@.job set beat_at = clock_timestamp() - interval '1 hour' where state = 'running'")
        session = case.direct()
        session.reap(1)
        touched[count] = {"sweep of 50": buffers(session, "select * from @schema@.reap(50)"),
                          "claim": buffers(session, "select * from @schema@.claim('q', %s)", case.worker()),
                          "sweep of nothing": buffers(session, "select * from @schema@.reap(49)") and
                          buffers(session, "select * from @schema@.reap()")}
        case.admin.rows("update @schema@.job set state = 'done', worker_id = null, finished_at = now() where state <> 'done'")
    small, large = touched[10_000], touched[10_000_000]
    for name, count in large.items():
        check(count <= small[name] * 1.5 + 60, f"{name}: {small[name]} blocks beside ten thousand, {count} beside ten million")
    print(f"     blocks beside ten thousand: {small}; beside ten million: {large}")
