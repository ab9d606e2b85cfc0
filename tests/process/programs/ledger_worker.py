#!/usr/bin/python3
"""A worker of anybody's: claims by plain SQL under the name that endwell gave it, says what it has, and then: ledger_worker.py

QUEUE [--n N] [--ignore] [--child FIFO] hold|exit CODE|fault|eat FIFO. hold: completes what it has when it is asked to end,
unless it ignores that; --child: leaves a child that ignores it, until the FIFO is let go; eat: takes all memory after that."""
import argparse
import json
import os
import signal
import time

import psycopg2


def say(event, **fields):
    line = {"event": event, "name": os.environ["ENDWELL_SERVICE"], "instance": int(os.environ["ENDWELL_INSTANCE"]),
            "pid": os.getpid(), "owner": os.environ["ENDWELL_OWNER"], "t": time.monotonic(), **fields}
    log = os.open(os.environ["ACTOR_LOG"], os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o666)
    os.write(log, (json.dumps(line) + "\n").encode())
    os.close(log)


def words():
    parser = argparse.ArgumentParser()
    parser.add_argument("queue")
    parser.add_argument("--n", type=int, default=1)
    parser.add_argument("--ignore", action="store_true")
    parser.add_argument("--child")
    parser.add_argument("then", nargs="+")
    return parser.parse_args()


def wait_for(fifo):
    os.read(os.open(fifo, os.O_RDONLY), 1)


def leave_child(fifo):
    if os.fork() == 0:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        say("child")
        wait_for(fifo)
        os._exit(0)


def claim(cursor, chosen):
    while True:
        cursor.execute("select id, gen, claim_id from endwell.claim(%s, %s, %s)",
                       (chosen.queue, os.environ["ENDWELL_OWNER"], chosen.n))
        jobs = cursor.fetchall()
        if jobs:
            return jobs
        time.sleep(0.005)


def hold(cursor, jobs):
    signal.sigwait({signal.SIGTERM})
    for job in jobs:
        cursor.execute("select endwell.complete(%s, %s, %s)", job)
        say("completed", job=job[0], word=cursor.fetchone()[0])


def main():
    chosen = words()
    signal.signal(signal.SIGTERM, signal.SIG_IGN if chosen.ignore else signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM})
    connection = psycopg2.connect(os.environ["WORKER_DATABASE"])
    connection.autocommit = True
    cursor = connection.cursor()
    cursor.execute("select endwell.worker_up(%s, %s, null, %s)", ("test", os.getpid(), os.environ["ENDWELL_OWNER"]))
    if chosen.child:
        leave_child(chosen.child)
    jobs = claim(cursor, chosen)
    say("claimed", jobs=[job[0] for job in jobs], gens=[job[1] for job in jobs])
    kind = chosen.then[0]
    if kind == "exit":
        os._exit(int(chosen.then[1]))
    if kind == "fault":
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGSEGV})
        os.kill(os.getpid(), signal.SIGSEGV)
    if kind == "eat":
        wait_for(chosen.then[1])
        food = [bytearray(1 << 20) for _ in range(1 << 12)]
        say("fed", n=len(food))
    if chosen.ignore:
        while True:
            signal.pause()
    hold(cursor, jobs)


main()
