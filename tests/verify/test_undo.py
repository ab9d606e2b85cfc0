#!/usr/bin/python3
"""What an undo log saves is put back exactly: random changes by seed, also when whoever puts back is killed again and again.

`test_undo.py [FIRST [LAST]]`: these seeds. ENDWELL_UNDO names the driver. On the file system of TMPDIR (/var/tmp). By root, it is
done again by nobody, without a capability and without a way to get one."""
import os
import random
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
import time

DRIVER = os.environ["ENDWELL_UNDO"]


def look(top):
    """Everything that can be put back; not ctime, and inodes only as far as names share one."""
    found = {}
    for folder, folders, files in os.walk(top):
        for name in ["."] + folders + files:
            path = os.path.join(folder, name)
            what = os.lstat(path)
            content = b""
            if stat.S_ISREG(what.st_mode):
                with open(path, "rb") as file:
                    content = file.read()
            elif stat.S_ISLNK(what.st_mode):
                content = os.readlink(path)
            names = what.st_nlink if stat.S_ISREG(what.st_mode) else 0
            attributes = [(key, os.getxattr(path, key, follow_symlinks=False)) for key in os.listxattr(path, follow_symlinks=False)]
            found[path] = (what.st_mode, what.st_uid, what.st_gid, what.st_mtime_ns, names, content, attributes)
    return found


def make_tree(top, chance):
    os.makedirs(top)
    for path in ("a", "a/a", "a/a-b", "b", "b/c"):
        if chance.random() < 0.8:
            os.makedirs(f"{top}/{path}", exist_ok=True)
    for path in ("a/b", "a/a/c", "b/a", "c", "b/c/b", "a-b"):
        if chance.random() < 0.8 and os.path.isdir(os.path.dirname(f"{top}/{path}")):
            with open(f"{top}/{path}", "w", encoding="ascii") as file:
                file.write(path * chance.randrange(4))
    if os.path.exists(f"{top}/c") and os.path.isdir(f"{top}/b"):
        os.link(f"{top}/c", f"{top}/b/b")
        os.symlink("x", f"{top}/b/a-b")


def restore_with_deaths(log, chance):
    for _ in range(chance.randrange(4)):
        with subprocess.Popen([DRIVER, "--restore", log], stderr=subprocess.DEVNULL) as one:
            time.sleep(chance.random() * 0.02)  # any instant will do: nothing is waited for
            one.send_signal(signal.SIGKILL)
    if os.path.exists(f"{log}/log"):
        return subprocess.run([DRIVER, "--restore", log], stderr=subprocess.PIPE, text=True, check=False)
    return None


def try_seed(top, seed, dies):
    chance = random.Random(seed)
    tree, logs = f"{top}/tree{seed}", f"{top}/logs{seed}"
    make_tree(tree, chance)
    before = look(tree)
    stop = [str(chance.randrange(60))] if dies else []
    done = subprocess.run([DRIVER, tree, logs, str(seed), *stop], stderr=subprocess.PIPE, text=True, check=False)
    problem = done.stderr if done.returncode else ""
    for log in os.listdir(logs) if dies else []:
        last = restore_with_deaths(f"{logs}/{log}", chance)
        problem += last.stderr if last and last.returncode else ""
    after = look(tree)
    differs = sorted(path for path in before.keys() | after.keys() if before.get(path) != after.get(path))
    for path in differs:
        problem += f"\n  {path}: was {before.get(path)}, is {after.get(path)}"
    if not problem:
        shutil.rmtree(tree)
        shutil.rmtree(logs)
    return problem


def try_all(first, last):
    failed = 0
    with tempfile.TemporaryDirectory(prefix="endwell-undo-", dir=os.environ.get("TMPDIR", "/var/tmp")) as top:
        for seed in range(first, last):
            for dies in (False, True):
                os.makedirs(f"{top}/{dies}", exist_ok=True)
                problem = try_seed(f"{top}/{dies}", seed, dies)
                if problem:
                    failed += 1
                    print(f"FAIL seed {seed}{', killed' if dies else ''}: {problem}")
    print(f"{2 * (last - first) - failed} passed, {failed} failed by uid {os.geteuid()}")
    return failed


def try_as_nobody(first, last):
    """In a folder of nobody's, with a driver that nobody may read."""
    nobody = ("setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups", "--bounding-set=-all", "--no-new-privs")
    with tempfile.TemporaryDirectory(prefix="endwell-nobody-", dir=os.environ.get("TMPDIR", "/var/tmp")) as home:
        driver = shutil.copy(DRIVER, f"{home}/driver")
        script = shutil.copy(__file__, f"{home}/test.py")
        for path in (home, driver, script):
            os.chown(path, 65534, 65534)
        environment = dict(os.environ, ENDWELL_UNDO=driver, TMPDIR=home, PYTHONDONTWRITEBYTECODE="1")
        return subprocess.run([*nobody, sys.executable, script, str(first), str(last)], env=environment, check=False).returncode


def main():
    first, last = int(sys.argv[1]) if len(sys.argv) > 1 else 0, int(sys.argv[2]) if len(sys.argv) > 2 else None
    last = last if last is not None else first + (1 if len(sys.argv) > 1 else 200)
    failed = try_all(first, last)
    sys.stdout.flush()
    if os.geteuid() == 0:
        failed += try_as_nobody(first, last)
    sys.exit(1 if failed else 0)


main()
