"""A world that does not help: closed and stuck outputs, bad directories, thousands of children, clients that stand still."""
import os
import signal
import socket
import subprocess
import time

from case import test
from endwell import ACTOR, BINARY, Endwell, children
from journal import LATE_US, check, equal, wait_until, within

S = 1_000_000


def three_phases(case, **supervisor):
    plan = case.plan(**supervisor)
    plan.actor("web", "serve --term-ms 100", Phase="http")
    plan.actor("worker", "serve --term-ms 100", Phase="workers")
    plan.actor("data", "serve --term-ms 100", Phase="db")
    return plan


def all_serving(case):
    for name in ("web", "worker", "data"):
        case.serving(name)


def stuck_pipe():
    """A pipe that is full and that nobody reads: its writing end, and the reading end to keep."""
    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    try:
        while True:
            os.write(writing, b"x" * 4096)
    except BlockingIOError:
        pass
    os.set_blocking(writing, True)
    return reading, writing


@test
def case_51_outputs_that_nobody_reads_hold_up_nothing(case):
    reading, writing = stuck_pipe()
    plan = three_phases(case, LogLevel="debug")
    plan.actor("flapper", "exit 1", Phase="http", Essential="no", RestartSec="1ms", RestartMaxDelaySec="1ms",
               StartLimitBurst=50)
    run = case.run(plan, stdout=writing, stderr=writing)
    os.close(writing)
    run.ready()
    run.journal.until("service_gave_up", service="flapper")
    all_serving(case)
    equal(run.end(), 0, "exit code")
    os.close(reading)


@test
def case_51_an_output_whose_reader_is_gone_holds_up_nothing(case):
    reading, writing = os.pipe()
    os.close(reading)
    run = case.run(three_phases(case, LogLevel="debug"), stdout=writing, stderr=writing)
    os.close(writing)
    run.ready()
    all_serving(case)
    equal(run.end(), 0, "exit code")


@test
def closed_outputs_and_input_are_no_trouble(case):
    plan = three_phases(case)
    plan.actor("reporter", "report , serve", Phase="http")
    run = case.run(plan, shell='exec "$@" <&- >&- 2>&-').ready()
    all_serving(case)
    report = case.log.until("report")
    check(set(report["descriptors"]) <= {"0", "1", "2"}, f"descriptors of a child: {report['descriptors']}")
    for number, target in report["descriptors"].items():
        check("journal" not in target and "socket" not in target and "anon_inode" not in target,
              f"a child's descriptor {number} is {target}")
    equal(run.end(), 0, "exit code")


@test
def a_full_disk_behind_stderr_is_no_trouble(case):
    with open("/dev/full", "wb") as full:
        run = case.run(three_phases(case), stdout=full, stderr=full).ready()
    all_serving(case)
    equal(run.end(), 0, "exit code")


@test
def a_full_runtime_directory_costs_the_journal_file_only(case):
    os.makedirs(case.path("run"), 0o711)
    small = f'mount -t tmpfs -o size=64k,mode=0711 tmpfs {case.path("run")} && head -c 40k /dev/zero > {case.path("run")}/ballast ' \
            '&& exec "$@"'
    plan = three_phases(case, LogLevel="warning")
    plan.actor("flapper", "exit 1", Phase="http", Essential="no", RestartSec="1ms", RestartMaxDelaySec="1ms", StartLimitBurst=100)
    run = case.run(plan, shell=small)
    run.unchecked = True
    all_serving(case)
    inner = f"/proc/{run.pid}/root{case.path('run')}"
    # the socket is inside the namespace's own mount, so it is reached through /proc
    def gave_up():
        client = subprocess.run([BINARY, "events", "--json", "--socket", f"{inner}/control.sock"], capture_output=True,
                                text=True, timeout=60, env=case.environment, check=False)
        return "service_gave_up" in client.stdout
    wait_until(gave_up, "the ring has what the file could not take", alive=run.alive)
    equal(run.end(), 0, "exit code")
    for name in ("web", "worker", "data"):
        case.log.only("exiting", name=name)


