"""The contract's table: names, types, defaults, columns; what arguments may be; what is raised, and nothing else."""
from case import test
from contract import VERBS
from journal import check, equal
from ledger import Session, install, random_uuid, token

STALE = (0, 999, "00000000-0000-4000-8000-000000000000")


def function(case, verb):
    found = case.admin.rows("""
        select proargnames as names, coalesce(proallargtypes, proargtypes::oid[]) as types, proargmodes as modes,
               pronargs as count, pronargdefaults as defaults, proretset as many,
               format_type(prorettype, null) as returns, pg_get_function_arguments(p.oid) as text
        from pg_proc p join pg_namespace s on s.oid = pronamespace where nspname = %s and proname = %s""",
                            case.schema, verb.name)
    equal(len(found), 1, f"functions called {verb.name}")
    return found[0]


def typed(case, oids):
    return [case.admin.value("select format_type(%s, null)", oid) for oid in oids]


@test
def every_verb_has_the_arguments_types_and_columns_of_the_contract(case):
    for verb in VERBS.values():
        found = function(case, verb)
        modes = found.modes or ["i"] * found.count
        kinds = list(zip(found.names, modes, typed(case, found.types)))
        given = {name: kind for name, mode, kind in kinds if mode == "i"}
        equal(list(given.items()), list(verb.arguments.items()), f"arguments of {verb.name}")
        equal(found.defaults, len(verb.defaults), f"how many arguments of {verb.name} have a default")
        if verb.scalar:
            equal((found.returns, found.many), (verb.scalar, False), f"what {verb.name} returns")
        else:
            equal({name: kind for name, mode, kind in kinds if mode == "t"}, verb.columns, f"columns of {verb.name}")


@test
def every_default_of_an_argument_is_the_contracts(case):
    for verb in VERBS.values():
        text = function(case, verb).text
        for name, default in verb.defaults.items():
            part = [one for one in text.split(", ") if one.split()[0].strip('"') == name][0]
            found = part.split(" DEFAULT ")[1]
            if default == "RANDOM":
                check("random_uuid" in found, f"default of {name} of {verb.name}: {found}")
            else:
                same = case.admin.value(f"select ({found})::text is not distinct from ({default})::{verb.arguments[name]}::text")
                check(same, f"default of {name} of {verb.name}: {found} instead of {default}")


@test
def the_queue_default_is_there_and_a_queue_has_the_policy_that_the_contract_names(case):
    row = case.admin.one("select * from @schema@.queue where name = 'default'")
    wanted = {"lease_ms": 60000, "hard_timeout_ms": None, "max_attempts": 5, "max_deaths": 3, "max_releases": 20,
              "backoff_ms": 2000, "backoff_cap_ms": 900000, "max_running": None, "max_running_key": 1, "on_doubt": "ask",
              "paused": False, "keep": None}
    equal({key: getattr(row, key) for key in wanted}, wanted, "the policy of a queue that nobody changed")
    for key, value in (("lease_ms", 999), ("on_doubt", "guess")):
        case.admin.refused("23514", lambda: case.admin.rows(f"insert into @schema@.queue(name, {key}) values ('x', %s)", value))


@test
def an_unknown_queue_is_no_queue_and_takes_nothing(case):
    equal(tuple(case.ledger.enqueue("nowhere")[0]), (None, False, "no_queue"), "the answer")
    equal(case.count("job"), 0, "jobs")
    equal(case.ledger.claim("nowhere", case.worker()), [], "claimed")


@test
def arguments_by_position_and_by_name_mean_the_same(case):
    case.queue()
    first = case.ledger.enqueue("q", "kind", '{"a": 1}', "key", None, 7, "lane", 2, False, None)[0]
    again = case.ledger.enqueue(queue="q", kind="kind", payload='{"a": 1}', dedup="key", run_at=None, priority=7,
                                concurrency_key="lane", max_attempts=2, notify=False, delay=None)[0]
    equal((again.id, first.created, again.created, first.status, again.status), (first.id, True, False, "ready", "ready"),
          "the second is the first")
    row = case.row(first.id)
    equal((row.kind, row.dedup_key, row.priority, row.concurrency_key, row.max_attempts), ("kind", "key", 7, "lane", 2), "job")


