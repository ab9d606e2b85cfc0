"""parts.py - what is measured in a round. Each part is a generator of (measure, contender, figure)."""
import contextlib
import time

from contenders import CONTENDERS, run_program
from recovery import recovery
from rounds import own_cpu_seconds, turned

MANY_FACTOR = 10  # so many times as many jobs where many are taken at a time
HELD = ("single", "cursor", "graphile", "boss", "arrays_50", "arrays_cursor", "graphile_local", "boss_100")
ENQUEUED, ENQUEUED_AT_ONCE = 200000, 1000
BEATS = 20000
SWEPT, SWEEP_BATCH = 100, 500
USUAL_ROWS, FULL_ROWS = (10_000, 200_000), (10_000, 10_000_000)


class Stage:
    def __init__(self, tools, templates, options):
        self.tools, self.templates, self.options = tools, templates, options
        self.notes = []

    def note(self, text):
        if text not in self.notes:
            self.notes.append(text)

    def chosen(self, keys=None):
        wanted = self.options.contenders.split(",") if self.options.contenders else None
        return [c for c in CONTENDERS if (not keys or c.key in keys) and (not wanted or c.key in wanted)
                and (self.tools.peers or c.family in ("floor", "endwell"))]


def drain(stage, contender, held=False):
    """What a run of this contender brought, by measure; rate is jobs a second, the others are a job's."""
    cluster, jobs = stage.tools.cluster, stage.options.jobs * (MANY_FACTOR if contender.many else 1)
    with cluster.copy(stage.templates.of(contender.family, jobs)) as database:
        with cluster.held_xmin(database) if held else contextlib.nullcontext():
            wal, server, client = cluster.wal_position(), cluster.cpu_seconds(), own_cpu_seconds()
            figures = contender.run(stage.tools, database, jobs)
            wal, client = cluster.wal_position() - wal, own_cpu_seconds() - client
            server = cluster.cpu_seconds() - server
    done = max(figures["jobs"], 1)
    if figures["jobs"] != jobs:
        stage.note(f"{contender.title}{' under a held xmin' if held else ''}: {figures['jobs']} of {jobs} jobs were done "
                   "when its time was over")
    brought = {"rate": done / figures["seconds"], "wal": wal / done, "server": server / done * 1e6,
               "client": client / done * 1e6}
    return {**brought, **{key: figures[f"{key}_usec"] / 1000 for key in ("p50", "p99") if figures.get(f"{key}_usec")}}


def throughput(stage, number):
    for contender in turned(number, stage.chosen()):
        for measure, figure in drain(stage, contender).items():
            yield measure, contender.key, figure


def held(stage, number):
    """With and without one old open transaction, one after the other, over equally many jobs."""
    for contender in turned(number, stage.chosen(HELD)):
        for word in ("free", "held"):
            for measure, figure in drain(stage, contender, word == "held").items():
                yield f"{word}_{measure}", contender.key, figure


def enqueue(stage, number):
    rows = ["load", "MODE", str(ENQUEUED), "4", str(ENQUEUED_AT_ONCE), "60"]
    commands = {"floor": [word.replace("MODE", "floor-enqueue") for word in rows],
                "endwell": [word.replace("MODE", "enqueue_many") for word in rows]}
    if stage.tools.peers:
        commands["graphile"] = ["graphile.mjs", "enqueue", str(ENQUEUED), "500"]
        commands["boss"] = ["boss.mjs", "enqueue", str(ENQUEUED), str(ENQUEUED_AT_ONCE)]
    for family in turned(number, list(commands)):
        with stage.tools.cluster.copy(stage.templates.of(family, 0)) as database:
            before = stage.tools.cluster.wal_position()
            figures = run_program(stage.tools, database, commands[family])
            yield "enqueue_rate", family, figures["jobs"] / figures["seconds"]
            yield "enqueue_wal", family, (stage.tools.cluster.wal_position() - before) / figures["jobs"]


def updates(cursor):
    cursor.execute("select n_tup_upd, n_tup_hot_upd from pg_stat_user_tables where relid = 'endwell.job'::regclass")
    return cursor.fetchone()


def updates_at_rest(cursor):
    """The counts once the backends that ended have reported theirs: when they no longer move."""
    last = None
    while (now := updates(cursor)) != last:
        last = now
        time.sleep(1)
    return last


def beats(stage, _number):
    for mode in ("beat", "beat_many"):
        with stage.tools.cluster.copy(stage.templates.of("endwell", 1000)) as database, \
                stage.tools.cluster.cursor(database) as cursor:
            all_before, hot_before = updates_at_rest(cursor)
            wal_before = stage.tools.cluster.wal_position()
            figures = run_program(stage.tools, database, ["load", mode, str(BEATS), "4", "50", "60"])
            wal = stage.tools.cluster.wal_position() - wal_before
            all_after, hot_after = updates_at_rest(cursor)
            claims = 4 * 50  # each is an update that cannot be HOT
            yield "hot", mode, 100 * (hot_after - hot_before) / (all_after - all_before - claims)
            yield "beat_rate", mode, figures["jobs"] / figures["seconds"]
            yield "beat_wal", mode, wal / figures["jobs"]


FINISHED = """insert into endwell.job(queue, state, run_at, created_at, finished_at, attempts)
 select 'default', 'done', at, at, at, 1
   from (select clock_timestamp() - interval '1 hour' + i * interval '1 us' as at from generate_series({first}, {last}) i) x"""
EXPIRED = """update endwell.job set beat_at = clock_timestamp() - interval '1 day', deadline_at = null,
 claimed_at = clock_timestamp() - interval '1 day' where state = 'running'"""


def sweep_buffers(cursor, batch=SWEEP_BATCH):
    cursor.execute(f"explain (analyze, buffers, format json) select * from endwell.reap({batch})")
    plan = cursor.fetchone()[0][0]["Plan"]
    return plan["Shared Hit Blocks"] + plan["Shared Read Blocks"], plan["Actual Rows"]


def make_expired(cursor):
    """SWEPT jobs whose holder has been silent for a day. The pulse is fresh and nothing was quiet, so that they are judged."""
    cursor.execute("update endwell.pulse set quiet_from = '2000-01-01'")
    cursor.execute("select endwell.worker_up('bench')")
    worker = cursor.fetchone()[0]
    cursor.execute("select count(*) from endwell.claim('default', %s, %s)", (worker, SWEPT))
    cursor.execute(EXPIRED)


def sweep(stage, _number):
    """Buffers that a sweep touches: of nothing to do, and of SWEPT jobs to recover, beside few and many finished jobs."""
    with stage.tools.cluster.copy(stage.templates.of("endwell", 1000)) as database, \
            stage.tools.cluster.cursor(database) as cursor:
        there = 0
        for measure, rows in zip(("few", "many"), FULL_ROWS if stage.options.full else USUAL_ROWS):
            cursor.execute(FINISHED.format(first=there + 1, last=rows))
            there = rows
            cursor.execute("vacuum analyze endwell.job")
            for _ in range(3):  # the session's caches are warm, and the pulse is fresh
                idle, _ = sweep_buffers(cursor)
            yield f"sweep_idle_{measure}", "endwell", idle
            make_expired(cursor)
            buffers, recovered = sweep_buffers(cursor)
            if recovered != SWEPT:
                raise RuntimeError(f"a sweep recovered {recovered} of {SWEPT} expired jobs")
            yield f"sweep_{measure}", "endwell", buffers


PARTS = {"throughput": throughput, "held": held, "enqueue": enqueue, "beats": beats, "sweep": sweep, "recovery": recovery}
