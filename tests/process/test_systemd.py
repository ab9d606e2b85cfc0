"""The unit of deploy/systemd, as systemd itself reads and runs it."""
import json
import os
import re
import subprocess
import time

from case import test
from endwell import BINARY
from journal import Follower, check, equal, wait_until
from service_manager import UNIT, ServiceManager, unit_keys, why_not

NOT_HERE = why_not()
S = 1_000_000


@test
def the_unit_has_no_fault_that_systemd_would_warn_of(case):
    script = (f"mount -t tmpfs tmpfs /usr/local/bin && cp {BINARY} /usr/local/bin/endwell && cp {UNIT} {case.directory} && "
              f"systemd-analyze verify --man=no {case.path('endwell.service')}")
    done = subprocess.run(["unshare", "--mount", "sh", "-c", script], capture_output=True, text=True, timeout=60, check=False)
    equal((done.returncode, done.stdout + done.stderr), (0, ""), "what systemd-analyze says")


@test
def its_numbers_are_those_that_check_wants_for_a_default_configuration(case):
    plan = case.plan(Phases="one")
    plan.actor("web", "serve", Phase="one")
    done = subprocess.run([BINARY, "check", "-c", plan.write(), "--platform", "systemd", "--json"], capture_output=True,
                          text=True, timeout=60, env=case.environment, check=False)
    equal(done.returncode, 0, f"exit code: {done.stderr}")
    platform, unit = json.loads(done.stdout)["platform"], unit_keys()
    name, _, value = platform["setting"].partition("=")
    equal(unit[name], value, name)
    for needed in re.findall(r"(\w+)=(\w[\w-]*)", platform["needs"]):
        equal(unit[needed[0]], needed[1], needed[0])
    equal(unit["RestartPreventExitStatus"].split(), ["64", "78"], "what is not tried again")


def plan_of(case, steps="serve", **keys):
    plan = case.plan(Phases="one", GraceSec="30")
    plan.actor("web", steps, Phase="one", **keys)
    return plan


def journal_of(case, plan):
    follower = Follower(os.path.join(plan.runtime, "journal.jsonl"))
    case.cleaners.append(follower.close)
    return follower


if NOT_HERE:
    @test
    def systemd_cannot_be_run_here_and_what_it_does_with_the_unit_was_not_checked(_):
        print(f"     systemd cannot be run here: {NOT_HERE}", flush=True)
        check(NOT_HERE, "it can")
else:
    @test
    def systemd_starts_it_hears_ready_and_its_status_and_stops_it(case):
        gate = case.fifo("gate")
        plan = plan_of(case, f"eof {gate} , notify READY=1 , serve --term-ms 1500", Type="notify")
        plan.phase("one", DelaySec="500ms")  # so that a signal of systemd's own would come well before ours
        manager = ServiceManager(case, plan.write(), BINARY)
        manager.do("start", "--no-block", "endwell.service")
        manager.until("StatusText", "waiting for web")
        equal(manager.show("ActiveState"), "activating", "state before it is ready")
        with open(gate, "wb"):
            pass
        manager.until("ActiveState", "active")
        manager.until("StatusText", lambda text: text.startswith("ready"))
        manager.do("stop", "endwell.service")
        equal((manager.show("ActiveState"), manager.show("Result")), ("inactive", "success"), "state after the stop")
        equal(journal_of(case, plan).only("ending_finished")["code"], 0, "code in the journal")
        equal(len(case.signals("web")), 1, "signals that the service saw")

    @test
    def a_start_that_takes_longer_than_systemd_would_wait_is_not_cut(case):
        gate = case.fifo("gate")
        plan = plan_of(case, f"eof {gate} , notify READY=1 , serve", Type="notify")
        manager = ServiceManager(case, plan.write(), BINARY, TimeoutStartSec="1s", Restart="no")
        manager.do("start", "--no-block", "endwell.service")
        # Twice as long as the unit allows: by the monotonic time at which systemd began.
        began = int(manager.until("InactiveExitTimestampMonotonic", lambda text: text not in ("", "0")))
        wait_until(lambda: monotonic_us() > began + 2 * S, "two seconds of start-up")
        equal(manager.show("ActiveState"), "activating", "state after two seconds")
        with open(gate, "wb"):
            pass
        manager.until("ActiveState", "active")

    @test
    def an_ending_may_take_its_own_time_and_not_systemds(case):
        plan = plan_of(case, "serve --term-ms 2500")
        manager = ServiceManager(case, plan.write(), BINARY, TimeoutStopSec="1s")
        manager.do("start", "endwell.service")
        case.serving("web")
        manager.do("stop", "endwell.service")
        equal(manager.show("Result"), "success", "result")
        check(journal_of(case, plan).only("ending_finished")["took_us"] > 2 * S, "it was cut")

    @test
    def a_watchdog_is_content_until_the_loop_hangs(case):
        plan = plan_of(case)
        manager = ServiceManager(case, plan.write(), BINARY, WatchdogSec="3s", Restart="no")
        manager.do("start", "endwell.service")
        fed = int(manager.show("WatchdogTimestampMonotonic"))
        for _ in range(3):
            fed = int(manager.until("WatchdogTimestampMonotonic", lambda text, before=fed: int(text) > before))
        equal(manager.show("ActiveState"), "active", "state while the loop turns")
        manager.do("kill", "--kill-whom=main", "--signal=SIGSTOP", "endwell.service")
        manager.until("Result", "watchdog")

    @test
    def a_bad_configuration_is_not_tried_again_and_a_failed_run_is(case):
        with open(case.path("bad.ini"), "w", encoding="utf-8") as file:
            file.write("[Service web]\nExecStart=\n")
        manager = ServiceManager(case, case.path("bad.ini"), BINARY, RestartSec="10ms")
        check(manager.call("start", "endwell.service").returncode != 0, "it started")
        manager.until("ActiveState", "failed")
        equal((manager.show("ExecMainStatus"), manager.show("NRestarts")), ("78", "0"), "exit code, restarts")
        with open(case.path("bad.ini"), "w", encoding="utf-8") as file:
            file.write(plan_of(case, "exit 1", Restart="no").text())
        manager.call("start", "endwell.service")
        manager.until("NRestarts", lambda text: int(text) > 0)


def monotonic_us():
    return time.clock_gettime_ns(time.CLOCK_MONOTONIC) // 1000
