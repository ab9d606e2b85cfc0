"""The world of one run of the demo: a folder and a loopback address of its own, and what is left of it afterwards."""
import glob
import json
import os
import random
import shutil
import socket
import string
import subprocess
import tempfile

import work

HERE = os.path.dirname(os.path.realpath(__file__))
PAGE, REPORT = 4_000, 240_000
# One line: a server without clients takes each line as a statement.
LEDGER = " ".join("""
SELECT json_build_object(
  'jobs', (SELECT coalesce(json_agg(json_build_object('id', j.id, 'queue', j.queue, 'state', j.state, 'dead', j.is_dead,
           'attempts', j.attempts, 'begin', extract(epoch FROM j.claimed_at), 'end', extract(epoch FROM j.finished_at),
           'file', j.payload->>'file') ORDER BY j.id), '[]') FROM endwell.job j),
  'attempts', (SELECT coalesce(json_agg(json_build_object('job', a.job_id, 'outcome', a.outcome,
           'begin', extract(epoch FROM a.claimed_at), 'end', extract(epoch FROM a.ended_at))), '[]')
           FROM endwell.attempt a),
  'items', (SELECT coalesce(json_agg(json_build_object('key', i.key, 'state', i.state, 'tries', i.tries)), '[]')
           FROM endwell.item i))
""".split())


class Missing(Exception):
    """What the demo needs and does not find."""


def postgres_folder():
    """Debian keeps the server's programs out of PATH, a folder for each version."""
    versions = glob.glob("/usr/lib/postgresql/*/bin/postgres")
    if versions:
        return os.path.dirname(max(versions, key=lambda path: float(path.split("/")[4])))
    found = shutil.which("postgres")
    if not found:
        raise Missing("PostgreSQL's server (the package postgresql)")
    return os.path.dirname(os.path.realpath(found))


def search_path(endwell):
    return ":".join([os.path.dirname(endwell), postgres_folder(),
                     "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"])


def free_address():
    """An address of this run's own: two demos side by side never meet, and neither does anybody else's server."""
    while True:
        address = "127.{}.{}.{}".format(*(random.randint(1, 254) for _ in range(3)))
        with socket.socket() as probe:
            probe.bind((address, 0))
            return address, probe.getsockname()[1]


def roomy_folder():
    """Where a database has room, and whose name leaves room for a socket's (107 letters)."""
    folder = tempfile.mkdtemp(prefix="endwell-demo.")
    if len(folder) > 60:
        os.rmdir(folder)
        folder = tempfile.mkdtemp(prefix="endwell-demo.", dir="/tmp")
    return folder


class World:
    """`good`: how many recordings there are beside the corrupt ones."""

    def __init__(self, endwell, figures, good):
        self.path = search_path(endwell)
        for program in ("nginx", "psql", "initdb", "curl", "setpriv", "espeak-ng"):
            if not shutil.which(program, path=self.path):
                raise Missing(f"the program {program}")
        self.folder = roomy_folder()
        os.chmod(self.folder, 0o711)  # nginx' and PostgreSQL's own users pass through, and read only what is theirs
        self.runtimes = []  # one for each container: only the folder with the database is kept from one to the next
        self.next_container()
        self.address, self.port = free_address()
        self.figures = figures
        self.furnish()
        self.good, self.corrupt = work.record(self.inside("recordings"), self.path, good)

    def next_container(self):
        runtime = tempfile.mkdtemp(prefix="endwell-demo.", dir="/dev/shm") if os.access("/dev/shm", os.W_OK) else \
            os.path.join(self.folder, f"run{len(self.runtimes)}")
        os.makedirs(runtime, mode=0o711, exist_ok=True)
        os.chmod(runtime, 0o711)
        self.runtimes.append(runtime)

    def furnish(self):
        for name in ("log", "site", "recordings", "clips", "making"):
            os.makedirs(self.inside(name))
        for name, size in (("page", PAGE), ("report", REPORT)):
            with open(self.inside("site", name), "w", encoding="ascii") as file:
                file.write("x" * size)
        for path in (self.inside("site"), self.inside("site", "page"), self.inside("site", "report")):
            os.chmod(path, 0o755)  # whatever the umask is

    def serve_reports(self, seconds):
        """nginx gives the amount of the first second at once, then a second's amount each second."""
        with open(os.path.join(HERE, "nginx.conf"), encoding="utf-8") as file:
            text = string.Template(file.read()).substitute(world=self.folder, address=self.address, port=self.port,
                                                           rate=int(REPORT / (1 + seconds)))
        with open(self.inside("nginx.conf"), "w", encoding="utf-8") as file:
            file.write(text)

    def inside(self, *names):
        return os.path.join(self.folder, *names)

    def journal(self, container=-1):
        return os.path.join(self.runtimes[container], "journal.jsonl")

    def clips(self):
        return os.listdir(self.inside("clips"))

    def environment(self, **more):
        return {"PATH": self.path, "HOME": os.environ.get("HOME", "/"), "LANG": "C.UTF-8", "WORLD": self.folder,
                "DEMO": HERE, "RUNTIME": self.runtimes[-1], "PGHOST": self.inside("db"), "PGUSER": "endwell",
                "PGDATABASE": "endwell", "CLIPS": self.inside("clips"), "MAKING": self.inside("making"),
                "RECORDINGS": self.inside("recordings"), **self.figures, **more}

    def logs(self):
        """The ends of what the services wrote, for the case that something went wrong."""
        for path in sorted(glob.glob(self.inside("log", "*"))):
            with open(path, encoding="utf-8", errors="replace") as file:
                lines = file.read().splitlines()[-12:]
            if lines:
                yield f"--- {os.path.basename(path)}, its end:"
                yield from lines

    def database(self, *words, **how):
        """One of PostgreSQL's programs over the data that is left, as their owner."""
        owner = ["setpriv", "--reuid=postgres", "--regid=postgres", "--init-groups"] if os.geteuid() == 0 else []
        return subprocess.run([*owner, *words], cwd=self.inside("db"), env={**self.environment(), "LC_ALL": "C"},
                              capture_output=True, text=True, check=False, **how)

    def was_shut_down(self):
        """Whether PostgreSQL itself says that it ended in order."""
        report = self.database("pg_controldata", self.inside("db", "cluster")).stdout
        return any(line.split(":")[0] == "Database cluster state" and line.split(":")[1].strip() == "shut down"
                   for line in report.splitlines())

    def ledger(self):
        """Read from the data after a container is gone, without a server: its jobs, attempts that did not succeed, items."""
        target = self.inside("db", "ledger.json")
        done = self.database("postgres", "--single", "-D", self.inside("db", "cluster"), "endwell",
                             input=f"COPY ({LEDGER}) TO '{target}'\n")
        try:
            with open(target, encoding="utf-8") as file:
                found = json.load(file)
        except OSError:
            raise Missing(f"the ledger: {done.stderr.strip() or done.stdout.strip()}") from None
        os.unlink(target)  # the folder is the next container's
        return found

    def clean(self):
        for folder in [*self.runtimes, self.folder]:
            shutil.rmtree(folder, ignore_errors=True)
