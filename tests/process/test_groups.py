"""Control groups: whose a process is that forgot everything, what is killed at one stroke, and what is left of it all."""
import os
import signal
import subprocess

import groups
from case import test
from endwell import status_field
from journal import check, equal, lasted, soon, wait_until, within

MS, S = 1000, 1_000_000
# A daemon: forked twice, in a session of its own, with an empty environment. It calls itself "stranger".
FORGETFUL = "spawn --double --setsid --clear-env"


def crashing(case, **more):
    plan = case.plan(Phases="one")
    gate = case.fifo("gate")
    plan.actor("web", f"{FORGETFUL} serve , eof {gate} , exit 9", Phase="one", Restart="no", Essential="no", **more)
    plan.actor("other", Phase="one")
    return plan, gate


def let_go(gate):
    with open(gate, "wb"):
        pass


def group_of(run, inner):
    with open(f"/proc/{run.outside(inner)}/cgroup", encoding="utf-8") as file:
        return [line for line in file.read().splitlines() if line.startswith("0::")][0][3:]


@test
def a_daemon_that_forgot_everything_is_still_its_services(case):
    plan, gate = crashing(case)
    run = case.run(plan).ready()
    groups.of(run)
    left = case.serving("stranger")
    let_go(gate)
    journal = run.journal
    gone = journal.until("service_gone", service="web")
    equal((gone["cause"], gone["certain"], gone["killed"]), ("crashed", True, 1), "how it went")
    killed = journal.only("service_killed", service="web")
    equal((killed["pid"], killed["comm"]), (left["pid"], "exe"), "who was killed")
    check(not run.lives(left["pid"]), "the daemon lives on")
    equal(run.end(), 0, "exit code")
    journal.none("orphan_adopted", service=None)


@test
def without_groups_it_is_nobodys(case):
    plan, gate = crashing(case)
    run = case.run(plan, shell=groups.READ_ONLY).ready()
    check("control groups are not used" in run.errors(), "nothing says that they are not used")
    left = case.serving("stranger")
    let_go(gate)
    journal = run.journal
    gone = journal.until("service_gone", service="web")
    equal((gone["cause"], gone["certain"], gone["killed"]), ("crashed", False, 0), "how it went")
    equal(journal.only("orphan_adopted", pid=left["pid"]).get("service"), None, "whose it is")
    check(run.lives(left["pid"]), "somebody killed what was nobody's")
    equal(run.end(), 0, "exit code")


@test
def sixty_four_members_each_have_their_own(case):
    plan = case.plan(Phases="one")
    plan.actor("worker", f"{FORGETFUL} serve , as worker , serve", Phase="one", Instances=64)
    run = case.run(plan).ready()
    group = groups.of(run)
    case.log.until("serving", count=64, name="stranger")
    case.log.until("serving", count=64, name="worker")
    equal(sorted(name for name in os.listdir(group) if name[0].isdigit()), sorted(f"{i}.worker@{i + 1}" for i in range(64)), "the leaves")
    for i in range(64):
        with open(os.path.join(group, f"{i}.worker@{i + 1}", "cgroup.procs"), encoding="ascii") as file:
            equal(len(file.read().split()), 2, f"processes of worker@{i + 1}")
    equal(run.end(), 0, "exit code")
    journal = run.journal
    equal(sorted(line["instance"] for line in journal.all("orphan_adopted", service="worker")), list(range(1, 65)),
          "whose the daemons were")
    equal(len(journal.all("service_gone", cause="clean", certain=True, killed=0)), 64, "how they went")
    check(not os.path.exists(group), "the group is still there")


@test
def what_is_in_the_group_and_in_no_tree_is_killed_too(case):
    plan, gate = crashing(case)
    run = case.run(plan).ready()
    group = groups.of(run)
    case.serving("stranger")
    outsider = subprocess.Popen(["sleep", "1000"])  # not below endwell: only the group shows it
    case.cleaners.append(outsider.kill)
    groups.write(os.path.join(group, "0.web"), "cgroup.procs", str(outsider.pid))
    let_go(gate)
    equal(outsider.wait(60), -signal.SIGKILL, "how it ended")
    run.journal.until("service_gone", service="web")
    equal(run.end(), 0, "exit code")


