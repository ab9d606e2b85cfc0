"""Case 38: the wall clock steps, and no timer minds. A preloaded library steps it for endwell alone; the kernel's own word on
the timers (clockid in /proc/PID/fdinfo, timerfd_create(2)) closes what a library cannot see."""
import os
import struct
from datetime import datetime

from case import test
from journal import check, equal, within

S = 1_000_000
HOUR = 3600
MONOTONIC, BOOTTIME = 1, 7
LIBRARY = os.path.join(os.path.dirname(os.environ["ENDWELL_ACTOR"]), "libstepped_clock.so")


def set_clock(case, seconds):
    with open(case.path("clock"), "r+b" if os.path.exists(case.path("clock")) else "w+b") as file:
        file.write(struct.pack("=q", seconds))


def clocks_of_timers(run):
    clocks = set()
    for name in os.listdir(f"/proc/{run.pid}/fdinfo"):
        with open(f"/proc/{run.pid}/fdinfo/{name}", encoding="ascii") as file:
            clocks |= {int(line.split()[1]) for line in file if line.startswith("clockid:")}
    check(clocks, "no timer is there at all")
    return clocks


def wall(line):
    return datetime.fromisoformat(line["time"].replace("Z", "+00:00")).timestamp()


@test
def case_38_a_clock_step_changes_no_timer_of_a_back_off_or_of_a_stop(case):
    check(os.path.exists(LIBRARY), f"{LIBRARY} is not there; build it")
    set_clock(case, 0)
    plan = case.plan(Phases="one")
    plan.actor("web", "serve --ignore", Phase="one", TimeoutStopSec="2s")
    plan.actor("loop", "exit 1", Phase="one", Essential="no", RestartSec="1500ms", StartLimitBurst=2)
    run = case.run(plan, environment={"LD_PRELOAD": LIBRARY, "STEPPED_CLOCK": case.path("clock"),
                                      "ASAN_OPTIONS": "verify_asan_link_order=0:detect_leaks=0"})
    scheduled = run.journal.until("service_restart_scheduled", service="loop")
    set_clock(case, -HOUR)
    check(clocks_of_timers(run) <= {MONOTONIC, BOOTTIME}, f"clocks of timers in the back-off: {clocks_of_timers(run)}")
    again = run.journal.until("service_starting", service="loop", count=2)
    within(run.journal.span_us(scheduled, again), scheduled["delay_us"] * 9 // 10, HOUR * S // 2, "the back-off")
    within(wall(again) - wall(scheduled), -HOUR - 5, -HOUR + 5, "the step as endwell's own clock saw it")
    case.serving("web")
    run.journal.until("startup_finished")
    run.send(15)
    asked = run.journal.until("service_asked", service="web")
    set_clock(case, HOUR)
    check(clocks_of_timers(run) <= {MONOTONIC, BOOTTIME}, f"clocks of timers in the stop: {clocks_of_timers(run)}")
    equal(run.wait(), 81, "exit code")
    killed = run.journal.only("service_killed")
    within(run.journal.span_us(asked, killed), 2 * S * 9 // 10, HOUR * S // 2, "the stop")
    within(wall(killed) - wall(asked), 2 * HOUR - 5, 2 * HOUR + 5, "the step as endwell's own clock saw it")
