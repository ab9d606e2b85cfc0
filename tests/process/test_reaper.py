"""The reaper below the real endwell, on a real PostgreSQL: who dies, how, and what becomes of his jobs. The numbers of cases
are those of the ledger's."""
import ctypes
import os
import signal
import statistics
import subprocess
import time

from bases import Frozen, WORKER, base, own_base
from case import test
from endwell import status_field
from journal import Follower, check, equal, wait_until
import groups

S = 1_000_000


def container(case, data, worker="q hold", *, reaper=None, supervisor=None, **keys):
    """A worker, and the reaper that endwell adds by itself; its sweeps are an hour apart where it is not about them."""
    plan = case.plan(**(supervisor or {}))
    keys = {"Phase": "workers", "RestartSec": "1ms", "RestartMaxDelaySec": "1ms", "StartLimitBurst": 0, **keys}
    plan.service("worker", f"{WORKER} {worker}", **keys)
    plan.section("[Database]", {"Url": data.url})
    plan.section("[Reaper]", {"IntervalSec": "1h", **(reaper or {})})
    plan.phase_of["endwell-reaper"] = "db"
    return plan


def claimed(case, count=1, **fields):
    return case.log.until("claimed", count=count, **fields)


def kill(run, line, number=signal.SIGKILL):
    os.kill(run.outside(line["pid"]), number)


def status(run, text):
    """The reaper has said this of itself."""
    return run.journal.until("service_status", service="endwell-reaper", text=lambda said: said and text in said)


def working(run):
    status(run, "sweeping every")
    return run


def ended(data, job, count=1):
    """The attempts of a job, once it has so many that did not succeed."""
    return wait_until(lambda: (found := data.attempts(job)) and len(found) >= count and found, f"attempt {count} of {job}")


@test(repeat=(8, 60))
def case_23_jobs_of_a_killed_worker_are_given_back_at_once_and_its_signal_is_in_last_error(case):
    data = base(case)
    job = data.job(data.queue())
    run = working(case.run(container(case, data)))
    spans = []
    for i in range(1, case.repeat + 1):
        line = claimed(case, i)
        victim, gen = run.outside(line["pid"]), line["gens"][0]
        died = time.monotonic()
        os.kill(victim, signal.SIGKILL)
        wait_until(lambda: data.row(job).gen > gen, "the end of its claim")
        spans.append((time.monotonic() - died) * 1000)
    print(f"     from death to given back: median {statistics.median(spans):.1f} ms, at most {max(spans):.1f} ms, "
          f"{len(spans)} times")
    claimed(case, case.repeat + 1)
    attempts = data.attempts(job)
    equal({(one.outcome, one.error_class, one.error) for one in attempts},
          {("worker_died", "crashed", "killed by SIGKILL")}, "why they ended")
    equal(len(attempts), case.repeat, "attempts")
    owner = case.log.first("claimed")["owner"]
    equal(data.admin.claim("q", owner, 1), [], "what the dead can claim")
    equal(run.end(), 0, "exit code")
    equal(data.row(job).state, "done", "the job's state after an ordinary ending")


@test
def how_somebody_ended_is_said_in_last_error(case):
    data = base(case)
    data.queue()
    plan = container(case, data, "q exit 3", Restart="no", Essential="no")
    plan.service("faulty", f"{WORKER} q fault", Phase="workers", Restart="no", Essential="no")
    plan.service("other", f"{WORKER} q hold", Phase="workers")
    jobs = [data.job() for _ in range(3)]
    run = working(case.run(plan))
    run.journal.until("service_gone", service="worker"), run.journal.until("service_gone", service="faulty")
    errors = wait_until(lambda: (found := [one.error for job in jobs for one in data.attempts(job)]) and len(found) == 2
                        and found, "two attempts that ended")
    check("exit code 3" in errors, f"the code: {errors}")
    check(any("SIGSEGV" in one for one in errors), f"the signal: {errors}")
    equal(run.end(), 0, "exit code")


@test
def what_the_oom_killer_took_is_said_so(case):
    group = groups.make(case, "cgroup", "memory")
    groups.write(group, "memory.limit_in_bytes", str(384 << 20))
    data = base(case)
    job = data.job(data.queue())
    plan = container(case, data, f"q eat {case.fifo('hungry')}", Essential="no", Restart="no")
    plan.actor("other", "serve", Phase="workers")
    run = case.run(plan, before=groups.inside(group))
    working(run), claimed(case)
    with open(case.path("hungry"), "w", encoding="ascii") as gate:
        gate.write("x")
    one = ended(data, job)[0]
    equal((one.outcome, one.error_class, one.error), ("worker_died", "oom", "killed by SIGKILL, out of memory"), "why")
    equal(run.end(), 0, "exit code")


