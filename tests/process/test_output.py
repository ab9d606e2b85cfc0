"""Output that the logger writes: prefix, json, rotated logs; what is kept; hostile writers and readers, dead loggers."""
import fcntl
import json
import os
import signal
import threading

from case import test
from endwell import children
from journal import check, equal, wait_until

TRAP = "trap 'printf last-byte; exit 0' TERM; "  # first of all: a signal may come as soon as the words are out
HOLD = "while :; do sleep 0.05; done"
KIB = 1024


def entries(text):
    return [json.loads(line) for line in text.split("\n") if line]  # splitlines() knows other ends, too


def joined(lines):
    """The lines of one writer as he wrote them: parts put together again."""
    whole, text = [], ""
    for line in lines:
        text += line["line"]
        if not line.get("partial"):
            whole.append(text)
            text = ""
    equal(text, "", "what follows the last part")
    return whole


def logger_of(run):
    def find():
        for pid in children(run.pid):
            with open(f"/proc/{pid}/cmdline", "rb") as file:
                if b"endwell-logger" in file.read().split(b"\0")[0]:
                    return pid
        return 0
    wait_until(find, "a logger")
    return find()


def until_output(run, text):
    wait_until(lambda: text in run.output(), f"{text!r} in the output", alive=run.alive)


@test
def json_names_the_writer_and_the_stream_and_the_pid(case):
    plan = case.plan(Phases="one")
    plan.shell("web", TRAP + f"echo to-out; echo to-err >&2; echo pid $$; {HOLD}", Phase="one", Instances=2,
               StandardOutput="json", StandardError="json")
    run = case.run(plan).ready()
    wait_until(lambda: run.output().count('"pid ') == 2 and run.errors().count("to-err") == 2, "all lines")
    equal(run.end(), 0, "exit code")
    lines = entries(run.output())
    for instance in (1, 2):
        mine = [line for line in lines if line["instance"] == instance]
        equal([line["line"] for line in mine], ["to-out", f"pid {mine[0]['pid']}", "last-byte"], "what it wrote")
        equal({(line["service"], line["stream"]) for line in mine}, {("web", "stdout")}, "whose it is")
    errors = [json.loads(line) for line in run.errors().splitlines() if line.startswith('{"time"')]
    equal([line["stream"] for line in errors], ["stderr"] * 2, "streams")


@test
def a_prefix_names_the_instance_and_the_bytes_stay(case):
    plan = case.plan(Phases="one")
    plan.shell("web", TRAP + f"echo one; {HOLD}", Phase="one", Instances=2, StandardOutput="prefix")
    plan.shell("db", TRAP + f"printf 'tab\\there\\n'; {HOLD}", Phase="one", StandardOutput="prefix")
    run = case.run(plan).ready()
    for text in ("web@1 | one\n", "web@2 | one\n", "db | tab\there\n"):
        until_output(run, text)
    equal(run.end(), 0, "exit code")
    equal(sorted(run.output().splitlines())[-2:], ["web@2 | last-byte", "web@2 | one"], "its last words")


@test
def two_hundred_kilobytes_without_a_newline_and_a_death_lose_nothing(case):
    plan = case.plan(Phases="one")
    plan.shell("web", "head -c 204800 /dev/zero | tr '\\0' x; printf END; kill -9 $$", Phase="one", Essential="no",
               Restart="no", StandardOutput="json")
    plan.actor("stays", "serve", Phase="one")
    run = case.run(plan)
    run.journal.until("service_gave_up", service="web")
    until_output(run, "END")
    check(max(map(len, run.output().splitlines())) < 4096, "no entry is longer than a pipe takes whole")
    equal(joined(entries(run.output())), ["x" * 204800 + "END"], "what came out")
    equal(run.end(), 0, "exit code")


@test
def bytes_that_are_no_utf8_become_json_all_the_same(case):
    plan = case.plan(Phases="one")
    plan.shell("web", TRAP + f"printf '\\377\\300 \\303\\251 \\033\\001\\n'; head -c 100000 /dev/urandom; echo; echo over; {HOLD}",
               Phase="one", StandardOutput="json")
    run = case.run(plan).ready()
    until_output(run, '"over"')
    equal(joined(entries(run.output()))[0], "\ufffd\ufffd \u00e9 \x1b\x01", "the first line")
    equal(run.end(), 0, "exit code")


