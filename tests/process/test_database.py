"""The embedded database: made once and whole, private, never root's, back after every kill, and last to end."""
import os
import pwd
import shutil
import signal
import subprocess

from case import test
from endwell import BINARY, children, descendants, read_link, status_field
from journal import check, equal, wait_until

DATABASE = os.path.join(os.path.dirname(os.path.dirname(BINARY)), "ledger/endwell-database")
POSTGRES = pwd.getpwnam("postgres")
WAIT = 120  # initdb on a loaded machine


def folder(case):
    return case.path("db")


def plan_with(case, *, web=True, migrate="no", reaper=None, supervisor=(), **database):
    """A database and somebody beside it."""
    plan = case.plan(**dict(supervisor))
    if web:
        plan.actor("web", "serve", Phase="http")
    plan.database(reaper or {"Enabled": "no"}, **{"Embedded": folder(case), "Migrate": migrate, **database})
    return plan


def inode(path):
    try:
        return os.stat(path).st_ino
    except FileNotFoundError:
        return None


def run_anew(case, plan, **how):
    """A run whose journal is read from its own beginning, whatever stands in the file of the run before."""
    path = os.path.join(plan.runtime, "journal.jsonl")
    before = inode(path)
    run = case.run(plan, **how)
    wait_until(lambda: inode(path) not in (None, before), "a journal of its own", alive=run.alive)
    return run


def start(case, plan, **how):
    run = run_anew(case, plan, **how)
    run.journal.until("startup_finished", timeout=WAIT)
    return run


def sql(case, text, user="root", role="endwell", database="endwell"):
    """What it answers; as a user of this machine, who comes as `role`."""
    done = ask(case, text, user, role, database)
    equal(done.returncode, 0, f"{text} as {user}: {done.stderr}")
    return done.stdout.strip()


def ask(case, text, user="root", role="endwell", database="endwell"):
    words = ["setpriv", f"--reuid={user}", f"--regid={pwd.getpwnam(user).pw_gid}", "--clear-groups", "psql", "-XAtq",
             "-v", "ON_ERROR_STOP=1", "-c", text, f"host={folder(case)} dbname={database} user={role}"]
    return subprocess.run(words, capture_output=True, text=True, check=False, env=case.environment, cwd="/")


def of_database(run):
    """Pids, as the outside sees them, of every process that runs PostgreSQL's program."""
    return [pid for pid in run.processes() if os.path.basename(read_link(f"/proc/{pid}/exe")) == "postgres"]


def postmaster(run):
    found = [pid for pid in of_database(run) if read_link(f"/proc/{pid}/cwd").endswith("/cluster") and
             status_field(pid, "NSpid")[-1] == str(run.journal.last("service_started", service="endwell-database")["pid"])]
    equal(len(found), 1, "postmasters")
    return found[0]


def cut(run):
    """The kernel takes everything at one stroke, as when a container is killed."""
    living = run.processes()
    run.send(signal.SIGKILL)
    run.process.wait()
    run.unchecked = True
    wait_until(lambda: not any(os.path.exists(f"/proc/{pid}") for pid in living), "the end of all its processes")


def fails_to_start(case, plan, *words, code=83, **how):
    run = run_anew(case, plan, **how)
    equal(run.wait(timeout=WAIT), code, "exit code")
    for word in words:
        check(word in run.errors(), f"no {word!r} in:\n{run.errors()}")
    check(not of_database_anywhere(case), "no database was started")
    return run


def of_database_anywhere(case):
    return [pid for pid in os.listdir("/proc") if pid.isdigit() and read_link(f"/proc/{pid}/cwd").startswith(folder(case))]