def bomb(case, **more):
    """A fork bomb, with a user of its own so that its limit holds, and a service that it must not harm."""
    plan = case.plan(Phases="one", GraceSec=20)
    plan.actor("bomb", "bomb , serve", Phase="one", Essential="no", Restart="no", User="4242424", Group="4242424",
               LimitNPROC=100, **more)
    plan.actor("web", Phase="one")
    os.chmod(case.file("actors.jsonl"), 0o666)
    return plan


def exploding(run):
    """Those of it that live: the dead are collected a few at a time."""
    return [pid for pid in run.processes()
            if status_field(pid, "Uid")[:1] == ["4242424"] and status_field(pid, "State")[:1] not in (["Z"], ["X"], [])]


@test(alone=True)
def a_fork_bomb_does_not_outrun_the_end_of_its_service(case):
    run = case.run(bomb(case)).ready()
    group = groups.of(run)
    case.log.until("exploding"), case.serving("web")
    wait_until(lambda: len(exploding(run)) >= 90, "the bomb's full size", alive=run.alive)
    main = run.journal.only("service_started", service="bomb")["pid"]
    os.kill(run.outside(main), signal.SIGKILL)
    journal = run.journal
    exited, gone = journal.until("service_exited", service="bomb"), journal.until("service_gone", service="bomb")
    equal(gone["cause"], "crashed", "cause")
    soon(journal.span_us(exited, gone), "until nothing of it is left")
    equal(exploding(run), [], "what is left of it")
    wait_until(lambda: not os.path.exists(os.path.join(group, "0.bomb")), "the removal of its group", alive=run.alive)
    within(len(journal.all("service_killed", service="bomb")), 50, 200, "how many were named")
    equal(run.end(), 0, "exit code")
    journal.none("service_left")


@test(alone=True)
def in_an_ending_a_fork_bomb_is_killed_at_its_limit(case):
    run = case.run(bomb(case, TimeoutStopSec="300ms", KillSignal="SIGUSR1")).ready()
    groups.of(run)
    case.log.until("exploding"), case.serving("web")
    wait_until(lambda: len(exploding(run)) >= 90, "the bomb's full size", alive=run.alive)
    equal(run.end(), 81, "exit code")
    lasted(run.journal.only("ending_finished")["took_us"], 300 * MS, "the ending")
    run.journal.none("service_left")


@test
def a_leaf_is_removed_when_it_is_empty_and_made_anew_for_the_next_run(case):
    plan = case.plan(Phases="one")
    plan.actor("once", "exit 0", Phase="one", Type="oneshot", Essential="no")
    plan.actor("web", Phase="one", RestartSec="20ms")
    run = case.run(plan).ready()
    group = groups.of(run)
    wait_until(lambda: not os.path.exists(os.path.join(group, "0.once")), "the removal of the oneshot's leaf")
    for number in (1, 2, 3):
        case.serving("web", number)
        pid = run.journal.until("service_started", count=number, service="web")["pid"]
        equal(group_of(run, pid).split("/")[-1], "1.web", "the leaf")
        os.kill(run.outside(pid), signal.SIGKILL)
    case.serving("web", 4)
    equal(run.end(), 0, "exit code")
    check(not os.path.exists(group), "the group is still there")


@test
def what_a_service_made_in_its_own_leaf_is_removed_with_it(case):
    plan = case.plan(Phases="one")
    plan.shell("maker", f"cd {groups.hierarchy()}$(sed -n 's/^0:://p' /proc/self/cgroup) && mkdir -p a/b c && "
               "echo 0 > a/b/cgroup.procs && exec $ACTOR serve", Phase="one")
    run = case.run(plan).ready()
    group = groups.of(run)
    pid = case.serving("maker")["pid"]
    equal(group_of(run, pid).split("/")[-3:], ["0.maker", "a", "b"], "where it is")
    equal(run.end(), 0, "exit code")
    check(not os.path.exists(group), "the group is still there")


