"""What must hold in every journal of every run, whatever the test was about (the laws of the house, read from outside)."""


def _numbered(lines, broken):
    for before, after in zip(lines, lines[1:]):
        if after["seq"] != before["seq"] + 1:
            broken.append(f"seq jumps from {before['seq']} to {after['seq']}")
        if after["mono_us"] < before["mono_us"]:
            broken.append(f"mono_us goes back at seq {after['seq']}")


def _ended(lines, code, broken):
    """L9, L10: the last line is ending_finished, and it has the code that the process had."""
    ends = [line for line in lines if line["event"] == "ending_finished"]
    if len(ends) != 1 or lines[-1]["event"] != "ending_finished":
        broken.append(f"ending_finished must be there once and last; the last line is {lines[-1]}")
    elif ends[0]["code"] != code:
        broken.append(f"the journal says exit {ends[0]['code']}, the process exited with {code}")
    if not any(line["event"] == "ending_started" for line in lines):
        broken.append("an ending finished that never started")


def is_left(line):
    """A process of the service itself; a check of a probe that is left says nothing of it."""
    return line["event"] == "service_left" and not line.get("probe")


def _phases(lines, phases, broken):
    """L2: every phase, in order, one after another."""
    found = [(line["event"], line["phase"]) for line in lines if line["event"] in ("phase_started", "phase_finished")]
    wanted = [(event, phase) for phase in phases for event in ("phase_started", "phase_finished")]
    if found != wanted:
        broken.append(f"phases went {found}, wanted {wanted}")


def _gate(lines, phases, phase_of, broken):
    """L1: nobody of a later phase is asked before everybody of the earlier ones is gone, given up or left."""
    alive, ending = {}, False
    for line in lines:
        member = (line.get("service"), line.get("instance"))
        if line["event"] == "service_started":
            alive[member] = phases.index(phase_of[member[0]])
        elif line["event"] in ("service_gone", "descendants_left") or is_left(line):
            alive.pop(member, None)
        elif line["event"] == "ending_started":
            ending = True
        elif line["event"] in ("service_asked", "service_killed") and ending and member[0] in phase_of:
            mine = phases.index(phase_of[member[0]])
            early = [other for other, phase in alive.items() if phase < mine]
            if early:
                broken.append(f"L1: {line} while {early} of an earlier phase lived")


def _hooks(lines, broken):
    """L3: a hook begins once for (epoch, hook, instance, run)."""
    runs, seen = {}, set()
    for line in lines:
        member = (line.get("service"), line.get("instance"))
        if line["event"] == "service_starting":
            runs[member] = runs.get(member, 0) + 1
        if line["event"] == "hook_started":
            key = (line["epoch"], line["hook"], member, runs.get(member, 0))
            if key in seen:
                broken.append(f"L3: {key} began twice")
            seen.add(key)


def _no_start(lines, broken):
    """L5, L6: nothing starts or is probed to death in an ending, and readiness is not given back."""
    ending = False
    for line in lines:
        ending = ending or line["event"] == "ending_started"
        if ending and line["event"] in ("service_starting", "service_restart_scheduled"):
            broken.append(f"L5: {line} in the ending")
        if ending and (line["event"] in ("probe_changed", "watchdog_expired") or
                       line["event"] == "service_asked" and line["reason"] in ("startup", "liveness", "watchdog")):
            broken.append(f"L5: {line} in the ending")
        if ending and line["event"] == "readiness_changed" and line["ready"]:
            broken.append(f"L6: {line} in the ending")


def _collected(lines, broken):
    """L7: whoever was started has exited, or was given up or left."""
    started = {}
    for line in lines:
        member = (line.get("service"), line.get("instance"))
        if line["event"] == "service_started":
            started[member] = line
        elif line["event"] == "service_exited" or is_left(line):
            started.pop(member, None)
    for line in started.values():
        broken.append(f"L7: nothing says how this ended: {line}")


def _lives(lines, broken):
    """Each run of a member is starting, then started, then ready."""
    states = {}
    for line in lines:
        member = (line.get("service"), line.get("instance"))
        before = {"service_started": "service_starting", "service_ready": "service_started"}.get(line["event"])
        if before and states.get(member) != before:
            broken.append(f"{line} without {before} before it")
        if line["event"] in ("service_starting", "service_started", "service_ready"):
            states[member] = line["event"]


def broken_laws(lines, code, phases=None, phase_of=None, short_cut=False):
    """Sentences; an empty list when all is well. `short_cut`: development mode, where L1 and L2 do not hold."""
    broken = []
    if not lines:
        return ["the journal is empty"]
    _numbered(lines, broken)
    _ended(lines, code, broken)
    _hooks(lines, broken)
    _no_start(lines, broken)
    _collected(lines, broken)
    _lives(lines, broken)
    if phases and not short_cut:
        _phases(lines, phases, broken)
        _gate(lines, phases, phase_of, broken)
    return broken
