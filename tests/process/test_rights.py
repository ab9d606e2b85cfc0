"""What a service, a hook and a probe may do and use, as the kernel sees them: read from outside, in /proc."""
import os
import resource
import signal

from case import test
from endwell import read_link, status_field
from journal import check, equal, wait_until

DAEMON = 1  # a user and a group that every Debian has
NOBODY = 65534
ALL = {"CHOWN": 0, "DAC_OVERRIDE": 1, "KILL": 5, "SETGID": 6, "SETUID": 7, "SETPCAP": 8, "NET_BIND_SERVICE": 10, "NET_RAW": 13,
       "AUDIT_READ": 37}

# key, value, row of /proc/PID/limits, what stands there
LIMITS = [
    ("LimitCPU", "1000:2000", "Max cpu time", "1000 2000"),
    ("LimitFSIZE", "1G:2G", "Max file size", f"{1 << 30} {2 << 30}"),
    ("LimitDATA", "1G", "Max data size", f"{1 << 30} {1 << 30}"),
    ("LimitSTACK", "4M:8M", "Max stack size", f"{4 << 20} {8 << 20}"),
    ("LimitCORE", "0", "Max core file size", "0 0"),
    ("LimitRSS", "64M:infinity", "Max resident set", f"{64 << 20} unlimited"),
    ("LimitNPROC", "900:1000", "Max processes", "900 1000"),
    ("LimitNOFILE", "300:400", "Max open files", "300 400"),
    ("LimitMEMLOCK", "32K:64K", "Max locked memory", f"{32 << 10} {64 << 10}"),
    ("LimitAS", "2G:3G", "Max address space", f"{2 << 30} {3 << 30}"),
    ("LimitLOCKS", "100:200", "Max file locks", "100 200"),
    ("LimitSIGPENDING", "300:400", "Max pending signals", "300 400"),
    ("LimitMSGQUEUE", "4096:8192", "Max msgqueue size", "4096 8192"),
    ("LimitNICE", "0", "Max nice priority", "0 0"),
    ("LimitRTPRIO", "0", "Max realtime priority", "0 0"),
    ("LimitRTTIME", "100000:200000", "Max realtime timeout", "100000 200000"),
]


def mask(*names):
    return sum(1 << ALL[name] for name in names)


class Seen:
    """A process as /proc shows it."""

    def __init__(self, run, inner):
        self.pid = run.outside(inner)

    def text(self, name):
        with open(f"/proc/{self.pid}/{name}", encoding="utf-8", errors="replace") as file:
            return file.read()

    def status(self, name):
        return status_field(self.pid, name)

    def set(self, name):
        return int(self.status(name)[0], 16)

    def environment(self):
        words = self.text("environ").split("\0")[:-1]
        names = [word.split("=", 1)[0] for word in words]
        equal(len(names), len(set(names)), f"names, each once: {names}")
        return dict(word.split("=", 1) for word in words)

    def limit(self, row):
        return " ".join(self.text("limits").split(row, 1)[1].split()[:2])

    def nice(self):
        return int(self.text("stat").rsplit(")", 1)[1].split()[16])

    def directory(self):
        return read_link(f"/proc/{self.pid}/cwd")

    def descriptors(self):
        return sorted(int(name) for name in os.listdir(f"/proc/{self.pid}/fd"))


def started(case, run_keys=None, command="/bin/sleep 1000", **keys):
    """A run with one service of these keys, and its main process."""
    plan = case.plan(Phases="one").service("web", command, Phase="one", **keys)
    run = case.run(plan, **(run_keys or {})).ready()
    return run, Seen(run, run.journal.only("service_started")["pid"])


def ended(run):
    equal(run.end(), 0, "exit code")


