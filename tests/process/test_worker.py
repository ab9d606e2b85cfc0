"""A command a job: what it gets, what becomes of what it says and of how it ends. cases/worker.md 2, 3, 9, 10, 15, 18, 20."""
import json
import os
import signal
import struct
import time

from journal import check, equal, wait_until, within
from worker_case import test

STEPPED_CLOCK = os.path.join(os.path.dirname(os.environ["ENDWELL_ACTOR"]), "libstepped_clock.so")


@test
def a_command_gets_its_payload_and_all_that_fences_it_and_its_output_is_the_result(case):
    worker = case.work("cat; env >&2", queue="unknown before").ready()
    job = case.job("unknown before", kind="k", payload='{"a":  1.0}')
    row = case.done(job)
    equal(row.result, '{"a":  1.0}', "result")
    worker.until("ENDWELL_OWNER")
    said = dict(line.split("=", 1) for line in worker.log().splitlines() if "=" in line)
    equal(said["ENDWELL_JOB_ID"], str(job), "ENDWELL_JOB_ID")
    equal(said["ENDWELL_GENERATION"], str(row.gen), "ENDWELL_GENERATION")
    equal(said["ENDWELL_CLAIM_ID"], row.claim_id, "ENDWELL_CLAIM_ID")
    equal(said["ENDWELL_ATTEMPT"], "1", "ENDWELL_ATTEMPT")
    equal(said["ENDWELL_OWNER"], worker.owner, "ENDWELL_OWNER")
    equal(said["DATABASE_URL"], case.url, "DATABASE_URL")
    equal(worker.end(), 0, "exit code")


@test
def each_exit_code_has_its_meaning(case):
    case.queue(backoff_ms=1)
    case.queue("once", max_attempts=1)
    case.work('read -r code; echo "bad chunk $code of the file" >&2; exit "$code"', "--bury-codes", "65", queue="q")
    case.work('read -r code; echo "bad chunk $code of the file" >&2; exit "$code"', "--bury-codes", "65", queue="once")
    buried, once, again = case.job(payload="65"), case.job("once", payload="3"), case.job(payload="75")
    row = case.rests(buried, "dead")
    equal((row.attempts, row.fatal, row.deaths), (1, True, 0), "of a listed code")
    equal(case.attempts(buried)[0].error_class, "exit 65: bad chunk # of the file", "class")
    row = case.rests(once, "dead")
    equal((row.attempts, row.fatal, row.deaths), (1, False, 0), "of another code")
    check(row.last_error.startswith("the command exited with 3\nbad chunk 3"), f"last_error: {row.last_error}")
    row = case.rests(again, "dead")
    equal((row.attempts, row.fatal), (row.max_attempts, False), "75 tries again until its attempts are spent")


@test
def case_2_four_corrupt_files_among_four_hundred_hold_no_slot_once_their_attempts_are_spent(case):
    case.queue(max_attempts=3, backoff_ms=50)
    case.ledger.enqueue_many("q", "decode", ['"good"'] * 200)
    corrupt = [case.job(kind="decode", payload='"corrupt"') for _ in range(4)]
    case.ledger.enqueue_many("q", "decode", ['"good"'] * 200)
    worker = case.work('read -r p; case "$p" in *corrupt*) echo "cannot decode" >&2; exit 2;; esac', "--concurrency", "8")
    case.all_done(400)
    for job in corrupt:
        row = case.rests(job, "dead")
        equal((row.attempts, len(case.attempts(job))), (3, 3), "attempts")
    culprits = case.ledger.culprits()
    equal([(row.failures, row.distinct_jobs) for row in culprits], [(12, 4)], "12 failures came from 4 jobs")
    equal(worker.end(), 0, "exit code")
    equal(case.held(), 0, "running jobs")


@test
def case_3_a_command_that_is_killed_from_outside_has_crashed_and_waits_for_its_backoff(case):
    case.queue(backoff_ms=600000)
    case.work("echo $$ > pid; exec sleep 1000")
    job = case.job()
    pid = int(wait_until(lambda: "".join(case.lines("pid")), "the pid"))
    os.kill(pid, signal.SIGKILL)
    row = case.rests(job, "ready")
    equal((row.attempts, row.deaths), (1, 1), "attempts, deaths")
    check("killed by signal 9 (SIGKILL)" in row.last_error, f"last_error: {row.last_error}")
    left = case.admin.value("select extract(epoch from run_at - clock_timestamp()) from @schema@.job where id = %s", job)
    check(250 < left <= 600, f"the next attempt is due in {left} s")


@test
def case_9_a_result_that_is_too_long_fails_the_job_and_the_worker_lives(case):
    case.queue(max_attempts=1)
    worker = case.work('read -r n; head -c "$n" /dev/zero | tr "\\0" 1', "--max-result", "1M")
    large, fits = case.job(payload=str(10 << 20)), case.job(payload=str(1 << 20))
    row = case.rests(large, "dead")
    check("more than the 1048576 bytes" in row.last_error, f"last_error: {row.last_error}")
    equal(row.result, None, "result")
    equal(len(case.done(fits).result), 1 << 20, "a result of exactly the limit")
    check(worker.lives(), "the worker lives")


