"""A real systemd as the first process of namespaces of its own, which knows one service: the unit of deploy/systemd.

It has its own processes, mounts (nothing but the test's directory can be written), network and control groups, and
finds no unit but ours."""
import os
import re
import shutil
import subprocess

from endwell import children
from journal import check, wait_until, TIMEOUT_SECONDS

HOUSE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.realpath(__file__))))
UNIT = os.path.join(HOUSE, "deploy/systemd/endwell.service")
PROGRAM = "/lib/systemd/systemd"
# What a unit with the default dependencies and ours want; empty here.
TARGETS = ("sysinit", "basic", "shutdown", "network-online", "multi-user", "idle")

SETUP = """set -eu
mount --make-rprivate /
mount -t tmpfs tmpfs /run
mount -t tmpfs tmpfs /usr/local/bin
cp {binary} /usr/local/bin/endwell
umount -R /sys/fs/cgroup 2>/dev/null || true
mount -t cgroup2 cgroup2 /sys/fs/cgroup
mkdir -p /run/units
cp -r {units}/. /run/units/
mount -o remount,bind,ro /
export container=test SYSTEMD_UNIT_PATH=/run/units
export SYSTEMD_GENERATOR_PATH=/run/none SYSTEMD_ENVIRONMENT_GENERATOR_PATH=/run/none
exec {program} --system --unit=idle.target --log-target=console --log-color=no --show-status=no
"""


def keys(text):
    """{key: value} of a unit; the last of each."""
    return dict(re.findall(r"^(\w+)=(.*)$", text, re.MULTILINE))


def unit_keys():
    with open(UNIT, encoding="utf-8") as file:
        return keys(file.read())


def hierarchy():
    """Where control groups of version 2 are mounted; None: nowhere."""
    with open("/proc/self/mountinfo", encoding="utf-8") as file:
        for line in file:
            before, _, after = line.partition(" - ")
            if after.startswith("cgroup2 "):
                return before.split()[4]
    return None


def why_not():
    """Why no systemd can be run here; "" when one can."""
    if not os.access(PROGRAM, os.X_OK):
        return f"there is no {PROGRAM}"
    place = hierarchy()
    if not place:
        return "no control groups of version 2"
    group = os.path.join(place, f"endwell-test-{os.getpid()}")
    try:
        os.mkdir(group)
        os.rmdir(group)
    except OSError as error:
        return f"no control group can be made: {error}"
    done = subprocess.run(["unshare", "--pid", "--mount", "--cgroup", "--net", "--uts", "--ipc", "--fork", "true"],
                          capture_output=True, text=True, check=False)
    return done.stderr.strip()


class ServiceManager:
    """`changes`: keys of [Service] in place of the unit's."""

    def __init__(self, case, config, binary, **changes):
        self.case, self.group = case, os.path.join(hierarchy(), f"endwell-{os.path.basename(case.directory)}")
        case.cleaners.append(self.clean)
        self.process = None
        units = case.path("units")
        os.makedirs(os.path.join(units, "endwell.service.d"))
        shutil.copy(UNIT, units)
        for name in TARGETS:
            with open(os.path.join(units, f"{name}.target"), "w", encoding="utf-8") as file:
                file.write("[Unit]\nDefaultDependencies=no\n")
        lines = [f"ExecStart=\nExecStart=endwell run -c {config}", f"StandardError=append:{case.path('stderr')}"]
        lines += [f"{key}={value}" for key, value in changes.items()]
        words = " ".join(f"\"{name}={value}\"" for name, value in case.environment.items())
        with open(os.path.join(units, "endwell.service.d/test.conf"), "w", encoding="utf-8") as file:
            file.write("[Service]\n" + "\n".join(lines) + f"\nEnvironment={words}\n")
        os.mkdir(self.group)
        script = SETUP.format(binary=binary, units=units, program=PROGRAM)
        with open(case.path("systemd.log"), "wb") as log:
            self.process = subprocess.Popen(
                ["sh", "-c", 'echo $$ > "$0/cgroup.procs" && exec "$@"', self.group, "setpriv", "--pdeathsig", "SIGKILL",
                 "unshare", "--pid", "--mount", "--cgroup", "--net", "--uts", "--ipc", "--fork", "--kill-child",
                 "--mount-proc", "sh", "-c", script], stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        wait_until(lambda: self.ask("is-active", "idle.target") == "active", "systemd is up", alive=self.alive)

    def alive(self):
        return self.process.poll() is None

    def call(self, *words):
        """systemctl in its namespaces; the finished process."""
        pid = (children(self.process.pid) or [0])[0]
        return subprocess.run(["nsenter", "-t", str(pid), "-m", "-p", "-n", "systemctl", *words], capture_output=True,
                              text=True, timeout=TIMEOUT_SECONDS, check=False)

    def ask(self, *words):
        return self.call(*words).stdout.strip()

    def do(self, *words):
        done = self.call(*words)
        check(done.returncode == 0, f"systemctl {' '.join(words)}: {done.stdout}{done.stderr}\n{self.explain()}")

    def show(self, name):
        return self.ask("show", "-P", name, "endwell.service")

    def until(self, name, wanted):
        def found():
            value = self.show(name)
            return value if (wanted(value) if callable(wanted) else value == wanted) else None
        return wait_until(found, f"{name} of the unit is {wanted}", alive=self.alive)

    def explain(self):
        parts = []
        for name in ("systemd.log", "stderr"):
            if os.path.exists(self.case.path(name)):
                parts.append(f"--- {name}, its end:\n{self.case.text(name)[-3000:]}")
        return "\n".join(parts)

    def clean(self):
        if self.process and self.alive():
            self.process.kill()
        if self.process:
            self.process.wait()
        for folder, _, _ in os.walk(self.group, topdown=False):
            wait_until(lambda folder=folder: removed(folder), f"{folder} is empty")


def removed(folder):
    try:
        os.rmdir(folder)
    except OSError:
        return not os.path.exists(folder)
    return True
