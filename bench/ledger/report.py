"""report.py - the figures of all rounds, the tables, and the targets beside them."""
import statistics
from collections import defaultdict

from contenders import CONTENDERS
from parts import BEATS, ENQUEUED, HELD, SWEPT
from recovery import INTERVAL_SEC, LEASE_MSEC

TITLES = {c.key: c.title for c in CONTENDERS}
ENQUEUERS = {"floor": "floor: insert … select unnest", "endwell": "endwell enqueue_many", "graphile": "graphile-worker addJobs",
             "boss": "pg-boss insert"}


class Results:
    """values[measure][contender] = one figure a round."""

    def __init__(self):
        self.values = defaultdict(lambda: defaultdict(list))

    def add(self, measure, contender, value):
        self.values[measure][contender].append(value)

    def median(self, measure, contender):
        values = self.values[measure].get(contender)
        return statistics.median(values) if values else None

    def cell(self, measure, contender, digits=0):
        values = self.values[measure].get(contender)
        if not values:
            return "–"
        low, high = f"{min(values):,.{digits}f}", f"{max(values):,.{digits}f}"
        return f"{statistics.median(values):,.{digits}f}" + (f" ({low}–{high})" if low != high else "")

    def ratios(self, ours, theirs):
        """Of figures of the same round: what else the machine did in that round met both. Each is (measure, contender)."""
        pairs = zip(self.values[ours[0]].get(ours[1], []), self.values[theirs[0]].get(theirs[1], []))
        return [a / b for a, b in pairs]

    def ratio(self, ours, theirs):
        found = self.ratios(ours, theirs)
        return f"{statistics.median(found):.2f}×" if found else "–"


def table(heads, rows):
    return "\n".join("| " + " | ".join(cells) + " |" for cells in [heads, ["---"] * len(heads), *rows])


def throughput_table(results):
    rows = []
    for c in CONTENDERS:
        if results.values["rate"].get(c.key):
            floor, peer = ("floor_100", "graphile_local") if c.many else ("floor_pgbench", "graphile")
            rows.append([c.title, results.cell("rate", c.key), results.ratio(("rate", c.key), ("rate", floor)),
                         results.ratio(("rate", c.key), ("rate", peer)), results.cell("p50", c.key, 2),
                         results.cell("p99", c.key, 2), results.cell("wal", c.key), results.cell("server", c.key),
                         results.cell("client", c.key)])
    return table(["claim and complete", "jobs/s", "of the floor", "of graphile-worker", "claim p50, ms", "claim p99, ms",
                  "WAL a job, bytes", "server's CPU a job, µs", "client's"], rows)


def held_table(results):
    rows = [[TITLES[key], results.cell("free_rate", key), results.cell("held_rate", key),
             results.ratio(("held_rate", key), ("free_rate", key)),
             results.ratio(("held_rate", key), ("held_rate", "graphile_local" if is_many(key) else "graphile")),
             results.cell("free_server", key), results.cell("held_server", key)]
            for key in HELD if results.values["held_rate"].get(key)]
    return table(["one old open transaction", "without, jobs/s", "with, jobs/s", "kept", "of graphile-worker with",
                  "server's CPU a job, µs, without", "with"], rows)


def is_many(key):
    return any(c.many for c in CONTENDERS if c.key == key)


def enqueue_table(results):
    rows = [[title, results.cell("enqueue_rate", key), results.ratio(("enqueue_rate", key), ("enqueue_rate", "floor")),
             results.cell("enqueue_wal", key)] for key, title in ENQUEUERS.items() if results.values["enqueue_rate"].get(key)]
    return table([f"enqueue {ENQUEUED:,} jobs", "rows/s", "of the floor", "WAL a row, bytes"], rows)


def beats_table(results):
    rows = [[key, results.cell("hot", key, 2), results.cell("beat_rate", key), results.cell("beat_wal", key)]
            for key in ("beat", "beat_many") if results.values["hot"].get(key)]
    return table([f"{BEATS:,} beats", "HOT, %", "beats/s", "WAL a beat, bytes"], rows)


