"""One long-lived command a slot that speaks JSON lines, and what each breach of that costs. cases/worker.md 5, 12."""
import json
import os
import signal

from endwell import children
from journal import check, equal, wait_until
from worker_case import alive, test

PRELUDE = """
import json, os, sys, time, signal
def read():
    line = sys.stdin.readline()
    if not line:
        sys.exit(0)
    return json.loads(line)
def say(**words):
    sys.stdout.write(json.dumps(words) + "\\n"); sys.stdout.flush()
def raw(text):
    os.write(1, text if isinstance(text, bytes) else text.encode())
def note(name, text):
    with open(name, "a") as file:
        file.write(f"{text}\\n")
note("pids", os.getpid())
"""

ECHO = PRELUDE + """
while True:
    job = read()
    say(id=job["id"], generation=job["generation"], result=job["payload"])
"""

# What it does with a job stands in the payload; `old` is the job before.
HOSTILE = PRELUDE + """
old = None
while True:
    job = read()
    key = {"id": job["id"], "generation": job["generation"]}
    what = job["payload"]
    if what == "unknown id":
        say(id=job["id"] + 1000, generation=1, result="forged")
    elif what == "old generation":
        say(id=job["id"], generation=job["generation"] - 1, result="forged")
        say(**{**(old or key), "result": "forged"}) if old else None
    elif what == "garbage":
        raw("hello, world\\n")
    elif what == "half a line":
        raw(json.dumps({**key, "result": "half"})[:-4]); os._exit(0)
    elif what == "a whole line and the end":
        raw(json.dumps({**key, "result": "whole"}) + "\\n"); os._exit(1)
    elif what == "no newline":
        try:
            for _ in range(1600):
                raw(b"x" * 65536)
        except BrokenPipeError:
            pass
        time.sleep(1000)
    elif what == "nothing":
        time.sleep(1000)
    elif what == "no stdout":
        os.close(1); time.sleep(1000)
    elif what == "exit":
        sys.exit(3)
    elif what == "kill":
        os.kill(os.getpid(), signal.SIGKILL)
    elif what == "twice":
        say(**key, result="first"); say(**key, error="second")
    elif what == "flood":
        for number in range(300):
            say(id=1000000 + number, generation=1, result=1)
    say(**key, result="good")
    old = key
"""


def stream(case, text, *options, **more):
    return case.work(case.python("stream.py", text), "--stream", *options, **more)


@test
def one_child_serves_many_jobs_and_ends_with_its_input(case):
    case.queue()
    worker = stream(case, ECHO, "--concurrency", "2").ready()
    payloads = ['{"a": [1, 2]}', '"%s"' % ("é" * (4 << 10)), "17", '{"line":\n "break"}'] + [str(number) for number in range(100)]
    jobs = [(case.job(payload=payload), payload) for payload in payloads]
    for job, payload in jobs:
        row = case.rests(job, "done") if len(payload) < 100000 else case.row(job)
        if row.state == "done":
            equal(json.loads(row.result), json.loads(payload), "result")
    equal(len(case.lines("pids")), 2, "children")
    equal(worker.end(), 0, "exit code")
    check(not any(alive(int(pid)) for pid in case.lines("pids")), "a child lives on")


@test
def a_payload_of_eight_mebibytes_goes_through_a_stream_both_ways(case):
    case.queue()
    stream(case, ECHO, "--max-result", "16M")
    payload = '"%s"' % ("x" * (8 << 20))
    check(case.done(case.job(payload=payload)).result == payload, "it came back changed")


