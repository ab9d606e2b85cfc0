"""The laws that every test checks must be able to fail: a good journal, and one planted fault for each law."""
from case import test
from journal import check, equal
from laws import broken_laws

PHASES, PHASE_OF = ["http", "db"], {"web": "http", "data": "db"}


def line(event, **fields):
    return {"event": event, "epoch": 1, **fields}


def member(event, service, **fields):
    return line(event, service=service, instance=1, **fields)


def good():
    lines = [line("supervisor_started")]
    for service, pid in (("data", 2), ("web", 3)):
        lines += [member("service_starting", service), member("service_started", service, pid=pid)]
    lines += [line("ending_started"), line("readiness_changed", ready=False)]
    for phase, service, pid in (("http", "web", 3), ("db", "data", 2)):
        lines += [line("phase_started", phase=phase), member("service_asked", service, pid=pid, reason="ending"),
                  member("service_exited", service, pid=pid), member("service_gone", service),
                  member("hook_started", service, hook=f"after-{service}"), line("phase_finished", phase=phase)]
    return lines + [line("ending_finished", code=0)]


def judge(lines, code=0):
    for number, one in enumerate(lines, 1):
        one.setdefault("seq", number)
        one.setdefault("mono_us", number * 10)
    return broken_laws(lines, code, PHASES, PHASE_OF)


def at(lines, event, **fields):
    return next(i for i, one in enumerate(lines) if one["event"] == event and fields.items() <= one.items())


def swapped(lines, one, other):
    lines[one], lines[other] = lines[other], lines[one]
    return lines


def faults():
    lines = good()
    yield "asked too early", swapped(lines, at(lines, "service_gone", service="web"), at(lines, "service_asked", service="data"))
    lines = good()
    yield "a phase skipped", [one for one in lines if one.get("phase") != "db"]
    lines = good()
    yield "phases swapped", swapped(lines, at(lines, "phase_started", phase="http"), at(lines, "phase_started", phase="db"))
    yield "a hook twice", good()[:-1] + [member("hook_started", "web", hook="after-web"), line("ending_finished", code=0)]
    yield "a start in the ending", good()[:-1] + [member("service_starting", "web"), line("ending_finished", code=0)]
    yield "a restart in the ending", good()[:-1] + [member("service_restart_scheduled", "web"), line("ending_finished", code=0)]
    lines = good()
    lines[at(lines, "service_asked", service="web")]["reason"] = "liveness"
    yield "probed to death in the ending", lines
    yield "a probe that looks in the ending", good()[:-1] + [member("probe_changed", "web"), line("ending_finished", code=0)]
    lines = good()
    lines[at(lines, "service_exited", service="web")].update(event="service_left", probe="liveness")
    yield "a check that is left in place of its service", lines
    yield "ready again", good()[:-1] + [line("readiness_changed", ready=True), line("ending_finished", code=0)]
    yield "an end that nothing tells", [one for one in good() if one["event"] != "service_exited"]
    lines = good()
    yield "ready before started", lines[:2] + [member("service_ready", "data")] + lines[2:]
    yield "no end", good()[:-1]
    yield "something after the end", good() + [line("log_dropped", n=1)]
    yield "two ends", good() + [line("ending_finished", code=0)]
    yield "no beginning of the ending", [one for one in good() if one["event"] != "ending_started"]
    lines = good()
    lines[4]["seq"] = 9
    yield "a gap", lines
    lines = good()
    lines[4]["mono_us"] = 1
    yield "time that goes back", lines
    yield "nothing", []


@test
def a_good_journal_breaks_no_law(_):
    equal(judge(good()), [], "broken laws")
    check(judge(good(), code=81), "another exit code than the journal's is not noticed")


@test
def each_planted_fault_breaks_a_law(_):
    for name, lines in faults():
        check(judge(lines), f"not noticed: {name}")
