"""One test of the ledger: a fresh database of its own, sessions in it by the way of this run, and the time of its rows.

The way is either directly to the server, or through pgbouncer in transaction mode; `admin` always goes directly: it makes
what the contract leaves to others (policies, foreign SQL, clocks), and looks at the rows."""
import concurrent.futures
import itertools
import threading

from case import Case
from journal import check, equal, wait_until
from ledger import Later, Session, TIMED, identifier, install, token
from postgres import Cluster, Pooler

WAYS = ("direct", "pgbouncer")
# Through pgbouncer under a name that has to be quoted, so that both are shown by the one suite.
SCHEMAS = {"direct": "endwell", "pgbouncer": 'Job "ledger"'}


class Yard:
    """The cluster of a run of the suite, its pooler, and the database that every test's is copied from."""

    def __init__(self, way, **settings):
        self.way, self.schema, self.numbers = way, SCHEMAS[way], itertools.count(1)
        self.cluster, self.pooler = Cluster(**settings), None
        try:
            self.pooler = Pooler(self.cluster)
            self.admin("postgres", lambda one: (one.rows("create role singly superuser login"),
                                                one.rows("create role stranger login"),
                                                one.rows("create database pattern")))
            self.admin("pattern", self.furnish)
        except BaseException:
            self.clean()
            raise

    def admin(self, database, work):
        session = Session(self.cluster.dsn(database), self.schema)
        try:
            return work(session)
        finally:
            session.close()

    def furnish(self, session):
        install(session, self.cluster, "pattern")
        settle(session)

    def server(self):
        return self.cluster if self.way == "direct" else self.pooler

    def database(self):
        name = f"case_{next(self.numbers)}"
        self.admin("postgres", lambda one: one.rows(f"create database {name} template pattern"))
        return name

    def drop(self, name):
        if self.cluster.process is None:  # a case has stopped it for good
            return
        self.admin("postgres", lambda one: one.rows(f"drop database if exists {name} with (force)"))

    def clean(self):
        for one in (self.pooler, self.cluster):
            if one:
                one.clean()


def settle(session):
    """A reaper has been here all the time: it knows this server, and has nothing to be lenient about."""
    session.rows("select * from @schema@.reap()")
    session.rows("update @schema@.pulse set tick_at = clock_timestamp(), quiet_from = '2000-01-01'")


