"""Control groups that a test makes for itself, and those that endwell made."""
import fcntl
import os
import re

from case import Skipped
from journal import wait_until

OURS = re.compile(r"control groups are used: each service has one in (\S+)")


def mounts(kind, option=None):
    with open("/proc/self/mountinfo", encoding="utf-8") as file:
        for line in file:
            before, after = line.split(" - ")
            if after.split()[0] == kind and (option is None or option in after.split()[2].split(",")):
                yield before.split()[4]


def hierarchy(kind="cgroup2", option=None):
    """Where a hierarchy is mounted in which groups can be made; without one the test is skipped, and says so."""
    for point in mounts(kind, option):
        if os.access(os.path.join(point, "cgroup.procs"), os.W_OK):
            return point
    raise Skipped(f"there is no writable control group hierarchy here ({option or 'version 2'})")


def write(group, name, text):
    with open(os.path.join(group, name), "w", encoding="ascii") as file:
        file.write(text)


def remove(group):
    """Waits until the last process in it is gone: that one was killed with its namespace."""
    def gone():
        for folder, _, _ in os.walk(group, topdown=False):
            try:
                os.rmdir(folder)
            except FileNotFoundError:
                pass
            except OSError:
                return False
        return not os.path.exists(group)
    wait_until(gone, f"the end of {group}")


def sweep():
    """Removes what runs left that were killed: the lock of such a group is free."""
    for point in mounts("cgroup2"):
        for name in os.listdir(point):
            group = os.path.join(point, name)
            if not name.startswith("endwell.") or not os.access(group, os.W_OK):
                continue
            try:
                folder = os.open(group, os.O_RDONLY | os.O_DIRECTORY)
            except FileNotFoundError:
                continue
            try:
                fcntl.flock(folder, fcntl.LOCK_EX | fcntl.LOCK_NB)
                remove(group)
            except BlockingIOError:
                pass  # somebody runs in it
            finally:
                os.close(folder)


def make(case, kind="cgroup2", option=None):
    """A group of the test's own, removed with it."""
    group = os.path.join(hierarchy(kind, option), os.path.basename(case.directory))
    os.mkdir(group)
    case.cleaners.append(lambda: remove(group))
    return group


def inside(group, *more):
    """What to put before a command, so that it runs in this group."""
    return ["/bin/sh", "-c", f'echo $$ > {group}/cgroup.procs && exec "$@"', "sh", *more]


def of(run):
    """The group that this run of endwell made; the test is skipped where there cannot be one."""
    hierarchy()
    return wait_until(lambda: OURS.search(run.errors()), "a word on control groups", alive=run.alive).group(1)


READ_ONLY = ('for point in $(awk \'{ for (i = 7; i < NF; i++) if ($i == "-" && $(i + 1) == "cgroup2") print $5 }\' '
             '/proc/self/mountinfo); do mount -o remount,bind,ro $point || exit 1; done; exec "$@"')
