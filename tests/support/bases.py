"""A database with a ledger in it for each test of what runs over one: a copy in a cluster that they share, or a cluster of
its own for those who stop it."""
import itertools
import os
import signal
import threading

from endwell import descendants
from ledger import Session, install
from postgres import Cluster

NUMBERS = itertools.count(1)
SHARED, GUARD = [], threading.Lock()
WORKER = os.path.join(os.path.dirname(os.path.dirname(os.path.realpath(__file__))), "process/programs/ledger_worker.py")


def furnish(cluster, database):
    session = Session(cluster.dsn(database))
    install(session, cluster, database)
    session.close()


def shared():
    """The cluster dies with the thread that made it: this one waits until all tests are over."""
    def make():
        try:
            cluster = Cluster()
            admin = Session(cluster.dsn("postgres"))
            admin.rows("create database pattern")
            admin.close()
            furnish(cluster, "pattern")
            SHARED.append(cluster)
        finally:
            made.set()
        threading.main_thread().join()
        cluster.clean()
    with GUARD:
        if not SHARED:
            made = threading.Event()
            threading.Thread(target=make).start()
            made.wait()
        return SHARED[0]


class Frozen:
    """A server of which every process is stopped: connections stay open, and nobody answers."""

    def __init__(self, cluster):
        self.cluster, self.pids = cluster, []

    def __enter__(self):
        """The postmaster first, so that no more are made."""
        postmaster = self.cluster.process.pid
        os.kill(postmaster, signal.SIGSTOP)
        self.pids = [postmaster, *descendants(postmaster)]
        for pid in self.pids:
            os.kill(pid, signal.SIGSTOP)

    def __exit__(self, *_):
        for pid in self.pids:
            os.kill(pid, signal.SIGCONT)


class Base:
    """`admin` is a session that looks and arranges."""

    def __init__(self, case, cluster=None, name="postgres"):
        self.case, self.cluster, self.name = case, cluster, name
        self.url = cluster.dsn(name)
        self.admin = Session(cluster.dsn(name))
        case.cleaners.append(self.admin.close)
        case.environment["WORKER_DATABASE"] = self.url

    def again(self):
        """After the server was away."""
        self.admin.close()
        self.admin = Session(self.cluster.dsn(self.name))
        self.case.cleaners.append(self.admin.close)

    def queue(self, name="q", **policy):
        policy = {"backoff_ms": 0, "max_attempts": 1000, "max_deaths": 1000, **policy}
        keys = ", ".join(policy)
        self.admin.rows(f"insert into @schema@.queue(name, {keys}) values (%s, {', '.join(['%s'] * len(policy))})", name,
                        *policy.values())
        return name

    def job(self, queue="q"):
        return self.admin.enqueue(queue)[0].id

    def row(self, job):
        return self.admin.one("select * from @schema@.job where id = %s", job)

    def attempts(self, job):
        return self.admin.rows("select * from @schema@.attempt where job_id = %s order by gen", job)


def base(case):
    cluster, name = shared(), f"case_{next(NUMBERS)}"
    admin = Session(cluster.dsn("postgres"))
    admin.rows(f"create database {name} template pattern")

    def drop():
        admin.rows(f"drop database if exists {name} with (force)")
        admin.close()
    case.cleaners.append(drop)
    return Base(case, cluster, name)


def own_base(case, ledger=True, **settings):
    cluster = Cluster(**settings)
    case.cleaners.append(cluster.clean)
    if ledger:
        furnish(cluster, "postgres")
    return Base(case, cluster)