def sweep_table(results, rows):
    few, many = (f"{number:,} finished jobs" for number in rows)
    return table(["buffers of a sweep", few, many],
                 [[title, results.cell(f"{key}_few", "endwell"), results.cell(f"{key}_many", "endwell")]
                  for title, key in (("nothing to do", "sweep_idle"), (f"{SWEPT} jobs recovered", "sweep"))])


RECOVERIES = {"told": "a worker is killed, below endwell", "next_start": "endwell too: from its next start on",
              "lease": f"endwell too, and it stays away: a lease of {LEASE_MSEC / 1000:.0f} s, swept every {INTERVAL_SEC} s"}


def recovery_table(results):
    rows = [[title, results.cell("recovered", key, 1), f"{len(results.values['recovered'][key])}"]
            for key, title in RECOVERIES.items() if results.values["recovered"].get(key)]
    return table(["from death to claimable", "ms", "times"], rows)


def best_batch(results):
    ours = [c.key for c in CONTENDERS if c.family == "endwell" and c.many and results.values["rate"].get(c.key)]
    return max(ours, key=lambda key: results.median("rate", key), default="arrays_50")


def middle(values):
    return statistics.median(values) if values else None


def targets(results):
    """(what, figure or None, how it is written, target, whether it is met)"""
    batch = best_batch(results)
    wal = [results.median("wal", key) for key in ("next", "next_50", "next_100") if results.median("wal", key)]
    sweeps = [results.median("sweep_idle_few", "endwell"), results.median("sweep_idle_many", "endwell")]
    moved = sweeps[1] - sweeps[0] if None not in sweeps else None
    return [
        ("claim_next against graphile-worker one by one",
         middle(results.ratios(("rate", "next"), ("rate", "graphile"))), "{:.2f}×", "≥ 1", lambda v: v >= 1),
        (f"{TITLES[batch]} against graphile-worker's local queue",
         middle(results.ratios(("rate", batch), ("rate", "graphile_local"))), "{:.2f}×", "≥ 1", lambda v: v >= 1),
        ("kept under a held xmin, one by one, behind the last",
         middle(results.ratios(("held_rate", "cursor"), ("free_rate", "cursor"))), "{:.0%}", "≥ 80 %", lambda v: v >= 0.8),
        ("kept under a held xmin, 50 at a time, behind the last",
         middle(results.ratios(("held_rate", "arrays_cursor"), ("free_rate", "arrays_cursor"))), "{:.0%}", "≥ 80 %",
         lambda v: v >= 0.8),
        ("WAL a job, bytes, the worst of claim_next one by one, 50 and 100", max(wal, default=None), "{:,.0f}", "≤ 900",
         lambda v: v <= 900),
        ("beats that were HOT, %, the worse of beat and beat_many",
         min((results.median("hot", key) for key in ("beat", "beat_many") if results.median("hot", key)), default=None),
         "{:.2f}", "> 95", lambda v: v > 95),
        ("enqueue_many, rows/s", results.median("enqueue_rate", "endwell"), "{:,.0f}", "≥ 80,000", lambda v: v >= 80000),
        ("buffers that an idle sweep touches more beside many finished jobs", moved, "{:,.0f}", "0", lambda v: v == 0),
    ]


def target_table(results):
    rows = [[what, form.format(figure), target, "met" if met(figure) else "MISSED"]
            for what, figure, form, target, met in targets(results) if figure is not None]
    return table(["target", "measured", "wanted", "verdict"], rows)


def tables(results, sweep_rows):
    made = [("rate", throughput_table), ("held_rate", held_table), ("enqueue_rate", enqueue_table), ("hot", beats_table),
            ("sweep_few", lambda r: sweep_table(r, sweep_rows)), ("recovered", recovery_table)]
    return [target_table(results)] + [make(results) for measure, make in made if results.values[measure]]