@test
def the_first_start_makes_a_database_that_is_private_and_every_service_finds_it(case):
    plan = plan_with(case)
    script = 'psql -XAtq -c "select current_user || \' \' || current_database()" "$DATABASE_URL" >> ' + case.path("said")
    case.file("said", mode=0o666)
    plan.shell("other", f"{script} && exec sleep 1000", Phase="workers", User="nobody")
    run = start(case, plan)
    journal = run.journal
    made = journal.only("service_ready", service="endwell-database")
    journal.order(made, journal.only("service_starting", service="other"), journal.only("service_starting", service="web"))
    wait_until(lambda: case.text("said").strip(), "what the service said", alive=run.alive)
    equal(case.text("said").strip(), "endwell endwell", "who the service is, and where")
    for pid in of_database(run):
        equal(status_field(pid, "Uid"), [str(POSTGRES.pw_uid)] * 4, "whose a process of the database is")
        equal(status_field(pid, "CapBnd"), ["0" * 16], "its capabilities")
    equal(oct(os.stat(os.path.join(folder(case), "cluster")).st_mode & 0o7777), "0o700", "mode of the cluster")
    equal(sql(case, "show listen_addresses"), "", "where it listens")
    equal(sql(case, "show data_checksums"), "on", "checksums")
    equal(run.end(), 0, "exit code")
    gone = journal.only("service_gone", service="endwell-database")
    equal(gone["cause"], "clean", "cause")
    journal.order(journal.only("phase_finished", phase="workers"), journal.only("service_asked", service="endwell-database"),
                  gone)
    equal(journal.only("service_asked", service="endwell-database")["signal"], "SIGINT", "how it was asked")


@test
def who_may_come_in_is_who_the_configuration_names_and_only_as_what_he_may_be(case):
    plan = plan_with(case)
    plan.service("other", "/bin/sleep 1000", Phase="workers", User="nobody")
    run = start(case, plan)
    for user in ("root", "postgres"):
        equal(sql(case, "select current_user", user, "postgres"), "postgres", f"{user} as the superuser")
    for user in ("root", "postgres", "nobody"):
        equal(sql(case, "select current_user", user), "endwell", f"{user} as the owner")
    for user, role in (("nobody", "postgres"), ("daemon", "endwell"), ("daemon", "postgres")):
        done = ask(case, "select 1", user, role)
        check(done.returncode != 0 and "authentication failed" in done.stderr, f"{user} came as {role}: {done.stderr}")
    equal(sql(case, "select rolsuper from pg_roles where rolname = 'endwell'"), "f", "the owner is a superuser")
    sql(case, "create schema endwell; create table mine (i int)", "nobody")
    equal(sql(case, "select schemaname from pg_tables where tablename = 'mine'"), "public", "where a table of theirs is")
    sql(case, "create schema s; create table s.t (i int); create extension pgcrypto", "nobody")
    equal(run.end(), 0, "exit code")


@test
def the_second_start_makes_nothing_and_has_what_the_first_one_had(case):
    plan = plan_with(case)
    run = start(case, plan)
    sql(case, "create table kept as select 42 as answer")
    equal(run.end(), 0, "exit code")
    run = start(case, plan)
    equal(sql(case, "select answer from kept"), "42", "what was kept")
    check("began to create" not in run.errors(), "it was made again")
    equal(run.end(), 0, "exit code")


@test
def after_everything_was_killed_the_next_start_recovers_and_tells_of_those_who_were_cut_off(case):
    plan = plan_with(case)
    run = start(case, plan)
    sql(case, "create table kept as select 42 as answer")
    owners = {line["service"]: line["owner"] for line in run.journal.all("service_started")}
    equal(sorted(owners), ["endwell-database", "web"], "who had started")
    cut(run)
    run.journal.none("ending_finished")
    again = start(case, plan)
    equal(sql(case, "select answer from kept"), "42", "what was committed")
    for service, owner in owners.items():
        gone = again.journal.only("service_gone", owner=owner)
        equal((gone["service"], gone["cause"], gone["certain"]), (service, "crashed", True), "who was cut off")
        again.journal.order(again.journal.only("supervisor_started"), gone)
    equal(again.end(), 0, "exit code")
    third = start(case, plan)
    third.journal.none("service_gone")
    equal(third.end(), 0, "exit code")


