"""contenders.py - the programs that are compared: how each is configured and started, and what it can do at all."""
import os
import shutil
import signal
import subprocess
from dataclasses import dataclass


@dataclass
class Shape:
    """What is to be supervised."""
    count: int = 1
    maker: bool = False   # service 0 is the maker of orphans
    chain: bool = False   # each service is to be stopped before the one it comes after
    restart: bool = False  # each that dies is to be started again, at once
    port: int = 0          # each serves on this port and its number
    checks: str = ""       # each is checked by "http", all at `target`, or by "exec"
    period: int = 1        # seconds between two checks of a service
    target: int = 0        # a port


class Contender:
    """`name`, the Debian `package` if it is a peer, and answers: can it many, chains, restarts, programs of any name,
    checks?"""
    name, package, many, chain, restart, serves, checks = "", None, False, False, False, True, False
    ends_by = signal.SIGTERM  # what makes PID 1 begin its ending
    waits = True              # PID 1 waits for its services before it ends

    def __init__(self, programs):
        self.programs = programs

    def can(self, shape):
        if shape.port and not self.serves or shape.checks and not self.checks:
            return False
        return (self.many or shape.count == 1) and (self.chain or not shape.chain) and (self.restart or not shape.restart)

    def available(self):
        return shutil.which(self.name) is not None

    def version(self):
        query = ["dpkg-query", "-W", "-f=${Version}", self.package] if self.package else None
        return subprocess.run(query, capture_output=True, text=True).stdout if query else ""

    def program(self, shape, i):
        name = "probe_web" if shape.port else "probe_orphans" if shape.maker and i == 0 else "probe_service"
        return os.path.join(self.programs, name)

    def command(self, folder, shape):
        """Writes the configuration into `folder` and answers the words to execute."""
        raise NotImplementedError

    def stop_command(self, folder):
        """None: the ending is asked for by a signal. Else the words that stop all services."""
        return None


class Floor(Contender):
    many = chain = restart = True
    serves = False
    kind, options = "floor", ()

    def __init__(self, programs, name, kind, options=()):
        super().__init__(programs)
        self.name, self.kind, self.options = name, kind, options

    def available(self):
        return True

    def command(self, folder, shape):
        chain = ["-c"] if shape.chain else []
        maker = ["-m", self.program(shape, 0)] if shape.maker else []
        return [os.path.join(self.programs, self.kind), *self.options, *chain, *maker, str(shape.count),
                os.path.join(self.programs, "probe_service")]


class FloorOfChecks(Contender):
    """Nothing but checks."""
    name, many, checks = "floor checks", True, True

    def available(self):
        return True

    def can(self, shape):
        return bool(shape.checks)

    def command(self, folder, shape):
        what = str(shape.target) if shape.checks == "http" else os.path.join(self.programs, "probe_check")
        return [os.path.join(self.programs, "floor_checks"), str(shape.period * 1000), shape.checks, what,
                str(shape.count), os.path.join(self.programs, "probe_service")]


class Wrapper(Contender):
    """A program that runs one command."""

    def __init__(self, programs, name, words=()):
        super().__init__(programs)
        self.name, self.package, self.words = name, name, words

    def command(self, folder, shape):
        return [self.name, *self.words, self.program(shape, 0), "0"]


class Endwell(Contender):
    many = chain = restart = checks = True

    def __init__(self, programs, path, name="endwell"):
        super().__init__(programs)
        self.name = name
        self.path = os.path.abspath(path)

    def available(self):
        return os.access(self.path, os.X_OK)

    def version(self):
        return subprocess.run([self.path, "--version"], capture_output=True, text=True).stdout.strip()

    def command(self, folder, shape):
        if shape.count == 1 and not shape.restart:
            return [self.path, "run", "--", self.program(shape, 0), "0"]
        path = os.path.join(folder, "endwell.ini")
        with open(path, "w") as file:
            file.write(f"[Supervisor]\nRuntimeDirectory={folder}/runtime\nGraceSec=60\nPhases=services\n")
            for i in range(shape.count):
                file.write(f"\n[Service s{i:03}]\nExecStart={self.program(shape, i)} {i}\n"
                           "Restart=always\nRestartSec=0\nStartLimitBurst=0\n")
                if shape.chain and i > 0:
                    file.write(f"After=s{i - 1:03}\n")
                if shape.checks:
                    what = (f"http://127.0.0.1:{shape.target}/" if shape.checks == "http"
                            else "exec:" + os.path.join(self.programs, "probe_check"))
                    file.write(f"LivenessProbe={what} period={shape.period}s timeout=10s failures=1000\n")
                if shape.port:
                    file.write(f"Listen=tcp://127.0.0.1:{shape.port + i}\n")
        return [self.path, "run", "-c", path]


def service_folders(contender, folder, shape):
    """A directory a service, with `run` in it; the probe reads its number from the directory's name."""
    for i in range(shape.count):
        os.makedirs(os.path.join(folder, "services", f"s{i:03}"))
        os.symlink(contender.program(shape, i), os.path.join(folder, "services", f"s{i:03}", "run"))
    return os.path.join(folder, "services")


class Runit(Contender):
    name = package = "runit"
    many = restart = True
    ends_by = signal.SIGHUP  # on SIGTERM runsvdir leaves without a word to its services
    waits = False            # and on SIGHUP it does not wait for them

    def available(self):
        return shutil.which("runsvdir") is not None

    def command(self, folder, shape):
        return ["runsvdir", service_folders(self, folder, shape)]

    def stop_command(self, folder):
        services = os.path.join(folder, "services")
        return ["sv", "-w", "60", "stop", *(os.path.join(services, name) for name in sorted(os.listdir(services)))]


class S6(Contender):
    name = package = "s6"
    many = restart = True

    def available(self):
        return shutil.which("s6-svscan") is not None

    def command(self, folder, shape):
        scan = service_folders(self, folder, shape)
        os.makedirs(os.path.join(scan, ".s6-svscan"))
        os.symlink("/bin/true", os.path.join(scan, ".s6-svscan", "finish"))
        return ["s6-svscan", "-c", str(shape.count + 8), scan]


class Supervisord(Contender):
    name, package = "supervisord", "supervisor"
    many = chain = restart = True

    def command(self, folder, shape):
        path = os.path.join(folder, "supervisord.conf")
        with open(path, "w") as file:
            file.write("[supervisord]\nnodaemon=true\nuser=root\nlogfile=/dev/null\nlogfile_maxbytes=0\n"
                       "pidfile=/run/supervisord.pid\nminfds=8192\nminprocs=2000\n")
            for i in range(shape.count):
                file.write(f"\n[program:s{i:03}]\ncommand={self.program(shape, i)} {i}\nautorestart=true\n"
                           f"startsecs=0\nstdout_logfile=NONE\nstderr_logfile=NONE\n")
                if shape.chain:
                    file.write(f"priority={i + 1}\n")
        return ["supervisord", "-c", path]


def everybody(programs, endwell_path, before_path):
    return [
        Endwell(programs, endwell_path),
        *([Endwell(programs, before_path, "endwell before")] if before_path else []),
        Floor(programs, "floor", "floor"),
        Floor(programs, "floor fork", "floor", ("-f",)),
        Floor(programs, "floor sd-event", "floor_event"),
        FloorOfChecks(programs),
        Wrapper(programs, "tini", ("--",)),
        Wrapper(programs, "dumb-init"),
        Wrapper(programs, "catatonit", ("--",)),
        Runit(programs),
        S6(programs),
        Supervisord(programs),
    ]