@test
def a_hook_of_the_service_speaks_under_its_name_also_in_the_last_phase(case):
    plan = case.plan(Phases="one")
    plan.actor("web", "serve", Phase="one", StandardOutput="json", StandardError="prefix")
    plan.section("[Hook flush]", {"Exec": "/bin/sh -c 'printf very-last; echo bad >&2; kill -9 $$$$'", "Service": "web",
                                  "On": "post-stop"})
    run = case.run(plan).ready()
    equal(run.end(), 0, "exit code")
    last = entries(run.output())[-1]
    equal((last["service"], last["hook"], last["line"]), ("web", "flush", "very-last"), "the last line")
    check("web flush | bad\n" in run.errors(), "its stderr has its name")


@test
def a_log_is_rotated_and_keeps_the_last_byte_of_a_killed_service(case):
    log = case.path("web.log")
    plan = case.plan(Phases="one")
    plan.shell("web", "seq 1 20000; printf end; kill -9 $$", Phase="one", Essential="no", Restart="no",
               StandardOutput=f"log:{log}", StandardError=f"log:{log}", LogMaxSize="40K", LogMaxFiles=4)
    plan.actor("stays", "serve", Phase="one")
    run = case.run(plan)
    run.journal.until("service_gave_up", service="web")
    wait_until(lambda: os.path.exists(log) and case.text("web.log").endswith("end\n"), "the last byte")
    names = ["web.log.2", "web.log.1", "web.log"]
    equal("".join(case.text(name) for name in names), "".join(f"{n}\n" for n in range(1, 20001)) + "end\n", "all of it")
    for name in names:
        check(os.path.getsize(case.path(name)) <= 40 * KIB, f"{name} is not too large")
    equal(run.end(), 0, "exit code")


@test
def sigusr2_opens_the_log_anew(case):
    log = case.path("web.log")
    gate = case.fifo("gate")
    plan = case.plan(Phases="one")
    plan.shell("web", TRAP + f"echo before; read x < {gate}; echo after; {HOLD}", Phase="one", StandardOutput=f"log:{log}")
    run = case.run(plan).ready()
    wait_until(lambda: os.path.exists(log) and case.text("web.log") == "before\n", "the first line")
    os.rename(log, log + ".moved")
    run.send(signal.SIGUSR2)
    run.journal.until("signal_received", signal="SIGUSR2")
    wait_until(lambda: os.path.exists(log), "a new file")
    with open(gate, "w", encoding="utf-8") as file:
        file.write("go\n")
    wait_until(lambda: case.text("web.log") == "after\n", "what came later")
    equal(run.end(), 0, "exit code")
    equal(case.text("web.log.moved"), "before\n", "what was moved away")


@test
def a_vanished_folder_costs_lines_that_are_counted_and_nothing_else(case):
    folder = case.path("logs")
    gate = case.fifo("gate")
    os.mkdir(folder)
    plan = case.plan(Phases="one")
    plan.shell("web", TRAP + f"read x < {gate}; seq 1 500; read x < {gate}; echo again; {HOLD}", Phase="one",
               StandardOutput=f"log:{folder}/web.log")
    run = case.run(plan).ready()
    wait_until(lambda: os.path.exists(f"{folder}/web.log"), "the log")
    os.unlink(f"{folder}/web.log")
    os.rmdir(folder)
    run.send(signal.SIGUSR2)
    wait_until(lambda: "could not be written" in run.errors(), "that it was said")
    with open(gate, "w", encoding="utf-8") as file:
        file.write("go\n")
    wait_until(lambda: sum(line["n"] for line in run.journal.all("log_dropped", service="web")) == 500, "all are counted")
    os.mkdir(folder)
    wait_until(lambda: os.path.exists(f"{folder}/web.log"), "that it works again")
    with open(gate, "w", encoding="utf-8") as file:
        file.write("go\n")
    wait_until(lambda: "again\n" in case.text("logs/web.log"), "the next line")
    check("500 lines are missing here" in case.text("logs/web.log"), "the gap is named")
    equal(run.end(), 0, "exit code")


def stuck_reader(case, plan):
    """A run whose standard output is a pipe that nobody reads yet."""
    reader, writer = os.pipe()
    fcntl.fcntl(writer, fcntl.F_SETPIPE_SZ, 4096)
    run = case.run(plan, stdout=writer)
    os.close(writer)
    return run, reader