@test
def a_jobs_policy_is_copied_when_it_is_enqueued_and_foreign_rows_have_the_defaults(case):
    case.queue("strict", lease_ms=5000, max_attempts=2, max_deaths=1, max_releases=4)
    job = case.job("strict")
    case.admin.rows("update @schema@.queue set lease_ms = 9000, max_attempts = 9 where name = 'strict'")
    row = case.row(job)
    equal((row.lease_ms, row.max_attempts, row.max_deaths, row.max_releases), (5000, 2, 1, 4), "the copied policy")
    foreign = case.ledger.value("insert into @schema@.job(queue) values ('strict') returning id")
    row = case.row(foreign)
    equal((row.lease_ms, row.max_attempts, row.max_deaths, row.max_releases), (60000, 5, 3, 20), "a foreign row's policy")
    equal((row.state, row.claimable, row.gen, row.kind), ("ready", True, 0, ""), "a foreign row")


@test
def json_comes_back_byte_for_byte_whether_small_or_large(case):
    case.queue()
    small = '{"b":1,  "a": 1.0e2, "a":2 }'
    large = '{ "text" : "' + "ä\\u00e4" * 5000 + '" }'
    for text in (small, large):
        job = case.job(payload=text)
        worker = case.worker()
        claimed = case.ledger.claim("q", worker)[0]
        equal((claimed.id, claimed.payload), (job, text), "payload")
        equal(case.ledger.beat(*token(claimed), text), "ok", "beat")
        equal(case.ledger.look(job)[0].progress, text, "progress")
        equal(case.ledger.complete(*token(claimed), text), "ok", "complete")
        equal(case.ledger.look(job)[0].result, text, "result")
    equal(case.count("payload"), 1, "payloads that have a row of their own")
    job = case.job(payload=large)
    equal(case.ledger.claim_job(job, case.worker())[0].payload, large, "the payload that claim_job gives")
    case.job(payload=large)
    equal(case.ledger.claim_next("q", case.worker(), 1)[0].payload, large, "the payload that claim_next gives")


@test
def a_payload_of_three_hundred_bytes_stays_in_the_job_and_one_more_byte_does_not(case):
    case.queue()
    for bytes_, apart in ((300, 0), (301, 1)):
        job = case.job(payload='"' + "x" * (bytes_ - 2) + '"')
        equal(case.admin.value("select count(*) from @schema@.payload where job_id = %s", job), apart, f"{bytes_} bytes apart")


@test
def case_52_a_megabyte_of_payload_and_numbers_beyond_32_bits(case):
    case.queue()
    case.admin.rows("select setval(pg_get_serial_sequence(%s, 'id'), %s)", f"{case.quoted}.job", 2**31 + 5)
    text = '"' + "m" * (1 << 20) + '"'
    job = case.job(payload=text)
    check(job > 2**31, f"id {job}")
    case.admin.rows("update @schema@.job set gen = %s where id = %s", 2**31 + 7, job)
    claimed = case.ledger.claim("q", case.worker())[0]
    equal((claimed.id, claimed.gen, claimed.payload == text), (job, 2**31 + 8, True), "what was claimed")
    equal(case.ledger.beat(*token(claimed)), "ok", "beat")
    equal(case.ledger.beat_many([job], [claimed.gen], [claimed.claim_id])[0].verdict, "ok", "beat_many")
    equal(case.ledger.complete(*token(claimed)), "ok", "complete")
    equal(case.ledger.look(job)[0].status, "done", "status")


@test
def case_52_counters_at_the_edge_of_their_type_refuse_to_run_instead_of_going_round(case):
    case.queue()
    job = case.job()
    case.admin.rows("update @schema@.job set max_attempts = 2147483647, attempts = 2147483646 where id = %s", job)
    held = case.take()
    equal(case.row(job).attempts, 2147483647, "attempts")
    case.expire(job)
    equal([row.verdict for row in case.ledger.reap()], ["dead"], "the verdict")
    equal(case.ledger.complete(*held), "stale", "complete")


