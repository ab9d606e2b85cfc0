"""What signals mean, and that none is lost: cases 10 to 16."""
import os
import random
import signal
import subprocess
import time

from case import test
from endwell import ACTOR, children, status_field
from journal import check, equal, lasted, soon, wait_until, within

EMPTY = "0000000000000000"


@test
def case_10_children_start_with_no_signal_blocked_or_ignored(case):
    plan = case.plan(Phases="one")
    plan.actor("web", "report , serve", Phase="one")
    plan.hook("before", "as before , report", Service="web", On="pre-start")
    # nohup-like parents: endwell itself is started with signals ignored and blocked
    run = case.run(plan, shell="trap '' HUP INT QUIT USR1 PIPE TERM; exec \"$@\"").ready()
    for name in ("web", "before"):
        report = case.log.until("report", name=name)
        equal((report["SigBlk"], report["SigIgn"]), (EMPTY, EMPTY), f"SigBlk and SigIgn of {name}")
    equal(run.end(), 0, "exit code")
    run = case.run_actor("as single , report")
    equal(run.wait(), 0, "exit code")
    report = case.log.only("report", name="single")
    equal((report["SigBlk"], report["SigIgn"]), (EMPTY, EMPTY), "SigBlk and SigIgn of the single command")


def new_child(run, known):
    for pid in children(run.pid):
        if pid not in known:
            return pid
    check(run.alive(), "endwell ended")
    return None


def is_gone(pid):
    return status_field(pid, "State")[:1] in ([], ["Z"])


@test(repeat=(40, 500), alone=True)
def case_11_a_term_just_after_fork_reaches_the_service_and_nobody_else(case):
    seed = random.randrange(1 << 32)
    dice, last = random.Random(seed), None
    plan = case.plan(Phases="one", LogLevel="warning")
    plan.service("web", "/bin/sleep 3600", Phase="one", Restart="always", RestartSec="1ms", RestartMaxDelaySec="1ms",
                 StartLimitBurst=0)
    run = case.run(plan)
    for i in range(case.repeat):
        pid = last = wait_until(lambda: new_child(run, (last,)), f"child {i} (seed {seed})")
        time.sleep(dice.uniform(0, 0.005))
        os.kill(pid, signal.SIGTERM)
        wait_until(lambda: is_gone(pid), f"child {i} ends of SIGTERM (seed {seed})")
    run.journal.until("service_exited", count=case.repeat)
    for line in run.journal.all("service_exited"):
        equal((line["code"], line["status"], line["asked"]), ("killed", 15, False), f"how it ended (seed {seed})")
    run.journal.none("signal_received")
    equal(run.end(), 0, "exit code")


@test(repeat=(25, 500), alone=True)
def a_term_to_endwell_just_after_its_first_fork_is_never_lost(case):
    seed = random.randrange(1 << 32)
    dice = random.Random(seed)
    for i in range(case.repeat):
        run = case.run_command(["/bin/sleep", "3600"])
        wait_until(lambda: new_child(run, ()), f"the command of run {i}")
        time.sleep(dice.uniform(0, 0.005))
        equal(run.end(), 143, f"exit code of run {i} (seed {seed})")
        run.clean()


def on_terminal(case, start):
    """Starts endwell in the foreground of a new terminal; answers the run and the terminal's other end."""
    mine, its = os.openpty()
    case.cleaners.append(lambda: os.close(mine))
    run = start(stdin=its, stdout=its, before=["setsid", "--ctty"])
    os.close(its)
    return run, mine


@test
def case_12_a_ctrl_c_on_a_terminal_gives_each_service_exactly_one_signal(case):
    plan = case.plan(Phases="http db")
    plan.actor("web", "serve --term-ms 100", Phase="http")
    plan.actor("data", "serve --term-ms 100", Phase="db")
    run, terminal = on_terminal(case, lambda **how: case.run(plan, **how))
    run.ready()
    case.serving("web"), case.serving("data")
    os.write(terminal, b"\x03")
    equal(run.wait(), 0, "exit code")
    equal(case.signals("web"), [signal.SIGTERM], "signals of web")
    equal(case.signals("data"), [signal.SIGTERM], "signals of data")
    received = run.journal.only("signal_received")
    equal((received["signal"], received["effect"]), ("SIGINT", "ending_begins"), "what endwell received")


