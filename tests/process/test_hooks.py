"""Hooks: each edge once, their environment, their limits, and what their failure does. Cases 42 and 48."""
import os

from case import test
from endwell import BINARY
from journal import check, equal, lasted

S = 1_000_000
EDGES = ("pre-start", "post-start", "pre-stop", "post-stop")


def plan_with_all_edges(case):
    plan = case.plan(Phases="http db")
    plan.actor("web", "say main , serve --term-ms 100", Phase="http", Instances=2)
    plan.actor("data", "serve", Phase="db")
    for edge in EDGES:
        plan.hook(f"web-{edge}", f"as {edge} , report , say ran", Service="web", On=edge)
    for edge in ("begin", "end"):
        plan.hook(f"http-{edge}", f"as {edge} , report , say ran", Phase="http", On=edge)
    return plan


@test
def every_edge_of_every_instance_runs_once_and_in_its_place(case):
    run = case.run(plan_with_all_edges(case)).ready()
    case.serving("web", 2), case.serving("data")
    case.log.until("ran", count=2, name="post-start")
    equal(run.end(), 0, "exit code")
    for edge in EDGES:
        equal(len(case.log.all("ran", name=edge)), 2, f"runs of {edge}")
    for edge in ("begin", "end"):
        equal(len(case.log.all("ran", name=edge)), 1, f"runs of {edge}")
    journal = run.journal
    for instance in (1, 2):
        mine = {"service": "web", "instance": instance}
        journal.order(journal.only("hook_finished", hook="web-pre-start", **mine), journal.only("service_started", **mine),
                      journal.only("service_ready", **mine), journal.only("hook_started", hook="web-post-start", **mine),
                      journal.only("hook_started", hook="web-pre-stop", **mine),
                      journal.only("hook_finished", hook="web-pre-stop", **mine), journal.only("service_asked", **mine),
                      journal.only("service_gone", **mine), journal.only("hook_started", hook="web-post-stop", **mine),
                      journal.only("hook_finished", hook="web-post-stop", **mine))
    journal.order(journal.only("phase_started", phase="http"), journal.only("hook_finished", hook="http-begin"),
                  journal.first("service_asked", service="web"), journal.last("hook_finished", hook="web-post-stop"),
                  journal.only("hook_started", hook="http-end"), journal.only("hook_finished", hook="http-end"),
                  journal.only("phase_finished", phase="http"))
    for line in journal.all("hook_finished"):
        equal((line["code"], line["status"], line["timed_out"]), ("exited", 0, False), f"how {line['hook']} ended")


@test
def a_hook_finds_in_its_environment_what_the_contract_lists(case):
    run = case.run(plan_with_all_edges(case)).ready()
    case.serving("web", 2), case.serving("data")
    case.log.until("report", count=2, name="post-start")
    equal(run.end(), 0, "exit code")
    for edge in EDGES:
        for report in case.log.all("report", name=edge):
            environment, instance = report["environment"], report["instance"]
            started = run.journal.only("service_started", service="web", instance=instance)
            for key, wanted in (("ENDWELL_EPOCH", None), ("ENDWELL_HOOK", f"web-{edge}"), ("ENDWELL_ATTEMPT", "1"),
                                ("ENDWELL_SERVICE", "web"), ("ENDWELL_INSTANCE", str(instance)),
                                ("ENDWELL_OWNER", started["owner"]), ("ENDWELL_PHASE", "http")):
                check(key in environment, f"{edge} has no {key}")
                check(wanted is None or environment[key] == wanted, f"{edge}: {key}={environment[key]}, wanted {wanted}")
            if edge in ("post-start", "pre-stop"):
                equal(environment["MAINPID"], str(started["pid"]), f"MAINPID of {edge}")
            if edge in ("pre-stop", "post-stop"):
                equal(environment["ENDWELL_CAUSE"], "signal", f"ENDWELL_CAUSE of {edge}")
            equal(report["group"], report["pid"], f"{edge} has a group of its own")
            equal(set(report["descriptors"]), {"0", "1", "2"}, f"descriptors of {edge}")
    for report in case.log.all("report", name="post-stop"):
        found = {key: report["environment"].get(key) for key in ("SERVICE_RESULT", "EXIT_CODE", "EXIT_STATUS")}
        equal(found, {"SERVICE_RESULT": "success", "EXIT_CODE": "exited", "EXIT_STATUS": "0"}, "systemd's words")
    environment = case.log.only("report", name="begin")["environment"]
    equal((environment["ENDWELL_PHASE"], environment["ENDWELL_CAUSE"]), ("http", "signal"), "a phase's hook")
    check("ENDWELL_SERVICE" not in environment, "a phase's hook names a service")


