"""The notify socket: every word of the protocol that this version takes, from real senders."""
import os
import signal
import subprocess
import time

from case import test
from endwell import read_link
from journal import check, equal, lasted, soon, wait_until, within

S = 1_000_000


def notify_plan(case, steps, **keys):
    plan = case.plan(Phases="one")
    plan.actor("web", steps, Phase="one", Type="notify", **keys)
    return plan


@test
def ready_makes_a_notify_service_ready_and_not_earlier(case):
    gate = case.fifo("gate")
    plan = notify_plan(case, f"say up , eof {gate} , notify READY=1 , serve")
    run = case.run(plan)
    case.log.until("up")
    run.journal.none("service_ready")
    with open(gate, "wb"):
        pass
    run.journal.until("service_ready")
    run.ready()
    equal(run.end(), 0, "exit code")


@test
def a_status_is_in_the_journal_and_in_the_status(case):
    plan = notify_plan(case, 'notify READY=1 "STATUS=warm and ready" , serve')
    run = case.run(plan).ready()
    equal(run.journal.until("service_status")["text"], "warm and ready", "text")
    check("warm and ready" in run.verb("status").stdout, "the status shows it")
    equal(run.end(), 0, "exit code")


@test
def a_barrier_passes_when_what_was_sent_before_is_handled(case):
    plan = notify_plan(case, "notify READY=1 , notify STATUS=before , barrier , serve")
    run = case.run(plan).ready()
    passed = case.log.until("barrier")
    check(passed["passed"], "the barrier did not pass")
    status = run.journal.only("service_status", text="before")
    check(status["mono_us"] <= passed["t"], "the barrier passed before the status was handled")
    equal(run.end(), 0, "exit code")


@test
def systemd_notify_is_answered_at_once(case):
    plan = case.plan(Phases="one")
    plan.shell("web", 'systemd-notify --ready --status=fine; code=$?; "$ACTOR" say notified-$code; exec "$ACTOR" serve',
               Phase="one", Type="notify")
    run = case.run(plan).ready()
    case.log.until("notified-0")
    equal(run.journal.until("service_status")["text"], "fine", "text")
    equal(run.end(), 0, "exit code")


@test
def endwell_notify_says_the_same_from_a_shell(case):
    plan = case.plan(Phases="one")
    binary = os.environ["ENDWELL_BINARY"]
    plan.shell("web", f'{binary} notify READY=1 STATUS=by-shell; "$ACTOR" say notified-$?; exec "$ACTOR" serve',
               Phase="one", Type="notify")
    run = case.run(plan).ready()
    case.log.until("notified-0")
    equal(run.journal.until("service_status")["text"], "by-shell", "text")
    equal(run.end(), 0, "exit code")


@test
def a_last_word_of_a_process_that_is_gone_still_counts(case):
    plan = notify_plan(case, "spawn --double notify READY=1 , serve")
    run = case.run(plan).ready()
    run.journal.only("service_ready")
    equal(run.end(), 0, "exit code")


@test
def ready_just_before_a_clean_exit_is_seen_before_the_exit(case):
    plan = notify_plan(case, "notify READY=1 , exit 0", Essential="no", Restart="no")
    plan.actor("other", "serve", Phase="one")
    run = case.run(plan)
    exited = run.journal.until("service_exited", service="web")
    run.journal.order(run.journal.only("service_ready", service="web"), exited)
    run.end()


@test
def a_main_pid_outside_the_tree_is_refused(case):
    plan = notify_plan(case, "notify READY=1 MAINPID=1 , barrier , serve")
    run = case.run(plan).ready()
    case.serving("web")
    refused = run.journal.until("notify_refused", service="web")
    check(refused["reason"], "the reason is said")
    equal(run.end(), 0, "exit code")
    equal(case.signals("web"), [signal.SIGTERM], "signals of the true main process")