@test
def a_user_is_taken_with_all_that_its_entry_says(case):
    run, seen = started(case, User="daemon")
    equal((seen.status("Uid"), seen.status("Gid")), (["1"] * 4, ["1"] * 4), "user and group")
    equal(seen.status("Groups"), ["1"], "groups")
    equal((seen.set("CapEff"), seen.set("CapPrm"), seen.set("CapAmb")), (0, 0, 0), "capabilities")
    found = seen.environment()
    equal([found.get(name) for name in ("HOME", "USER", "LOGNAME", "SHELL")],
          ["/usr/sbin", "daemon", "daemon", "/usr/sbin/nologin"], "what the environment says of the user")
    ended(run)


@test
def a_user_by_number_with_groups_of_its_own(case):
    run, seen = started(case, User="4242", Group="daemon", SupplementaryGroups="5353 mail")
    equal((seen.status("Uid"), seen.status("Gid")), (["4242"] * 4, ["1"] * 4), "user and group")
    equal(seen.status("Groups"), ["1", "8", "5353"], "groups")
    equal([seen.environment().get(name) for name in ("USER", "HOME")], ["4242", "/"], "what the environment says of it")
    ended(run)


@test
def without_a_user_everything_is_endwells(case):
    run, seen = started(case)
    endwell = Seen(run, 1)
    for name in ("Uid", "Gid", "Groups", "CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb", "NoNewPrivs", "Umask"):
        equal(seen.status(name), endwell.status(name), name)
    equal(seen.nice(), endwell.nice(), "nice")
    equal(seen.directory(), endwell.directory(), "directory")
    equal(seen.text("oom_score_adj"), endwell.text("oom_score_adj"), "score")
    for row in {row for _, _, row, _ in LIMITS} - {"Max open files"}:
        equal(seen.limit(row), endwell.limit(row), row)
    equal(seen.descriptors(), [0, 1, 2], "descriptors")
    equal(seen.environment()["HOME"], "/root", "HOME")
    ended(run)


@test
def every_limit_reaches_the_service(case):
    run, seen = started(case, **{key: value for key, value, _, _ in LIMITS})
    for key, _, row, wanted in LIMITS:
        equal(seen.limit(row), wanted, key)
    ended(run)


@test
def the_limit_of_descriptors_is_as_endwell_was_given_it_but_for_who_sets_it(case):
    plan = case.plan(Phases="one")
    plan.service("plain", "/bin/sleep 1000", Phase="one")
    plan.service("own", "/bin/sleep 1000", Phase="one", LimitNOFILE="1000:3000")
    plan.service("other", "/bin/sleep 1000", Phase="one", LimitCORE="0")
    run = case.run(plan, shell='ulimit -Sn 222 && ulimit -Hn 4000 && exec "$@"').ready()
    found = [Seen(run, run.journal.only("service_started", service=name)["pid"]).limit("Max open files")
             for name in ("plain", "own", "other")]
    equal(found, ["222 4000", "1000 3000", "222 4000"], "limits of plain, own and other")
    equal(Seen(run, 1).limit("Max open files"), "4000 4000", "endwell's own")
    ended(run)


@test
def scheduling_score_and_umask_go_with_another_user(case):
    run, seen = started(case, User="daemon", Nice="-5", OOMScoreAdjust="345", UMask="0137")
    equal((seen.nice(), seen.text("oom_score_adj"), seen.status("Umask")), (-5, "345\n", ["0137"]), "what it has")
    ended(run)


@test
def capabilities_are_those_that_were_named(case):
    run, seen = started(case, CapabilityBoundingSet="CAP_CHOWN CAP_NET_RAW CAP_AUDIT_READ")
    wanted = mask("CHOWN", "NET_RAW", "AUDIT_READ")
    equal((seen.set("CapBnd"), seen.set("CapEff"), seen.set("CapPrm")), (wanted, wanted, wanted), "root's")
    ended(run)


@test
def a_user_can_be_given_a_capability(case):
    run, seen = started(case, User="daemon", AmbientCapabilities="CAP_NET_BIND_SERVICE",
                        CapabilityBoundingSet="CAP_NET_BIND_SERVICE CAP_NET_RAW", NoNewPrivileges="yes")
    ambient = mask("NET_BIND_SERVICE")
    equal([seen.set(name) for name in ("CapAmb", "CapEff", "CapPrm", "CapInh")], [ambient] * 4, "what it has")
    equal(seen.set("CapBnd"), mask("NET_BIND_SERVICE", "NET_RAW"), "what it may get")
    equal(seen.status("NoNewPrivs"), ["1"], "no new privileges")
    ended(run)