@test
def post_stop_says_how_a_run_ended(case):
    for name, steps, result in (("failed", "exit 3", ("exit-code", "exited", "3")),
                                ("killed", "die 9", ("signal", "killed", "9")),):
        plan = case.plan(Phases="one", RuntimeDirectory=case.path(f"run.{name}"))
        plan.actor("web", "serve", Phase="one")
        plan.actor(name, steps, Phase="one", Essential="no", Restart="no")
        plan.hook("after", f"as after-{name} , report", Service=name, On="post-stop")
        run = case.run(plan)
        environment = case.log.until("report", name=f"after-{name}")["environment"]
        found = tuple(environment.get(key) for key in ("SERVICE_RESULT", "EXIT_CODE", "EXIT_STATUS"))
        if name == "killed":
            check(found[2] in ("9", "KILL"), f"EXIT_STATUS is {found[2]}")
            found, result = found[:2], result[:2]
        equal(found, result, f"systemd's words after {name}")
        run.ready()
        run.end()


@test
def hooks_of_each_run_of_a_restarted_service_run_once(case):
    plan = case.plan(Phases="one")
    plan.actor("web", f"attempts {case.path('runs')} 2 1 , serve", Phase="one", RestartSec="1ms")
    for edge in EDGES:
        plan.hook(edge, f"as {edge} , report , say ran", Service="web", On=edge)
    run = case.run(plan)
    case.serving("web")
    run.ready()
    case.log.until("ran", name="post-start", count=3)
    equal(run.end(), 0, "exit code")
    equal(len(case.log.all("ran", name="pre-start")), 3, "pre-start")
    equal(len(case.log.all("ran", name="post-stop")), 3, "post-stop")
    equal(len(case.log.all("ran", name="pre-stop")), 1, "pre-stop: only what is stopped has it")
    attempts = [line["environment"]["ENDWELL_ATTEMPT"] for line in case.log.all("report", name="pre-start")]
    equal(attempts, ["1", "2", "3"], "ENDWELL_ATTEMPT")


@test
def case_48_a_hook_that_hangs_is_killed_with_its_group_and_the_phase_goes_on(case):
    plan = case.plan(Phases="http db")
    plan.actor("web", "serve", Phase="http")
    plan.actor("data", "serve", Phase="db")
    plan.hook("hangs", "as hook , spawn as hookchild + serve --ignore , serve --ignore", Service="web", On="pre-stop",
              TimeoutSec="4s")
    run = case.run(plan).ready()
    case.serving("web"), case.serving("data")
    run.send(15)
    case.serving("hook"), case.serving("hookchild")
    with run.connect().client as client:
        client.sendall(b'{"method":"status"}\n')
        check(client.recv(65536), "no answer while the hook hangs")
    run.journal.none("hook_finished")
    equal(run.wait(), 0, "exit code")
    journal = run.journal
    started, finished = journal.only("hook_started", hook="hangs"), journal.only("hook_finished", hook="hangs")
    check(finished["timed_out"], "it timed out")
    lasted(journal.span_us(started, finished), 4 * S, "its own limit")
    # what is left of the killed group may be found dying, and is then asked, too
    journal.order(finished, journal.first("service_asked", service="web", pid=case.serving("web")["pid"]),
                  journal.only("service_asked", service="data"))
    equal(case.log.all("exiting", name="hookchild"), [], "the child of the hook did not end by itself")
    equal(journal.only("ending_finished")["hooks_failed"], 1, "hooks that failed")