@test
def a_living_sender_outside_the_tree_is_refused_and_recorded(case):
    path = case.path("socket")
    plan = case.plan(Phases="one")
    plan.actor("web", f"tell {path} , serve", Phase="one", Type="notify")
    plan.actor("stranger", f"as foreign , notify --to {path} READY=1 , serve", Phase="one",
               RestartSec="20ms", StartLimitBurst=100)
    run = case.run(plan)
    refused = run.journal.until("notify_refused", service="web")
    equal(refused["pid"], case.log.until("notified", name="foreign", answer=0)["pid"], "who was refused")
    run.journal.none("service_ready", service="web")
    equal(run.end(), 0, "exit code")


@test
def a_flood_of_messages_does_not_delay_sigterm(case):
    plan = case.plan(Phases="one")
    plan.actor("noisy", "flood", Phase="one")
    plan.actor("louder", "spawn --count 3 flood , flood", Phase="one")
    plan.actor("web", "serve", Phase="one")
    run = case.run(plan).ready()
    case.serving("web"), case.serving("noisy"), case.serving("louder", 4)
    run.journal.until("service_status", count=20)
    with run.connect().client as client:
        client.sendall(b'{"method":"status"}\n')
        check(client.recv(65536), "no answer in the flood")
    sent = time.monotonic_ns() // 1000
    run.send(signal.SIGTERM)
    equal(run.wait(), 0, "exit code")
    soon(run.journal.only("signal_received")["mono_us"] - sent, "from the signal to its receipt")
    soon(run.journal.only("ending_finished")["took_us"], "the ending")


@test
def drained_is_followed_by_the_drained_signal(case):
    plan = case.plan(Phases="one last")
    plan.actor("web", "serve --drain-ms 600 --term-ms 50 --stop 10", Phase="one", DrainUntil="notify", KillSignal="SIGUSR1",
               DrainedSignal="SIGUSR1")
    plan.actor("data", "serve", Phase="last")
    run = case.run(plan).ready()
    case.serving("web"), case.serving("data")
    equal(run.end(), 0, "exit code")
    drained = case.log.only("drained")
    signals = case.log.all("signal", name="web", signal=10)
    equal(len(signals), 2, "signals of web")
    check(signals[0]["t"] < drained["t"] <= signals[1]["t"], "the second signal came after the drain")
    equal([line["reason"] for line in run.journal.all("service_asked", service="web")], ["ending", "drained"], "why it was asked")
    run.journal.none("service_killed")


@test
def a_drained_program_that_stays_up_is_killed_after_a_second_and_that_is_no_forced_kill(case):
    plan = case.plan(Phases="one")
    plan.actor("web", "serve --drain-ms 300 --term-ms 60000", Phase="one", DrainUntil="notify")
    run = case.run(plan).ready()
    case.serving("web")
    equal(run.end(), 0, "exit code")
    killed = run.journal.only("service_killed")
    equal(killed["reason"], "drained", "reason")
    exited = run.journal.only("service_exited")
    equal((exited["status"], exited["clean"], exited["escalated"]), (signal.SIGKILL, True, False), "how it ended")
    check("was ended: it had drained" in run.errors() and "killed" not in run.errors().replace("nobody killed", "")
          .replace("nobody had to be killed", ""), "nobody is said to have been killed")
    lasted(killed["mono_us"] - case.log.only("drained")["t"], S, "from drained to the kill")


@test
def values_that_mean_nothing_are_refused_and_nothing_of_the_message_is_sent(case):
    plan = notify_plan(case, "notify READY=1 , serve")
    run = case.run(plan).ready()
    socket = os.path.join(run.runtime, "notify", "web")
    for words in (["X_ENDWELL_ACTIVE=abc"], ["WATCHDOG_USEC=x"], ["STATUS=half", "EXTEND_TIMEOUT_USEC=-1"], ["READY=yes"],
                  ["MAINPID=0"], ["WATCHDOG=2"], ["FDSTORE=1"]):
        done = subprocess.run([os.environ["ENDWELL_BINARY"], "notify", *words], capture_output=True, text=True, timeout=60,
                              env={**case.environment, "NOTIFY_SOCKET": socket}, check=False)
        equal(done.returncode, 64, f"exit code of {words}")
        check(words[-1] in done.stderr, f"what is said of {words}: {done.stderr}")
    equal(run.end(), 0, "exit code")
    run.journal.none("service_status")


