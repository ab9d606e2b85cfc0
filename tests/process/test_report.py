"""`endwell report`: journals of real runs, and of runs that were cut off, torn, empty or break a law."""
import json
import os
import signal
import subprocess
import xml.etree.ElementTree as ElementTree

from case import test
from endwell import BINARY
from journal import check, equal

SVG = "{http://www.w3.org/2000/svg}"


def report(case, *words, **more):
    return subprocess.run([BINARY, "report", *words], capture_output=True, text=True, check=False, timeout=60,
                          env=case.environment, cwd=case.directory, **more)


def drawn(case, journal, name):
    """The root of the picture or page, read by an XML parser."""
    done = report(case, "--journal", journal, "-o", name)
    equal((done.returncode, done.stdout, done.stderr), (0, "", ""), f"report -o {name}")
    return ElementTree.parse(os.path.join(case.directory, name)).getroot()


def texts(root):
    return ["".join(one.itertext()) for one in root.iter() if one.tag.split("}")[-1] in ("text", "td", "th", "dd", "p", "h1")]


def judged(case, journal):
    done = report(case, "--journal", journal, "--check", "--json")
    equal(done.stderr, "", "stderr")
    answer = json.loads(done.stdout)
    return done.returncode, answer, {law["law"]: law for law in answer["laws"]}


def put(case, lines, name="by-hand.jsonl"):
    path = os.path.join(case.directory, name)
    with open(path, "w", encoding="utf-8") as file:
        file.write(lines if isinstance(lines, str) else "".join(json.dumps(line, separators=(",", ":")) + "\n" for line in lines))
    return path


def real(case):
    plan = case.plan()
    plan.actor("web", "serve --term-ms 50", Phase="http")
    plan.actor("stubborn", "serve --term-ms 100000", Phase="workers", Instances=2,
               TimeoutStopSec="300ms")
    plan.actor("data", "serve --term-ms 20", Phase="db")
    run = case.run(plan).ready()
    for name in ("web", "data"):
        case.serving(name)
    equal(run.end(), 81, "exit code")
    return run.journal.path


@test
def a_real_run_is_drawn_with_everybody_in_it_and_keeps_the_laws(case):
    journal = real(case)
    code, answer, laws = judged(case, journal)
    equal((code, answer["answer"], answer["code"]), (0, "held", 81), "the judgement")
    equal({law for law, one in laws.items() if one["state"] == "broken"}, set(), "broken laws")
    for law in ("L1", "L2", "L4", "L5", "L6", "L7", "L9", "L10"):
        equal(laws[law]["state"], "held", law)
    picture = drawn(case, journal, "picture.svg")
    equal(picture.tag, SVG + "svg", "root")
    found = texts(picture)
    for wanted in ("exit 81", "phase http", "phase workers", "phase db", "web", "stubborn@1", "stubborn@2", "data"):
        check(wanted in found, f"{wanted} is not in the picture: {found}")
    page = texts(drawn(case, journal, "page.html"))
    for wanted in ("exit 81", "L9", "stubborn@2"):
        check(wanted in page, f"{wanted} is not in the page")
    check(not list(picture.iter(SVG + "script")), "a script in the picture")


@test
def the_same_journal_gives_the_same_bytes(case):
    journal = real(case)
    one, other = (report(case, "--journal", journal).stdout for _ in range(2))
    check(one.startswith("<!DOCTYPE html>") and one == other, "two reports of one journal differ")
    ElementTree.fromstring(one)
    with open(journal, encoding="utf-8") as file:
        piped = report(case, "--journal", "-", stdin=file)
    equal(piped.stdout, one.replace(journal, "standard input"), "from standard input")


@test
def a_run_that_was_killed_is_drawn_as_far_as_it_went(case):
    plan = case.plan()
    plan.actor("web", "serve --term-ms 50", Phase="http")
    run = case.run(plan).ready()
    os.kill(run.pid, signal.SIGKILL)
    run.process.wait()
    run.unchecked = True
    code, answer, laws = judged(case, run.journal.path)
    equal((code, answer["code"], laws["L7"]["state"]), (3, None, "cannot be judged"), "the judgement")
    check("no ending" in texts(drawn(case, run.journal.path, "killed.svg")), "the headline")


def lines_by_hand(service="web"):
    events = [("supervisor_started", {"mode": "production", "phases": ["http"], "version": "0"}),
              ("service_starting", {"service": service, "instance": 1, "attempt": 1}),
              ("service_started", {"service": service, "instance": 1, "pid": 2}),
              ("signal_received", {"signal": "SIGTERM", "effect": "ending_begins"}),
              ("ending_started", {"cause": "signal", "deadline_us": 8000000}),
              ("readiness_changed", {"ready": False, "reason": "ending"}),
              ("phase_started", {"phase": "http", "members": 1, "limit_us": 7000000}),
              ("service_asked", {"service": service, "instance": 1, "signal": "SIGTERM", "reason": "ending"}),
              ("service_exited", {"service": service, "instance": 1, "code": "exited", "status": 0, "asked": True}),
              ("service_gone", {"service": service, "instance": 1, "cause": "clean"}),
              ("phase_finished", {"phase": "http", "gone": 1, "killed": 0, "left": 0, "took_us": 9}),
              ("ending_finished", {"code": 0, "reason": "clean", "took_us": 9, "left_of_grace_us": 1})]
    return [{"seq": i + 1, "mono_us": 1000 * i, "time": "2026-11-30T20:14:00.123456Z", "epoch": 1, "event": event, **fields}
            for i, (event, fields) in enumerate(events)]


