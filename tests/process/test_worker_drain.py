"""How a worker ends: at SIGTERM, at its number of jobs, at the end of its life. cases/worker.md 6, 7, 8, 19."""
import os
import signal
import time

from journal import check, equal, wait_until
from worker_case import BINARY, test

ITEMS = """
import os, sys, time, psycopg2
db = psycopg2.connect(os.environ["DATABASE_URL"]); db.autocommit = True
key = [os.environ["ENDWELL_" + name] for name in ("JOB_ID", "GENERATION", "CLAIM_ID")]
def ask(verb, *more):
    with db.cursor() as cursor:
        cursor.execute('select SCHEMA.' + verb + "(" + ", ".join(["%s"] * (3 + len(more))) + ")", (*key, *more))
        return cursor.fetchone()[0]
for item in range(6):
    if ask("item_begin", str(item)) != "go":
        continue
    with open("performed", "a") as file:
        file.write(f"{item}\\n")
    assert ask("item_end", str(item), True) == "ok"
    while item == int(sys.argv[1]):
        time.sleep(0.1)
"""


def items(case, stop_behind):
    """A command of six items, which hangs behind one of them."""
    return [*case.python("items.py", ITEMS.replace("SCHEMA", case.quoted)), str(stop_behind)]


@test
def case_6_an_idle_worker_ends_at_once_and_says_so(case):
    worker = case.work("true", "--poll", "1h").ready()
    equal(worker.end(), 0, "exit code")
    wait_until(lambda: worker.words.has("STOPPING=1"), "STOPPING=1")
    wait_until(lambda: worker.words.has("X_ENDWELL_DRAINED=1"), "X_ENDWELL_DRAINED=1")
    state = case.admin.value("select state from @schema@.worker where id = %s", worker.owner)
    check(state in ("draining", "gone"), f"the ledger calls it {state}")


@test
def case_6_who_can_finish_before_the_limit_finishes(case):
    case.queue()
    worker = case.work("while ! test -e go; do sleep 0.02; done; echo 1", "--drain-timeout", "1h").ready()
    job, waiting = case.job(), case.job()
    worker.until(f"job {job} generation 1 attempt 1 began")
    worker.send()
    wait_until(lambda: worker.words.has("STOPPING=1"), "STOPPING=1")
    case.file("go")
    equal(worker.wait(), 0, "exit code")
    equal((case.row(job).state, case.row(waiting).state), ("done", "ready"), "the job in hand, the one that waited")


@test
def case_6_at_the_limit_jobs_are_given_back_whole_and_the_successor_goes_on_behind_the_last_item(case):
    case.queue()
    first = case.work(items(case, 2), "--drain-timeout", "300ms", "--concurrency", "2").ready()
    job = case.job()
    wait_until(lambda: len(case.lines("performed")) == 3, "three items")
    wait_until(lambda: case.item(job, "2").state == "done", "the third item to be reported")
    equal(first.end(), 0, "exit code")
    row = case.row(job)
    equal((row.state, row.attempts, row.releases), ("ready", 0, 1), "the job")
    equal(first.processes(), [], "processes of the first worker")
    case.work(items(case, -1))
    case.done(job)
    equal(case.lines("performed"), [str(item) for item in range(6)], "items performed")


@test
def case_6_the_limit_is_what_the_supervisor_leaves(case):
    case.queue()
    command = case.file("command", "#!/bin/sh\nexec sleep 1000\n", 0o755)
    plan = case.plan(Phases="one", GraceSec="60")
    plan.service("worker", f"{BINARY} worker --queue q -- {command}", Phase="one", TimeoutStopSec="4s", Type="notify",
                 Environment=f'"DATABASE_URL={case.url}" "ENDWELL_DATABASE_SCHEMA={case.schema}"'.replace("$", "$$"))
    run = case.run(plan).ready()
    job = case.job()
    case.is_running(job)
    equal(run.end(), 0, "nobody had to be killed")
    row = case.row(job)
    equal((row.state, row.attempts, row.releases), ("ready", 0, 1), "the job was given back by the worker itself")