@test
def case_24_while_a_descendant_lives_nobody_takes_the_jobs(case):
    data = base(case)
    job = data.job(data.queue())
    gate = case.fifo("gate")
    run = working(case.run(container(case, data, f"q --child {gate} exit 0", Restart="no", TimeoutStopSec="60s",
                                     Essential="no")))
    run.journal.until("service_exited", service="worker")
    case.log.until("child")
    other = claimed(case)
    data.queue("unrelated")
    run.journal.none("service_gone", service="worker")
    row = data.row(job)
    equal((row.state, row.gen), ("running", other["gens"][0]), "the job while its worker's child lives")
    with open(gate, "w", encoding="ascii") as file:
        file.write("x")
    gone = run.journal.until("service_gone", service="worker")
    one = ended(data, job)[0]
    equal((gone["cause"], one.outcome, one.error_class, one.error), ("clean", "worker_died", "clean", "exit code 0"), "why")
    check(one.ended_at.isoformat() >= gone["time"].replace("Z", "+00:00")[:26], f"{one.ended_at} before {gone['time']}")
    equal(data.row(job).deaths, 0, "deaths of who ended well")
    run.wait()


@test
def case_27_whom_the_ending_killed_loses_no_attempt_and_the_next_one_runs_it(case):
    data = base(case)
    job = data.job(data.queue(max_attempts=1))
    plan = container(case, data, "q --ignore hold")
    plan.phase("workers", TimeoutSec="500ms")
    run = working(case.run(plan))
    claimed(case)
    equal(run.end(), 81, "exit code")
    one = data.attempts(job)[0]
    equal((one.outcome, one.error_class, one.error), ("interrupted", "interrupted", "killed by SIGKILL"), "why")
    row = data.row(job)
    equal((row.state, row.attempts, row.deaths, row.releases), ("ready", 0, 0, 1), "what it cost")
    journal = run.journal
    settled = journal.only("reaper_settled")
    reaper = journal.last("service_started", service="endwell-reaper")
    equal((settled["owner"], settled["released"], settled["buried"]), (reaper["owner"], 1, 0), "what was reported")
    journal.order(journal.only("service_gone", service="worker"), journal.only("phase_started", phase="db"), settled,
                  journal.only("service_gone", service="endwell-reaper"), journal.only("phase_finished", phase="db"))
    next_run = working(case.run(container(case, data, supervisor={"RuntimeDirectory": case.path("next")})))
    claimed(case, 2)
    equal(next_run.end(), 0, "exit code of the next")
    equal(data.row(job).state, "done", "the job in the end")


@test
def case_28_two_requests_to_end_are_one_ending_and_the_job_ends_once(case):
    data = base(case)
    job = data.job(data.queue())
    run = working(case.run(container(case, data)))
    claimed(case)
    run.send(signal.SIGTERM), run.send(signal.SIGTERM)
    equal(run.wait(), 0, "exit code")
    equal([line["word"] for line in case.log.all("completed")], ["ok"], "completions")
    equal(data.attempts(job), [], "attempts that did not succeed")
    settled = run.journal.only("reaper_settled")
    equal((settled["released"], settled["buried"]), (0, 0), "what was left to the reaper")
    equal(run.journal.only("database_quiet")["sessions"], 1, "sessions: the test's own")
    reaper = run.journal.only("service_exited", service="endwell-reaper")
    equal((reaper["code"], reaper["status"]), ("exited", 0), "how the reaper ended")


@test
def sessions_that_the_db_phase_meets_are_counted(case):
    data = base(case)
    data.queue()
    plan = container(case, data)
    data.job()
    plan.service("left", f"{WORKER} q hold", Phase="db")
    data.job()
    run = working(case.run(plan))
    claimed(case, 2)
    equal(run.end(), 0, "exit code")
    equal(run.journal.only("database_quiet")["sessions"], 2, "sessions: the test's, and of the service in the db phase")


@test
def case_30_when_endwell_itself_is_killed_the_next_start_tells_who_is_gone(case):
    data = base(case)
    job = data.job(data.queue(lease_ms=3_600_000))
    run = working(case.run(container(case, data)))
    run.unchecked = True
    first = claimed(case)
    run.send(signal.SIGKILL)
    run.wait()
    equal(data.row(job).state, "running", "whose job it is")
    next_run = case.run(container(case, data))
    next_run.unchecked = True  # the journal is that of two runs
    one = ended(data, job)[0]
    equal((one.outcome, one.error, one.worker_id), ("worker_died", "how it ended was not seen", first["owner"]), "why")
    second = claimed(case, 2)
    check(second["owner"] != first["owner"], "an owner came twice")
    equal(data.admin.claim("q", first["owner"], 1), [], "what the dead can claim")
    equal(next_run.end(), 0, "exit code")


@test
def of_whom_something_may_live_the_lease_decides(case):
    data = base(case)
    job = data.job(data.queue(lease_ms=1500))
    plan = container(case, data, reaper={"IntervalSec": "100ms"}, Restart="no", Essential="no")
    plan.actor("web", "spawn --double --setsid --clear-env serve , as main , serve", Phase="http")
    run = working(case.run(plan, shell=groups.READ_ONLY))
    case.serving("stranger")
    line = claimed(case)
    kill(run, line)
    equal(run.journal.until("service_gone", service="worker")["certain"], False, "certain")
    one = ended(data, job)[0]
    equal(one.outcome, "expired", "why it ended")
    wait_until(lambda: "something of it may live" in run.errors(), "a word about it")
    equal(run.end(), 0, "exit code")


