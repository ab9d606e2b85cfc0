"""A real PostgreSQL of a test's own, and pgbouncer in front of it: on loopback and Unix sockets, ended by their pids.

Postgres refuses to run as root, so that both run as the user postgres. What they say goes into files beside the data."""
import glob
import os
import shutil
import signal
import socket
import subprocess
import tempfile

import psycopg2

from journal import check, wait_until

AS_POSTGRES = ["env", "--default-signal=INT,QUIT", "setpriv", "--reuid", "postgres", "--regid", "postgres", "--clear-groups"]

# fsync is off unless a case is about a crash: the kernel survives each of them. Who waits for somebody that he must not wait
# for fails after statement_timeout, and with the ledger as it should be nobody comes near it.
SETTINGS = {"fsync": "off", "full_page_writes": "off", "max_connections": "200", "shared_buffers": "128MB",
            "max_wal_size": "2GB", "min_wal_size": "512MB", "checkpoint_timeout": "1h", "autovacuum_naptime": "5s",
            "listen_addresses": "127.0.0.1", "wal_level": "replica", "timezone": "UTC", "jit": "off",
            "deadlock_timeout": "200ms", "log_min_messages": "warning", "log_lock_waits": "off",
            "max_parallel_workers_per_gather": "0", "statement_timeout": "60s"}


def program(name):
    """Debian keeps the server's programs out of the path; the newest version that is here."""
    found = sorted(glob.glob(f"/usr/lib/postgresql/*/bin/{name}"), key=lambda path: int(path.split("/")[4]))
    path = found[-1] if found else shutil.which(name)
    check(path, f"{name} is not installed here; its package stands in tests/packages")
    return path


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def roomy():
    """In memory where that has room for a cluster (containers often have 64 MB of it), else on the disk."""
    return "/dev/shm" if shutil.disk_usage("/dev/shm").free > 8 << 30 else tempfile.gettempdir()


def directory_of_postgres(prefix):
    path = tempfile.mkdtemp(prefix=prefix, dir=roomy())
    shutil.chown(path, "postgres", "postgres")
    os.chmod(path, 0o755)
    return path


def text(path):
    with open(path, encoding="utf-8", errors="replace") as file:
        return file.read()


class Server:
    """What a cluster and a pooler have in common: a process that goes with us, its log, and how one connects."""

    def __init__(self, prefix):
        self.directory = directory_of_postgres(prefix)
        self.port, self.process, self.stopped = free_port(), None, False
        self.log = os.path.join(self.directory, "log")

    def spawn(self, words, death):
        with open(self.log, "ab") as log:
            self.process = subprocess.Popen([*AS_POSTGRES, "--pdeathsig", death, *words], cwd=self.directory,
                                            stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True)

    def answers(self, database):
        try:
            psycopg2.connect(self.dsn(database)).close()
            return True
        except psycopg2.OperationalError:
            return False

    def wait(self, database):
        wait_until(lambda: self.answers(database), f"an answer of {self.directory}", 120,
                   lambda: self.process.poll() is None)

    def dsn(self, database, user="postgres", host=None):
        return f"host={host or self.directory} port={self.port} dbname={database} user={user}"

    def url(self, database):
        return f"postgresql://postgres@/{database}?host={self.directory}&port={self.port}"

    def signal(self, number):
        self.process.send_signal(number)

    def end(self, number):
        if self.process is None:
            return
        if self.process.poll() is None:
            self.signal(number)
            if self.stopped:
                self.signal(signal.SIGCONT)
            self.process.wait(120)
        self.process, self.stopped = None, False

    def clean(self):
        self.end(signal.SIGQUIT)
        shutil.rmtree(self.directory, ignore_errors=True)


class Cluster(Server):
    def __init__(self, of=None, **settings):
        super().__init__("endwell-postgres-")
        self.settings = {**SETTINGS, **settings}
        self.data = os.path.join(self.directory, "data")
        if of is None:
            self.call(program("initdb"), "-D", self.data, "-U", "postgres", "-A", "trust", "-E", "UTF8", "--locale=C.UTF-8",
                      "--no-sync", "--no-instructions")
        else:
            self.call(program("pg_basebackup"), "-D", self.data, "-h", of.directory, "-p", str(of.port), "-U", "postgres",
                      "-R", "-X", "stream", "--checkpoint=fast", "--no-sync")
        self.start()

    @staticmethod
    def call(*words):
        done = subprocess.run([*AS_POSTGRES, *words], cwd="/", stdin=subprocess.DEVNULL, capture_output=True, text=True,
                              check=False)
        check(done.returncode == 0, f"{' '.join(words)} failed: {done.stderr}")

    def start(self):
        options = {**self.settings, "port": str(self.port), "unix_socket_directories": self.directory}
        words = [word for key, value in options.items() for word in ("-c", f"{key}={value}")]
        self.spawn([program("postgres"), "-D", self.data, *words], "QUIT")
        self.wait("postgres")
        return self

    def stop(self, mode="fast"):
        self.end({"smart": signal.SIGTERM, "fast": signal.SIGINT, "immediate": signal.SIGQUIT}[mode])

    def restart(self, mode="fast", **settings):
        self.stop(mode)
        self.settings.update(settings)
        return self.start()

    def standby(self):
        return Cluster(of=self, **self.settings)

    def promote(self):
        self.call(program("pg_ctl"), "promote", "-w", "-s", "-D", self.data)


class Pooler(Server):
    """Transaction pooling; for the role `singly` each statement may go to another connection."""

    def __init__(self, cluster):
        super().__init__("endwell-pgbouncer-")
        path, names = (os.path.join(self.directory, name) for name in ("pgbouncer.ini", "users"))
        with open(names, "w", encoding="utf-8") as file:
            file.write('"postgres" ""\n"singly" ""\n"stranger" ""\n')
        with open(path, "w", encoding="utf-8") as file:
            file.write(f"""[databases]
* = host={cluster.directory} port={cluster.port}
[users]
singly = pool_mode=statement
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = {self.port}
unix_socket_dir = {self.directory}
unix_socket_mode = 0777
auth_type = trust
auth_file = {names}
pool_mode = transaction
default_pool_size = 30
max_client_conn = 500
server_idle_timeout = 2
server_connect_timeout = 5
server_login_retry = 1
admin_users = postgres
""")
        self.spawn([program("pgbouncer"), path], "QUIT")
        self.wait("postgres")

    def dsn(self, database, user="postgres", host=None):
        return super().dsn(database, user, host or "127.0.0.1")