@test
def who_subscribes_after_a_cut_hears_of_the_owners_of_the_run_before(case):
    plan = case.plan()
    plan.actor("web", "serve", Phase="http", Instances=3)
    run = start(case, plan)
    owners = sorted(line["owner"] for line in run.journal.all("service_started"))
    cut(run)
    again = start(case, plan)
    client = again.connect()
    client.send(b'{"method":"subscribe","params":{"since":0,"as":"reaper"}}\n')
    heard = []
    while len(heard) < 3:
        line = client.line()
        if line.get("event") == "service_gone":
            check(line["certain"] and line["cause"] == "crashed", str(line))
            heard.append(line["owner"])
    equal(sorted(heard), owners, "owners that were told gone")
    equal(again.end(), 0, "exit code")


@test
def a_postmaster_that_is_killed_comes_back_when_the_last_of_its_processes_is_gone(case):
    plan = plan_with(case)
    run = start(case, plan)
    sql(case, "create table kept as select 42 as answer")
    session = subprocess.Popen(["psql", "-XAtqc", "do 'begin loop end loop; end'", f"host={folder(case)} dbname=endwell user=endwell"],
                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=case.environment)
    wait_until(lambda: sql(case, "select count(*) from pg_stat_activity where query like 'do %' and state = 'active'")
               == "1", "a backend at work", alive=run.alive)
    os.kill(postmaster(run), signal.SIGKILL)
    run.journal.until("service_ready", count=2, service="endwell-database", timeout=WAIT)
    session.wait()
    gone = run.journal.first("service_gone", service="endwell-database")
    equal(gone["cause"], "crashed", "cause")
    check(gone["killed"] >= 1, f"what it left was killed: {gone}")
    run.journal.order(gone, run.journal.last("service_started", service="endwell-database"))
    equal(sql(case, "select answer from kept"), "42", "what was committed")
    equal(run.end(), 0, "exit code")


@test
def a_kill_while_the_cluster_is_made_leaves_nothing_that_counts(case):
    plan = plan_with(case)
    for place in ("cluster.new", "cluster.new/PG_VERSION", "cluster.new/base/1/PG_VERSION"):
        before = inode(case.path("db/cluster.new"))
        run = run_anew(case, plan)
        wait_until(lambda before=before: inode(case.path("db/cluster.new")) not in (None, before), "a new one", WAIT,
                   alive=run.alive)
        wait_until(lambda place=place: inode(case.path(f"db/{place}")), place, WAIT, alive=run.alive)
        cut(run)
        check(not os.path.exists(os.path.join(folder(case), "cluster")), f"a cluster is there after {place}")
    run = start(case, plan)
    equal(sql(case, "select 1"), "1", "an answer")
    check(not os.path.exists(os.path.join(folder(case), "cluster.new")), "what was cut is still there")
    equal(run.end(), 0, "exit code")


@test
def a_folder_with_something_else_in_it_is_refused_and_not_touched(case):
    os.mkdir(folder(case))
    case.file("db/mine", "precious")
    run = fails_to_start(case, plan_with(case), "belongs to uid 0", "not touched")
    check("endwell-database failed for good" in run.errors(), "the last line names it")
    os.chown(folder(case), POSTGRES.pw_uid, POSTGRES.pw_gid)
    fails_to_start(case, plan_with(case), "something else in it (mine)", "nothing was touched")
    equal((os.listdir(folder(case)), case.text("db/mine")), (["mine"], "precious"), "what is in the folder")


@test
def a_cluster_that_endwell_did_not_make_is_refused(case):
    os.mkdir(folder(case))
    case.file("db/PG_VERSION", "15\n")
    os.chown(folder(case), POSTGRES.pw_uid, POSTGRES.pw_gid)
    fails_to_start(case, plan_with(case), "is itself a PostgreSQL cluster", "nothing was touched")
    equal(os.listdir(folder(case)), ["PG_VERSION"], "what is in the folder")


@test
def a_cluster_of_another_version_is_refused_with_both_numbers(case):
    plan = plan_with(case)
    equal(start(case, plan).end(), 0, "exit code")
    for version in ("99", "12"):
        case.file("db/cluster/PG_VERSION", version + "\n")
        fails_to_start(case, plan, f"made by PostgreSQL {version}", "only 15", "nothing was touched")