@test
def a_stream_tells_failures_with_class_wait_and_finality(case):
    case.queue(backoff_ms=1)
    stream(case, PRELUDE + """
while True:
    job = read()
    say(id=job["id"], generation=job["generation"], error="no such voice: 'x'", **job["payload"])
""")
    plain = case.job(payload="{}", max_attempts=1)
    fatal = case.job(payload='{"fatal": true, "class": "voice"}')
    later = case.job(payload='{"retry_in": 5000}')
    row = case.rests(plain, "dead")
    equal((row.error_class, row.last_error), ("no such voice: '…'", "no such voice: 'x'"), "class, error")
    row = case.rests(fatal, "dead")
    equal((row.error_class, row.attempts), ("voice", 1), "class, attempts")
    wait_until(lambda: case.row(later).attempts == 1 and case.row(later).state == "ready", "the failure")
    left = case.admin.value("select extract(epoch from run_at - clock_timestamp()) from @schema@.job where id = %s", later)
    check(4000 < left <= 5000, f"due in {left} s")


@test
def case_12_each_breach_costs_what_it_must_and_the_other_slots_go_on(case):
    case.queue("hostile", max_attempts=1)
    case.queue("good")
    worker = stream(case, HOSTILE, "--concurrency", "2", "--hard-timeout", "1s", "--kill-after", "0", queue="hostile").ready()
    costs = {"unknown id": ("done", ""), "old generation": ("done", ""), "twice": ("done", ""), "flood": ("dead", "protocol"),
             "garbage": ("dead", "protocol"), "half a line": ("dead", "exit 0"), "a whole line and the end": ("done", ""),
             "no newline": ("dead", "protocol"), "nothing": ("dead", "timed out"), "no stdout": ("dead", "timed out"),
             "exit": ("dead", "exit 3"), "kill": ("dead", "signal 9"), "fine": ("done", "")}
    jobs = {what: case.job("hostile", payload=json.dumps(what)) for what in costs}
    for what, (state, kind) in costs.items():
        row = case.rests(jobs[what], state)
        check((row.error_class or "").startswith(kind), f"{what}: {row.error_class}")
        equal(row.attempts, 1, f"attempts of {what}")
        check(row.result in (None, '"good"', '"first"', '"whole"'), f"{what}: {row.result}")
    log = worker.log()
    for sentence in ("which it does not hold", "broke its protocol: it is no JSON object",
                     "broke its protocol: a line is longer", "broke its protocol: it keeps speaking"):
        check(sentence in log, f"the log does not say: {sentence}")
    equal(worker.end(), 0, "exit code")


@test
def a_stream_that_has_no_job_and_talks_nonsense_costs_no_job(case):
    case.queue()
    worker = stream(case, PRELUDE + """
if len(open("pids").readlines()) < 3:
    raw("nonsense\\n")
while True:
    job = read()
    say(id=job["id"], generation=job["generation"], result=1)
""").ready()
    wait_until(lambda: len(case.lines("pids")) == 3, "the third child")
    row = case.done(case.job())
    equal(row.attempts, 1, "attempts")
    equal(worker.end(), 0, "exit code")


@test
def a_stream_that_cannot_be_had_is_given_up(case):
    case.queue()
    job = case.job()
    worker = case.work(["/bin/sh", "-c", "exit 9"], "--stream")
    equal(worker.wait(), 1, "exit code")
    check("gives up" in worker.log(), "it says so")
    row = case.row(job)
    equal((row.state, row.attempts), ("ready", 0), "the job that nobody read")


ITEMS = PRELUDE + """
while True:
    job = read()
    key = {"id": job["id"], "generation": job["generation"]}
    for item in range(job["payload"]):
        say(**key, item=str(item), begin=True)
        answer = read()
        note("answers", answer["answer"])
        if answer["answer"] == "done":
            note("kept", json.dumps(answer["result"]))
        if answer["answer"] != "go":
            continue
        note("performed", item)
        time.sleep(0.2)
        say(**key, item=str(item), done=True, result={"item": item})
        assert read()["answer"] == "ok"
        if item == 2 and os.path.exists("stop"):
            os.kill(os.getpid(), signal.SIGKILL)
    say(**key, result="all")
"""