@test
def case_9_what_is_no_json_in_utf_8_is_stored_as_base64(case):
    case.queue()
    case.work(case.python("write.py", "import json, sys; sys.stdout.buffer.write(bytes(json.load(sys.stdin)))"))
    jobs = {case.job(payload=json.dumps(list(written))): stored for written, stored in (
        (b"\0", '{"base64":"AA=="}'), (b"\xff\xfe", '{"base64":"//4="}'), (b"hello", '{"base64":"aGVsbG8="}'),
        (b"1\x002", '{"base64":"MQAy"}'), (b"[1, 2.50]", "[1, 2.50]"), (b"", None), (b"\n ", None))}
    for job, stored in jobs.items():
        equal(case.done(job).result, stored, "result")


@test
def case_10_payloads_arrive_byte_for_byte(case):
    case.queue()
    case.work('cat', "--max-result", "16M", "--concurrency", "2")
    payloads = ['"%s"' % ("x" * (8 << 20)), '{"q": "\\"\'$(ls)`;", "n":\n\n [1.0,  1e400]}', '"\U0001f600 \\u0000 \\ud83d"',
                '"' + "é\\n" * 5000 + '"', "null", "[]"]
    for job, payload in [(case.job(payload=payload), payload) for payload in payloads]:
        check(case.done(job).result == payload, f"a payload of {len(payload)} letters came back changed")


@test
def a_large_payload_can_also_be_read_from_a_file_and_again(case):
    case.queue()
    case.work('test -z "$ENDWELL_PAYLOAD_FILE" && exit 0; cat > /dev/null; (setsid wc -c < "$ENDWELL_PAYLOAD_FILE")')
    small, large = case.job(payload='"small"'), case.job(payload='"%s"' % ("x" * 100000))
    equal(case.done(large).result.strip(), "100002", "bytes of the file")
    equal(case.done(small).result, None, "no file for a small one")


@test
def case_15_a_clock_that_is_an_hour_off_changes_nothing(case):
    case.queue(lease_ms=1000, hard_timeout_ms=600000, backoff_ms=1)
    case.sweep()
    for offset in (3600, -3600):
        with open(case.path("clock"), "wb") as file:
            file.write(struct.pack("=q", offset))
        worker = case.work("sleep 1.5; date +%s", environment={
            "STEPPED_CLOCK": case.path("clock"), "LD_PRELOAD": STEPPED_CLOCK, "ASAN_OPTIONS": "verify_asan_link_order=0"}).ready()
        job = case.job()
        row = case.done(job)
        equal((row.attempts, row.gen), (1, 1), f"attempts, generation with a clock of {offset} s")
        within(int(row.result) - time.time(), offset - 60, offset + 60, "the clock that worker and command saw")
        equal(worker.end(), 0, "exit code")


@test
def case_18_run_at_priority_and_age_are_kept_to(case):
    case.queue(backoff_ms=1)
    later = case.job(payload="9", run_at=case.admin.value("select clock_timestamp() + interval '2 s'"), priority=-5)
    for number, priority in ((4, 5), (1, 0), (2, 0), (0, -1), (3, 1)):
        case.job(payload=str(number), priority=priority)
    case.work("cat >> order; echo >> order", "--poll", "100ms")
    case.done(later)
    equal(case.lines("order"), ["0", "1", "2", "3", "4", "9"], "order")
    early = case.admin.value("select claimed_at >= run_at from @schema@.job where id = %s", later)
    check(early, "it was claimed before its time")


@test
def case_20_no_secret_shows_in_the_log_in_lists_or_in_a_command_line(case):
    case.queue(max_attempts=2, backoff_ms=1)
    secret = "s3cret-of-the-payload"
    url = case.url_of(case.yard.server(), ":s3cret-of-the-url")
    worker = case.work("cat > /dev/null; echo $$ > pid; sleep 0.3; exit 1", url=url,
                       environment={"TOKEN": "s3cret-of-the-environment"})
    job = case.job(payload=f'"{secret}"')
    wait_until(lambda: case.lines("pid"), "the command")
    lines = [open(f"/proc/{pid}/cmdline", "rb").read() for pid in [worker.process.pid, *worker.below()] if
             os.path.exists(f"/proc/{pid}/cmdline")]
    case.rests(job, "dead")
    listed = case.endwell("jobs", "list", "q", "--state", "dead")
    equal(listed.returncode, 0, f"jobs list: {listed.stderr}")
    worker.end()
    for what, text in (("the log", worker.log()), ("jobs list", listed.stdout + listed.stderr), ("command lines", str(lines))):
        check("s3cret" not in text, f"a secret stands in {what}: {text}")


