"""Runs declared tests, a few at a time, and prints a line for each."""
import concurrent.futures
import os
import sys
import threading
import time
import traceback

from case import Case, Skipped
from groups import sweep

PRINTING = threading.Lock()


def run_one(declared, repeat, make):
    """True when it passed, None when it was skipped."""
    case, begun, problem, skipped = make(declared.name, repeat), time.monotonic(), None, None
    try:
        declared.function(case)
    except Skipped as reason:
        skipped = str(reason)
    except Exception as error:  # whatever goes wrong in a test is its failure, and the others go on
        kind = "" if isinstance(error, AssertionError) else traceback.format_exc()
        problem = f"{error}\n{kind}{case.explain()}"
        if isinstance(error, AssertionError):
            at = traceback.extract_tb(error.__traceback__)
            lines = [f"{os.path.basename(frame.filename)}:{frame.lineno}" for frame in at if "/support/" not in frame.filename]
            problem = f"{' '.join(lines)}: {problem}"
    finally:
        case.clean()
    with PRINTING:
        word = "FAIL" if problem else "skip" if skipped else "ok  "
        print(f"{word} {declared.name} ({skipped or f'{time.monotonic() - begun:.1f} s'})", flush=True)
        if problem:
            print("     " + problem.replace("\n", "\n     "), flush=True)
    return None if skipped else problem is None


def run_all(tests, jobs, repeat_of, make=Case):
    """`make` gives the case of a test, by its name and figure."""
    alone = [one for one in tests if one.alone]
    beside = [one for one in tests if not one.alone]
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        results = list(pool.map(lambda one: run_one(one, repeat_of(one), make), beside))
    results += [run_one(one, repeat_of(one), make) for one in alone]
    sweep()
    passed, failed = results.count(True), results.count(False)
    print(f"{passed} passed, {failed} failed")
    return 0 if passed and not failed else 1


def refuse(problem):
    print(f"{sys.argv[0]}: {problem}", file=sys.stderr)
    return 2