@test
def a_folder_of_somebody_elses_and_one_that_cannot_be_written_are_refused(case):
    os.mkdir(folder(case))
    os.chown(folder(case), 4242, 4242)
    fails_to_start(case, plan_with(case), "belongs to uid 4242", f"runs as uid {POSTGRES.pw_uid}")
    mount = f'mount -t tmpfs -o ro none {folder(case)} && exec "$@"'
    fails_to_start(case, plan_with(case), "Read-only file system", shell=f"unshare --mount true; {mount}")


@test
def an_empty_volume_of_roots_is_given_to_the_databases_user(case):
    os.makedirs(os.path.join(folder(case), "lost+found"))
    run = start(case, plan_with(case))
    equal(os.stat(folder(case)).st_uid, POSTGRES.pw_uid, "owner")
    equal(os.stat(os.path.join(folder(case), "lost+found")).st_uid, 0, "owner of what is not ours")
    equal(run.end(), 0, "exit code")


@test
def what_cannot_be_is_refused_before_anything_starts(case):
    run = case.run(plan_with(case, User="root"))
    equal(run.process.wait(WAIT), 78, "exit code")
    run.unchecked = True
    check("does not run as root" in run.errors(), run.errors())
    long = case.run(plan_with(case, Embedded="/" + "x" * 93))
    equal(long.process.wait(WAIT), 78, "exit code")
    long.unchecked = True
    check("too long by 1" in long.errors(), long.errors())


@test
def the_program_itself_is_never_root(case):
    done = subprocess.run([DATABASE, folder(case)], capture_output=True, text=True, check=False, timeout=WAIT)
    equal(done.returncode, 78, "exit code")
    check("does not run as root" in done.stderr, done.stderr)
    check(not os.path.exists(folder(case)), "it made a folder")


@test
def without_root_all_runs_as_one_user_who_is_let_in(case):
    os.mkdir(case.path("run"))
    for name in (case.directory, case.path("run")):
        os.chown(name, POSTGRES.pw_uid, POSTGRES.pw_gid)
    run = start(case, plan_with(case), user="postgres:postgres")
    equal(sql(case, "select current_user", "postgres"), "endwell", "who comes in")
    run.journal.none("hook_started")
    equal(run.end(), 0, "exit code")


@test
def two_containers_with_one_volume_do_not_both_run_it(case):
    plan = plan_with(case)
    first = start(case, plan)
    other = case.plan(RuntimeDirectory=case.path("other"))
    other.actor("web", "serve", Phase="http")
    other.database({"Enabled": "no"}, Embedded=folder(case), Migrate="no")
    second = case.run(other)
    equal(second.wait(timeout=WAIT), 83, "exit code")
    check("another database runs in" in second.errors(), second.errors())
    equal(sql(case, "select 1"), "1", "an answer of the first")
    equal(first.end(), 0, "exit code")
    third = start(case, other)
    equal(sql(case, "select 1"), "1", "an answer of the next")
    equal(third.end(), 0, "exit code")


@test
def a_pid_that_is_somebody_elses_here_does_not_keep_the_database_down(case):
    os.mkdir(case.path("run"))
    for name in (case.directory, case.path("run")):
        os.chown(name, POSTGRES.pw_uid, POSTGRES.pw_gid)
    plan = plan_with(case)
    plan.service("early", "/bin/sleep 1000", Phase="db")
    run = start(case, plan, user="postgres:postgres")
    early = run.journal.only("service_started", service="early")["pid"]
    cut(run)
    path = os.path.join(folder(case), "cluster/postmaster.pid")
    with open(path, encoding="utf-8") as file:
        _, rest = file.read().split("\n", 1)
    with open(path, "w", encoding="utf-8") as file:
        file.write(f"{early}\n" + rest)  # the same user's: PostgreSQL alone would take it for a database
    run = start(case, plan, user="postgres:postgres")
    equal(run.journal.only("service_started", service="early")["pid"], early, "who has that number now")
    run.journal.only("service_started", service="endwell-database")
    equal(run.end(), 0, "exit code")


