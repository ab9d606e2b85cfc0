#!/usr/bin/python3
"""tiers.py [--full] - runs the parts of a tier one after another and counts single tests over all; see tests/run.

A part that fails does not stop the others, and one in which no test ran has failed."""
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
import xml.etree.ElementTree
from dataclasses import dataclass

HOUSE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.realpath(__file__))))
ALL_OUTPUT = "100000000"  # ctest keeps 1 KiB of a test otherwise, and the counts stand at the end
SHOWN_LINES = 150  # of what a failed test said

# Wherever a program says itself how many tests it ran, those count; else it is one test.
CRITERION = re.compile(r"Synthesis: Tested: (\d+) \| Passing: (\d+) \| Failing: (\d+) \| Crashing: (\d+)")
OURS = re.compile(r"^(\d+) passed, (\d+) failed$", re.MULTILINE)
UNITTEST = re.compile(r"^Ran (\d+) tests? in", re.MULTILINE)
UNITTEST_FAILED = re.compile(r"(?:failures|errors|unexpected successes)=(\d+)")


@dataclass
class Count:
    passed: int = 0
    failed: int = 0

    def add(self, other):
        self.passed += other.passed
        self.failed += other.failed


def counted(output):
    """What the output says of itself, or None."""
    found = CRITERION.findall(output)
    if found:
        return Count(sum(int(one[1]) for one in found), sum(int(one[2]) + int(one[3]) for one in found))
    found = OURS.findall(output)
    if found:
        return Count(*map(int, found[-1]))
    found = UNITTEST.findall(output)
    if found:
        failed = sum(map(int, UNITTEST_FAILED.findall(output.rpartition("Ran ")[2])))
        return Count(int(found[-1]) - failed, failed)
    return None


def count_program(output, good):
    """A program that failed has at least one failure, whatever it says, and one that ran nothing has failed."""
    count = counted(output)
    if count is None:
        return Count(1, 0) if good else Count(0, 1)
    if not good and count.failed == 0 or count.passed + count.failed == 0:
        count.failed += 1
    return count


def count_plants(output, good):
    """Rows of the table of plants: | name | law | schedules |."""
    rows = re.findall(r"^\| (\d\S*) +\| (\w+) ", output, re.MULTILINE)
    missed = sum(law == "none" for _, law in rows)
    return count_program(f"{len(rows) - missed} passed, {missed} failed", good)


def count_fuzz(output, good):
    nothing, something = len(re.findall(r": nothing in \d", output)), output.count(": FOUND SOMETHING")
    return count_program(f"{nothing} passed, {something} failed", good)


def last_lines(text):
    lines = [line for line in text.rstrip().split("\n") if not re.match(r"\[\d+/\d+\] ", line)]  # ninja's progress
    cut = [f"... ({len(lines) - SHOWN_LINES} lines before)"] if len(lines) > SHOWN_LINES else []
    return "\n".join("    " + line for line in cut + lines[-SHOWN_LINES:])


def call(words, environment=None):
    """(good, output) of a program in a group of its own, which goes when we are told to go."""
    process = subprocess.Popen(words, cwd=HOUSE, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                               stderr=subprocess.STDOUT, text=True, errors="replace", start_new_session=True,
                               env={**os.environ, **(environment or {})})
    try:
        output, _ = process.communicate()
    except BaseException:
        os.killpg(process.pid, signal.SIGTERM)
        process.wait()
        raise
    return process.returncode == 0, output


class Build:
    """The preset, whole."""

    def __init__(self, preset):
        self.preset = preset

    def run(self):
        for words in (["cmake", "--preset", self.preset], ["cmake", "--build", "--preset", self.preset, "-j", "2"]):
            good, output = call(words)
            if not good:
                print(last_lines(output))
                return Count(0, 1)
        return None


class Ctest:
    """What ctest has under these options, each test counted by what it says."""

    def __init__(self, preset, *options):
        self.preset, self.options = preset, options

    def run(self):
        with tempfile.NamedTemporaryFile(suffix=".xml") as report:
            _, output = call(["ctest", "--preset", self.preset, "-j", "2", *self.options, "--output-junit", report.name,
                              "--test-output-size-passed", ALL_OUTPUT, "--test-output-size-failed", ALL_OUTPUT])
            try:
                cases = xml.etree.ElementTree.parse(report.name).getroot().findall("testcase")
            except xml.etree.ElementTree.ParseError:
                cases = []
        total = Count()
        for case in cases:
            total.add(self.judge(case))
        if not cases:
            print(last_lines(output))
            total.failed += 1
        return total

    @staticmethod
    def judge(case):
        output, good = case.findtext("system-out") or "", case.get("status") == "run"
        count = count_program(output, good)
        if count.failed:
            print(f"  {case.get('name')} FAILED ({case.get('status')})\n{last_lines(output)}", flush=True)
        return count