@test
def a_reaper_that_is_killed_hears_of_those_who_died_meanwhile(case):
    data = base(case)
    job = data.job(data.queue(lease_ms=3_600_000))
    plan = container(case, data, Restart="no", Essential="no")
    plan.actor("other", "serve", Phase="workers")
    run = working(case.run(plan))
    line = claimed(case)
    reaper = run.journal.last("service_started", service="endwell-reaper")
    os.kill(run.outside(reaper["pid"]), signal.SIGSTOP)
    kill(run, line)
    run.journal.until("service_gone", service="worker")
    equal(data.row(job).state, "running", "the job while there is no reaper")
    kill(run, reaper)
    equal(ended(data, job)[0].error, "killed by SIGKILL", "why")
    equal(run.end(), 0, "exit code")


@test
def a_database_that_hangs_does_not_hold_up_the_ending(case):
    data = own_base(case)
    job = data.job(data.queue())
    plan = container(case, data, "q --ignore hold", supervisor={"GraceSec": "20s"})
    plan.phase("workers", TimeoutSec="500ms")
    run = working(case.run(plan))
    claimed(case)
    with Frozen(data.cluster):
        equal(run.end(), 81, "exit code: the worker had to be killed, the reaper had not")
    reaper = run.journal.only("service_exited", service="endwell-reaper")
    equal((reaper["code"], reaper["status"], reaper["escalated"]), ("exited", 0, False), "how the reaper ended")
    check("left to their leases" in run.errors(), "nothing says what is left to the lease")
    equal(run.journal.only("reaper_settled")["released"], 0, "what was given back")
    equal(data.row(job).state, "running", "whose job it is")


@test
def who_died_while_the_database_was_away_is_handed_over_when_it_is_back(case):
    data = own_base(case)
    job = data.job(data.queue(lease_ms=3_600_000))
    plan = container(case, data, Restart="no", Essential="no")
    plan.actor("other", "serve", Phase="workers")
    run = working(case.run(plan))
    line = claimed(case)
    data.cluster.stop("immediate")
    wait_until(lambda: "does not answer" in run.errors(), "a word that it is away")
    kill(run, line)
    run.journal.until("service_gone", service="worker")
    data.cluster.start()
    data.again()
    equal(ended(data, job)[0].error, "killed by SIGKILL", "why")
    wait_until(lambda: "works again" in run.errors(), "a word that it is back")
    equal(run.errors().count("it is tried again"), 1, "how often it was said that it is away")
    equal(run.end(), 0, "exit code")


@test
def case_33_two_reapers_give_each_job_back_once(case):
    data = base(case)
    jobs = [data.job(data.queue())] + [data.job() for _ in range(7)]
    plan = container(case, data, Restart="no", Essential="no", Instances=8)
    program = os.path.join(os.path.dirname(os.environ["ENDWELL_BINARY"]), "../reaper/endwell-reaper")
    plan.service("second", f'{program} --interval 1h', Phase="db", Environment=f'"DATABASE_URL={data.url}"')
    plan.actor("other", "serve", Phase="workers")
    run = working(case.run(plan))
    run.journal.until("service_status", service="second", text=lambda said: said and "sweeping" in said)
    for i in range(1, 9):
        claimed(case, i)
    for line in case.log.all("claimed"):
        kill(run, line)
    for job in jobs:
        ended(data, job)
    equal(run.end(), 0, "exit code")
    equal([len(data.attempts(job)) for job in jobs], [1] * 8, "attempts that were charged")
    equal(data.admin.value("select sum(gen)::int from @schema@.job"), 16, "generations: claimed once, taken once")
    equal(len(run.journal.all("reaper_settled")), 2, "reports")


@test
def below_a_subreaper_that_is_killed_the_reaper_does_not_live_on(case):
    data = base(case)
    data.job(data.queue())
    plan = container(case, data)
    errors, journal = case.path("errors"), Follower(os.path.join(plan.runtime, "journal.jsonl"))
    with open(errors, "wb") as file:
        endwell = subprocess.Popen([os.environ["ENDWELL_BINARY"], "run", "-c", plan.write()], stdin=subprocess.DEVNULL,
                                   stderr=file, env=case.environment, preexec_fn=die_with_us)
    worker = claimed(case)["pid"]
    reaper = journal.only("service_started", service="endwell-reaper")["pid"]
    try:
        os.kill(endwell.pid, signal.SIGKILL)
        endwell.wait()
        wait_until(lambda: "settled" in case.text("errors"), "its last word")
        wait_until(lambda: not is_running(reaper), "the end of the reaper")
    finally:
        os.kill(worker, signal.SIGKILL)


def die_with_us():
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)


def is_running(pid):
    state = status_field(pid, "State")
    return bool(state) and state[0] != "Z"