@test
def the_lease_of_a_command_that_says_nothing_is_renewed_while_it_lives(case):
    case.queue(lease_ms=1000)
    case.sweep()
    case.work("sleep 3; echo 1", "--concurrency", "4")
    rows = [case.done(job) for job in [case.job() for _ in range(4)]]
    equal([(row.attempts, row.gen) for row in rows], [(1, 1)] * 4, "attempts, generations")


@test
def progress_by_the_words_of_sd_notify_keeps_a_job_and_is_kept(case):
    case.queue(max_attempts=1)
    endwell = os.environ["ENDWELL_BINARY"]
    case.work(f"for i in 1 2 3 4 5 6; do {endwell} notify STATUS=part$i; sleep 0.25; done", "--stall-timeout", "1s")
    job = case.job()
    row = case.done(job)
    check(row.progress and json.loads(row.progress)["status"].startswith("part"), f"progress: {row.progress}")


@test
def who_makes_no_progress_is_asked_then_killed_with_all_below_it_and_has_died(case):
    case.queue(max_attempts=1)
    worker = case.work("trap 'echo asked >> signs' TERM; (trap '' TERM; sleep 1000) & while :; do wait; done",
                       "--stall-timeout", "300ms", "--kill-after", "300ms")
    job = case.job()
    row = case.rests(job, "dead")
    equal((row.deaths, case.attempts(job)[0].error_class), (1, "stalled"), "deaths, class")
    equal(case.lines("signs"), ["asked"], "it was asked first")
    wait_until(lambda: len(worker.below()) == 1, "only the keeper below the worker")


@test
def items_that_a_command_reports_by_its_own_sql_are_progress(case):
    case.queue(max_attempts=1)
    case.work(case.python("items.py", f"""
import os, time, psycopg2
db = psycopg2.connect(os.environ["DATABASE_URL"]); db.autocommit = True
key = [os.environ["ENDWELL_" + name] for name in ("JOB_ID", "GENERATION", "CLAIM_ID")]
for item in range(8):
    with db.cursor() as cursor:
        cursor.execute('select {case.quoted}.item_begin(%s, %s, %s, %s)', (*key, str(item)))
        assert cursor.fetchone()[0] == "go"
        time.sleep(0.3)
        cursor.execute('select {case.quoted}.item_end(%s, %s, %s, %s, true)', (*key, str(item)))
"""), "--stall-timeout", "1500ms")
    row = case.done(case.job())
    equal(row.attempts, 1, "attempts")


@test
def a_job_that_is_cancelled_is_stopped_and_rests_cancelled(case):
    case.queue(lease_ms=1000)
    case.work("exec sleep 1000", "--kill-after", "1s")
    job = case.job()
    case.is_running(job)
    equal(case.ledger.cancel(job), "asked", "cancel")
    case.rests(job, "cancelled")


@test
def a_command_that_is_not_there_ends_the_worker_and_gives_its_job_back(case):
    case.queue()
    job = case.job()
    worker = case.work(["/nonexistent/command"])
    equal(worker.wait(), 127, "exit code")
    row = case.row(job)
    equal((row.state, row.attempts, row.releases), ("ready", 0, 1), "the job")


@test
def without_a_ledger_the_worker_gives_up_visibly(case):
    worker = case.work("true", url=case.url.replace(f"/{case.database}?", "/postgres?"), environment={"ENDWELL_DATABASE_SCHEMA": "nope"})
    equal(worker.wait(), 69, "exit code")
    check("endwell ledger migrate" in worker.log(), "it says what would help")


@test
def wrong_words_are_refused(case):
    for words in ([], ["--queue", "q"], ["--queue", "q", "--nonsense", "--", "true"]):
        done = case.endwell("worker", *words)
        equal((done.returncode, done.stdout), (64, ""), f"{words}")
        check(done.stderr.startswith("endwell worker: "), done.stderr)
    helped = case.endwell("worker", "--help")
    equal(helped.returncode, 0, "help")
    check("--concurrency" in helped.stdout, "help names the options")


@test
def what_commands_write_to_stderr_is_passed_on_unless_it_shall_not(case):
    case.queue()
    loud = case.work("echo hello from below >&2").ready()
    case.done(case.job())
    loud.until("hello from below")
    loud.end()
    quiet = case.work("echo hello from below >&2", "--quiet").ready()
    case.done(case.job())
    quiet.end()
    check("hello from below" not in quiet.log(), "quiet")


@test
def through_a_pooler_everything_works_by_asking(case):
    case.queue()
    worker = case.work("cat", "--poll", "100ms", "--concurrency", "4", url=case.url_of(case.yard.pooler)).ready()
    case.ledger.enqueue_many("q", "k", [str(number) for number in range(50)])
    case.all_done(50)
    equal(worker.end(), 0, "exit code")
    equal(case.held(), 0, "running jobs")
