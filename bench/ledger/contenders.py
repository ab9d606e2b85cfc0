"""contenders.py - who drains jobs beside whom: how each is installed, filled and set to work."""
import json
import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass, field

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
CAP_SEC = 30  # who has not drained its jobs by then is judged by what it has done
FLOOR_SCHEMA = """
create schema floor;
create table floor.job(id bigint generated always as identity primary key, state int not null default 0, payload json);
create index on floor.job(id) where state = 0"""
PGBENCH_SCRIPT = """update floor.job set state = 1 where id = (select id from floor.job where state = 0 order by id limit 1
 for update skip locked) returning id \\gset
update floor.job set state = 2 where id = :id;
"""


@dataclass
class Tools:
    """Where what we compiled and installed is."""
    cluster: object
    programs: str
    peers: str  # None: node's packages are not here


@dataclass
class Contender:
    key: str
    title: str
    family: str        # whose tables
    many: bool         # takes many jobs with one statement
    command: list = field(default_factory=list)  # JOBS and CAP are replaced

    def run(self, tools, database, jobs):
        """{jobs, seconds, p50_usec, p99_usec} of draining these jobs."""
        words = [{"JOBS": str(jobs), "CAP": str(CAP_SEC)}.get(word, word) for word in self.command]
        return run_program(tools, database, words)


def run_program(tools, database, words):
    if words[0] == "pgbench":
        return run_pgbench(tools, database, *(int(word) for word in words[1:]))
    ours = words[0] == "load"
    program = [os.path.join(tools.programs, "load")] if ours else ["node", os.path.join(tools.peers, words[0])]
    done = subprocess.run(program + words[1:], env=tools.cluster.environment(database), text=True, capture_output=True)
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(words)}: {(done.stderr or done.stdout).strip()[-600:]}")
    return json.loads(done.stdout.splitlines()[-1])


