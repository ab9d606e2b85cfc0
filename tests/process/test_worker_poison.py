"""Jobs that nobody can do, and jobs that must not be done twice or beside each other. cases/worker.md 1, 17."""
import threading

from journal import check, equal, wait_until
from worker_case import test


class Requeue:
    """A producer that puts its file into the queue again and again, as long as it sees it fail."""

    def __init__(self, case):
        self.session, self.over, self.ids = case.direct(), threading.Event(), set()
        self.thread = threading.Thread(target=self._run, daemon=True)
        self.thread.start()

    def _run(self):
        while not self.over.wait(0.03):
            self.ids.add(self.session.enqueue("q", kind="decode", payload='"corrupt"', dedup="the file")[0].id)
            self.session.rows("update @schema@.job set state = 'ready' where state = 'dead'")  # a hand that means well

    def stop(self):
        self.over.set()
        self.thread.join()


@test
def case_1_a_decoder_that_hangs_is_tried_three_times_and_then_rests_whoever_tries(case):
    case.queue(max_attempts=3, backoff_ms=10)
    case.sweep()
    worker = case.work("read -r file; case $file in *corrupt*) echo x >> tries; exec sleep 1000;; esac", "--concurrency", "4",
                       "--hard-timeout", "700ms", "--kill-after", "100ms", "--poll", "50ms").ready()
    job = case.job(kind="decode", payload='"corrupt"', dedup="the file")
    requeue = Requeue(case)
    wait_until(lambda: case.row(job).is_dead, "the job to be spent")
    tries = case.lines("tries")
    equal(len(tries), 3, "times that the command was begun")
    good = [case.job(kind="decode", payload='"good"') for _ in range(50)]
    for one in good:
        case.done(one)
    requeue.stop()
    equal(requeue.ids, {job}, "what the producer was answered")
    scanner = case.worker()
    equal(case.ledger.claim("q", scanner, 10), [], "what a scan finds")
    equal(case.ledger.claim_job(job, scanner)[0].verdict, "exhausted", "who asks for it by name")
    row = case.row(job)
    equal((row.attempts, row.total_attempts, len(case.lines("tries"))), (3, 3, 3), "attempts")
    equal([(found.failures, found.distinct_jobs) for found in case.ledger.culprits()], [(3, 1)], "culprits")
    equal(case.attempts(job)[0].error_class, "timed out", "class")
    equal(worker.end(), 0, "exit code")
    equal(case.held(), 0, "running jobs")


@test
def case_17_a_second_order_while_the_first_waits_or_runs_is_the_first(case):
    case.queue()
    case.work("while ! test -e go; do sleep 0.02; done; echo 1", "--poll", "50ms")
    first = case.job(dedup="file")
    case.is_running(first)
    equal(case.job(dedup="file"), first, "while it runs")
    case.file("go")
    case.done(first)
    second = case.job(dedup="file")
    check(second != first, "after it is done a new one is made")
    case.done(second)


@test
def case_17_fifty_workers_never_run_two_jobs_of_one_customer_at_once(case):
    case.queue()
    command = ("read -r who; who=$(echo $who | tr -d '\"'); mkdir \"lock.$who\" || echo $who >> overlaps; "
               "sleep 0.02; rmdir \"lock.$who\"; echo 1")
    for number in range(120):
        who = f"customer{number % 4}"
        case.job(payload=f'"{who}"', concurrency_key=who)
    workers = [case.work(command, "--poll", "100ms") for _ in range(50)]
    case.all_done(120)
    equal(case.lines("overlaps"), [], "customers whose jobs overlapped")
    equal([worker.end() for worker in workers], [0] * 50, "exit codes")