@test
def a_port_below_1024_is_the_proof_of_it(case):
    # "yes" if the port could be had; the namespace has no other network than its own
    program = ("import socket\ns = socket.socket()\ntry:\n    s.bind(('127.0.0.1', 80))\n    print('yes')\n"
               "except PermissionError:\n    print('no')\n")
    script = case.file("bind.py", program)
    case.file("with", "", 0o666), case.file("without", "", 0o666)
    plan = case.plan(Phases="one")
    for name, keys in (("with", {"AmbientCapabilities": "CAP_NET_BIND_SERVICE"}), ("without", {})):
        plan.service(name, f"/usr/bin/python3 {script}", Phase="one", Type="oneshot", User="daemon",
                     StandardOutput=f"append:{case.path(name)}", **keys)
    run = case.run(plan, before=["unshare", "--net"])
    equal(run.wait(), 0, "exit code")
    equal((case.text("with"), case.text("without")), ("yes\n", "no\n"), "who could bind")


@test
def the_directory_must_be_open_to_the_user(case):
    os.makedirs(case.path("closed"), 0o700)
    plan = case.plan(Phases="one")
    plan.service("web", "/bin/sleep 1000", Phase="one", User="daemon", WorkingDirectory=case.path("closed"), Restart="no",
                 Essential="no")
    plan.service("root", "/bin/sleep 1000", Phase="one", WorkingDirectory=case.path("closed"))
    run = case.run(plan).ready()
    failed = run.journal.until("service_exited", service="web")
    equal((failed["status"], failed["error"]), (125, "working directory: Permission denied"), "how it ended")
    seen = Seen(run, run.journal.only("service_started", service="root")["pid"])
    equal(seen.directory(), case.path("closed"), "root's directory")
    os.chown(case.path("closed"), DAEMON, DAEMON)
    ended(run)


@test
def a_limit_that_cannot_be_given_any_more_is_named(case):
    plan = case.plan(Phases="one")
    plan.service("web", "/bin/sleep 1000", Phase="one", LimitNPROC="1000:2000", LimitCORE="0", RestartSec="1ms",
                 StartLimitBurst=3, Essential="no")
    plan.service("other", "/bin/sleep 1000", Phase="one")
    run = case.run(plan, shell='exec setpriv --bounding-set=-sys_resource "$@"').ready()
    resource.prlimit(run.pid, resource.RLIMIT_NPROC, (500, 1500))  # the check at the start could not know that
    os.kill(run.outside(run.journal.only("service_started", service="web")["pid"]), signal.SIGKILL)
    run.journal.until("service_gave_up", service="web")
    failed = run.journal.last("service_exited", service="web")
    equal((failed["status"], failed["error"]), (125, "LimitNPROC: Operation not permitted"), "how it ended")
    ended(run)


@test
def an_endwell_that_is_nobody_gives_what_needs_nothing(case):
    os.makedirs(case.path("run"), 0o711)
    os.chown(case.path("run"), NOBODY, NOBODY)
    run, seen = started(case, {"user": "nobody:nogroup"}, User="nobody", Nice="7", OOMScoreAdjust="100", UMask="077",
                        LimitNOFILE="100:200", LimitCORE="0", NoNewPrivileges="yes", WorkingDirectory="/usr")
    equal((seen.status("Uid")[0], seen.status("Gid")[0]), (str(NOBODY), str(NOBODY)), "user and group")
    equal((seen.nice(), seen.text("oom_score_adj"), seen.status("Umask")), (7, "100\n", ["0077"]), "what it has")
    equal((seen.limit("Max open files"), seen.status("NoNewPrivs"), seen.directory()), ("100 200", ["1"], "/usr"), "and")
    equal(seen.environment()["USER"], "nobody", "USER")
    ended(run)