@test
def a_killed_endwells_group_is_removed_by_the_next_and_a_living_ones_is_not(case):
    # In a group of the test's own: elsewhere any endwell that starts meanwhile is the next.
    group = groups.make(case)

    def start(name, steps="serve"):
        plan = case.plan(Phases="one", RuntimeDirectory=case.path(name))
        plan.actor("web", steps, Phase="one", RestartSec="1h", RestartMaxDelaySec="1h")
        return case.run(plan, before=groups.inside(group))
    dead = start("dead").ready()
    case.serving("web")
    left = groups.of(dead)
    dead.send(signal.SIGKILL)
    dead.unchecked = True
    dead.wait()
    check(os.path.exists(left), "nothing is left that could be removed")
    # The living one has nobody in its group just now: it looks like one that was left.
    living = start("living", "exit 1")
    living.journal.until("service_restart_scheduled")
    wait_until(lambda: not os.path.exists(left) or groups.remove(left) is None, "processes of the dead one")
    third = start("third").ready()
    case.serving("web", 2)
    check(os.path.exists(groups.of(living)), "the living one's group was removed")
    check(groups.of(living) != groups.of(third), "two have the same group")
    equal((living.end(), third.end()), (0, 0), "exit codes")


@test
def a_message_of_a_forgetful_daemon_is_believed(case):
    plan = case.plan(Phases="one")
    file = case.path("socket")
    plan.actor("web", f"tell {file} , {FORGETFUL} notify --to {file} READY=1 MAINPID=PID + serve , serve",
               Phase="one", Type="notify")
    run = case.run(plan).ready()
    groups.of(run)
    run.journal.none("notify_refused")
    equal(run.journal.only("service_ready")["pid"], case.serving("stranger")["pid"], "the main process")
    equal(run.end(), 0, "exit code")


@test
def a_hook_is_not_killed_with_its_services_group(case):
    plan = case.plan(Phases="one")
    gate = case.fifo("gate")
    plan.actor("web", f"eof {gate} , exit 9", Phase="one", Restart="no", Essential="no")
    plan.actor("other", Phase="one")
    hook_gate = case.fifo("hook")
    plan.hook("greet", f"say greeting , eof {hook_gate} , exit 0", Service="web", On="post-start", TimeoutSec="30s")
    run = case.run(plan).ready()
    groups.of(run)
    case.log.until("greeting")
    let_go(gate)
    run.journal.until("service_exited", service="web")
    let_go(hook_gate)
    equal(run.journal.until("hook_finished", hook="greet")["status"], 0, "how the hook ended")
    equal(run.end(), 0, "exit code")


def delegate(case, uid=65534):
    group = groups.make(case)
    for path in (group, os.path.join(group, "cgroup.procs")):
        os.chown(path, uid, uid)
    return group


def as_nobody(case):
    os.makedirs(case.path("run"), 0o711)
    os.chown(case.path("run"), 65534, 65534)
    os.chmod(case.file("actors.jsonl"), 0o666)


@test
def a_user_to_whom_a_group_was_handed_over_can_use_it(case):
    group = delegate(case)
    as_nobody(case)
    plan, gate = crashing(case)
    os.chmod(gate, 0o666)
    run = case.run(plan, before=groups.inside(group), user="nobody:nogroup").ready()
    equal(os.path.dirname(groups.of(run)), group, "where it is")
    case.serving("stranger")
    let_go(gate)
    equal(run.journal.until("service_gone", service="web")["certain"], True, "certain")
    equal(run.end(), 0, "exit code")
    equal([name for name in os.listdir(group) if name.startswith("endwell.")], [], "what is left")


@test
def a_user_without_one_goes_without(case):
    groups.hierarchy()
    as_nobody(case)
    plan = case.plan(Phases="one").actor("web", Phase="one")
    run = case.run(plan, user="nobody:nogroup").ready()
    check("control groups are not used: our group cannot be written: Permission denied" in run.errors(), "what is said")
    case.serving("web")
    equal(run.end(), 0, "exit code")