@test
def active_counts_are_summed_in_the_progress(case):
    plan = case.plan(Phases="one")
    plan.actor("a", "notify READY=1 X_ENDWELL_ACTIVE=3 , serve --term-ms 1600", Phase="one", Type="notify")
    plan.actor("b", "notify READY=1 X_ENDWELL_ACTIVE=4 , serve --term-ms 1600", Phase="one", Type="notify")
    run = case.run(plan).ready()
    case.serving("a"), case.serving("b")
    equal(run.end(), 0, "exit code")
    progress = run.journal.first("drain_progress")
    equal((progress["phase"], progress["left"], progress["active"]), ("one", 2, 7), "the progress")
    equal(sorted(progress["waiting_for"]), ["a", "b"], "who is waited for")


@test
def marks_by_notify_are_recorded_and_a_second_one_is_a_repetition(case):
    plan = notify_plan(case, "notify READY=1 , notify X_ENDWELL_HOOK=close X_ENDWELL_EDGE=begin , "
                       "notify X_ENDWELL_HOOK=close X_ENDWELL_EDGE=end X_ENDWELL_RC=0 , "
                       "notify X_ENDWELL_HOOK=close X_ENDWELL_EDGE=begin , barrier , serve")
    plan.section("[Hook close]", {"LogPattern": "surely-never-printed", "Service": "web"})
    run = case.run(plan).ready()
    case.serving("web")
    marked = run.journal.all("hook_marked", hook="close")
    equal([line["edge"] for line in marked], ["begin", "end", "begin"], "edges")
    equal(run.journal.only("hook_repeated", hook="close")["times"], 2, "times")
    equal(run.end(), 0, "exit code")


@test
def nonsense_on_the_socket_harms_nobody(case):
    path = case.path("socket")
    plan = case.plan(Phases="one")
    plan.actor("web", f"tell {path} , notify READY=1 , serve", Phase="one", Type="notify")
    plan.service("vandal", f"/usr/bin/python3 {os.path.join(os.path.dirname(__file__), 'programs/vandal.py')} {path}",
                 Phase="one", After="web", Type="oneshot")
    run = case.run(plan).ready()
    run.journal.only("service_exited", service="vandal", status=0)
    wait_until(lambda: "web" in run.verb("status").stdout, "a status")
    descriptors = sorted(read_link(f"/proc/{run.pid}/fd/{name}") for name in os.listdir(f"/proc/{run.pid}/fd"))
    check("/dev/zero" not in descriptors, "descriptors that came along were not closed")
    equal(run.end(), 0, "exit code")


@test
def a_main_pid_that_is_a_hook_is_refused_and_the_hook_ends_as_a_hook(case):
    pid, hold = case.fifo("pid"), case.fifo("hold")
    plan = case.plan(Phases="one")
    plan.shell("web", f'read pid < {pid}; {os.environ["ENDWELL_BINARY"]} notify MAINPID=$pid; exec "$ACTOR" serve',
               Phase="one")
    # more hooks than members, so that a hook's number is no member's
    for number in range(40):
        plan.hook(f"after-{number}", "exit 0", Service="web", On="post-stop")
    plan.section("[Hook held]", {"Exec": f"/bin/sh -c 'echo $$$$ > {pid}; read x < {hold}'", "Service": "web",
                                 "On": "post-start", "TimeoutSec": "50"})
    run = case.run(plan)
    equal(run.journal.until("notify_refused", service="web")["reason"], "MAINPID is a hook", "reason")
    with open(hold, "w", encoding="ascii") as file:
        file.write("go\n")
    equal(run.journal.until("hook_finished", hook="held")["status"], 0, "how the hook ended")
    case.serving("web")
    equal(run.end(), 0, "exit code")
    equal(case.signals("web"), [signal.SIGTERM], "signals of the true main process")


@test
def a_former_main_process_that_its_own_parent_collects_is_waited_for_no_longer(case):
    plan = case.plan(Phases="one")
    tell = os.environ["ENDWELL_BINARY"] + " notify"
    plan.shell("web", f'sleep 3600 & child=$!; {tell} MAINPID=$child; {tell} MAINPID=$$; kill $child; wait $child; '
               f'{tell} READY=1; exec "$ACTOR" serve', Phase="one", Type="notify")
    run = case.run(plan).ready()
    case.serving("web")
    run.journal.until("orphan_gone", service="web", comm=lambda comm: comm in ("sleep", "sh"))  # sh: it was named before its exec
    equal(run.end(), 0, "exit code")
    soon(run.journal.only("ending_finished")["took_us"], "the ending")


