"""Case 38: the wall clock steps, and no timer minds. libfaketime steps it for endwell alone; the kernel's own word on its
timers (clockid in /proc/PID/fdinfo, timerfd_create(2)) closes what a library cannot see."""
import glob
import os
from datetime import datetime

from case import test
from journal import check, equal, within

MS, S = 1000, 1_000_000
HOUR = 3600
MONOTONIC, BOOTTIME = 1, 7


def library():
    found = glob.glob("/usr/lib/*/faketime/libfaketime.so.1")
    check(found, "libfaketime is not there (Debian: faketime)")
    return found[0]


def set_clock(case, offset):
    """libfaketime reads the file at each call (FAKETIME_NO_CACHE)."""
    path = case.path("clock")
    with open(path + ".new", "w", encoding="ascii") as file:
        file.write(f"{offset:+d}s\n")
    os.rename(path + ".new", path)


def stepping(case, plan):
    set_clock(case, 0)
    return case.run(plan, environment={"LD_PRELOAD": library(), "FAKETIME_TIMESTAMP_FILE": case.path("clock"),
                                       "FAKETIME_NO_CACHE": "1", "FAKETIME_DONT_FAKE_MONOTONIC": "1",
                                       "DONT_FAKE_MONOTONIC": "1"})


def clocks_of_timers(run):
    clocks = set()
    for name in os.listdir(f"/proc/{run.pid}/fdinfo"):
        with open(f"/proc/{run.pid}/fdinfo/{name}", encoding="ascii") as file:
            clocks |= {int(line.split()[1]) for line in file if line.startswith("clockid:")}
    return clocks


def wall(line):
    return datetime.fromisoformat(line["time"].replace("Z", "+00:00")).timestamp()


@test
def case_38_a_clock_step_changes_no_timer_of_a_back_off_or_of_a_stop(case):
    plan = case.plan(Phases="one")
    plan.actor("web", "serve --ignore", Phase="one", TimeoutStopSec="2s")
    plan.actor("loop", "exit 1", Phase="one", Essential="no", RestartSec="1500ms", StartLimitBurst=2)
    run = stepping(case, plan)
    scheduled = run.journal.until("service_restart_scheduled", service="loop")
    set_clock(case, -HOUR)
    check(clocks_of_timers(run) <= {MONOTONIC, BOOTTIME}, f"clocks of timers in the back-off: {clocks_of_timers(run)}")
    again = run.journal.until("service_starting", service="loop", count=2)
    within(run.journal.span_us(scheduled, again), scheduled["delay_us"] - MS, scheduled["delay_us"] + 400 * MS, "the back-off")
    within(wall(again) - wall(scheduled), -HOUR - 5, -HOUR + 5, "the step as endwell's own clock saw it")
    case.serving("web")
    run.journal.until("startup_finished")
    run.send(15)
    asked = run.journal.until("service_asked", service="web")
    set_clock(case, HOUR)
    check(clocks_of_timers(run) <= {MONOTONIC, BOOTTIME}, f"clocks of timers in the stop: {clocks_of_timers(run)}")
    equal(run.wait(), 81, "exit code")
    killed = run.journal.only("service_killed")
    within(run.journal.span_us(asked, killed), 2 * S - MS, 2 * S + 400 * MS, "the stop")
    within(wall(killed) - wall(asked), 2 * HOUR - 5, 2 * HOUR + 5, "the step as endwell's own clock saw it")