@test
def case_12_a_ctrl_c_reaches_a_single_command_on_a_terminal_once(case):
    run, terminal = on_terminal(case, lambda **how: case.run_actor("report , serve --exit 9", **how))
    report = case.log.until("report")
    equal(report["foreground"], report["group"], "the command's group is in the foreground")
    equal(report["group"], report["pid"], "the command has a group of its own")
    case.serving("command")
    os.write(terminal, b"\x03")
    equal(run.wait(), 9, "exit code")
    equal(case.signals("command"), [signal.SIGINT], "signals of the command")


@test
def case_14_three_terms_are_one_ending_that_nothing_cuts_short(case):
    plan = case.plan(Phases="one")
    plan.actor("web", "serve --term-ms 700", Phase="one")
    run = case.run(plan).ready()
    case.serving("web")
    for count in (1, 2, 3):
        run.send(signal.SIGTERM)
        run.journal.until("signal_received", count=count)
    equal(run.wait(), 0, "exit code")
    effects = [line["effect"] for line in run.journal.all("signal_received", signal="SIGTERM", sender_pid=0)]
    equal(effects, ["ending_begins", "recorded", "recorded"], "the three receipts")
    run.journal.only("ending_started")
    equal(case.signals("web"), [signal.SIGTERM], "signals of web")
    case.log.only("exiting", name="web")


@test
def case_14_a_term_to_every_process_at_once_is_one_ending_too(case):
    plan = case.plan(Phases="http db")
    plan.actor("web", "serve --term-ms 300", Phase="http")
    plan.actor("data", "serve --term-ms 300", Phase="db")
    run = case.run(plan).ready()
    case.serving("web"), case.serving("data")
    for pid in sorted(run.processes()):
        os.kill(pid, signal.SIGTERM)
    # data ended unasked, so an essential service failed or finished; no matter: one ending, nothing started again
    run.wait()
    run.journal.only("ending_started")
    equal(case.log.only("exiting", name="web")["code"], 0, "web's drain was not cut")


@test
def case_15_a_second_ctrl_c_ends_fast_and_is_81_when_somebody_was_killed(case):
    plan = case.plan(Phases="http db")
    plan.phase("db", DelaySec="20s")
    plan.actor("web", "serve --ignore", Phase="http")
    plan.actor("data", "serve", Phase="db")
    run = case.run(plan).ready()
    case.serving("web"), case.serving("data")
    run.send(signal.SIGINT)
    run.journal.until("service_asked", service="web")
    run.send(signal.SIGINT)
    equal(run.wait(), 81, "exit code")
    first, second = run.journal.all("signal_received")
    equal((first["effect"], second["effect"]), ("ending_begins", "ends_fast"), "effects")
    killed = run.journal.only("service_killed")
    equal(killed["service"], "web", "who was killed")
    lasted(run.journal.span_us(second, killed), 1_000_000, "from the second signal to the kill")
    lasted(run.journal.last("ending_finished")["took_us"], 1_000_000, "the whole ending, with no delay")


@test
def case_15_shutdown_now_ends_fast_and_is_81_when_somebody_was_killed(case):
    plan = case.plan(Phases="one")
    plan.actor("web", "serve --ignore", Phase="one")
    run = case.run(plan).ready()
    case.serving("web")
    client = run.verb_begin("shutdown", "--now")
    equal(run.wait(), 81, "exit code")
    client.communicate(timeout=60)
    asked, killed = run.journal.only("service_asked", signal="SIGTERM"), run.journal.only("service_killed")
    lasted(run.journal.span_us(asked, killed), 1_000_000, "from asking to killing")
    check(run.journal.only("ending_started")["fast"], "the ending was not fast")


@test
def a_second_signal_of_another_kind_does_not_end_fast(case):
    plan = case.plan(Phases="one")
    plan.actor("web", "serve --term-ms 1500", Phase="one")
    run = case.run(plan).ready()
    case.serving("web")
    for count, number in enumerate((signal.SIGINT, signal.SIGQUIT, signal.SIGTERM), 1):
        run.send(number)
        run.journal.until("signal_received", count=count)
    equal(run.wait(), 0, "exit code")
    equal([line["effect"] for line in run.journal.all("signal_received")],
          ["ending_begins", "recorded", "recorded"], "effects")
    case.log.only("exiting", name="web")