@test
def case_52_error_texts_are_cut_at_four_thousand_characters_and_cannot_carry_a_nul(case):
    held = case.running()
    equal(case.ledger.fail(*held, "ä" * 5000, "c" * 5000), "retry", "fail")
    row = case.row(held.id)
    equal((row.last_error, row.error_class), ("ä" * 4000, "c" * 4000), "what is kept")
    equal(case.attempts(held.id)[0].error, "ä" * 4000, "what the attempt keeps")


@test
def a_malformed_argument_is_the_servers_own_error_and_changes_nothing(case):
    case.queue()
    for work in (lambda: case.ledger.enqueue("q", payload="{"), lambda: case.ledger.beat(1, 1, "no uuid")):
        case.ledger.refused("22P02", work)
    equal(case.count("job"), 0, "jobs")


@test
def an_unknown_job_is_gone_or_stale_and_never_an_error(case):
    ledger = case.ledger
    for name, arguments, wanted in (
            ("beat", (), "stale"), ("complete", (), "gone"), ("fail", ("e",), "stale"), ("release", (), "stale"),
            ("snooze", ("1 s",), "stale"), ("item_begin", ("k",), "stale"), ("item_end", ("k", True), "stale"),
            ("lease_left", (), None)):
        equal(getattr(ledger, name)(*STALE, *arguments), wanted, name)
    ids, gens, claims = ([one] for one in STALE)
    equal(ledger.beat_many(ids, gens, claims), [(0, "stale")], "beat_many")
    equal(ledger.complete_many(ids, gens, claims), [(0, "gone")], "complete_many")
    equal((ledger.cancel(0), ledger.look(0), ledger.retry([0], "me"), ledger.discard([0], "me")),
          ("gone", [], [(0, "gone")], [(0, "gone")]), "the others")
    equal(ledger.item_settle(0, "k", "done", "me"), "gone", "item_settle")
    ledger.refused("EW409", lambda: ledger.hold(*STALE))
    equal([row.verdict for row in ledger.claim_job(0, case.worker())], ["gone"], "claim_job")


@test
def verbs_that_claim_refuse_a_snapshot_older_than_their_locks(case):
    case.queue()
    job, worker = case.job(), case.worker()
    works = {"claim": lambda: case.ledger.claim("q", worker), "claim_job": lambda: case.ledger.claim_job(job, worker),
             "claim_next": lambda: case.ledger.claim_next("q", worker, 1),
             "worker_drain": lambda: case.ledger.worker_drain(worker)}
    for name, work in works.items():
        for level in ("repeatable read", "serializable"):
            case.ledger.rows(f"begin isolation level {level}")
            error = case.ledger.refused("EW400", work)
            case.ledger.rows("rollback")
            check(str(error).strip(), f"{name} says nothing")
    equal(case.row(job).attempts, 0, "attempts")
    equal(len(case.ledger.claim("q", worker)), 1, "claimed under READ COMMITTED")


@test
def a_claim_is_durable_even_where_the_session_is_not(case):
    """synchronous_commit is set for the transaction that claims, until its commit."""
    case.queue()
    case.job()
    worker, session = case.worker(), case.direct()
    session.rows("set synchronous_commit = off")
    with session.transaction():
        equal(len(session.claim("q", worker)), 1, "claimed")
        equal(session.value("show synchronous_commit"), "on", "until the commit")
    equal(session.value("show synchronous_commit"), "off", "afterwards")


@test
def two_ledgers_in_one_database_do_not_see_each_other(case):
    """Also not by their advisory locks, which carry the schema's oid."""
    other = case.keep(Session(case.yard.cluster.dsn(case.database), "other one"))
    install(other, case.yard.cluster, case.database)
    other.rows("insert into @schema@.queue(name) values ('q')")
    case.queue()
    job = other.enqueue("q")[0].id
    equal(case.count("job"), 0, "jobs here")
    with case.ledger.transaction():
        case.ledger.reap()
        worker = other.worker_up()
        equal(len(other.claim("q", worker)), 1, "claimed there")
        other.rows("update @schema@.pulse set tick_at = clock_timestamp(), quiet_from = '2000-01-01'")
        other.rows("update @schema@.job set beat_at = '2001-01-01' where id = %s", job)
        equal([row.verdict for row in other.reap()], ["ready"], "reaped there while a reaper is at work here")