@test
def a_single_command_runs_where_no_directory_can_be_written(case):
    # read-only, but what is in them stays to be seen: the program under test may itself be there
    shell = ('for d in /run /tmp /mnt; do mount --bind $d $d && mount -o remount,ro,bind $d || exit 1; done; exec "$@"')
    run = Endwell(case, ["run", "--", ACTOR, "serve", "--exit", "4"], shell=shell, user="nobody:nogroup",
                  environment={"ACTOR_LOG": case.file("nobody.jsonl", "", 0o666)})
    seen = type(case.log)(case.path("nobody.jsonl"))
    seen.until("serving")
    equal(run.end(), 4, "exit code")
    run = Endwell(case, ["run", "--", ACTOR, "exit", "3"], shell=shell)
    equal(run.wait(), 3, "exit code")


@test
def a_runtime_directory_that_cannot_be_made_is_78_and_starts_nothing(case):
    plan = three_phases(case, RuntimeDirectory="/proc/surely/not")
    run = case.run(plan)
    run.unchecked = True
    equal(run.wait(), 78, "exit code")
    check("/proc/surely/not" in run.errors(), "the directory is not named")
    equal(case.log.read(), [], "what ran")


@test
def a_runtime_directory_that_is_a_symlink_is_refused(case):
    os.makedirs(case.path("elsewhere"))
    os.symlink(case.path("elsewhere"), case.path("run"))
    run = case.run(three_phases(case))
    run.unchecked = True
    equal(run.wait(), 78, "exit code")
    equal(case.log.read(), [], "what ran")


@test
def a_second_instance_in_a_locked_directory_is_78_and_names_the_first(case):
    first = case.run(three_phases(case)).ready()
    all_serving(case)
    pid = first.journal.first("supervisor_started")["pid"]
    second = case.run(three_phases(case))
    second.unchecked = True
    equal(second.wait(), 78, "exit code of the second")
    words = second.errors().replace(",", " ").replace(".", " ").replace(")", " ").split()
    check(str(pid) in words, f"the first one's pid {pid} is not named: {second.errors()}")
    equal(len(case.log.all("serving")), 3, "services that ran")
    equal(first.end(), 0, "exit code of the first")


@test
def a_single_command_runs_beside_a_locked_directory(case):
    root = case.path("root.0")
    first = case.run_actor("serve")
    case.serving("command")
    first.journal.until("service_started")
    second = Endwell(case, ["run", "--", ACTOR, "exit", "3"], shell=f'mount --bind {root} /run && exec "$@"')
    equal(second.wait(), 3, "exit code of the second")
    equal(first.end(), 0, "exit code of the first")


@test
def a_bad_file_starts_nothing(case):
    folder = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "cases/config")
    with open(os.path.join(folder, "expected.tsv"), encoding="utf-8") as file:
        rows = [line.rstrip("\n").split("\t") for line in file][1:]
    bad = [row[0] for row in rows if row[1] == "78"]
    check(len(bad) >= 18, f"only {len(bad)} bad files")
    for name in bad:
        path = os.path.join(folder, name)
        done = subprocess.run(["strace", "-f", "-qq", "-e", "trace=execve,fork,vfork,clone,clone3", "-o", case.path("trace"),
                               BINARY, "run", "-c", path], capture_output=True, timeout=60, check=False,
                              env={**case.environment, "ASAN_OPTIONS": "detect_leaks=0"})  # it cannot work below strace
        equal(done.returncode, 78, f"exit code of {name}")
        check(name.encode() in done.stderr, f"{name} is not named: {done.stderr}")
        calls = [line for line in case.text("trace").splitlines() if "execve(" in line or "clone" in line or "fork(" in line]
        equal(len(calls), 1, f"processes and programs that {name} started: {calls}")