@test
def a_reader_that_reads_nothing_holds_up_no_service_for_long_and_what_is_dropped_is_counted(case):
    plan = case.plan(Phases="one")
    plan.shell("web", TRAP + f"seq 1 200000; echo done > {case.path('done')}; {HOLD}", Phase="one", StandardOutput="json")
    run, reader = stuck_reader(case, plan)
    wait_until(lambda: os.path.exists(case.path("done")), "that the service wrote on", alive=run.alive)
    run.journal.until("log_dropped", service="web")
    equal(run.verb("status").returncode, 0, "exit code of status meanwhile")
    got = []
    with os.fdopen(reader, "rb") as file:
        reading = threading.Thread(target=lambda: got.append(file.read()))
        reading.start()
        wait_until(lambda: run.verb("logs", "web", "-n", "1").stdout.endswith(" 200000\n"), "that all of it came in")
        equal(run.end(), 0, "exit code")
        reading.join()
    lines = [line["line"] for line in entries(got[0].decode())]
    numbers = [int(line) for line in lines if line.isdigit()]
    equal(numbers[:5000], list(range(1, 5001)), "the beginning, which fits into the stated limit")
    dropped = sum(line["n"] for line in run.journal.all("log_dropped", service="web"))
    equal(len(numbers) + lines.count("last-byte") + dropped, 200001, "what came and what was counted")


@test
def logs_shows_what_was_kept_of_all_or_of_one_and_follows(case):
    gate = case.fifo("gate")
    plan = case.plan(Phases="one")
    plan.shell("web", TRAP + f"seq 1 3; echo I $ENDWELL_INSTANCE; {HOLD}", Phase="one", Instances=2, StandardOutput="prefix")
    plan.shell("slow", f"echo early; read x < {gate}; printf later; kill -9 $$", Phase="one", Essential="no", Restart="no",
               StandardOutput=f"log:{case.path('slow.log')}")
    plan.actor("quiet", "serve", Phase="one")
    run = case.run(plan).ready()
    until_output(run, "web@1 | I 1"), until_output(run, "web@2 | I 2")
    answer = run.verb("logs", "web@2", "-n", "2", "--json")
    equal([line["line"] for line in entries(answer.stdout)], ["3", "I 2"], "the last two of the second")
    equal(len(run.verb("logs", "web").stdout.splitlines()), 8, "lines of both")
    wait_until(lambda: "slow@1 | early" in run.verb("logs", "slow").stdout, "what went into a file")
    nothing = run.verb("logs", "quiet")
    equal(nothing.returncode, 1, "exit code where nothing is kept")
    check("nothing that quiet wrote is kept" in nothing.stderr, nothing.stderr)
    follower = run.verb_begin("logs", "-f", "--json", "slow")
    equal(json.loads(follower.stdout.readline())["line"], "early", "the first line")
    with open(gate, "w", encoding="utf-8") as file:
        file.write("go\n")
    equal(json.loads(follower.stdout.readline())["line"], "later", "the line that came")
    equal(run.end(), 0, "exit code")
    equal((follower.stdout.read(), follower.wait()), ("", 0), "the end of it")


@test
def logs_answers_during_the_ending(case):
    plan = case.plan(Phases="one", GraceSec=30)
    plan.shell("web", "echo here; trap 'echo asked' TERM; while [ ! -e $0 ]; do sleep 0.05; done".replace(
        "$0", case.path("go")), Phase="one", StandardOutput="prefix")
    run = case.run(plan).ready()
    until_output(run, "web | here")
    run.send(signal.SIGTERM)
    until_output(run, "web | asked")
    check("asked" in run.verb("logs", "web").stdout, "its words in the ending")
    case.file("go")
    equal(run.wait(), 0, "exit code")


@test
def a_logger_that_is_killed_costs_only_what_it_had_in_hand(case):
    gate = case.fifo("gate")
    plan = case.plan(Phases="one")
    plan.shell("web", TRAP + f"echo before; read x < {gate}; seq 1 1000; {HOLD}", Phase="one", StandardOutput="prefix")
    run = case.run(plan).ready()
    until_output(run, "web | before")
    os.kill(logger_of(run), signal.SIGKILL)
    with open(gate, "w", encoding="utf-8") as file:  # while there is none
        file.write("go\n")
    until_output(run, "web | 1000\n")
    equal(run.output().splitlines(), ["web | before"] + [f"web | {n}" for n in range(1, 1001)], "all of it, once")
    wait_until(lambda: run.verb("logs", "web").returncode == 0, "that it is asked again")
    equal(run.end(), 0, "exit code")
    equal(run.output().splitlines()[-1], "web | last-byte", "the last byte")