@test
def a_postgres_that_is_not_in_path_is_found_and_runs(case):
    path = "/usr/bin:/bin:/usr/sbin:/sbin"
    equal(shutil.which("postgres", path=path), None, "a postgres in it")
    run = start(case, plan_with(case), environment={"PATH": path})
    equal(sql(case, "select 1"), "1", "an answer")
    equal(run.end(), 0, "exit code")


@test
def a_postgres_that_says_nothing_of_itself_is_ready_when_its_own_file_says_so(case):
    os.mkdir(case.path("bin"))
    for name in ("initdb", "postgres"):
        case.file(f"bin/{name}", f'#!/bin/sh\nunset NOTIFY_SOCKET\nexec /usr/lib/postgresql/15/bin/{name} "$@"\n', 0o755)
    run = start(case, plan_with(case), environment={"PATH": case.path("bin") + ":" + case.environment["PATH"]})
    run.journal.only("service_ready", service="endwell-database")
    equal(sql(case, "select 1"), "1", "an answer")
    equal(run.end(), 0, "exit code")


@test
def an_ending_while_the_database_is_stopped_stays_in_its_budget_and_the_next_start_recovers(case):
    plan = plan_with(case, supervisor={"GraceSec": "6s"})
    run = start(case, plan)
    sql(case, "create table kept as select 42 as answer")
    for pid in of_database(run):
        os.kill(pid, signal.SIGSTOP)
    equal(run.end(timeout=WAIT), 82, "exit code")
    end = run.journal.only("ending_finished")
    check(end["left_of_grace_us"] > 0, f"within the grace: {end}")
    gone = run.journal.only("service_gone", service="endwell-database")
    equal((gone["cause"], gone["certain"]), ("interrupted", True), "cause")
    again = start(case, plan)
    equal(sql(case, "select answer from kept"), "42", "what was committed")
    equal(again.end(), 0, "exit code")


@test
def a_service_that_says_its_own_url_has_it_and_the_one_of_the_container_does_not_count(case):
    plan = plan_with(case, web=False)
    case.file("said", mode=0o666)
    for name, keys in (("plain", {}), ("own", {"Environment": "DATABASE_URL=own"}),
                       ("none", {"UnsetEnvironment": "DATABASE_URL"})):
        plan.shell(name, f'echo "{name} ${{DATABASE_URL-unset}}" >> {case.path("said")}; exec sleep 1000', Phase="http", **keys)
    run = start(case, plan, environment={"DATABASE_URL": "postgresql://elsewhere"})
    lines = wait_until(lambda: len(case.text("said").splitlines()) == 3 and case.text("said").splitlines(), "what they find",
                       alive=run.alive)
    said = dict(line.split(" ") for line in lines)
    equal(said["own"], "own", "a service's own")
    equal(said["none"], "unset", "one that wants none")
    check(said["plain"].startswith("postgresql:///endwell?host="), said["plain"])
    equal(run.end(), 0, "exit code")


@test
def an_application_that_ends_ends_the_container_though_the_database_runs_on(case):
    plan = plan_with(case, web=False)
    plan.service("work", "/bin/true", Type="oneshot", Phase="http")
    run = case.run(plan)
    equal(run.wait(timeout=WAIT), 0, "exit code")
    equal(run.journal.only("ending_started")["cause"], "finished", "cause of the ending")


# ---- The reaper and the migration ----

def with_ledger(case, **keys):
    """Everything that is built in; the journal is read from its beginning."""
    return plan_with(case, migrate="auto", reaper={"IntervalSec": "1s"}, **keys)


def enqueue(case, queue="default", n=1):
    sql(case, f"select count(*) from generate_series(1, {n}), endwell.enqueue('{queue}')")


