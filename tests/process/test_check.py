"""`endwell check`: cases 49 and 50, and the bad files."""
import os
import subprocess

from case import test
from endwell import BINARY, Endwell
from journal import check, equal


def check_file(case, path, *options):
    return subprocess.run([BINARY, "check", "-c", path, *options], capture_output=True, text=True, timeout=60, env=case.environment,
                          check=False)


@test
def case_49_a_misspelt_key_is_named_with_its_file_and_line(case):
    plan = case.plan(Phases="one")
    plan.actor("web", "serve", Phase="one", TimeoutStopSecs="5")
    path = plan.write()
    done = check_file(case, path)
    equal(done.returncode, 78, "exit code")
    line = plan.text().splitlines().index("TimeoutStopSecs=5") + 1
    said = done.stdout + done.stderr
    check(f"{path}:{line}:" in said and "TimeoutStopSecs" in said and "TimeoutStopSec" in said, f"what was said: {said}")
    run = case.run(plan)
    run.unchecked = True
    equal(run.wait(), 78, "exit code of run")
    equal(case.log.read(), [], "what ran")


@test
def case_49_one_bad_log_path_among_ten_services_is_named(case):
    plan = case.plan(Phases="one")
    for number in range(10):
        target = "/surely/no/such/folder/web.log" if number == 6 else case.path(f"{number}.log")
        plan.actor(f"web-{number}", "serve", Phase="one", StandardOutput=f"append:{target}")
    path = plan.write()
    done = check_file(case, path)
    equal(done.returncode, 78, "exit code")
    line = plan.text().splitlines().index("StandardOutput=append:/surely/no/such/folder/web.log") + 1
    said = done.stdout + done.stderr
    check(f"{path}:{line}:" in said and "/surely/no/such/folder" in said, f"what was said: {said}")
    run = case.run(plan)
    run.unchecked = True
    equal(run.wait(), 78, "exit code of run")
    equal(case.log.read(), [], "what ran")


@test
def case_50_a_plan_that_does_not_fit_is_refused_with_its_arithmetic(case):
    plan = case.plan(GraceSec=30)
    plan.phase("http", TimeoutSec=20).phase("workers", TimeoutSec=20).phase("db", TimeoutSec=5)
    plan.actor("web", "serve", Phase="http")
    plan.actor("worker", "serve", Phase="workers")
    plan.actor("data", "serve", Phase="db")
    done = check_file(case, plan.write())
    equal(done.returncode, 78, "exit code")
    said = done.stdout + done.stderr
    for word in ("45", "27", "20", "5"):
        check(word in said, f"{word} is not said: {said}")


@test
def a_good_file_is_0_and_prints_both_plans(case):
    plan = case.plan()
    plan.phase("http", DelaySec="2s", TimeoutSec="10s")
    plan.actor("web", "serve", Phase="http", After="proxy")
    plan.actor("proxy", "serve", Phase="http")
    plan.actor("worker", "serve", Phase="workers")
    plan.actor("data", "serve", Phase="db")
    done = check_file(case, plan.write())
    equal(done.returncode, 0, f"exit code: {done.stderr}")
    for word in ("http", "workers", "db", "web", "proxy", "worker", "data", "27"):
        check(word in done.stdout, f"{word} is not in the plan: {done.stdout}")
    equal(case.log.read(), [], "what ran")


@test
def each_platform_says_what_it_needs_and_what_it_cannot_do(case):
    plan = case.plan(GraceSec=45)
    plan.phase("http", DelaySec="2s").actor("web", "serve", Phase="http")
    path = plan.write()
    line = plan.text().splitlines().index("GraceSec=45") + 1
    for platform, code, words in (("kubernetes", 0, "terminationGracePeriodSeconds: 45"), ("ecs", 0, '"stopTimeout": 45'),
                                  ("docker", 0, "stop_grace_period: 45s"), ("cloud-run", 78, "write GraceSec=10"),
                                  ("fly", 0, "kill_timeout = 45"), ("nomad", 0, 'kill_timeout = "45s"'),
                                  ("heroku", 78, "write GraceSec=30"), ("systemd", 0, "TimeoutStopSec=45")):
        done = check_file(case, path, "--platform", platform)
        said = done.stdout + done.stderr
        equal(done.returncode, code, f"exit code for {platform}: {said}")
        check(words in said, f"{platform}: {words} is not in {said}")
        check((f"{path}:{line}: " in said) == (platform != "systemd"), f"{platform}: the line of GraceSec in {said}")
    done = check_file(case, path, "--platform", "kubernets")
    equal(done.returncode, 64, "exit code for one that is none")
    check("did you mean kubernetes?" in done.stderr, f"what was said: {done.stderr}")


@test
def what_check_says_of_a_runtime_directory_is_what_run_says(case):
    for name, good in (("absent/run", False), ("file", False), ("fine", True)):
        case.file("file")
        plan = case.plan(Phases="one", RuntimeDirectory=case.path(name))
        plan.actor("web", "exit 0", Phase="one", Restart="no")
        path = plan.write()
        done = check_file(case, path)
        equal(done.returncode, 0 if good else 78, f"exit code of check for {name}: {done.stderr}")
        check(good or f"{path}:{plan.text().splitlines().index('RuntimeDirectory=' + case.path(name)) + 1}: " in done.stderr,
              f"the line: {done.stderr}")
        check(not os.path.isdir(case.path(name)), "check has made it")
        run = case.run(plan)
        run.unchecked = True
        equal(run.wait(), 0 if good else 78, f"exit code of run for {name}")


@test
def the_bad_files_are_refused_as_expected_and_the_good_ones_taken(case):
    folder = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "cases/config")
    with open(os.path.join(folder, "expected.tsv"), encoding="utf-8") as file:
        rows = [line.rstrip("\n").split("\t") for line in file][1:]
    for name, code, lines, words in rows:
        path = os.path.join(folder, name)
        done = check_file(case, path)
        said = done.stdout + done.stderr
        equal(done.returncode, int(code), f"exit code of {name}: {said}")
        found = [f"{path}:{line}:" in said for line in lines.replace("|", ",").split(",") if line]
        check(not found or (any(found) if "|" in lines else all(found)), f"{name}: lines {lines} in {said}")
        for word in words.split():
            check(word in said, f"{name}: {word} is not in {said}")


@test
def a_long_value_arrives_whole(case):
    folder = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "cases/config")

    run = Endwell(case, ["run", "-c", os.path.join(folder, "20-good-long-value.ini")],
                  shell=f'mount --bind {case.directory} /run && exec "$@"', runtime=case.path("endwell"))
    run.ready()
    run.journal.none("service_exited")
    equal(run.end(), 0, "exit code")