@test
def many_verbs_answer_one_row_for_each_input_in_whatever_mixture(case):
    held = case.running()
    done = case.running()
    case.ledger.complete(*done)
    ids, gens = [held.id, done.id, 0, held.id], [held.gen, done.gen, 1, held.gen + 1]
    claims = [held.claim, done.claim, random_uuid(), held.claim]
    equal(sorted(case.ledger.beat_many(ids, gens, claims)),
          sorted([(held.id, "ok"), (done.id, "stale"), (0, "stale"), (held.id, "stale")]), "beat_many")
    equal(sorted(case.ledger.complete_many(ids, gens, claims, ['{"a": 1}', None, None, None])),
          sorted([(held.id, "ok"), (done.id, "already"), (0, "gone"), (held.id, "stale")]), "complete_many")
    equal(case.row(held.id).result, '{"a": 1}', "the result")
    for name in ("beat_many", "complete_many"):
        equal(getattr(case.ledger, name)([], [], []), [], f"{name} of nothing")


@test
def the_clock_is_read_and_never_the_beginning_of_a_transaction(case):
    case.queue()
    job, worker = case.job(), case.worker()
    with case.ledger.transaction() as one:
        one.rows("select pg_sleep(0.002)")
        held = token(one.claim("q", worker)[0])
        first = one.lease_left(*held)
        one.rows("select pg_sleep(0.002)")
        second = one.lease_left(*held)
        late = one.value("select claimed_at - now() >= interval '2 ms' from @schema@.job where id = %s", job)
        check(late and second < first, f"claimed late: {late}; lease left {first}, then {second}")
        equal(one.beat(*held), "ok", "beat")
        check(one.value("select beat_at - claimed_at >= interval '2 ms' from @schema@.job where id = %s", job), "beat")
        other = one.enqueue("q")[0].id
        check(one.value("select created_at - now() >= interval '4 ms' from @schema@.job where id = %s", other), "enqueue")
        equal(one.fail(*held, "e"), "retry", "fail")
        check(one.value("select ended_at - now() >= interval '4 ms' from @schema@.attempt where job_id = %s", job), "fail")


@test
def a_key_may_be_as_long_as_a_text_and_is_told_from_others_by_all_of_it(case):
    case.queue()
    long = "k" * 3999
    first, second = (case.ledger.enqueue("q", dedup=long + end)[0] for end in "ab")
    equal((first.created, second.created), (True, True), "two keys that differ in their last character")
    equal(case.ledger.enqueue("q", dedup=long + "a")[0].id, first.id, "the first again")
    held = case.take()
    equal([case.ledger.item_begin(*held, long + end) for end in "ab"], ["go", "go"], "two parts")
    equal(case.ledger.item_end(*held, long + "a", True), "ok", "one of them ends")
    equal([case.ledger.item_begin(*held, long + end) for end in "ab"], ["done", "go"], "asked again")


@test
def a_worker_with_more_jobs_than_one_call_gives_back_is_asked_until_nothing_is_left(case):
    case.queue()
    case.ledger.enqueue_many("q", "", ["1"] * 1100)
    worker = case.worker()
    equal(len(case.ledger.claim("q", worker, 1100)), 1100, "claimed")
    seen = []
    while found := case.ledger.worker_dead(worker, "crashed", "killed"):
        seen += [row.id for row in found]
    equal((len(seen), len(set(seen))), (1100, 1100), "given back, each once")
    equal(case.admin.rows("select attempts, deaths, solo, count(*) from @schema@.job group by 1, 2, 3"), [(1, 0, True, 1100)],
          "nobody knows which of them it was, in the last call as in the first")


@test
def a_doubt_can_only_be_settled_as_done_or_as_an_error(case):
    held = case.running()
    case.ledger.item_begin(*held, "a")
    case.expire(held.id)
    case.ledger.reap()
    for state in ("running", "in_doubt", "perhaps"):
        case.ledger.refused("23514", lambda: case.ledger.item_settle(held.id, "a", state, "me"))
    equal(case.item(held.id, "a").state, "in_doubt", "the item")
