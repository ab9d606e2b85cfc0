"""`endwell check` and `run` by who may do less: each right that endwell cannot give is named with the capability it lacks."""
import json
import os
import subprocess

from case import test
from endwell import BINARY
from journal import check, equal

NOBODY = ["--reuid=65534", "--regid=65534", "--clear-groups"]
HIDDEN = "s3cret"


def web(case, *lines):
    """In a directory that whoever checks can make: check tries that, too."""
    os.makedirs(case.path("open"), exist_ok=True)
    os.chmod(case.path("open"), 0o1777)
    plan = case.plan(Phases="one", RuntimeDirectory=case.path("open/run"))
    keys = {}
    for line in lines:
        key, value = line.split("=", 1)
        keys.setdefault(key, []).append(value)
    plan.service("web", "/bin/sleep 1000", Phase="one", **keys)
    return plan


def run_as(case, options, words):
    return subprocess.run(["setpriv", *options, *words], capture_output=True, text=True, timeout=60, env=case.environment,
                          check=False)


def check_as(case, options, *lines):
    """(exit code, what was said)"""
    done = run_as(case, options, [BINARY, "check", "-c", web(case, *lines).write()])
    return done.returncode, done.stdout + done.stderr


def line_of(case, start):
    return case.text("endwell.ini").splitlines().index(start) + 1


def refused(case, options, lines, *words):
    """The last line is refused, for a reason that has these words."""
    code, said = check_as(case, options, *lines)
    equal(code, 78, f"exit code for {lines}: {said}")
    place = f"endwell.ini:{line_of(case, lines[-1])}: "
    found = [one for one in said.splitlines() if place in one]
    check(len(found) == 1, f"{place} in {said}")
    for word in words:
        check(word in found[0], f"{word} is not in {found[0]}")
    return found[0]


def taken(case, options, *lines):
    code, said = check_as(case, options, *lines)
    equal(code, 0, f"exit code for {lines}: {said}")


@test
def who_is_not_root_cannot_run_a_service_as_another_user(case):
    refused(case, NOBODY, ["User=daemon"], "uid 65534", "CAP_KILL, CAP_SETGID and CAP_SETUID")
    refused(case, NOBODY, ["Group=daemon"], "CAP_SETGID")
    refused(case, NOBODY, ["SupplementaryGroups=daemon"], "CAP_SETGID")


@test
def the_very_user_that_endwell_is_needs_nothing(case):
    taken(case, NOBODY, "User=nobody")
    taken(case, NOBODY, "User=65534", "Group=65534")
    taken(case, ["--reuid=1234567", "--regid=7654321", "--clear-groups"], "User=1234567")
    taken(case, ["--reuid=65534", "--regid=65534", "--groups=1,2"], "User=nobody", "SupplementaryGroups=2")


@test
def of_three_capabilities_the_one_that_is_missing_is_named(case):
    for word in ("setuid", "setgid", "kill"):
        said = refused(case, [f"--bounding-set=-{word}"], ["User=daemon"], f"it lacks CAP_{word.upper()}")
        equal(said.count("CAP_"), 1, said)
    taken(case, ["--bounding-set=-all,+setuid,+setgid,+kill,+dac_override"], "User=daemon")


@test
def a_hard_limit_is_not_raised_without_a_capability_and_both_are_said(case):
    words = ["prlimit", "--nofile=100:200", BINARY, "check", "-c", web(case, "LimitNOFILE=100:201").write()]
    done = run_as(case, NOBODY, words)
    equal(done.returncode, 78, "exit code")
    check("LimitNOFILE=100:201: the hard limit 201 is above endwell's own, 200" in done.stderr and
          "CAP_SYS_RESOURCE" in done.stderr, done.stderr)
    words[-1] = web(case, "LimitNOFILE=150:200").write()
    equal(run_as(case, NOBODY, words).returncode, 0, "exit code")


@test
def what_only_root_may_do_is_refused_to_others(case):
    refused(case, NOBODY, ["OOMScoreAdjust=-1000"], "CAP_SYS_RESOURCE")
    refused(case, NOBODY, ["Nice=-20"], "CAP_SYS_NICE")
    refused(case, NOBODY, ["CapabilityBoundingSet=CAP_KILL"], "CAP_SETPCAP")
    refused(case, NOBODY, ["AmbientCapabilities=CAP_KILL CAP_CHOWN"], "lacks CAP_CHOWN and CAP_KILL")
    taken(case, NOBODY, "OOMScoreAdjust=1000", "Nice=19", "CapabilityBoundingSet=~", "UMask=0", "NoNewPrivileges=yes")