@test
def items_that_are_done_are_not_repeated_by_the_next_attempt(case):
    case.queue(backoff_ms=1)
    case.file("stop")
    stream(case, ITEMS)
    job = case.job(payload="5")
    wait_until(lambda: case.row(job).deaths == 1, "the first attempt's end")
    os.unlink(case.path("stop"))
    row = case.done(job)
    equal(row.attempts, 2, "attempts")
    equal(case.lines("performed"), ["0", "1", "2", "3", "4"], "items performed")
    equal([json.loads(line) for line in case.lines("kept")], [{"item": item} for item in range(3)], "results that were kept")


@test
def an_item_that_was_never_begun_costs_its_end_and_not_the_job(case):
    """The ledger says `stale` of both: of an item that nobody began, and of a job that is not ours."""
    case.queue(lease_ms=60000)
    worker = stream(case, PRELUDE + """
while True:
    job = read()
    key = {"id": job["id"], "generation": job["generation"]}
    say(**key, item="never begun", done=True)
    note("answers", read()["answer"])
    say(**key, result="all")
""").ready()
    row = case.done(case.job())
    equal((row.attempts, row.gen, row.result), (1, 1, '"all"'), "attempts, generation, result")
    equal(case.lines("answers"), ["stale"], "what it was told of the item")
    equal(worker.end(), 0, "exit code")


@test
def case_5_a_long_batch_is_never_recovered_while_it_progresses(case):
    case.queue(lease_ms=1000)
    case.sweep()
    stream(case, ITEMS, "--stall-timeout", "2s")
    row = case.done(case.job(payload="20"))
    equal((row.attempts, row.gen), (1, 1), "attempts, generation")


@test
def case_5_a_worker_that_was_stopped_loses_its_job_stops_its_command_and_no_item_is_done_twice(case):
    case.queue(lease_ms=1000, backoff_ms=1)
    case.sweep()
    first = stream(case, ITEMS).ready()
    job = case.job(payload="8")
    wait_until(lambda: len(case.lines("performed")) >= 2, "two items")
    child = int(case.lines("pids")[0])
    first.send(signal.SIGSTOP)
    wait_until(lambda: case.row(job).gen == 2, "the recovery")
    second = case.work([*case.python("second.py", ITEMS)], "--stream").ready()
    wait_until(lambda: case.row(job).gen == 3, "the second claim")
    first.send(signal.SIGCONT)
    wait_until(lambda: not alive(child), "the end of the first command")
    row = case.rests(job, "done")
    performed = case.lines("performed")
    check(len(performed) == len(set(performed)), f"performed twice: {performed}")
    check(f"job {job} (lost): its command is killed" in first.log(), "the first worker says so")
    equal(row.result, '"all"', "the result is the second's")
    equal((first.end(), second.end()), (0, 0), "exit codes")


@test
def a_cancelled_stream_is_told_by_a_line_and_may_live_on(case):
    case.queue(lease_ms=1000)
    stream(case, PRELUDE + """
while True:
    job = read()
    key = {"id": job["id"], "generation": job["generation"]}
    if job["payload"] == 1:
        told = read()
        note("told", json.dumps(told))
        say(**key, error="stopped")
    else:
        say(**key, result=1)
""")
    job = case.job(payload="1")
    case.is_running(job)
    equal(case.ledger.cancel(job), "asked", "cancel")
    case.rests(job, "cancelled")
    case.done(case.job(payload="2"))
    equal(len(case.lines("pids")), 1, "children")
    equal(json.loads(case.lines("told")[0])["cancel"], True, "what it was told")


@test
def a_stream_that_floods_without_reading_answers_costs_no_memory(case):
    case.queue(max_attempts=1)
    worker = stream(case, PRELUDE + """
job = read()
key = json.dumps({"id": job["id"], "generation": job["generation"], "item": "i", "begin": True}) + "\\n"
while True:
    raw(key * 500)
""", "--hard-timeout", "2s", "--kill-after", "0").ready()
    case.rests(case.job(), "dead")
    kib = int(next(line for line in open(f"/proc/{worker.process.pid}/status", encoding="ascii") if line.startswith("VmHWM")).split()[1])
    check(kib < 64 << 10, f"the worker took {kib} KiB")
    equal(len(children(worker.process.pid)), 1, "keepers")