@test
def names_with_tags_in_them_are_text(case):
    nasty = "<script>alert(1)</script>&\"'\u0001"
    journal = put(case, lines_by_hand(nasty))
    for name in ("nasty.svg", "nasty.html"):
        root = drawn(case, journal, name)
        equal([one.tag for one in root.iter() if one.tag.endswith("script")], [], "scripts")
        check(any("<script>" in text for text in texts(root)), "the name is not there as text")


@test
def a_law_that_a_journal_breaks_is_named_with_its_event(case):
    lines = lines_by_hand()
    lines[-1]["code"] = 81
    code, answer, laws = judged(case, put(case, lines))
    equal((code, answer["answer"]), (1, "broken"), "the answer")
    equal((laws["L9"]["state"], laws["L9"]["seqs"]), ("broken", [12]), "L9")
    root = drawn(case, put(case, lines), "broken.svg")
    check("L9" in texts(root), "no flag in the picture")
    said = report(case, "--journal", put(case, lines), "--check").stdout
    check("broken" in said and "(event 12)" in said, said)


@test
def empty_torn_joined_and_missing_journals(case):
    lines = lines_by_hand()
    whole = "".join(json.dumps(line, separators=(",", ":")) + "\n" for line in lines)
    for text, why in (("", "there is no event in it"), ("no journal\n", "there is no event in it")):
        done = report(case, "--journal", put(case, text))
        equal((done.returncode, done.stdout), (69, ""), "an empty one")
        check(why in done.stderr, done.stderr)
    done = report(case, "--journal", os.path.join(case.directory, "nowhere"))
    equal(done.returncode, 69, "a missing one")
    check("No such file" in done.stderr, done.stderr)
    equal(judged(case, put(case, whole[:-30]))[0], 3, "a torn one proves nothing of its end")
    drawn(case, put(case, whole[:-30]), "torn.html")
    broken = whole.replace('"code":0', '"code":81')
    joined = put(case, broken + whole)
    equal(judged(case, joined)[0], 0, "of two runs the last one")
    equal(report(case, "--journal", joined, "--run", "1", "--check").returncode, 1, "the first one by its number")
    equal(report(case, "--journal", joined, "--run", "3", "--check").returncode, 69, "a third one")
    gap = put(case, "".join(line + "\n" for i, line in enumerate(whole.splitlines()) if i != 6))
    equal(judged(case, gap)[1]["missing_events"], 1, "a gap")
    put(case, "".join(line + "\n" for line in whole.splitlines()[:5]), "by-hand.jsonl.1")
    rotated = put(case, "".join(line + "\n" for line in whole.splitlines()[5:]))
    equal(judged(case, rotated)[0], 0, "its beginning in FILE.1")


@test
def four_hundred_processes_and_a_refusal_of_what_it_does_not_know(case):
    lines = lines_by_hand()
    extra = []
    for instance in range(2, 401):
        for line in lines[1:3]:
            extra.append({**line, "instance": instance, "pid": instance + 1})
    tail = []
    for instance in range(2, 401):
        for line in lines[7:10]:
            tail.append({**line, "instance": instance})
    every = lines[:3] + extra + lines[3:10] + tail + lines[10:]
    for number, line in enumerate(every, 1):
        line.update(seq=number, mono_us=number * 100)
    journal = put(case, every)
    picture = drawn(case, journal, "many.svg")
    height = float(picture.get("viewBox").split()[3])
    check(height < 1000, f"400 processes make a picture {height} high")
    check("web ×400" in texts(picture), texts(picture))
    equal(judged(case, journal)[0], 0, "the judgement")
    rows = [text for text in texts(drawn(case, journal, "many.html")) if text.startswith("web@")]
    equal(len(rows), 400, "rows of the table")
    for words in (["--journal"], ["-o", "x.png"], ["--run", "0"], ["--json"], ["word"], ["--nothing"]):
        equal(report(case, *words).returncode, 64, f"the exit code of {words}")


@test
def without_a_name_the_journal_is_beside_the_socket(case):
    put(case, lines_by_hand(), "journal.jsonl")
    equal(report(case, "--socket", os.path.join(case.directory, "control.sock"), "--check").returncode, 0, "--socket")
    config = put(case, "[Supervisor]\nRuntimeDirectory=" + case.directory + "\nUnknown=1\n", "endwell.ini")
    equal(report(case, "-c", config, "--check").returncode, 0, "-c")