@test
def a_hook_may_use_the_control_socket(case):
    plan = case.plan(Phases="one")
    plan.actor("web", "serve", Phase="one")
    binary, found = os.environ["ENDWELL_BINARY"], case.path("found.json")
    plan.section("[Hook asks]", {"Exec": f'/bin/sh -c "{binary} status --json > {found}"', "Service": "web", "On": "pre-stop"})
    run = case.run(plan).ready()
    case.serving("web")
    equal(run.end(), 0, "exit code")
    equal(run.journal.only("hook_finished")["status"], 0, "how the hook ended")
    check("web" in case.text("found.json"), "the hook got a status")


@test
def hooks_of_one_edge_run_at_once(case):
    plan = case.plan(Phases="one")
    plan.actor("web", "serve", Phase="one")
    for name in ("a", "b", "c"):
        plan.hook(name, f"as {name} , sleep 500", Service="web", On="pre-stop")
    run = case.run(plan).ready()
    case.serving("web")
    equal(run.end(), 0, "exit code")
    started = [line["mono_us"] for line in run.journal.all("hook_started")]
    finished = [line["mono_us"] for line in run.journal.all("hook_finished")]
    check(len(started) == 3 and max(started) < min(finished), f"begun {started}, ended {finished}")


@test
def a_stop_hook_that_aborts_makes_80_and_one_that_continues_does_not(case):
    for on_failure, code in (("abort", 80), ("continue", 0)):
        for target, edge in (("Service=web", "pre-stop"), ("Service=web", "post-stop"), ("Phase=one", "begin"),
                             ("Phase=one", "end")):
            key, value = target.split("=")
            plan = case.plan(Phases="one", RuntimeDirectory=case.path(f"run.{on_failure}.{edge}"))
            plan.actor("web", f"as {on_failure}.{edge} , serve", Phase="one")
            plan.hook("bad", "exit 1", On=edge, OnFailure=on_failure, **{key: value})
            run = case.run(plan).ready()
            case.serving(f"{on_failure}.{edge}")
            equal(run.end(), code, f"exit code of {on_failure} at {edge}")
            equal(run.journal.only("ending_finished")["hooks_failed"], 1, "hooks that failed")


@test
def a_pre_start_hook_that_aborts_makes_a_failed_start(case):
    plan = case.plan(Phases="one")
    plan.actor("web", "serve", Phase="one", RestartSec="1ms", StartLimitBurst=2)
    plan.hook("bad", "exit 1", Service="web", On="pre-start", OnFailure="abort")
    run = case.run(plan)
    equal(run.wait(), 83, "exit code")
    equal(run.journal.only("service_gave_up")["failures"], 2, "failures")
    equal(case.log.all("serving", name="web"), [], "the service itself never ran")


@test
def a_fast_ending_skips_pre_stop_and_keeps_post_stop(case):
    plan = case.plan(Phases="one")
    plan.actor("web", "serve", Phase="one")
    plan.hook("before", "as before , say ran", Service="web", On="pre-stop")
    plan.hook("after", "as after , say ran", Service="web", On="post-stop")
    plan.hook("end", "as end , say begun , sleep 5000 , say ran", Phase="one", On="end", TimeoutSec="10s")
    run = case.run(plan).ready()
    case.serving("web")
    client = run.verb_begin("shutdown", "--now")
    equal(run.wait(), 0, "exit code")
    client.communicate(timeout=60)
    case.log.none("ran", name="before")
    case.log.only("ran", name="after")
    case.log.none("ran", name="end")
    finished = run.journal.only("hook_finished", hook="end")
    check(finished["timed_out"], "the end hook was cut")
    lasted(run.journal.span_us(run.journal.only("hook_started", hook="end"), finished), S, "its second")