@test
def a_unit_of_systemd_is_used_only_when_it_was_handed_over(case):
    group = groups.make(case)
    os.setxattr(group, "user.invocation_id", b"0123456789abcdef")
    run = case.run(case.plan(Phases="one").actor("web", Phase="one"), before=groups.inside(group)).ready()
    check("not handed our group over (Delegate=yes)" in run.errors(), "what is said")
    equal(run.end(), 0, "exit code")
    os.setxattr(group, "user.delegate", b"1")
    plan = case.plan(Phases="one", RuntimeDirectory=case.path("second")).actor("web", Phase="one")
    run = case.run(plan, before=groups.inside(group)).ready()
    equal(os.path.dirname(groups.of(run)), group, "where it is")
    equal(run.end(), 0, "exit code")


@test
def in_a_namespace_of_its_own_the_group_is_the_root(case):
    group = groups.make(case)
    plan, gate = crashing(case)
    run = case.run(plan, before=groups.inside(group, "unshare", "--cgroup"),
                   shell='umount {0} && mount -t cgroup2 none {0} && exec "$@"'.format(groups.hierarchy())).ready()
    ours = groups.of(run)
    equal(os.path.dirname(ours), groups.hierarchy(), "where it is, for endwell")
    check(os.path.exists(os.path.join(group, os.path.basename(ours), "0.web")), "it is not where it should be")
    case.serving("stranger")
    let_go(gate)
    equal(run.journal.until("service_gone", service="web")["certain"], True, "certain")
    equal(run.end(), 0, "exit code")


@test
def a_leaf_that_cannot_be_made_is_said_once_and_costs_no_start(case):
    group = groups.make(case)
    groups.write(group, "cgroup.max.descendants", "1")
    plan = case.plan(Phases="one").actor("web", Phase="one", Instances=3)
    run = case.run(plan, before=groups.inside(group)).ready()
    for number in (1, 2, 3):
        case.serving("web", number)
    said = [line for line in run.errors().splitlines() if "into a control group" in line]
    equal(len(said), 1, f"how often it was said: {said}")
    check("could not put web@1 into a control group: Resource temporarily unavailable" in said[0], said[0])
    equal(run.end(), 0, "exit code")


@test
def a_leaf_that_cannot_be_joined_is_said_once_and_costs_no_start(case):
    group = delegate(case)
    as_nobody(case)
    plan = case.plan(Phases="one").actor("web", Phase="one", RestartSec="1ms")
    run = case.run(plan, before=groups.inside(group), user="nobody:nogroup").ready()
    groups.of(run)
    case.serving("web")
    # who is outside the group that he was given may not move anybody into it
    groups.write(groups.hierarchy(), "cgroup.procs", str(run.pid))
    for number in (1, 2):
        os.kill(run.outside(run.journal.until("service_started", count=number)["pid"]), signal.SIGKILL)
        case.serving("web", number + 1)
    said = [line for line in run.errors().splitlines() if "into a control group" in line]
    equal(len(said), 1, f"how often it was said: {said}")
    check("could not put web into a control group: Permission denied" in said[0], said[0])
    equal(run.end(), 0, "exit code")


@test
def in_a_group_that_was_killed_before_services_start_all_the_same(case):
    # Kernels of 2025 kill whoever is made from such a group into one that was not killed.
    group = groups.make(case)
    groups.write(group, "cgroup.kill", "1")
    plan = case.plan(Phases="one").actor("web", Phase="one", Instances=3, RestartSec="1ms")
    run = case.run(plan, before=groups.inside(group)).ready()
    ours = groups.of(run)
    pids = [case.serving("web", number)["pid"] for number in (1, 2, 3)]
    run.journal.none("service_exited")
    for pid in pids:
        equal(os.path.dirname(group_of(run, pid)), "/" + os.path.relpath(ours, groups.hierarchy()), "where it is")
    equal(run.end(), 0, "exit code")


@test
def after_a_person_killed_its_group_the_next_run_lives(case):
    plan = case.plan(Phases="one").actor("web", Phase="one", RestartSec="1ms")
    run = case.run(plan).ready()
    group = groups.of(run)
    for number in (1, 2, 3):
        case.serving("web", number)
        groups.write(os.path.join(group, "0.web"), "cgroup.kill", "1")
    case.serving("web", 4)
    equal(len(run.journal.all("service_exited")), 3, "runs that ended")
    equal(run.end(), 0, "exit code")