@test
def the_ledger_is_there_before_the_workers_and_the_reaper_is_gone_before_the_database_is_asked(case):
    plan = with_ledger(case)
    plan.actor("worker", "serve", Phase="workers")
    run = start(case, plan)
    journal = run.journal
    journal.order(journal.only("service_ready", service="endwell-database"),
                  journal.only("service_starting", service="endwell-migrate"),
                  journal.only("service_ready", service="endwell-migrate"),
                  journal.only("service_starting", service="endwell-reaper"), journal.only("service_starting", service="worker"))
    equal(sql(case, "select count(*) from endwell.queue where name = 'default'"), "1", "the queue that it makes")
    run.journal.until("service_status", service="endwell-reaper", text=lambda text: "sweeping" in text)
    equal(run.end(), 0, "exit code")
    settled = journal.only("reaper_settled")
    equal(settled["owner"], journal.only("service_started", service="endwell-reaper")["owner"], "who settled")
    journal.order(journal.only("phase_started", phase="db"), journal.only("service_asked", service="endwell-reaper"),
                  journal.only("database_quiet"), settled, journal.only("service_gone", service="endwell-reaper"),
                  journal.only("service_asked", service="endwell-database"), journal.only("ending_finished"))
    second = start(case, plan)
    equal(second.end(), 0, "exit code")
    equal(second.journal.only("service_exited", service="endwell-migrate")["status"], 0, "the second migration")


@test
def a_job_whose_worker_was_cut_off_with_everything_is_ready_again_at_the_next_start(case):
    plan = with_ledger(case)
    said = case.file("said", mode=0o666)
    plan.shell("worker", f'psql -XAtq "$DATABASE_URL" -c "select endwell.worker_up(id => \'$ENDWELL_OWNER\')" '
               f'-c "select id from endwell.claim(\'default\', \'$ENDWELL_OWNER\')" >> {said}; exec sleep 1000',
               Phase="workers")
    run = start(case, plan)
    equal(run.end(), 0, "exit code")
    run = start(case, plan_with(case, migrate="auto"))
    enqueue(case)
    equal(run.end(), 0, "exit code")
    run = start(case, plan)
    wait_until(lambda: sql(case, "select state from endwell.job") == "running", "a claim", alive=run.alive)
    cut(run)
    again = start(case, plan_with(case, migrate="auto", reaper={"IntervalSec": "600s"}))
    wait_until(lambda: sql(case, "select state, deaths from endwell.job") == "ready|1", "the job's return", alive=again.alive)
    equal(again.end(), 0, "exit code")


@test
def a_reaper_that_is_killed_comes_back_and_nobody_else_notices(case):
    run = start(case, with_ledger(case))
    for n in (1, 2, 3):
        inner = run.journal.until("service_started", service="endwell-reaper", count=n)["pid"]
        os.kill(run.outside(inner), signal.SIGKILL)
        run.journal.until("service_restart_scheduled", service="endwell-reaper", count=n)
    run.journal.until("service_started", service="endwell-reaper", count=4)
    run.journal.none("readiness_changed", ready=False)
    equal(run.end(), 0, "exit code")


@test
def without_the_reapers_program_everything_else_runs(case):
    program = os.path.join(os.path.dirname(os.path.dirname(BINARY)), "reaper/endwell-reaper")
    hide = f'mount --make-rprivate / && mount --bind /dev/null {program} && exec "$@"'
    run = start(case, with_ledger(case), before=("unshare", "--mount"), shell=hide)
    run.journal.only("readiness_changed", ready=True)
    run.journal.until("service_restart_scheduled", service="endwell-reaper", count=2)
    equal(run.end(), 0, "exit code")


@test
def the_ending_of_a_reaper_whose_database_is_stopped_stays_in_its_budget(case):
    run = start(case, with_ledger(case, supervisor={"GraceSec": "12s"}))
    run.journal.until("service_status", service="endwell-reaper", text=lambda text: "sweeping" in text)
    for pid in of_database(run):
        os.kill(pid, signal.SIGSTOP)
    run.end(timeout=WAIT)
    end = run.journal.only("ending_finished")
    check(end["left_of_grace_us"] > 0, f"within the grace: {end}")
    gone = run.journal.only("service_gone", service="endwell-reaper")
    equal(gone["cause"], "clean", "how the reaper went")
    run.journal.order(gone, run.journal.only("service_asked", service="endwell-database"))