@test
def case_42_two_stop_requests_are_one_ending_with_one_answer(case):
    plan = case.plan(Phases="one")
    plan.actor("web", "serve --term-ms 400", Phase="one")
    for edge in ("pre-stop", "post-stop"):
        plan.hook(edge, f"as {edge} , say ran", Service="web", On=edge)
    run = case.run(plan).ready()
    case.serving("web")
    run.send(15)
    first = run.verb_begin("shutdown")
    run.journal.until("request_received", method="shutdown")
    second = run.verb_begin("shutdown")
    equal(run.wait(), 0, "exit code")
    answers = [client.communicate(timeout=60) + (client.returncode,) for client in (first, second)]
    results = [(output.splitlines()[-1], code) for output, _, code in answers]
    equal(results[0], results[1], "the result that the two callers got")
    equal(results[0][1], 0, f"exit code of the callers: {answers}")
    run.journal.only("ending_started")
    for edge in ("pre-stop", "post-stop"):
        case.log.only("ran", name=edge)
    run.journal.none("hook_repeated")


@test
def a_hook_found_by_its_line_is_marked_and_the_output_arrives_unchanged(case):
    plan = case.plan(Phases="one")
    lines = "plain text , print closing-pool begin , print x\\ty"
    plan.actor("web", f"print {lines} , serve", Phase="one")
    plan.section("[Hook pool]", {"LogPattern": "^closing-pool", "Service": "web"})
    run = case.run(plan).ready()
    case.serving("web")
    marked = run.journal.until("hook_marked", hook="pool")
    equal(marked["edge"], "begin", "edge")
    equal(run.end(), 0, "exit code")
    equal(run.output(), "plain text\nclosing-pool begin\nxty\n", "the output")
    run.journal.only("hook_marked")


@test
def a_line_that_comes_twice_is_a_hook_that_ran_twice(case):
    plan = case.plan(Phases="one")
    plan.actor("web", "print closing-pool , print closing-pool , serve", Phase="one")
    plan.section("[Hook pool]", {"LogPattern": "closing-pool", "Service": "web"})
    run = case.run(plan).ready()
    case.serving("web")
    equal(run.journal.until("hook_repeated", hook="pool")["times"], 2, "times")
    equal(run.end(), 0, "exit code")


@test
def two_hundred_and_fifty_six_hooks_of_one_edge_are_all_waited_for(case):
    gate = case.fifo("gate")
    plan = case.plan(Phases="one", LogLevel="warning")
    plan.actor("web", "serve", Phase="one")
    for number in range(256):
        plan.section(f"[Hook before-{number}]", {"Exec": f"/bin/sh -c 'read x < {gate}'", "Service": "web", "On": "pre-start",
                                                 "TimeoutSec": "50"})
    run = case.run(plan)
    run.journal.until("hook_started", count=256)
    run.journal.none("service_started")
    held = os.open(gate, os.O_RDWR)
    os.write(held, b"\n" * 256)
    started = run.journal.until("service_started")
    equal(len([line for line in run.journal.all("hook_finished") if line["seq"] < started["seq"]]), 256, "hooks that ran before")
    os.close(held)
    equal(run.end(), 0, "exit code")


@test
def a_stop_hook_that_asks_for_the_end_does_not_wait_for_itself(case):
    plan = case.plan(Phases="one")
    plan.actor("web", "serve", Phase="one")
    plan.section("[Hook again]", {"Exec": f"{BINARY} shutdown", "Service": "web", "On": "pre-stop", "TimeoutSec": "8s"})
    run = case.run(plan).ready()
    case.serving("web")
    equal(run.end(), 0, "exit code")
    finished = run.journal.only("hook_finished", hook="again")
    equal((finished["status"], finished["timed_out"]), (0, False), "how the hook ended")
    run.journal.only("request_received", method="shutdown")