@test
def case_16_a_term_before_the_first_service_is_ready_starts_nothing_more(case):
    plan = case.plan(Phases="http db")
    plan.actor("web", "serve", Phase="http")
    plan.actor("data", "say begun , serve", Phase="db", Type="notify")
    plan.hook("clean", "as clean , say ran", Service="data", On="post-stop")
    plan.hook("never", "as never , say ran", Service="web", On="post-stop")
    run = case.run(plan)
    case.serving("data")
    equal(run.end(), 0, "exit code")
    run.journal.none("service_starting", service="web")
    run.journal.none("service_ready")
    equal(case.signals("data"), [signal.SIGTERM], "signals of data")
    case.log.only("ran", name="clean")
    case.log.none("ran", name="never")


@test
def every_signal_that_ends_begins_the_ordinary_ending(case):
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGQUIT, signal.SIGPWR, signal.SIGRTMIN + 3):
        plan = case.plan(Phases="one")
        plan.actor("web", "serve", Phase="one")
        run = case.run(plan).ready()
        wait_until(lambda: len(case.log.all("serving")) == len(case.runs), "web", alive=run.alive)
        equal(run.end(number), 0, f"exit code after {number}")
        started = run.journal.only("ending_started")
        equal((started["cause"], started["fast"]), ("signal", False), f"the ending after {number}")
        os.rename(run.journal.path, run.journal.path + f".{number}")


@test
def other_signals_are_recorded_and_harmless(case):
    plan = case.plan(Phases="one")
    plan.actor("web", "serve", Phase="one")
    run = case.run(plan).ready()
    case.serving("web")
    harmless = [signal.SIGALRM, signal.SIGWINCH, signal.SIGURG, signal.SIGTSTP, signal.SIGVTALRM, signal.SIGRTMIN,
                signal.SIGPIPE, signal.SIGXFSZ, signal.SIGTTIN, signal.SIGTTOU, signal.SIGCONT]
    for count, number in enumerate(harmless, 1):
        run.send(number)
        run.journal.until("signal_received", count=count, effect="ignored")
    run.journal.none("ending_started")
    equal(run.end(), 0, "exit code")
    equal(case.signals("web"), [signal.SIGTERM], "signals of web")


@test
def a_signal_from_inside_is_recorded_with_its_sender(case):
    plan = case.plan(Phases="one")
    plan.actor("web", "kill 1 15 , serve", Phase="one", Type="simple")
    run = case.run(plan)
    equal(run.wait(), 0, "exit code")
    sender = run.journal.only("service_started", service="web")["pid"]
    received = run.journal.only("signal_received")
    equal((received["sender_pid"], received["sender_uid"]), (sender, 0), "the sender")
    equal(received["sender_comm"], os.path.basename(ACTOR), "the sender's name")


@test
def usr1_puts_the_state_into_the_log(case):
    plan = case.plan(Phases="one")
    plan.actor("web", "serve", Phase="one")
    run = case.run(plan).ready()
    before = len(run.errors())
    run.send(signal.SIGUSR1)
    equal(run.journal.until("signal_received")["effect"], "dump", "effect")
    wait_until(lambda: "web" in run.errors()[before:], "the state on stderr", alive=run.alive)
    equal(run.end(), 0, "exit code")


@test
def usr2_reopens_the_journal(case):
    plan = case.plan(Phases="one")
    plan.actor("web", "serve", Phase="one")
    run = case.run(plan).ready()
    moved = run.journal.path + ".moved"
    os.rename(run.journal.path, moved)
    run.send(signal.SIGUSR2)
    wait_until(lambda: os.path.exists(run.journal.path), "a new journal file", alive=run.alive)
    equal(run.end(), 0, "exit code")
    with open(moved, encoding="utf-8") as file:
        check("startup_finished" in file.read(), "the moved file is the old journal")


@test
def a_single_command_gets_every_signal_as_it_arrived(case):
    run = case.run_actor("serve --stop 12 --exit 6")
    case.serving("command")
    numbers = [signal.SIGHUP, signal.SIGUSR1, signal.SIGWINCH, signal.SIGALRM, signal.SIGRTMIN + 1, signal.SIGHUP]
    for count, number in enumerate(numbers, 1):
        run.send(number)
        wait_until(lambda: len(case.signals("command")) == count, f"signal {number}", alive=run.alive)
    run.send(signal.SIGUSR2)
    equal(run.wait(), 6, "exit code")
    equal(case.signals("command"), [int(number) for number in numbers] + [12], "signals of the command")