class DatabaseCase(Case):
    def __init__(self, yard, name, repeat, seed):
        super().__init__(name, repeat)
        self.yard, self.seed, self.sessions = yard, seed, []
        self.columns_of_time = None
        self.schema, self.quoted = yard.schema, identifier(yard.schema)
        self.database = yard.database()
        self.pool = concurrent.futures.ThreadPoolExecutor(64)
        self.cleaners.append(lambda: yard.drop(self.database))
        self.admin = self.direct()
        self.admin.rows("update @schema@.pulse set tick_at = clock_timestamp()")
        self.ledger = self.session()

    def direct(self, user="postgres"):
        return self.keep(Session(self.yard.cluster.dsn(self.database, user), self.schema))

    def session(self, user="postgres"):
        return self.keep(Session(self.yard.server().dsn(self.database, user), self.schema))

    def keep(self, session):
        self.sessions.append(session)
        return session

    # What a test needs to be there

    def queue(self, name="q", **policy):
        self.admin.rows("insert into @schema@.queue(name) values (%s)", name)
        for key, value in policy.items():
            self.admin.rows(f"update @schema@.queue set {key} = %s where name = %s", value, name)
        return name

    def job(self, queue="q", **arguments):
        return self.ledger.enqueue(queue, **arguments)[0].id

    def worker(self, **arguments):
        return self.ledger.worker_up(**arguments)

    def take(self, worker=None, queue="q"):
        """The one job that is due, claimed."""
        found = self.ledger.claim(queue, worker or self.worker())
        equal(len(found), 1, "claimed jobs")
        return token(found[0])

    def running(self, queue="q", **arguments):
        """A new job in a new queue, claimed by a worker of its own."""
        if not self.admin.rows("select 1 from @schema@.queue where name = %s", queue):
            self.queue(queue)
        self.job(queue, **arguments)
        return self.take(queue=queue)

    def later(self, work, session=None):
        return Later(self.pool, session or self.session(), work)

    def together(self, works):
        """All of them at once, each on a session of its own; their answers in order."""
        sessions, start = [self.session() for _ in works], threading.Barrier(len(works))

        def at_once(work, one):
            start.wait()
            return work(one)

        later = [self.later(lambda one, work=work: at_once(work, one), session) for work, session in zip(works, sessions)]
        return [one.result() for one in later]

    # What is there

    def row(self, job):
        return self.admin.one("select j.*, xmin::text as xmin from @schema@.job j where id = %s", job)

    def attempts(self, job):
        return self.admin.rows("select * from @schema@.attempt where job_id = %s order by gen", job)

    def item(self, job, key):
        return self.admin.one("select * from @schema@.item where job_id = %s and key = %s", job, key)

    def state_of(self, job):
        return self.ledger.look(job)[0].status

    def count(self, what):
        return self.admin.value(f"select count(*) from @schema@.{what}")

    # Time

    def pass_time(self, seconds, reaper=True, session=None):
        """Everything that was written has been written so much earlier. `reaper`: it went on ticking meanwhile."""
        moves = [f"update @schema@.{table} set {column} = {column} - {seconds} * interval '1 second'"
                 f" where {column} is distinct from pg_postmaster_start_time()" for table, column in self.timed(reaper)]
        # The items' trigger would stamp their jobs.
        (session or self.admin).rows("; ".join(["begin", "set local session_replication_role = replica", *moves, "commit"]))

    def timed(self, reaper):
        if self.columns_of_time is None:
            self.columns_of_time = self.find_timed()
        return [one for one in self.columns_of_time if not (reaper and one == ("pulse", "tick_at"))]

    def find_timed(self):
        found = self.admin.rows("""select table_name, column_name from information_schema.columns where table_schema = %s
            and data_type = 'timestamp with time zone' and is_generated = 'NEVER' and table_name = any(%s)
            order by table_name, column_name""", self.schema, list(TIMED))
        check(("job", "beat_at") in found and ("item", "updated_at") in found, f"columns of time: {found}")
        return [tuple(one) for one in found]

    def expire(self, job):
        """The holder has been silent for longer than its lease, with its items; nothing else is touched."""
        with self.admin.transaction():
            self.admin.rows("set local session_replication_role = replica")
            self.admin.rows("update @schema@.item set updated_at = updated_at - interval '1 day' where job_id = %s", job)
            self.admin.rows("""update @schema@.job set beat_at = clock_timestamp() - (lease_ms + 1000) * interval '1 ms'
                where id = %s and state = 'running'""", job)

    def crash(self, job):
        """Its worker is killed, nobody reports anything, and the backoff is over: what the sweep said of it."""
        self.expire(job)
        found = self.ledger.reap()
        self.admin.rows("update @schema@.job set run_at = clock_timestamp() where id = %s and state = 'ready'", job)
        return found[0].verdict

    def due(self, job):
        """The backoff is over."""
        self.admin.rows("update @schema@.job set run_at = clock_timestamp() - interval '1 ms' where id = %s", job)

    def await_lock(self, later):
        """Until that call waits for somebody's lock."""
        wait_until(lambda: later.done() or self.waiting(), "a wait for a lock")
        check(not later.done(), "the call did not wait for the lock")

    def waiting(self):
        return self.admin.value("""select count(*) from pg_stat_activity
            where datname = current_database() and wait_event_type = 'Lock' and pid <> pg_backend_pid()""")

    def explain(self):
        """The jobs, the newest first, without what nobody has set."""
        rows = self.direct().rows("""select id, queue, state, gen, attempts, deaths, releases, fatal, solo, cancel, run_at, beat_at,
            worker_id, error_class, left(last_error, 60) as last_error from @schema@.job order by id desc limit 12""")
        return "\n".join(" ".join(f"{key}={value}" for key, value in row._asdict().items() if value not in (None, 0, False))
                         for row in rows)

    def clean(self):
        self.pool.shutdown()
        for session in self.sessions:
            session.close()
        super().clean()