def stopped_subscriber(case, run):
    """A client process that subscribed, and was stopped before it read anything."""
    script = ("import socket,sys,time\ns=socket.socket(socket.AF_UNIX)\ns.connect(sys.argv[1])\n"
              "s.send(b'{\"method\":\"subscribe\",\"params\":{\"since\":0}}\\n')\nprint('up',flush=True)\ntime.sleep(1000)")
    client = subprocess.Popen(["/usr/bin/python3", "-c", script, run.socket_path()], stdout=subprocess.PIPE)
    case.cleaners.append(client.wait)
    case.cleaners.append(client.kill)
    case.cleaners.reverse()
    client.stdout.readline()
    client.send_signal(signal.SIGSTOP)


@test
def stubborn_children_and_a_stopped_subscriber_end_within_the_deadline(case):
    plan = case.plan(GraceSec=6, DeadlineSec=4)
    for phase in ("http", "workers", "db"):
        plan.actor(phase, "spawn --double --setsid as far + serve --ignore , spawn --count 3 as kept + serve --ignore , "
                   f"as {phase} , serve --ignore", Phase=phase, Instances=2)
    run = case.run(plan).ready()
    case.serving("far", 6), case.serving("kept", 18)
    for phase in ("http", "workers", "db"):
        case.serving(phase, 2)
    stopped_subscriber(case, run)
    code = run.end()
    check(code in (81, 82), f"exit code {code}")
    received, finished = run.journal.only("signal_received"), run.journal.only("ending_finished")
    within(run.journal.span_us(received, finished), 2 * S, 4 * S + LATE_US, "the ending, by the journal")
    equal(finished["killed"], 30, "killed")
    equal(finished["left"], 0, "left")


@test(alone=True)
def four_thousand_and_ninety_six_instances_start_and_end(case):
    plan = case.plan(Phases="one", GraceSec=60, LogLevel="warning")
    plan.actor("many", "serve --quiet", Phase="one", Instances=4096)
    run = case.run(plan)
    run.journal.until("startup_finished", timeout=120)
    within(run.descriptors(), 1, 19_999, "descriptors")
    equal(len(children(run.pid)), 4096, "children")
    equal(run.end(timeout=120), 0, "exit code")
    equal(len(run.journal.all("service_gone", certain=True)) > 0, True, "the journal goes to its end")


@test(full=True, alone=True, repeat=(100, 100))
def a_thousand_services_and_a_hundred_thousand_restarts_leak_nothing(case):
    plan = case.plan(Phases="one", LogLevel="warning", JournalMaxSize="1M")
    for number in range(1000):
        plan.service(f"quick-{number}", "/bin/true", Phase="one", Restart="always", RestartSec="1ms", RestartMaxDelaySec="1ms",
                     StartLimitBurst=0)
    plan.actor("web", "serve", Phase="one")
    run = case.run(plan)
    run.unchecked = True

    def restarted():
        status = run.connect()
        result = status.result("status")
        status.close()
        return sum(one["restarts"] for service in result["services"] for one in service["instances"])
    wait_until(lambda: time.sleep(0.5) or restarted() >= 10_000, "10,000 restarts", timeout=600, alive=run.alive)
    resident, descriptors = run.resident_kib(), run.descriptors()
    wait_until(lambda: time.sleep(0.5) or restarted() >= 1000 * case.repeat, "all restarts", timeout=3000, alive=run.alive)
    within(run.resident_kib() - resident, -100_000, 512, "growth in KiB")
    within(run.descriptors() - descriptors, -2000, 1100, "growth of descriptors")  # each starting child has its error pipe
    equal(run.end(), 0, "exit code")


