"""What a command leaves behind, and what lives on when a worker or a keeper is killed. cases/worker.md 4, 11."""
import os
import signal

from endwell import children
from journal import check, equal, wait_until
from worker_case import BINARY, alive, test

FAMILY = "(setsid sh -c 'echo $$ >> family; sleep 1000') & (sleep 1000; true) & echo $$ >> family; "


def family(case, count=2):
    wait_until(lambda: len(case.lines("family")) == count, "the family of the command")
    return [int(line) for line in case.lines("family")]


@test
def case_11_the_job_ends_with_its_command_and_what_is_left_of_its_tree_is_killed_and_named(case):
    case.queue()
    worker = case.work("setsid sh -c 'trap \"\" TERM HUP; echo $$ >> family; exec sleep 1000' & "
                       "while ! test -s family; do :; done; echo 1").ready()
    row = case.done(case.job())
    equal(row.result.strip(), "1", "result")
    worker.until("the command left 1 processes behind (sleep); they were killed")
    wait_until(lambda: not any(alive(pid) for pid in family(case, 1)), "the end of the daemon")
    equal(len(worker.below()), 1, "only the keeper is left")


@test
def a_tree_that_forks_all_the_time_is_killed_to_its_last_process(case):
    case.queue(max_attempts=1)
    worker = case.work("grow() { if [ $1 -gt 0 ]; then (sleep 0.02; grow $(($1 - 1))) & fi; (sleep 0.02; setsid sleep 1000) & wait; }; grow 100",
                       "--hard-timeout", "400ms", "--kill-after", "0").ready()
    case.rests(case.job(), "dead")
    wait_until(lambda: len(worker.below()) == 1, "only the keeper below the worker")
    case.ledger.enqueue("q")


@test
def case_4_nothing_of_a_worker_that_is_killed_lives_on_and_its_jobs_come_back_with_the_lease(case):
    case.queue(lease_ms=1000, backoff_ms=1)
    worker = case.work(FAMILY + "wait").ready()
    job = case.job()
    pids = family(case)
    worker.end(signal.SIGKILL)
    wait_until(lambda: not worker.processes() and not any(alive(pid) for pid in pids), "the end of everything below it")
    case.sweep()
    row = case.rests(job, "ready")
    equal((row.attempts, row.gen), (1, 2), "attempts, generation")


@test
def case_4_under_endwell_the_jobs_of_a_worker_that_is_killed_need_not_wait_for_the_lease(case):
    case.queue(lease_ms=3600000, backoff_ms=1)
    command = case.file("command", "#!/bin/sh\n(setsid sleep 1000) & exec sleep 1000\n", 0o755)
    plan = case.plan(Phases="workers db")
    plan.database(Url=case.url.replace("$", "$$"), Schema=case.schema, reaper={"IntervalSec": "1h"})
    plan.service("worker", f"{BINARY} worker --queue q -- {command}", Phase="workers", Type="notify", Restart="no",
                 Essential="no", Environment=f'"DATABASE_URL={case.url}" "ENDWELL_DATABASE_SCHEMA={case.schema}"')
    plan.actor("bystander", Phase="workers")
    run = case.run(plan).ready()
    case.admin.rows("update @schema@.pulse set tick_at = clock_timestamp(), quiet_from = '2000-01-01'")
    job = case.job()
    holder = case.is_running(job).worker_id
    started = run.journal.until("service_started", service="worker")
    equal(holder, started["owner"], "the holder is the owner that endwell gave")
    os.kill(run.outside(started["pid"]), signal.SIGKILL)
    row = case.rests(job, "ready")
    equal((row.attempts, row.deaths), (1, 1), "attempts, deaths")
    run.journal.until("service_gone", service="worker")
    check(not any("sleep" in open(f"/proc/{pid}/comm", encoding="ascii").read() for pid in run.processes() if alive(pid)),
          "its commands live on")
    equal(run.end(), 0, "exit code")


@test
def a_keeper_that_is_killed_takes_its_command_along_which_has_died_and_the_worker_goes_on(case):
    case.queue(max_attempts=2, backoff_ms=1)
    worker = case.work(FAMILY + "wait", "--concurrency", "2").ready()
    job = case.job()
    pids = family(case)
    keeper = next(pid for pid in children(worker.process.pid) if pids[1] in [*children(pid)] or pids[0] in children(pid))
    os.kill(keeper, signal.SIGKILL)
    wait_until(lambda: not any(alive(pid) for pid in pids), "the end of the whole tree")
    wait_until(lambda: case.attempts(job), "the attempt to be recorded")
    equal((case.attempts(job)[0].error_class, case.row(job).deaths), ("keeper died", 1), "class, deaths")
    more = family(case, 4)[2:]
    for pid in more:
        os.kill(pid, signal.SIGKILL)
    case.rests(job, "dead")
    check(worker.lives(), "the worker lives")
    equal(worker.end(), 0, "exit code")


@test
def no_command_outlives_a_keeper_and_worker_that_are_killed_together(case):
    case.queue()
    worker = case.work(FAMILY + "wait").ready()
    case.job()
    pids = family(case)
    keeper = children(worker.process.pid)[0]
    command = next(pid for pid in children(keeper) if pid in pids)
    victims = [worker.process.pid, keeper]
    for pid in victims:
        os.kill(pid, signal.SIGSTOP)
    for pid in victims:
        os.kill(pid, signal.SIGKILL)
    wait_until(lambda: not alive(command), "the end of the command itself")
    for pid in worker.processes():  # grandchildren of two that are killed at one stroke are their supervisor's
        os.kill(pid, signal.SIGKILL)
    worker.wait()