@test
def an_endwell_that_is_nobody_starts_nothing_for_others(case):
    os.makedirs(case.path("run"), 0o711)
    os.chown(case.path("run"), NOBODY, NOBODY)
    plan = case.plan(Phases="one").service("web", "/bin/sleep 1000", Phase="one", User="daemon")
    run = case.run(plan, user="nobody:nogroup")
    run.unchecked = True
    equal(run.wait(), 78, "exit code")
    check("CAP_SETUID" in run.errors(), run.errors())


@test
def of_one_name_the_first_in_the_manuals_order_wins(case):
    files = [case.file("first.env", "FILE=first\nBOTH=file\nUNWANTED=file\n"), case.file("second.env", "FILE=second\n")]
    run, seen = started(
        case, {"environment": {"BOTH": "inherited", "KEPT": "inherited", "SECRET": "inherited", "LOGNAME": "inherited"}},
        User="daemon", Environment=["BOTH=configured HOME=/elsewhere ENDWELL_SERVICE=liar", "NOTIFY_SOCKET=liar"],
        EnvironmentFile=[*files, "-" + case.path("missing.env")], UnsetEnvironment="SECRET UNWANTED ENDWELL_PHASE")
    found = seen.environment()
    wanted = {"BOTH": "file", "FILE": "second", "HOME": "/elsewhere", "KEPT": "inherited", "LOGNAME": "daemon",
              "ENDWELL_SERVICE": "web", "ENDWELL_PHASE": "one", "NOTIFY_SOCKET": case.path("run/notify/web")}
    equal({name: found.get(name) for name in wanted}, wanted, "environment")
    equal({"SECRET", "UNWANTED"} & set(found), set(), "what was unset")
    ended(run)


@test
def only_what_is_passed_is_inherited(case):
    run, seen = started(case, {"environment": {"LANG": "C", "TZ": "UTC", "SECRET": "1"}}, PassEnvironment="TZ MISSING",
                        Environment="MINE=1")
    found = seen.environment()
    check({"TZ", "PATH", "MINE", "ENDWELL_OWNER"} <= set(found), f"what is there: {found}")
    equal({"LANG", "SECRET", "HOME", "ACTOR"} & set(found), set(), "what must not be there")
    ended(run)


@test
def a_thousand_inherited_variables_are_all_there(case):
    many = {f"VARIABLE_{i}": str(i) for i in range(1000)}
    run, seen = started(case, {"environment": many}, Instances=1)
    found = seen.environment()
    equal({name: found.get(name) for name in many}, many, "the thousand")
    ended(run)


@test
def the_watchdogs_words_name_the_process_itself(case):
    run, seen = started(case, WatchdogSec="30s", Environment="WATCHDOG_PID=1")
    found = seen.environment()
    equal((found["WATCHDOG_USEC"], found["WATCHDOG_PID"]), ("30000000", status_field(seen.pid, "NSpid")[-1]), "the words")
    run.end()  # it never says that it lives, and is not ready long enough to be missed


def facts(case, name):
    """A command that writes what it is into a file that everybody may write, and the file's lines."""
    path = case.file(name, "", 0o666)
    return f"/bin/sh -c 'grep -E \"^(Uid|Gid|Groups|CapEff|Umask):\" /proc/self/status >> {path}; pwd >> {path}; " \
           f"env >> {path}; echo whole >> {path}'", lambda: case.text(name).splitlines()