@test
def a_thousand_restarts_leak_nothing(case):
    plan = case.plan(Phases="one", LogLevel="warning", JournalMaxSize="64K")
    for number in range(4):
        plan.service(f"quick-{number}", "/bin/true", Phase="one", Restart="always", RestartSec="1ms", RestartMaxDelaySec="1ms",
                     StartLimitBurst=0)
    plan.actor("web", "serve", Phase="one")
    run = case.run(plan)
    run.journal.until("service_exited", count=500)
    resident, descriptors = run.resident_kib(), run.descriptors()
    run.journal.until("service_exited", count=1500)
    within(run.resident_kib() - resident, -100_000, 256, "growth in KiB")
    within(run.descriptors() - descriptors, -8, 8, "growth of descriptors")
    equal(run.end(), 0, "exit code")


@test
def a_log_that_cannot_be_opened_is_a_failed_start_that_says_why(case):
    os.makedirs(case.path("logs"))
    plan = case.plan(Phases="one")
    plan.actor("web", "serve", Phase="one", StandardOutput=f"append:{case.path('logs')}/web.log", RestartSec="1ms",
               StartLimitBurst=2, Restart="no")
    plan.hook("thief", f"exec /bin/rm -rf {case.path('logs')}", Service="web", On="pre-start")
    run = case.run(plan)
    equal(run.wait(), 83, "exit code")
    check("web.log" in run.errors() or "output" in run.errors(), f"the step is not said: {run.errors()}")


@test
def a_socket_path_that_is_already_there_is_replaced(case):
    os.makedirs(case.path("run"), 0o711)
    old = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    old.bind(case.path("run/control.sock"))
    old.close()
    run = case.run(three_phases(case)).ready()
    all_serving(case)
    equal(run.verb("status").returncode, 0, "exit code of status")
    equal(run.end(), 0, "exit code")


@test
def a_supervisor_that_was_killed_leaves_whole_lines_and_a_directory_for_the_next(case):
    plan = three_phases(case)
    run = case.run(plan).ready()
    all_serving(case)
    run.send(signal.SIGKILL)
    run.process.wait(60)
    run.unchecked = True
    run.journal.first("startup_finished")
    os.rename(run.journal.path, case.path("first.jsonl"))
    again = case.run(plan).ready()
    wait_until(lambda: len(case.log.all("serving")) == 6, "everybody serves again", alive=again.alive)
    equal(again.end(), 0, "exit code")


@test
def without_proc_trees_are_signalled_by_group_and_that_is_said(case):
    plan = case.plan(Phases="one")
    plan.actor("web", "spawn as kept + serve , serve", Phase="one")
    run = case.run(plan, shell='umount -l /proc && exec "$@"').ready()
    run.unchecked = True  # who is left in the tree cannot be seen
    case.serving("kept")
    equal(run.end(), 0, "exit code")
    check("/proc does not show this PID namespace" in run.errors(), "nothing is said of /proc")
    equal(case.signals("kept"), [signal.SIGTERM], "signals of the rest of the group")


@test(alone=True)
def two_thousand_that_do_not_heed_the_asking_are_dead_and_named_within_the_deadline(case):
    plan = case.plan(Phases="one", GraceSec=10, DeadlineSec=5, LogLevel="warning")
    plan.service("deaf", "/bin/sleep 3600", Phase="one", Instances=2000, KillSignal="WINCH")  # which sleep does not notice
    run = case.run(plan).ready()
    equal(run.end(), 82, "exit code")
    finished = run.journal.only("ending_finished")
    check(finished["took_us"] <= 5 * S + LATE_US, f"gone {finished['took_us'] - 5 * S} us after the deadline")
    equal((finished["killed"], finished["left"]), (2000, 0), "killed and left")
    killed = {line["instance"] for line in run.journal.all("service_killed", service="deaf")}
    gone = {line["instance"] for line in run.journal.all("service_gone", service="deaf", killed=1)}
    equal((len(killed), len(gone)), (2000, 2000), "each was named once, and is gone")
    equal(len(run.journal.all("service_killed")), 2000, "how many kills were told")
    # Only the first ones are looked up in /proc, where their names are. (Of a machine that is very slow: some more.)
    within(sum(1 for line in run.journal.all("service_killed") if line.get("comm")), 1, 1000, "how many were looked up")
