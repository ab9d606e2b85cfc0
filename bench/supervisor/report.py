"""report.py - the measures, their targets, and the two tables: the verdicts, then every figure."""
import statistics
from dataclasses import dataclass

FLOORS = ("floor", "floor fork", "floor sd-event", "floor checks")


@dataclass
class Measure:
    key: str
    scenario: str
    title: str
    unit: str
    kind: str = "shown"   # limit, tini, floor, all, shown: how the target is read
    target: float = 0
    digits: int = 1

    def target_text(self, bound):
        text = {"limit": f"≤ {self.target:g} {self.unit}".strip(), "all": "all", "shown": "–"}.get(self.kind)
        return text or f"≤ {self.target:g}× {self.kind} = {number(bound, self.digits)}"


MEASURES = [
    Measure("memory_one", "one_child", "dirty memory, 1 child", "KiB", "limit", 300, 0),
    Measure("memory_many", "thousand", "dirty memory, 1000 services", "MiB", "limit", 1, 2),
    Measure("orphan_alone", "orphans_alone", "CPU an orphan, alone", "µs", "limit", 12),
    Measure("orphan_beside", "thousand", "CPU an orphan beside 1000 services", "µs", "limit", 12),
    Measure("orphans_collected", "orphans_alone", "orphans collected", "", "all", 0, 0),
    Measure("orphans_collected_beside", "thousand", "orphans collected beside 1000 services", "", "all", 0, 0),
    Measure("ask", "one_child", "SIGTERM to the child's handler", "µs", "tini", 1.5, 0),
    Measure("exit", "one_child", "last child's exit to our exit", "µs", "tini", 1.5, 0),
    Measure("start_many", "thousand", "start 1000 services", "ms", "floor", 1.5, 0),
    Measure("stop_many", "thousand", "stop 1000 services, parallel", "ms", "floor", 1.5, 1),
    Measure("stop_chain", "chain", "stop a chain of 100", "ms", "floor", 2, 1),
    Measure("chain_violations", "chain", "order violated in that chain", "", "limit", 0, 0),
    Measure("restart", "restart", "restart after kill -9", "ms", "floor", 1.5, 2),
    Measure("refused", "serving", "connections refused in a restart, of one a ms", "", "limit", 0, 1),
    Measure("unanswered", "serving", "kill -9 to the next answer", "ms", "shown", 0, 2),
    Measure("check_http", "checks_http", "PID 1's CPU a check by HTTP, 1000 services", "µs"),
    Measure("check_http_all", "checks_http", "the same, with the prober's", "µs"),
    Measure("check_http_second", "checks_http", "PID 1's CPU a second, 1000 checks by HTTP", "ms"),
    Measure("check_exec", "checks_exec", "PID 1's CPU a check by a command, 1000 services", "µs"),
    Measure("check_exec_second", "checks_exec", "PID 1's CPU a second, 100 checks by a command", "ms"),
    Measure("idle", "idle", "idle wake-ups, 100 services", "/s", "limit", 0, 2),
    Measure("deaf", "deaf_window", "deaf: exec until SIGTERM is blocked", "µs", "limit", 1600, 0),
    Measure("descriptors_one", "one_child", "descriptors of PID 1, 1 child", "", "shown", 0, 0),
    Measure("descriptors_many", "thousand", "descriptors of all, 1000 services", "", "shown", 0, 0),
]


class Results:
    """values[measure][contender] = one figure a round."""

    def __init__(self, names, orphans):
        self.names, self.orphans = names, orphans
        self.values = {m.key: {} for m in MEASURES}

    def add(self, contender, figures):
        for key, value in figures.items():
            if value is not None:
                self.values[key].setdefault(contender, []).append(value)

    def median(self, key, name):
        values = self.values[key].get(name)
        return statistics.median(values) if values else None

    def least(self, key, name):
        return min(self.values[key].get(name) or [None])

    def best(self, measure, names):
        """The best of these: the most for a count of orphans, else the least."""
        found = [(self.median(measure.key, n), n) for n in names if self.median(measure.key, n) is not None]
        return (max(found) if measure.kind == "all" else min(found)) if found else (None, None)

    def peers(self):
        return [n for n in self.names if not n.startswith("endwell") and n not in FLOORS]


def number(value, digits):
    return "–" if value is None else f"{value:,.{digits}f}"


def ratio(results, measure, other):
    """Of the medians; in brackets of the least figures, which other work on the machine disturbs least."""
    pairs = [(find(measure.key, "endwell"), find(measure.key, other)) for find in (results.median, results.least)]
    if any(ours is None or not theirs for ours, theirs in pairs):
        return "–"
    (ours, theirs), (ours_least, theirs_least) = pairs
    return f"{ours / theirs:.2f}× ({ours_least / theirs_least:.2f}×)"


def bound_of(results, measure):
    """The figure that ours is held against; None when there is none to compute it from."""
    floor, _ = results.best(measure, FLOORS)
    tini = results.median(measure.key, "tini")
    return {"limit": measure.target, "all": results.orphans, "tini": tini and tini * measure.target,
            "floor": floor and floor * measure.target}.get(measure.kind)


def verdict(results, measure):
    value, bound = results.median(measure.key, "endwell"), bound_of(results, measure)
    if value is None or bound is None:
        return "–"
    met = value >= bound if measure.kind == "all" else value <= bound
    return "met" if met else "**missed**"


def verdict_table(results):
    lines = ["| measure | unit | endwell | best peer | ratio | best floor | ratio | target | verdict |",
             "|---|---|---|---|---|---|---|---|---|"]
    for m in MEASURES:
        ours = results.median(m.key, "endwell")
        peer, peer_name = results.best(m, results.peers())
        floor, floor_name = results.best(m, FLOORS)
        if ours is None and peer is None and floor is None:
            continue
        lines.append(f"| {m.title} | {m.unit} | {number(ours, m.digits)} "
                     f"| {number(peer, m.digits)} {peer_name or ''} | {ratio(results, m, peer_name)} "
                     f"| {number(floor, m.digits)} {floor_name or ''} | {ratio(results, m, floor_name)} "
                     f"| {m.target_text(bound_of(results, m))} | {verdict(results, m)} |")
    return "\n".join(lines)


def cell(results, measure, name, rounds):
    values = results.values[measure.key].get(name)
    if not values:
        return "–"
    middle = number(statistics.median(values), measure.digits)
    low, high = number(min(values), measure.digits), number(max(values), measure.digits)
    spread = f" ({low}–{high})" if low != high else ""
    return middle + spread + (f" n={len(values)}" if len(values) != rounds else "")


def figure_table(results, rounds):
    lines = ["| measure | " + " | ".join(results.names) + " |", "|---" * (len(results.names) + 1) + "|"]
    for m in MEASURES:
        if results.values[m.key]:
            cells = " | ".join(cell(results, m, name, rounds) for name in results.names)
            lines.append(f"| {m.title}{', ' + m.unit if m.unit else ''} | {cells} |")
    return "\n".join(lines)