@test
def a_hook_has_its_services_rights_and_directory(case):
    command, lines = facts(case, "facts")
    plan = case.plan(Phases="one")
    plan.service("web", "/bin/sleep 1000", Phase="one", User="daemon", UMask="0027", WorkingDirectory="/usr",
                 Environment="SERVICE=1", UnsetEnvironment="LANG")
    plan.section("[Hook mine]", {"Exec": command.replace("$", "$$"), "Service": "web", "On": "pre-start",
                                 "Environment": "MINE=1"})
    run = case.run(plan).ready()
    seen = lines()
    for wanted in ("Uid:\t1\t1\t1\t1", "Gid:\t1\t1\t1\t1", "Umask:\t0027", "CapEff:\t0000000000000000", "/usr", "USER=daemon",
                   "HOME=/usr/sbin", "SERVICE=1", "MINE=1", "ENDWELL_HOOK=mine"):
        check(wanted in seen, f"{wanted} is not among {seen}")
    check(not any(line.startswith("LANG=") for line in seen), f"what the service shall not have, its hook has: {seen}")
    ended(run)


@test
def a_hook_may_have_a_user_and_a_directory_of_its_own(case):
    command, lines = facts(case, "facts")
    plan = case.plan(Phases="one")
    plan.service("web", "/bin/sleep 1000", Phase="one", User="daemon", LimitNOFILE="100:200", WorkingDirectory="/usr",
                 CapabilityBoundingSet="CAP_CHOWN")
    plan.section("[Hook root]", {"Exec": command, "Service": "web", "On": "pre-start", "User": "root",
                                 "WorkingDirectory": "/var"})
    run = case.run(plan).ready()
    seen = lines()
    for wanted in ("Uid:\t0\t0\t0\t0", "/var", "USER=root", "HOME=/root"):
        check(wanted in seen, f"{wanted} is not among {seen}")
    effective = [int(line.split()[1], 16) for line in seen if line.startswith("CapEff")]
    equal(effective, [Seen(run, 1).set("CapEff")], "the hook's capabilities are endwell's")
    ended(run)


@test
def a_hook_of_a_phase_has_what_its_own_section_says(case):
    command, lines = facts(case, "facts")
    plan = case.plan(Phases="one").service("web", "/bin/sleep 1000", Phase="one", User="root")
    plan.section("[Hook last]", {"Exec": command, "Phase": "one", "On": "end", "User": "daemon", "WorkingDirectory": "/usr"})
    run = case.run(plan).ready()
    ended(run)
    check("Uid:\t1\t1\t1\t1" in lines() and "/usr" in lines(), f"what it was: {lines()}")


@test
def a_hook_whose_directory_is_closed_to_its_user_says_so(case):
    os.makedirs(case.path("closed"), 0o700)
    plan = case.plan(Phases="one").service("web", "/bin/sleep 1000", Phase="one")
    plan.section("[Hook lost]", {"Exec": "/bin/true", "Service": "web", "On": "post-start", "User": "daemon",
                                 "WorkingDirectory": case.path("closed")})
    run = case.run(plan).ready()
    finished = run.journal.until("hook_finished", hook="lost")
    equal((finished["status"], finished["error"]), (125, "working directory: Permission denied"), "how it ended")
    ended(run)


@test
def a_probe_by_command_has_its_services_rights(case):
    command, lines = facts(case, "facts")
    plan = case.plan(Phases="one")
    plan.service("web", "/bin/sleep 1000", Phase="one", User="daemon", WorkingDirectory="/usr", UMask="0077",
                 ReadinessProbe=f"exec:{command} period=60s")
    run = case.run(plan).ready()
    wait_until(lambda: "whole" in lines(), "the probe's word", alive=run.alive)
    seen = lines()
    for wanted in ("Uid:\t1\t1\t1\t1", "Umask:\t0077", "/usr", "USER=daemon", "ENDWELL_SERVICE=web"):
        check(wanted in seen, f"{wanted} is not among {seen}")
    ended(run)


@test
def a_restarted_run_has_the_same_rights(case):
    run, seen = started(case, User="daemon", Nice="3", RestartSec="1ms", LimitNOFILE="100:200")
    os.kill(seen.pid, signal.SIGKILL)
    again = Seen(run, run.journal.until("service_started", count=2)["pid"])
    equal((again.status("Uid")[0], again.nice(), again.limit("Max open files")), ("1", 3, "100 200"), "what it has")
    ended(run)