@test
def a_single_command_gets_the_signals_that_pid_1_itself_is_shielded_from(case):
    run = case.run_actor("serve --exit 6")
    case.serving("command")
    numbers = [signal.SIGPIPE, signal.SIGXFSZ, signal.SIGTTIN, signal.SIGTTOU, signal.SIGTSTP]
    for count, number in enumerate(numbers, 1):
        run.send(number)
        wait_until(lambda: len(case.signals("command")) == count, f"signal {number}", alive=run.alive)
    run.send(signal.SIGCONT)
    case.log.until("signal", name="command", signal=int(signal.SIGCONT))
    equal(run.end(), 6, "exit code")
    equal(case.signals("command"), [*map(int, numbers), signal.SIGTERM], "signals of the command")
    equal({line["effect"] for line in run.journal.all("signal_received")}, {"passed_on", "ending_begins"}, "effects")


@test
def who_waits_for_what_a_single_command_left_behind_can_hurry_it(case):
    for number in (signal.SIGINT, signal.SIGQUIT):
        case.log.lines.clear()
        go = case.fifo(f"go.{int(number)}")
        run = case.run_actor(f"spawn as member + serve --ignore , eof {go} , exit 3")
        case.serving("member")
        os.close(os.open(go, os.O_WRONLY))
        run.journal.until("service_exited")
        run.send(number)
        equal(run.journal.until("signal_received")["effect"], "ending_begins", "what the first did")
        run.send(number)
        equal(run.wait(), 3, "exit code")
        second = run.journal.last("signal_received")
        equal(second["effect"], "ends_fast", "what the second did")
        soon(run.journal.span_us(second, run.journal.only("service_killed")), "until it is killed")


@test
def a_single_command_gets_a_repeated_term_once(case):
    run = case.run_actor("serve --term-ms 500 --exit 3")
    case.serving("command")
    for count in (1, 2, 3):
        run.send(signal.SIGTERM)
        run.journal.until("signal_received", count=count)
    equal(run.wait(), 3, "exit code")
    equal(case.signals("command"), [signal.SIGTERM], "signals of the command")


@test
def rewritten_signals_arrive_as_told_or_not_at_all(case):
    run = case.run_actor("serve", ["--rewrite", "15:3", "--rewrite", "1:0"])
    case.serving("command")
    run.send(signal.SIGHUP)
    run.journal.until("signal_received", signal="SIGHUP")
    equal(run.end(), 0, "exit code")
    equal(case.signals("command"), [signal.SIGQUIT], "signals of the command")


@test
def a_single_command_that_ignores_term_is_killed_when_its_grace_is_over(case):
    run = case.run_actor("serve --ignore", ["--grace", "2s"])
    case.serving("command")
    equal(run.end(), 137, "exit code")
    lasted(run.journal.last("ending_finished")["took_us"], 750_000, "the ending: a second less its reserve")


@test
def the_stop_signal_option_is_what_the_command_is_asked_with(case):
    run = case.run_actor("serve --stop 3", ["--stop-signal", "QUIT"])
    case.serving("command")
    run.journal.until("service_started")
    client = run.verb_begin("shutdown")
    equal(run.wait(), 0, "exit code")
    client.communicate(timeout=60)
    equal(case.signals("command"), [signal.SIGQUIT], "signals of the command")


@test
def the_group_option_asks_the_whole_group(case):
    run = case.run_actor("spawn as member + serve --term-ms 100 , serve --term-ms 2000", ["-g"])
    case.serving("member"), case.serving("command")
    equal(run.end(), 0, "exit code")
    equal(case.signals("member"), [signal.SIGTERM], "signals of the member")
    check(case.log.first("signal", name="member")["t"] < case.log.only("exiting", name="command")["t"],
          "the member was asked only when the command was gone")


@test
def a_stopped_service_is_woken_to_end(case):
    plan = case.plan(Phases="one")
    plan.actor("web", "serve", Phase="one")
    run = case.run(plan).ready()
    pid = run.outside(case.serving("web")["pid"])
    os.kill(pid, signal.SIGSTOP)
    wait_until(lambda: status_field(pid, "State")[:1] == ["T"], "web is stopped")
    equal(run.end(), 0, "exit code")
    run.journal.none("service_killed")


