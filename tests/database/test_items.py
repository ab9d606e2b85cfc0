"""Items: the parts of a batch, and the record of effects that cost money."""
from case import test
from journal import check, equal


def again(case, held, way="release"):
    """The next claim of the same job, after the holder is gone."""
    if way == "crash":
        equal(case.crash(held.id), "ready", "reap")
    else:
        equal(case.ledger.release(*held), "ok", "release")
    return case.take()


@test
def case_21_a_paid_effect_is_in_doubt_after_a_crash_and_done_for_ever_once_it_was_reported(case):
    held = case.running()
    equal(case.ledger.item_begin(*held, "charge"), "go", "the first attempt")
    held = again(case, held, "crash")
    equal(case.ledger.item_begin(*held, "charge"), "in_doubt", "the second")
    equal(case.ledger.item_begin(*held, "charge"), "in_doubt", "the second, asked again")
    equal(case.ledger.item_begin(*held, "charge", True), "go", "the second, forced")
    equal(case.ledger.item_end(*held, "charge", True, '{"id": 1}'), "ok", "its report")
    for way in ("release", "crash"):
        held = again(case, held, way)
        equal((case.ledger.item_begin(*held, "charge"), case.ledger.item_begin(*held, "charge", True)), ("done", "done"),
              f"after a {way}")
    item = case.item(held.id, "charge")
    equal((item.state, item.result, item.tries), ("done", '{"id": 1}', 2), "the item")


@test
def a_sweep_puts_no_more_parts_in_doubt_than_its_batch_and_none_when_that_is_below_nothing(case):
    for _ in range(3):
        held = case.running()
        case.ledger.item_begin(*held, "part")
        case.ledger.complete(*held)

    def in_doubt(batch):
        equal(case.ledger.reap(batch), [], f"jobs of reap({batch})")
        return case.admin.value("select count(*) from @schema@.item where state = 'in_doubt'")

    equal([in_doubt(batch) for batch in (-5, 0, 1, 2)], [0, 0, 1, 3], "parts in doubt")


@test
def the_same_claim_may_begin_again_and_an_error_may_be_tried_again(case):
    held = case.running()
    equal([case.ledger.item_begin(*held, "a") for _ in range(2)], ["go", "go"], "the same claim")
    equal(case.ledger.item_end(*held, "a", False, error="x" * 5000), "ok", "it failed")
    equal((case.item(held.id, "a").state, case.item(held.id, "a").error), ("error", "x" * 4000), "its state")
    held = again(case, held)
    equal(case.ledger.item_begin(*held, "a"), "go", "after an error")
    equal(case.ledger.item_end(*held, "a", True), "ok", "it worked")
    equal(case.ledger.item_begin(*held, "a"), "done", "after that")


@test
def what_an_end_that_was_lost_leaves_can_be_said_again(case):
    held = case.running()
    case.ledger.item_begin(*held, "a")
    equal([case.ledger.item_end(*held, "a", True, "1") for _ in range(2)], ["ok", "ok"], "said twice")
    equal(case.item(held.id, "a").result, "1", "the result")


@test
def the_queue_may_say_what_is_done_in_doubt(case):
    for policy, word, state in (("redo", "go", "running"), ("skip", "done", "done"), ("ask", "in_doubt", "in_doubt")):
        case.queue(policy, on_doubt=policy)
        held = case.running(policy)
        case.ledger.item_begin(*held, "a")
        case.crash(held.id)
        equal(case.item(held.id, "a").state, "in_doubt", "after the crash")
        held = case.take(queue=policy)
        equal((case.ledger.item_begin(*held, "a"), case.item(held.id, "a").state), (word, state), policy)


@test
def force_false_asks_whatever_the_queue_says(case):
    case.queue("redo", on_doubt="redo")
    held = case.running("redo")
    case.ledger.item_begin(*held, "a")
    case.crash(held.id)
    held = case.take(queue="redo")
    equal(case.ledger.item_begin(*held, "a", False), "in_doubt", "with force false")


@test
def an_item_belongs_to_the_living_claim_alone(case):
    held = case.running()
    equal(case.ledger.item_begin(*held, "a"), "go", "begin")
    later = again(case, held, "crash")
    equal((case.ledger.item_begin(*held, "b"), case.ledger.item_end(*held, "a", True)), ("stale", "stale"), "the zombie")
    equal(case.item(held.id, "a").state, "in_doubt", "what the zombie tried to report")
    equal(case.ledger.item_begin(*later, "b"), "go", "the living")
    equal(case.ledger.cancel(held.id), "asked", "cancel")
    equal(case.ledger.item_begin(*later, "c"), "cancel", "no new part after a request to stop")
    equal(case.ledger.item_end(*later, "b", True), "ok", "but the end of one that was begun")


@test
def a_person_settles_a_doubt(case):
    held = case.running()
    for key in ("a", "b"):
        case.ledger.item_begin(*held, key)
    held = again(case, held, "crash")
    equal(case.ledger.item_settle(held.id, "a", "done", "me"), "ok", "it was paid")
    equal(case.ledger.item_settle(held.id, "b", "error", "me"), "ok", "it was not")
    equal(case.ledger.item_settle(held.id, "a", "error", "me"), "stale", "what is not in doubt any more")
    equal(case.ledger.item_settle(held.id, "nothing", "done", "me"), "gone", "an unknown item")
    equal((case.ledger.item_begin(*held, "a"), case.ledger.item_begin(*held, "b")), ("done", "go"), "what comes of it")
    equal(case.admin.value("select count(*) from @schema@.audit where job_id = %s and by = 'me'", held.id), 2, "audit rows")


@test
def case_02_what_a_finished_job_left_running_becomes_in_doubt_and_the_job_stays_done(case):
    held = case.running()
    case.ledger.item_begin(*held, "a")
    equal(case.ledger.complete(*held), "ok", "complete")
    case.ledger.reap()
    equal((case.item(held.id, "a").state, case.state_of(held.id)), ("in_doubt", "done"), "after the end")
    case.ledger.rows("insert into @schema@.item(job_id, key, gen, state) values (%s, 'foreign', %s, 'running')",
                     held.id, held.gen)
    case.pass_time(120)
    before = case.row(held.id)
    case.ledger.reap()
    equal(case.item(held.id, "foreign").state, "in_doubt", "an item that foreign SQL left running")
    row = case.row(held.id)
    equal((row.state, row.gen, row.deaths, row.finished_at), ("done", before.gen, 0, before.finished_at), "the job")


@test
def an_item_that_moves_keeps_its_job_alive_whoever_writes_it(case):
    held = case.running()
    case.ledger.item_begin(*held, "a")
    for write in ("update @schema@.item set tries = tries + 1 where job_id = %s",
                  "insert into @schema@.item(job_id, key, gen, state) values (%s, 'b', 1, 'running')"):
        case.pass_time(70)
        case.ledger.rows(write, held.id)
        equal(case.ledger.reap(), [], "reaped")
        check(case.row(held.id).beat_at is not None, "the job's beat")
        check(case.ledger.lease_left(*held).total_seconds() > 0, "lease left after an item moved")


@test
def a_redelivered_job_finds_the_parts_that_are_done(case):
    held = case.running()
    for key in ("1", "2", "3"):
        equal(case.ledger.item_begin(*held, key), "go", key)
        if key != "3":
            case.ledger.item_end(*held, key, True)
    held = again(case, held, "crash")
    equal([case.ledger.item_begin(*held, key) for key in ("1", "2", "3", "4")], ["done", "done", "in_doubt", "go"], "parts")