@test(full=True)
def a_migration_that_fails_for_good_is_a_failed_start_that_says_so(case):
    plan = case.plan()
    plan.actor("web", "serve", Phase="http")
    plan.database({"Enabled": "no"}, Url="postgresql://app:s3cret@127.0.0.1:1/app?connect_timeout=1", Migrate="yes",
                  ConnectTimeoutSec="1s")
    run = case.run(plan)
    equal(run.wait(timeout=300), 83, "exit code")
    run.journal.none("service_starting", service="web")
    equal(run.journal.only("ending_started")["cause"], "start_failed", "cause of the ending")
    check("the essential service endwell-migrate failed for good" in run.errors().splitlines()[-1], run.errors()[-400:])
    check("s3cret" not in run.errors() and "s3cret" not in case.text("run/journal.jsonl"), "the password is shown")


@test
def what_is_reported_over_the_socket_is_in_journal_status_and_summary(case):
    plan = case.plan()
    plan.actor("web", "serve", Phase="http")
    run = case.run(plan).ready()
    client = run.connect()
    status = client.result("status")
    check("released" not in status and "sessions" not in status, "nothing was reported yet")
    client.result("report", event="reaper_settled", owner="me", released=3, buried=1)
    client.result("report", event="database_quiet", sessions=2)
    status = client.result("status")
    equal((status["released"], status["buried"], status["sessions"]), (3, 1, 2), "in the status")
    equal(run.end(), 0, "exit code")
    settled, quiet, end = (run.journal.only(event) for event in ("reaper_settled", "database_quiet", "ending_finished"))
    equal((settled["owner"], settled["released"], settled["buried"], quiet["sessions"]), ("me", 3, 1, 2), "in the journal")
    equal((end["released"], end["buried"], end["sessions"]), (3, 1, 2), "in the last event")
    check("the reaper gave back 3 jobs and buried 1; 2 sessions of ours still in the database" in run.errors(), "summary")


@test
def who_dies_of_a_signal_of_its_own_while_it_drains_has_crashed(case):
    plan = case.plan()
    plan.shell("web", "trap 'kill -SEGV $$' TERM; echo; while :; do sleep 0.05; done", Phase="http")
    plan.actor("other", "serve --exit 3", Phase="workers")
    run = case.run(plan).ready()
    wait_until(lambda: len(children(run.journal.only("service_started", service="web") and run.outside(
        run.journal.only("service_started", service="web")["pid"]))) > 0, "the trap", alive=run.alive)
    run.end()
    equal(run.journal.only("service_gone", service="web")["cause"], "crashed", "cause of the one that crashed")
    equal(run.journal.only("service_gone", service="other")["cause"], "clean", "cause of the one with a code of its own")


@test
def a_password_is_seen_nowhere_but_in_the_environment_of_who_needs_it(case):
    plan = case.plan()
    plan.actor("web", "serve", Phase="http")
    plan.database({"IntervalSec": "1s"}, Url="postgresql://app:s3cret@127.0.0.1:1/app", ListenUrl="host=127.0.0.1 password=s3cret",
                  ConnectTimeoutSec="1s")
    run = start(case, plan)
    case.serving("web")
    reaper = run.outside(run.journal.until("service_started", service="endwell-reaper")["pid"])
    said = [run.verb("status").stdout, run.verb("status", "--json").stdout, run.verb("events").stdout]
    for words in ((), ("--json",), ("--platform", "docker")):
        done = subprocess.run([BINARY, "check", "-c", case.path("endwell.ini"), *words], capture_output=True, text=True,
                              check=True, env=case.environment)
        said.append(done.stdout + done.stderr)
    for pid in run.processes():
        with open(f"/proc/{pid}/cmdline", encoding="utf-8", errors="replace") as file:
            said.append(file.read())
        with open(f"/proc/{pid}/environ", encoding="utf-8", errors="replace") as file:
            environment = file.read()
        check(("s3cret" in environment) == (pid == reaper), f"the environment of {pid}: {environment!r}")
    equal(run.end(), 0, "exit code")
    for text in (*said, run.errors(), case.text("run/journal.jsonl")):
        check(text and "s3cret" not in text, text)