@test
def a_socket_that_lingers_and_comes_along_does_not_hold_up_pid_1(case):
    for way in ("notify", "control"):
        sent = case.path(f"sent.{way}")
        plan = case.plan(Phases="one", RuntimeDirectory=case.path(f"run.{way}"))
        plan.service("web", f"/usr/bin/python3 {os.path.join(os.path.dirname(__file__), 'programs/lingerer.py')} {way} {sent}",
                     Phase="one")
        run = case.run(plan).ready()
        wait_until(lambda name=sent: os.path.exists(name), "the socket was sent", timeout=20, alive=run.alive)
        if way == "notify":
            run.journal.until("service_status", text="sent")
        begun = time.monotonic()
        equal(run.end(), 0, f"exit code, by {way}")
        within(time.monotonic() - begun, 0, 10, f"seconds to end, by {way}")


@test
def a_start_is_told_before_what_the_service_says(case):
    plan = case.plan(Phases="one", LogLevel="warning")
    plan.actor("web", "notify READY=1 STATUS=first , serve --quiet", Phase="one", Type="notify", Instances=50)
    run = case.run(plan).ready()
    for instance in range(1, 51):
        mine = {"service": "web", "instance": instance}
        run.journal.order(run.journal.only("service_started", **mine), run.journal.only("service_status", **mine))
    equal(run.end(), 0, "exit code")


@test
def an_endwell_below_another_one_says_when_it_is_ready_and_when_it_ends(case):
    gate = case.fifo("gate")
    inner = case.file("inner.ini", f"[Supervisor]\nPhases=one\nRuntimeDirectory={case.path('inner')}\n[Service deep]\n"
                      f"ExecStart={os.environ['ENDWELL_ACTOR']} as deep , say up , eof {gate} , notify READY=1 , serve\n"
                      "Type=notify\nPhase=one\n")
    plan = case.plan(Phases="one")
    plan.service("nest", f"{os.environ['ENDWELL_BINARY']} run -c {inner}", Phase="one", Type="notify")
    run = case.run(plan)
    case.log.until("up", name="deep")
    run.journal.none("service_ready")
    with open(gate, "wb"):
        pass
    run.ready()
    case.serving("deep")
    text = run.journal.until("service_status", service="nest")["text"]
    check(text.startswith("endwell ") or "start-up finished" in text, f"the status is the inner one's, not {text!r}")
    equal(run.end(), 0, "exit code")
    equal(case.signals("deep"), [signal.SIGTERM], "signals of the inner one's service")


@test
def who_must_say_that_it_is_ready_and_has_no_socket_fails_at_once(case):
    long = "x" * 40  # its socket's path is longer than a socket's name may be
    runtime = case.path("r" * max(1, 80 - len(case.path(""))))
    plan = case.plan(Phases="one", RuntimeDirectory=runtime)
    plan.actor("web", "serve", Phase="one")
    plan.actor(long, "say up , serve", Phase="one", Type="notify", Restart="no", TimeoutStartSec="infinity",
               Essential="no")
    run = case.run(plan)
    gone = run.journal.until("service_exited", service=long)
    check(gone["error"].startswith("notify socket: File name too long"), f"the reason: {gone}")
    equal(run.journal.until("service_gave_up", service=long)["reason"], "could not be started", "why it gave up")
    run.journal.none("service_started", service=long)
    equal(case.log.all("up"), [], "it never ran")
    case.serving("web")
    equal(run.end(), 0, "exit code")


@test
def who_need_not_say_anything_starts_without_a_socket(case):
    long = "y" * 40
    plan = case.plan(Phases="one", RuntimeDirectory=case.path("r" * max(1, 80 - len(case.path("")))))
    plan.actor(long, "serve", Phase="one")
    run = case.run(plan).ready()
    case.serving(long)
    equal(run.end(), 0, "exit code")