def run_pgbench(tools, database, jobs, clients):
    script = os.path.join(tools.programs, "floor.pgbench")
    with open(script, "w") as file:
        file.write(PGBENCH_SCRIPT)
    done = subprocess.run(["pgbench", "-n", "-M", "prepared", "-c", str(clients), "-j", str(min(clients, 2)),
                           "-t", str(jobs // clients), "-f", script], env=tools.cluster.environment(database), text=True,
                          capture_output=True, check=True)
    rate = float(re.search(r"tps = ([0-9.]+)", done.stdout).group(1))
    return {"jobs": jobs, "seconds": jobs / rate}


def load(mode, connections, size, *options):
    return ["load", *options, mode, "JOBS", str(connections), str(size), "CAP"]


CONTENDERS = [
    Contender("floor_pgbench_1", "floor: pgbench, 1 client", "floor", False, ["pgbench", "JOBS", "1"]),
    Contender("floor_pgbench", "floor: pgbench, 10 clients", "floor", False, ["pgbench", "JOBS", "10"]),
    Contender("floor", "floor: the same in C, unprepared", "floor", False, load("floor", 10, 1)),
    Contender("floor_prepared", "floor: the same in C, prepared", "floor", False, load("floor", 10, 1, "-p")),
    Contender("single", "endwell claim, complete", "endwell", False, load("single", 10, 1)),
    Contender("cursor", "endwell claim behind the last, complete", "endwell", False, load("single-cursor", 10, 1)),
    Contender("next", "endwell claim_next", "endwell", False, load("next", 10, 1)),
    Contender("next_prepared", "endwell claim_next, prepared", "endwell", False, load("next", 10, 1, "-p")),
    Contender("next_shared", "endwell claim_next, all one worker", "endwell", False, load("next", 10, 1, "-w")),
    Contender("graphile", "graphile-worker one by one", "graphile", False, ["graphile.mjs", "one", "JOBS", "10", "CAP"]),
    Contender("boss", "pg-boss one by one", "boss", False, ["boss.mjs", "drain", "JOBS", "10", "1", "CAP"]),
    Contender("floor_100", "floor: 100 at a time, 4 connections", "floor", True, load("floor-arrays", 4, 100)),
    Contender("arrays_50", "endwell claim, complete_many: 50 on 4", "endwell", True, load("arrays", 4, 50)),
    Contender("arrays_100", "endwell claim, complete_many: 100 on 4", "endwell", True, load("arrays", 4, 100)),
    Contender("arrays_cursor", "endwell behind the last: 50 on 4", "endwell", True, load("arrays-cursor", 4, 50)),
    Contender("next_50", "endwell claim_next: 50 on 4", "endwell", True, load("next", 4, 50)),
    Contender("next_100", "endwell claim_next: 100 on 4", "endwell", True, load("next", 4, 100)),
    Contender("graphile_local", "graphile-worker, local queue of 500", "graphile", True,
              ["graphile.mjs", "local", "JOBS", "24", "CAP"]),
    Contender("boss_100", "pg-boss 100 at a time, 4 loops", "boss", True, ["boss.mjs", "drain", "JOBS", "4", "100", "CAP"]),
]

FILL = {
    "floor": "insert into floor.job(payload) select '{{\"n\": 1}}' from generate_series(1, {jobs})",
    "endwell": "select endwell.enqueue_many('default', '', array_agg('{{\"n\": 1}}'::json)) from generate_series(1, {jobs})",
}
TABLES = {"floor": "floor.job", "endwell": "endwell.job"}


def install_peers(cache):
    """The folder of the peers' programs, with the packages that package-lock.json names beside them; None without npm."""
    source = os.path.join(HERE, "peers")
    os.makedirs(cache, exist_ok=True)
    installed = os.path.join(cache, "installed-lock.json")
    for name in os.listdir(source):
        shutil.copy(os.path.join(source, name), cache)
    with open(os.path.join(source, "package-lock.json")) as lock:
        wanted = lock.read()
    if os.path.exists(installed) and open(installed).read() == wanted:
        return cache
    try:
        subprocess.run(["npm", "ci", "--no-audit", "--no-fund"], cwd=cache, check=True, stdout=sys.stderr)
    except (OSError, subprocess.CalledProcessError) as trouble:
        print(f"the peers could not be installed, they are left out: {trouble}", file=sys.stderr)
        return None
    shutil.copy(os.path.join(source, "package-lock.json"), installed)
    return cache


def install_endwell(cursor):
    """As `endwell ledger migrate` does: every file of ledger/order.txt, in order, with the schema's name put in."""
    ledger = os.path.join(ROOT, "ledger")
    with open(os.path.join(ledger, "order.txt")) as order:
        names = [line.split("#")[0].strip() for line in order]
    for name in filter(None, names):
        with open(os.path.join(ledger, name)) as file:
            cursor.execute(file.read().replace("@schema@", "endwell"))


def install(tools, family, database):
    tools.cluster.create(database)
    with tools.cluster.cursor(database) as cursor:
        if family == "floor":
            cursor.execute(FLOOR_SCHEMA)
        elif family == "endwell":
            install_endwell(cursor)
        else:
            node(tools, database, family, "install")


def node(tools, database, family, *words):
    script = os.path.join(tools.peers, f"{family}.mjs")
    return subprocess.run(["node", script, *map(str, words)], env=tools.cluster.environment(database), check=True, text=True,
                          stdout=subprocess.PIPE).stdout


def fill(tools, family, database, jobs):
    with tools.cluster.cursor(database) as cursor:
        if family in FILL:
            cursor.execute(FILL[family].format(jobs=jobs))
        else:
            node(tools, database, family, "enqueue", jobs, 500)
        cursor.execute("vacuum analyze")


class Templates:
    """A filled database of each family and number of jobs, made when it is first asked for."""

    def __init__(self, tools):
        self.tools, self.made = tools, set()

    def of(self, family, jobs):
        name = f"{family}_{jobs}"
        if name not in self.made:
            install(self.tools, family, name)
            if jobs:
                fill(self.tools, family, name, jobs)
            self.made.add(name)
        return name
