"""The watchdog, and reloads by a signal: with real processes and their real signals."""
import signal

from case import test
from journal import check, equal, lasted

MS, S = 1000, 1_000_000


def asked_for(run, reason):
    return run.journal.until("service_asked", reason=reason)


@test
def who_gives_no_sign_of_life_is_aborted_and_started_again(case):
    never = case.fifo("never")
    plan = case.plan(Phases="one")
    plan.actor("web", f"notify READY=1 , eof {never}", Phase="one", Type="notify", WatchdogSec="400ms", RestartSec="50ms")
    plan.hook("after", "as after , report", Service="web", On="post-stop")
    run = case.run(plan).ready()
    asked = asked_for(run, "watchdog")
    equal(asked["signal"], "SIGABRT", "the signal")
    ready, expired = run.journal.first("service_ready"), run.journal.first("watchdog_expired")
    run.journal.order(expired, asked)
    equal((expired["usec"], expired["text"]), (400 * MS, None), "what expired")
    lasted(run.journal.span_us(ready, expired), 400 * MS, "from ready to expired")
    exited = run.journal.until("service_exited")
    check(exited["code"] in ("killed", "dumped") and exited["status"] == signal.SIGABRT, f"how it ended: {exited}")
    equal(run.journal.until("service_gone")["cause"], "timeout", "cause")
    environment = case.log.until("report", name="after")["environment"]
    equal(environment["SERVICE_RESULT"], "watchdog", "SERVICE_RESULT")
    run.journal.until("service_started", attempt=2)
    equal(run.end(), 0, "exit code")


@test
def who_ignores_the_abort_is_killed_at_its_stop_timeout_and_gives_up_at_its_limit(case):
    plan = case.plan(Phases="one")
    plan.shell("web", """trap '' ABRT; exec "$ACTOR" notify READY=1 , serve --ignore""", Phase="one", Type="notify",
               WatchdogSec="200ms", TimeoutStopSec="300ms", RestartSec="10ms", StartLimitBurst=2)
    run = case.run(plan)
    equal(run.wait(), 83, "exit code")
    equal(len(run.journal.all("service_killed", reason="watchdog")), 2, "killed for it")
    equal(run.journal.only("service_gave_up")["reason"], "its watchdog expired", "why it failed for good")


@test
def signs_of_life_in_time_keep_it_alive(case):
    plan = case.plan(Phases="one")
    plan.shell("web", '"$ACTOR" notify READY=1; while :; do "$ACTOR" notify WATCHDOG=1; sleep 0.3; done', Phase="one",
               Type="notify", WatchdogSec="5s")
    run = case.run(plan).ready()
    case.log.until("notified", count=20)
    run.journal.none("watchdog_expired")
    equal(run.end(), 0, "exit code")


@test
def it_may_pull_its_watchdog_itself(case):
    never = case.fifo("never")
    plan = case.plan(Phases="one")
    plan.actor("web", f"notify READY=1 , notify WATCHDOG=trigger , eof {never}", Phase="one", Type="notify", Restart="no",
               Essential="no")
    plan.actor("other", "serve", Phase="one")
    run = case.run(plan)
    equal(run.journal.until("watchdog_expired")["text"], "WATCHDOG=trigger", "what it said")
    run.journal.until("service_gave_up", service="web")
    equal(run.end(), 0, "exit code")


@test
def it_may_change_its_watchdog_for_this_run(case):
    never = case.fifo("never")
    plan = case.plan(Phases="one")
    plan.actor("web", f"notify READY=1 , notify WATCHDOG_USEC=300000 , eof {never}", Phase="one", Type="notify",
               WatchdogSec="1h", Restart="no", Essential="no")
    plan.actor("other", "serve", Phase="one")
    run = case.run(plan)
    equal(run.journal.until("watchdog_expired")["usec"], 300 * MS, "its span")
    equal(run.end(), 0, "exit code")


@test
def a_service_finds_its_watchdog_in_its_environment(case):
    plan = case.plan(Phases="one")
    plan.actor("web", "report , serve", Phase="one", WatchdogSec="1h")
    run = case.run(plan)
    report = case.log.until("report")
    equal(report["environment"]["WATCHDOG_USEC"], str(3600 * S), "WATCHDOG_USEC")
    equal(int(report["environment"]["WATCHDOG_PID"]), report["pid"], "WATCHDOG_PID")
    run.ready()
    equal(run.end(), 0, "exit code")


@test
def no_watchdog_kills_who_drains_in_an_ending(case):
    plan = case.plan(Phases="one")
    plan.actor("web", "notify READY=1 WATCHDOG_USEC=3000000 , serve --term-ms 4000", Phase="one", Type="notify")
    run = case.run(plan).ready()
    equal(run.end(), 0, "exit code")
    run.journal.none("watchdog_expired")
    equal([line["reason"] for line in run.journal.all("service_asked")], ["ending"], "why it was asked")


@test
def a_reload_tells_each_that_reloads_by_a_signal_once_and_nobody_else(case):
    plan = case.plan(Phases="one")
    plan.actor("web", "serve", Phase="one", Instances=2, ReloadSignal="HUP")
    plan.actor("other", "serve", Phase="one")
    run = case.run(plan).ready()
    case.serving("web", 2), case.serving("other")
    run.send(signal.SIGHUP)
    equal(run.journal.until("reload_finished")["n"], 2, "how many were told")
    equal(run.journal.only("signal_received")["effect"], "reload", "effect")
    for line in run.journal.all("service_signalled"):
        equal((line["service"], line["signal"], line["reason"]), ("web", "SIGHUP", "reload"), "who was told, and how")
    case.log.until("signal", count=2, name="web", signal=int(signal.SIGHUP))
    equal(run.end(), 0, "exit code")
    equal(case.signals("web").count(signal.SIGHUP), 2, "signals of the two instances")
    equal(case.signals("other"), [signal.SIGTERM], "signals of the other")
    equal([line["reason"] for line in run.journal.all("service_asked")], ["ending"] * 3, "why they were asked")


@test
def a_reload_that_reaches_nobody_says_so_and_one_in_an_ending_is_ignored(case):
    plan = case.plan(Phases="one")
    plan.actor("web", "serve --term-ms 300", Phase="one")
    run = case.run(plan).ready()
    case.serving("web")
    run.send(signal.SIGHUP)
    equal(run.journal.until("reload_finished")["n"], 0, "how many were told")
    run.send(signal.SIGTERM)
    case.log.until("signal", name="web")
    run.send(signal.SIGHUP)
    run.journal.until("signal_received", signal="SIGHUP", effect="ignored")
    equal(run.wait(), 0, "exit code")
    check("nobody reloaded" in run.errors(), run.errors())
    equal(len(run.journal.all("reload_finished")), 1, "reloads")