class Program:
    """One program; `shown`: its output is what a reader wants."""

    def __init__(self, *words, count=count_program, shown=False, environment=None):
        self.words, self.count, self.shown, self.environment = words, count, shown, environment

    def run(self):
        good, output = call(self.words, self.environment)
        count = self.count(output, good)
        if count.failed or self.shown:
            print(last_lines(output), flush=True)
        return count


class Measurement(Program):
    """Is no test; only that it could be made is looked at."""

    def run(self):
        good, output = call(self.words)
        print(last_lines(output), flush=True)
        return None if good else Count(0, 1)


# tests/run --full runs these, too, with all that they have.
SMOKE = "^process[.](child|roster|logger|prober|ending|hooks|notify)$"

QUICK = [
    ("build dev", Build("dev")),
    ("unit", Ctest("dev", "-L", "unit")),
    ("rules", Ctest("dev", "-L", "rules")),
    ("sim", Ctest("dev", "-L", "sim")),
    ("docs", Ctest("dev", "-L", "docs")),
    ("process", Ctest("dev", "-L", "process")),
    ("database", Ctest("dev", "-L", "database")),
    ("demo", Ctest("dev", "-L", "demo")),
    ("build asan", Build("asan")),
    ("asan: unit and sim", Ctest("asan", "-L", "unit|sim")),
    ("asan: process, a part", Ctest("asan", "-R", SMOKE)),
]

FULL = [
    ("build dev", Build("dev")),
    ("unit", Ctest("dev", "-L", "unit")),
    ("rules", Ctest("dev", "-L", "rules")),
    ("the status page in a browser", Ctest("dev", "-C", "Full", "-L", "^browser$")),
    ("rules: a fault for each", Ctest("dev", "-C", "Full", "-R", "^rules[.]plant$")),
    ("docs", Ctest("dev", "-L", "docs")),
    ("demo", Ctest("dev", "-C", "Full", "-L", "demo")),
    ("build release", Build("release")),
    ("sim: a million", Program("build/release/tests/sim/sim", "--schedules", "1000000", "--from", "1", shown=True)),
    ("sim: a walk of four ties", Program("build/release/tests/sim/walk", "--bound", "4", shown=True)),
    ("sim: the rest", Ctest("dev", "-L", "sim")),
    ("sim: plants", Program("tests/sim/plants/run", count=count_plants, shown=True)),
    ("process", Ctest("dev", "-L", "process")),
    ("process, all figures", Program("tests/process/run", "--full")),
    ("database, direct, all figures", Program("tests/database/run", "--full", "--through", "direct", shown=True)),
    ("database, pgbouncer, all figures", Program("tests/database/run", "--full", "--through", "pgbouncer", shown=True)),
    ("database: plants", Program("tests/database/plants/run", count=count_plants, shown=True)),
    ("fuzz", Program("tests/fuzz/run", "60", count=count_fuzz, shown=True)),
    ("build asan", Build("asan")),
    ("asan: everything", Ctest("asan", "-LE", "database")),
    ("bench", Measurement("bench/supervisor/run", "--quick")),
]


def run_part(name, part):
    print(f"{name} ...", flush=True)
    began = time.monotonic()
    count = part.run()
    took = f"{time.monotonic() - began:.0f} s"
    if count is None:
        print(f"{name}: done in {took}", flush=True)
        return Count()
    print(f"{name}: {count.passed} passed, {count.failed} failed in {took}", flush=True)
    return count


def go(*_):
    raise KeyboardInterrupt


def main():
    signal.signal(signal.SIGTERM, go)
    total, began = Count(), time.monotonic()
    try:
        for name, part in FULL if "--full" in sys.argv[1:] else QUICK:
            total.add(run_part(name, part))
    except KeyboardInterrupt:
        print("interrupted")
        total.failed += 1
    print(f"all in {(time.monotonic() - began) / 60:.1f} minutes")
    print(f"{total.passed} passed, {total.failed} failed")
    return 0 if total.failed == 0 and total.passed > 0 else 1


if __name__ == "__main__":
    sys.exit(main())