@test
def a_run_whose_group_is_in_use_and_was_killed_before_joins_it_and_lives(case):
    gate = case.fifo("gate")
    plan = case.plan(Phases="one")
    # The first run leaves its group, so that this can be killed without it.
    plan.shell("web", f"[ -e once ] && exec $ACTOR serve; touch once; cd {groups.hierarchy()}$(sed -n 's/^0:://p' "
               f"/proc/self/cgroup); echo 0 > ../cgroup.procs; exec $ACTOR say moved , eof {gate} , exit 0", Phase="one",
               Restart="always", RestartSec="1ms", WorkingDirectory=case.directory)
    run = case.run(plan).ready()
    leaf = os.path.join(groups.of(run), "0.web")
    case.log.until("moved")
    groups.write(leaf, "cgroup.kill", "1")
    outsider = subprocess.Popen(["sleep", "1000"])
    case.cleaners.append(outsider.kill)
    groups.write(leaf, "cgroup.procs", str(outsider.pid))
    let_go(gate)
    equal(group_of(run, case.serving("web")["pid"]).split("/")[-1], "0.web", "where the second run is")
    equal(len(run.journal.all("service_exited")), 1, "runs that ended")
    equal(outsider.poll(), None, "who used the group")
    outsider.kill(), outsider.wait()
    equal(run.end(), 0, "exit code")


@test
def a_single_command_has_none(case):
    run = case.run_actor("serve").ready()
    case.serving("command")
    check("control group" not in run.errors(), "what is said")
    equal(group_of(run, case.serving("command")["pid"]), group_of(run, 1), "the group of the command")
    equal(run.end(), 0, "exit code")


def eater(case):
    plan = case.plan(Phases="one")
    plan.service("eater", f"/usr/bin/python3 -c \"import os; os.read(os.open('{case.fifo('hungry')}', 0), 1); "
                 "food = [bytearray(1 << 20) for i in range(1 << 12)]\"", Phase="one", Essential="no", Restart="no")
    plan.actor("web", Phase="one", RestartSec="1ms")
    return plan


@test
def whom_the_oom_killer_took_is_told_and_whom_a_person_killed_is_not(case):
    group = groups.make(case, "cgroup", "memory")
    groups.write(group, "memory.limit_in_bytes", str(256 << 20))
    plan = eater(case)
    run = case.run(plan, before=groups.inside(group)).ready()
    case.serving("web")
    let_go(case.path("hungry"))
    gone = run.journal.until("service_gone", service="eater")
    exited = run.journal.only("service_exited", service="eater")
    equal((exited["code"], exited["status"], exited["asked"]), ("killed", 9, False), "how it ended")
    equal(gone["cause"], "oom", "cause")
    os.kill(run.outside(run.journal.only("service_started", service="web")["pid"]), signal.SIGKILL)
    equal(run.journal.until("service_gone", service="web")["cause"], "crashed", "cause of the one that was killed by hand")
    case.serving("web", 2)
    equal(run.end(), 0, "exit code")


@test
def what_the_oom_killer_took_before_a_run_began_is_none_of_its_business(case):
    group = groups.make(case, "cgroup", "memory")
    groups.write(group, "memory.limit_in_bytes", str(256 << 20))
    plan = case.plan(Phases="one")
    # In its first run its own child is taken, of which endwell hears nothing: it knows of that kill only by the counter.
    plan.shell("web", "python3 -c 'import os; os.path.exists(\"once\") or [bytearray(1 << 20) for i in range(1 << 12)]'; "
               "$ACTOR say taken; exec $ACTOR attempts once 1 9 , serve", Phase="one", RestartSec="1500ms",
               WorkingDirectory=case.directory)
    run = case.run(plan, before=groups.inside(group)).ready()
    case.log.until("taken", count=2), case.serving("web")
    os.kill(run.outside(run.journal.last("service_started")["pid"]), signal.SIGKILL)
    equal([run.journal.until("service_gone", count=n)["cause"] for n in (1, 2)], ["crashed", "crashed"], "causes")
    with open(os.path.join(group, "memory.oom_control"), encoding="ascii") as file:
        check("oom_kill 1\n" in file.read(), "nobody was taken at all")
    equal(run.end(), 0, "exit code")