@test
def bad_usage_is_64_and_starts_nothing(case):
    for words in (["run", "--surely-not"], ["run", "--rewrite", "15", "--", "true"], ["surely-no-verb"], ["run", "--"]):
        done = subprocess.run([os.environ["ENDWELL_BINARY"], *words], capture_output=True, text=True, timeout=60,
                              env=case.environment, check=False)
        equal(done.returncode, 64, f"exit code of {words}")
        check(done.stderr.strip(), f"{words}: nothing was said")


def storm(case, pid, number):
    """Sends this signal as fast as can be, until the process is gone."""
    script = f"import os\nwhile True:\n try: os.kill({pid}, {int(number)})\n except BlockingIOError: pass\n"
    sender = subprocess.Popen(["/usr/bin/python3", "-c", script], stderr=subprocess.DEVNULL)
    case.cleaners[:0] = [sender.kill, sender.wait]


@test(alone=True)
def a_storm_of_queued_signals_keeps_nobody_from_ending_in_time(case):
    for number in (signal.SIGRTMIN + 3, signal.SIGRTMIN + 5, signal.SIGCHLD):
        plan = case.plan(Phases="http db", LogLevel="err", RuntimeDirectory=case.path(f"run.{int(number)}"))
        plan.actor(f"web-{int(number)}", "serve --term-ms 200", Phase="http")
        plan.actor("data", "serve", Phase="db")
        run = case.run(plan).ready()
        case.serving(f"web-{int(number)}")
        storm(case, run.pid, number)
        equal(run.end(), 0, f"exit code under a storm of {int(number)}")
        lasted(run.journal.only("ending_finished")["took_us"], 200_000, "the ending")


@test
def a_single_command_that_was_asked_by_int_gets_the_first_term_and_no_second_one(case):
    run = case.run_actor("serve --exit 5 --term-ms 500")
    case.serving("command")
    for count, number in enumerate((signal.SIGINT, signal.SIGTERM, signal.SIGTERM), 1):
        run.send(number)
        run.journal.until("signal_received", count=count)
    equal(run.wait(), 5, "exit code")
    equal([line["effect"] for line in run.journal.all("signal_received")], ["ending_begins", "passed_on", "recorded"], "effects")
    equal(case.signals("command"), [signal.SIGINT, signal.SIGTERM], "signals of the command")


@test
def who_ended_in_time_while_pid_1_was_stopped_past_its_deadline_was_not_killed(case):
    plan = case.plan(Phases="one", GraceSec=2, DeadlineSec=1)
    plan.actor("web", "serve --term-ms 200", Phase="one")
    run = case.run(plan).ready()
    case.serving("web")
    run.send(signal.SIGTERM)
    asked = run.journal.until("service_asked")
    run.send(signal.SIGSTOP)
    case.log.until("exiting", name="web")
    wait_until(lambda: time.monotonic_ns() // 1000 > asked["mono_us"] + 1_200_000, "the deadline has passed")
    run.send(signal.SIGCONT)
    equal(run.wait(), 0, "exit code")
    run.journal.none("service_killed")


@test
def a_limit_of_file_sizes_costs_the_log_and_is_no_signal(case):
    plan = case.plan(Phases="one")
    plan.service("web", "/bin/sleep 3600", Phase="one")
    run = case.run(plan, shell='ulimit -f 8 && exec "$@"').ready()
    run.unchecked = True  # the journal's file has the same limit; the memory has its last lines
    for count in range(1, 31):
        run.send(signal.SIGUSR1)
        wait_until(lambda wanted=count: run.verb("events", "--json").stdout.count('"SIGUSR1"') == wanted, "the signal",
                   alive=run.alive)
    within(os.path.getsize(run.stderr_path), 3800, 4096, "the size of the log, which met its limit")
    check("SIGXFSZ" not in run.verb("events", "--json").stdout, "our own write was taken for a signal")
    equal(run.end(), 0, "exit code")


@test
def who_was_asked_with_the_stop_signal_gets_no_term_behind_it(case):
    run = case.run_actor("serve --stop 3 --term-ms 500", ["--stop-signal", "QUIT"])
    case.serving("command")
    run.journal.until("service_started")
    client = run.verb_begin("shutdown")
    run.journal.until("service_asked", signal="SIGQUIT")
    run.send(signal.SIGTERM)
    equal(run.journal.until("signal_received")["effect"], "recorded", "effect")
    run.wait()
    client.communicate(timeout=60)
    equal(case.signals("command"), [signal.SIGQUIT], "signals of the command")
