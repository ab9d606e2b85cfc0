"""cluster.py - a PostgreSQL of our own: made in a temporary directory, on a Unix socket, ended by its pid."""
import contextlib
import os
import pwd
import shutil
import signal
import subprocess
import tempfile
import time

import psycopg2

BINARIES = os.environ.get("PGBINDIR", "/usr/lib/postgresql/15/bin")
PORT = "5432"  # only the name of the socket: nothing listens on the network
# A commit is on the disk before it is answered. No checkpoint falls into a measurement, so that no full page image does either.
SETTINGS = {"fsync": "on", "synchronous_commit": "on", "shared_buffers": "512MB", "max_wal_size": "16GB",
            "checkpoint_timeout": "1h", "max_connections": "60", "listen_addresses": ""}


class Cluster:
    """Use as a context: leaving it ends the server and removes its files."""

    def __enter__(self):
        self.folder = tempfile.mkdtemp(prefix="endwell-bench-", dir="/var/tmp")
        self.data = os.path.join(self.folder, "data")
        shutil.chown(self.folder, "postgres", "postgres")
        self.log = open(os.path.join(self.folder, "log"), "w")
        self._as_postgres("initdb", "-D", self.data, "-A", "trust", "-U", "postgres", "-E", "UTF8", "--locale=C.UTF-8")
        settings = [word for name, value in {**SETTINGS, "unix_socket_directories": self.folder, "port": PORT}.items()
                    for word in ("-c", f"{name}={value}")]
        self.server = self._start("postgres", "-D", self.data, *settings)
        self._wait_until_it_answers()
        return self

    def __exit__(self, *_):
        self.server.send_signal(signal.SIGQUIT)  # nothing in it is worth a checkpoint
        self.server.wait()
        self.log.close()
        shutil.rmtree(self.folder)

    def _command(self, program, *words):
        return [os.path.join(BINARIES, program), *words]

    def _account(self):
        """PostgreSQL refuses to run as root."""
        account = pwd.getpwnam("postgres")
        return {"user": account.pw_uid, "group": account.pw_gid, "extra_groups": []} if os.geteuid() == 0 else {}

    def _as_postgres(self, program, *words):
        subprocess.run(self._command(program, *words), check=True, stdout=self.log, stderr=self.log, cwd="/",
                       **self._account())

    def _start(self, program, *words):
        return subprocess.Popen(self._command(program, *words), stdout=self.log, stderr=self.log, cwd="/",
                                **self._account())

    def _wait_until_it_answers(self):
        deadline = time.monotonic() + 60
        while True:
            try:
                return self.connect("postgres").close()
            except psycopg2.OperationalError:
                if self.server.poll() is not None or time.monotonic() > deadline:
                    with open(self.log.name) as log:
                        raise SystemExit("PostgreSQL did not start: " + log.read()[-2000:]) from None
                time.sleep(0.02)

    def connect(self, database):
        connection = psycopg2.connect(host=self.folder, port=PORT, user="postgres", dbname=database,
                                      application_name="bench")
        connection.autocommit = True
        return connection

    @contextlib.contextmanager
    def cursor(self, database):
        connection = self.connect(database)
        try:
            yield connection.cursor()
        finally:
            connection.close()

    def environment(self, database):
        """For a program that finds the database by libpq's variables. graphile-worker need not log each job."""
        return {**os.environ, "PGHOST": self.folder, "PGPORT": PORT, "PGUSER": "postgres", "PGDATABASE": database,
                "PGOPTIONS": "", "NO_LOG_SUCCESS": "1"}

    def create(self, database, template="template0"):
        with self.cursor("postgres") as cursor:
            cursor.execute(f'create database "{database}" template "{template}"')

    def drop(self, database):
        with self.cursor("postgres") as cursor:
            cursor.execute(f'drop database "{database}" with (force)')

    @contextlib.contextmanager
    def copy(self, template):
        """A database that is as the template was left, for one run."""
        self.create("run", template)
        try:
            yield "run"
        finally:
            self.drop("run")

    def wal_position(self):
        with self.cursor("postgres") as cursor:
            cursor.execute("select pg_current_wal_lsn() - '0/0'")
            return int(cursor.fetchone()[0])

    def cpu_seconds(self):
        """What the server's processes that have ended used, those of clients and of autovacuum. Waits for the clients'."""
        with self.cursor("postgres") as cursor:
            while True:
                cursor.execute("select count(*) from pg_stat_activity where backend_type = 'client backend'"
                               " and datname <> 'postgres' and application_name <> 'bench'")
                if cursor.fetchone()[0] == 0:
                    break
                time.sleep(0.02)
        time.sleep(0.1)  # the last one is collected
        with open(f"/proc/{self.server.pid}/stat") as file:
            fields = file.read().rsplit(")", 1)[1].split()
        return sum(int(field) for field in fields[13:15]) / os.sysconf("SC_CLK_TCK")

    def checkpoint(self):
        with self.cursor("postgres") as cursor:
            cursor.execute("checkpoint")

    @contextlib.contextmanager
    def held_xmin(self, database):
        """A transaction that began before the run and is still open at its end, as a forgotten psql or a dump leaves one."""
        connection = self.connect(database)
        connection.autocommit = False
        try:
            connection.set_session(isolation_level="REPEATABLE READ")
            connection.cursor().execute("select count(*) from pg_class")
            yield
        finally:
            connection.close()