@test
def capabilities_that_were_given_to_another_user_count(case):
    ambient = [*NOBODY, "--inh-caps=+net_bind_service", "--ambient-caps=+net_bind_service"]
    taken(case, ambient, "AmbientCapabilities=CAP_NET_BIND_SERVICE")
    taken(case, ambient, "Listen=tcp://127.0.0.1:1")
    refused(case, ambient, ["AmbientCapabilities=CAP_NET_BIND_SERVICE CAP_KILL"], "lacks CAP_KILL")


@test
def a_low_port_is_refused_before_anything_runs(case):
    refused(case, NOBODY, ["Listen=tcp://127.0.0.1:1"], "CAP_NET_BIND_SERVICE", "port 1")
    with open("/proc/sys/net/ipv4/ip_unprivileged_port_start", encoding="ascii") as file:
        least = int(file.read())
    taken(case, NOBODY, f"Listen=tcp://127.0.0.1:{max(least, 1)}")
    plan = web(case, "Listen=tcp://127.0.0.1:1")
    plan.actor("other", Phase="one")
    done = run_as(case, ["--bounding-set=-net_bind_service"], [BINARY, "run", "-c", plan.write()])
    equal(done.returncode, 78, f"exit code: {done.stderr}")
    check("CAP_NET_BIND_SERVICE" in done.stderr, done.stderr)
    equal(case.log.read(), [], "what ran")


@test
def a_number_must_exist_in_the_user_namespace(case):
    words = ["unshare", "--user", "--map-root-user", BINARY, "check", "-c"]
    done = run_as(case, [], [*words, web(case, "User=daemon").write()])
    equal(done.returncode, 78, f"exit code: {done.stdout}")
    check("uid 1 does not exist in this user namespace" in done.stderr, done.stderr)
    done = run_as(case, [], [*words, web(case, "User=root").write()])
    equal(done.returncode, 0, f"exit code: {done.stderr}")


@test
def an_unknown_user_starts_nothing(case):
    plan = web(case, "User=no-such-user-here")
    plan.actor("other", Phase="one")
    run = case.run(plan)
    run.unchecked = True
    equal(run.wait(), 78, "exit code of run")
    equal(case.log.read(), [], "what ran")


@test
def no_secret_is_printed(case):
    case.file("web.env", f"TOKEN={HIDDEN}\n{HIDDEN}\nexport A={HIDDEN}\nB='{HIDDEN}\n")
    bad = web(case, f"EnvironmentFile={case.path('web.env')}", f"ReadinessProbe=http://app:{HIDDEN}@localhost/",
              f"LivenessProbe=exec:check {HIDDEN} perido=1s", f"PassEnvironment=A={HIDDEN}", f"Environment={HIDDEN}")
    bad.section("[Hook tell]", {"Service": "web", "On": "pre-stop", "Http": f"POST http://app:{HIDDEN}@balancer/"})
    for options in ([], ["--json"]):
        done = run_as(case, [], [BINARY, "check", "-c", bad.write(), *options])
        equal(done.returncode, 78, "exit code")
        check(HIDDEN not in done.stdout + done.stderr, done.stdout + done.stderr)
    case.file("web.env", f"TOKEN={HIDDEN}\n")
    good = web(case, f"EnvironmentFile={case.path('web.env')}", f"ReadinessProbe=http://localhost/?{HIDDEN}",
               f"LivenessProbe=exec:/bin/true {HIDDEN}", f"Environment=A={HIDDEN}")
    good.section("[Hook tell]", {"Service": "web", "On": "pre-stop", "Http": f"POST http://balancer/?{HIDDEN}"})
    for options in ([], ["--json"]):
        done = run_as(case, [], [BINARY, "check", "-c", good.write(), *options])
        equal(done.returncode, 0, f"exit code: {done.stderr}")
        check(HIDDEN not in done.stdout + done.stderr, done.stdout + done.stderr)


@test
def a_program_reads_what_a_service_has(case):
    plan = web(case, "User=daemon", "LimitCORE=0", "Listen=tcp://127.0.0.1:65000 name=http",
               "StartupProbe=tcp://127.0.0.1:65001")
    done = run_as(case, [], [BINARY, "check", "--json", "-c", plan.write()])
    service = json.loads(done.stdout)["plan"]["start"][0]["services"][0]
    equal(service["rights"]["user"], "daemon", "user")
    equal(service["rights"]["limits"], {"LimitCORE": {"soft": 0, "hard": 0}}, "limits")
    equal(service["listen"], [{"address": "tcp://127.0.0.1:65000", "mode": None, "name": "http"}], "sockets")
    equal(service["probes"]["startup"]["target"], "127.0.0.1:65001", "probe")
    equal(os.path.exists(plan.runtime), False, "whether check made anything")