@test(repeat=(20, 200))
def case_7_a_worker_that_is_stopped_at_any_instant_leaves_no_job_without_a_holder(case):
    case.queue(max_releases=1000000)
    case.ledger.enqueue_many("q", "k", ["1"] * 100 * case.repeat)
    busy = 0
    for number in range(case.repeat):
        worker = case.work("cat", "--concurrency", "4", "--drain-timeout", case.random.choice(["0", "1h"]))
        if number % 4:
            worker.ready()
        wait = case.random.uniform(0, 0.2)
        time.sleep(wait)  # the random instant itself
        code = worker.end()
        check(code == 0 or code == -signal.SIGTERM and not worker.words.has("READY=1"), f"exit code {code} after {wait} s")
        equal(case.held(), 0, f"jobs that are running after {wait} s")
        equal(worker.processes(), [], "processes that live on")
        busy += "running" in worker.log() and " 0 are running" not in worker.log()
        worker.clean()
    check(busy > case.repeat // 5, f"only {busy} of {case.repeat} workers had jobs")


@test
def case_8_no_second_signal_cuts_the_drain_short(case):
    for second in (signal.SIGTERM, signal.SIGINT, signal.SIGQUIT, signal.SIGHUP):
        case.queue(f"q{second}")
        worker = case.work(f"while ! test -e go{second}; do sleep 0.02; done; echo 1", "--drain-timeout", "1h",
                           queue=f"q{second}").ready()
        job = case.job(f"q{second}")
        worker.until(f"job {job} generation 1 attempt 1 began")
        worker.send()
        wait_until(lambda one=worker: one.words.has("STOPPING=1"), "STOPPING=1")
        for _ in range(3):
            worker.send(second)
        if second != signal.SIGHUP:
            worker.until("the drain goes on")
        check(worker.lives(), "it lives")
        case.file(f"go{second}")
        equal(worker.wait(), 0, "exit code")
        equal(case.row(job).state, "done", f"the job after SIGTERM and signal {second}")


@test
def case_19_after_its_number_of_jobs_a_worker_is_started_again_and_not_counted(case):
    case.queue()
    case.ledger.enqueue_many("q", "k", ["1"] * 35)
    command = case.file("command", "#!/bin/sh\nsleep 0.6\nexec cat\n", 0o755)
    plan = case.plan(Phases="one")
    plan.service("worker", f"{BINARY} worker --queue q --max-jobs 10 --concurrency 4 -- {command}", Phase="one", Type="notify",
                 Restart="always", RestartSec="10ms", StartLimitBurst=2,
                 Environment=f'"DATABASE_URL={case.url}" "ENDWELL_DATABASE_SCHEMA={case.schema}"')
    run = case.run(plan).ready()
    case.all_done(35)
    exits = [line for line in run.journal.read() if line["event"] == "service_exited"]
    equal([(line["code"], line["status"]) for line in exits], [("exited", 0)] * 3, "exits")
    equal([line["event"] for line in run.journal.read() if line["event"] == "service_gave_up"], [], "given up")
    done = case.admin.rows("select attempts, count(*) from @schema@.job group by 1")
    equal([tuple(row) for row in done], [(1, 35)], "attempts of the jobs")
    equal(run.end(), 0, "exit code")


@test
def a_worker_whose_jobs_are_short_recycles_as_often_as_it_likes(case):
    """Each run ends within the second in which a clean exit counts as a failure."""
    case.queue()
    case.ledger.enqueue_many("q", "k", ["1"] * 8)
    plan = case.plan(Phases="one")
    plan.service("worker", f"{BINARY} worker --queue q --max-jobs 1 -- /bin/cat", Phase="one", Type="notify", Restart="always",
                 RestartSec="10ms", StartLimitBurst=2,
                 Environment=f'"DATABASE_URL={case.url}" "ENDWELL_DATABASE_SCHEMA={case.schema}"')
    run = case.run(plan).ready()
    case.all_done(8)
    wait_until(lambda: sum(line["event"] == "service_exited" for line in run.journal.read()) == 8, "eight recycles")
    equal([line["event"] for line in run.journal.read() if line["event"] == "service_gave_up"], [], "given up")
    equal(run.end(), 0, "exit code")


@test
def a_claim_that_is_answered_after_the_signal_is_given_back_unbegun(case):
    """Somebody has the worker's gate, so that its claim is in flight when the signal comes, and brings a job behind it."""
    case.queue()
    worker = case.work(f"echo begun >> {case.path('begun')}", "--poll", "1h", "--drain-timeout", "1h").ready()
    case.admin.rows("select pg_advisory_lock(@schema@._space(), @schema@._gate('worker', %s))", worker.owner)
    job = case.job(notify=True)
    waiting = "select count(*) from pg_locks where locktype = 'advisory' and not granted"
    wait_until(lambda: case.admin.value(waiting) == 1, "a claim that waits")
    worker.send()
    wait_until(lambda: worker.words.has("STOPPING=1"), "STOPPING=1")
    equal(case.row(job).state, "ready", "the job while the claim waits")
    case.admin.rows("select pg_advisory_unlock(@schema@._space(), @schema@._gate('worker', %s))", worker.owner)
    equal(worker.wait(), 0, "exit code")
    row = case.row(job)
    equal((row.state, row.attempts, row.gen, row.releases), ("ready", 0, 1, 1), "the job: claimed once, and given back whole")
    check("was given back unbegun" in worker.log(), "it says so")
    check(not os.path.exists(case.path("begun")), "the command did not run")


@test
def after_its_lifetime_a_worker_takes_no_job_and_lets_the_present_ones_end(case):
    case.queue()
    job = case.job()
    worker = case.work("while ! test -e go; do sleep 0.02; done; echo 1", "--max-lifetime", "3s", "--drain-timeout", "0").ready()
    worker.until(f"job {job} generation 1 attempt 1 began")
    wait_until(lambda: worker.words.has("STOPPING=1"), "STOPPING=1")
    late = case.job()
    case.file("go")
    equal(worker.wait(), 0, "exit code")
    equal((case.row(job).state, case.row(late).state), ("done", "ready"), "states")


@test
def a_worker_that_loses_its_database_ends_at_sigterm_all_the_same(case):
    worker = case.work("true", url="postgresql://nobody@127.0.0.1:1/nothing")
    worker.until("lost the ledger")
    equal(worker.end(), 0, "exit code")
    check(os.path.exists(worker.log_path), "its log")
