#!/usr/bin/python3
"""Worlds by their driver: what is written in one is seen and is gone, and nothing is left on the machine, whoever dies.

`test_worlds.py [-k TEXT] [--repeat N]`. ENDWELL_WORLD_DRIVER names the driver. Needs root; databases also PostgreSQL."""
import argparse
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import traceback

DRIVER = os.environ["ENDWELL_WORLD_DRIVER"]
POSTGRES = "/usr/lib/postgresql/15/bin"
TESTS = []


def test(function):
    TESTS.append(function)
    return function


class World:
    """The driver at the other end of two pipes."""

    def __init__(self, level, *arguments, prefix=()):
        self.process = subprocess.Popen([*prefix, DRIVER, level, *arguments], stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def ask(self, order):
        self.process.stdin.write(order.encode() + b"\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        assert line, f"the driver ended at: {order}"
        return json.loads(line)

    def good(self, order):
        answer = self.ask(order)
        assert answer["result"] >= 0, f"{order}: {answer}"
        return answer["result"]

    def run(self, command, code=0):
        answer = self.ask("run " + command)
        assert answer.get("code") == code, f"{command}: {answer}"
        return answer["output"]

    def items(self):
        return self.ask("observe")["items"]

    def end(self):
        self.process.stdin.close()
        self.process.stdout.close()
        return self.process.wait()

    def kill(self):
        self.process.send_signal(signal.SIGKILL)
        self.end()


def living_children():
    """Commands of all processes that belong to a world: the driver's, and what it has started."""
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/environ", "rb") as file:
                environment = file.read()
        except OSError:
            continue
        if b"ENDWELL_SINK=" in environment:
            found.append(pid)
    return found


def files(*folders):
    found = {}
    for top in folders:
        for folder, below, names in os.walk(top):
            for name in below + names:
                what = os.lstat(os.path.join(folder, name))
                found[os.path.join(folder, name)] = (what.st_mode, what.st_size, what.st_mtime_ns)
    return found


def machine():
    with open("/proc/self/mountinfo", encoding="utf-8") as file:
        mounts = sorted(line for line in file if "endwell-world" in line or "upperdir=/sys" in line)
    return mounts, living_children(), files("/etc", "/run")


def until(condition, what):
    end = time.monotonic() + 30
    while not condition():
        assert time.monotonic() < end, f"waited in vain for {what}"
        time.sleep(0.01)


@test
def what_was_written_is_seen_and_is_gone_with_the_world(folder):
    os.makedirs(f"{folder}/old/deep")
    with open(f"{folder}/old/deep/file", "w", encoding="ascii") as file:
        file.write("one\n")
    with open(f"{folder}/same", "w", encoding="ascii") as file:
        file.write("same")
    before = files(folder)
    world = World("overlay")
    world.good("open")
    world.run(f"cd {folder}; echo two >> old/deep/file; mkdir new; echo x > new/y; ln -s y new/z; touch -d yesterday same; "
              f"head -c 3000000 /dev/zero > big; mkfifo pipe; chmod 700 old")
    items = world.items()
    assert items[f"{folder}/old/deep/file"]["lines"] == ["one", "two", ""], items
    assert items[f"{folder}/new/y"]["kind"] == "file" and items[f"{folder}/new"]["kind"] == "directory", items
    assert items[f"{folder}/new/z"]["lines"] == ["y"] and items[f"{folder}/pipe"]["lines"] == ["fifo"], items
    assert items[f"{folder}/big"]["lines"][0].startswith("3000000 bytes, SHA-256 "), items
    assert items[f"{folder}/old"]["attributes"].startswith("0700"), items
    assert f"{folder}/same" not in items and f"{folder}/old/deep" not in items, items
    world.good("close")
    assert files(folder) == before
    world.good("open")
    assert world.items() == {}
    world.end()


@test
def a_folder_that_was_renamed_emptied_or_made_anew_is_compared_as_what_it_is(folder):
    for name in ("moved", "gone", "anew"):
        os.makedirs(f"{folder}/{name}/sub")
        with open(f"{folder}/{name}/sub/f", "w", encoding="ascii") as file:
            file.write(name)
    world = World("overlay")
    world.good("open")
    world.run(f"cd {folder}; python3 -c 'import os; os.rename(\"moved\", \"to\")'; rm -r gone; rm -r anew; mkdir -p anew/sub; "
              f"printf anew > anew/sub/f; touch anew/more")
    items = world.items()
    mine = {key[len(folder) + 1:]: item["kind"] for key, item in items.items() if key.startswith(folder)}
    assert mine == {"moved": "absent", "to": "directory", "to/sub": "directory", "to/sub/f": "file", "gone": "absent",
                    "anew/more": "file"}, mine
    world.end()


@test
def a_live_socket_answers_inside_and_cannot_be_taken_from_the_machine(folder):
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(f"{folder}/s")
        server.listen()
        world = World("overlay")
        world.good("open")
        world.run(f"python3 -c 'import socket; s = socket.socket(socket.AF_UNIX); s.connect(\"{folder}/s\"); s.send(b\"hi\")'")
        server.settimeout(30)
        assert server.accept()[0].recv(2) == b"hi"
        world.run(f"rm -f {folder}/s", code=1)
        world.run(f"rm -rf {folder}; exit 0")
        assert os.path.exists(f"{folder}/s")
        world.end()


@test
def the_machine_itself_cannot_be_reached(_folder):
    world = World("overlay")
    world.good("open")
    world.run("echo 1 > /proc/sys/vm/drop_caches", code=2)
    world.run("mkdir /sys/fs/cgroup/x || mkdir /sys/fs/cgroup/unified/x", code=1)
    assert world.run("find /dev -type b") == ""
    world.run("mknod /dev/disk b 254 0", code=1)
    world.run(f"kill -0 {os.getpid()}", code=1)
    world.run("date -s 2000-01-01", code=1)
    world.run("hostname elsewhere")
    assert socket.gethostname() != "elsewhere"
    assert "lo" in world.run("ls /sys/class/net; cat /proc/net/dev")
    world.end()


@test
def each_world_has_other_pids_and_nothing_outlives_it(_folder):
    world = World("overlay")
    pids = set()
    for _ in range(3):
        world.good("open")
        pids.add(world.run("setsid sleep 1000 > /dev/null 2>&1 & echo $$"))
        world.good("close")
    assert len(pids) == 3, pids
    until(lambda: not living_children(), "the processes of the worlds to be gone")
    world.end()


@test
def the_sink_records_what_counts(_folder):
    for level in ("overlay", "declared"):
        world = World(level)
        world.good("open")
        environment = dict(entry.split("=", 1) for entry in world.ask("environment"))
        assert environment["http_proxy"] == environment["ENDWELL_SINK"]
        assert world.run("curl -fsS -X POST -d a=1 $ENDWELL_SINK/x") == "ok\n"
        world.run("curl -fsS -X POST -d a=1 $ENDWELL_SINK/x; curl -fsS -X DELETE http://api.example/i; curl -fsS -X DELETE http://api.example/i; "
                  "curl -fsS $ENDWELL_SINK/read")
        assert json.loads(world.run("curl -fsS -X PUT -H 'Accept: application/json' -d b $ENDWELL_SINK/y")) == {"ok": True}
        world.run("curl -fsS https://api.example/", code=22)
        state = world.ask("observe")
        at = environment["ENDWELL_SINK"][len("http://"):]
        assert state["items"]["http"]["lines"] == sorted(["CONNECT api.example:443", "DELETE api.example/i", f"POST {at}/x a=1",
                                                          f"POST {at}/x a=1", f"PUT {at}/y b"]), state
        assert state["requests"] == 6, state
        world.good("close")
        world.end()


@test
def a_verifier_that_is_killed_at_any_instant_leaves_nothing(_folder):
    before = machine()
    for instant in range(40):
        world = World("overlay")
        world.process.stdin.write(b"open\nrun setsid sleep 1000 & sleep 1000\n")
        world.process.stdin.flush()
        if instant >= 20:
            world.process.stdout.readline()
        time.sleep(instant % 20 * 0.001)  # an instant, not an event: none of them may matter
        world.kill()
    until(lambda: machine() == before, "the machine to be as it was")


@test
def what_is_declared_is_put_back_also_by_recover_after_a_death_at_any_instant(folder):
    os.makedirs(f"{folder}/state/a/b")
    with open(f"{folder}/state/a/b/f", "w", encoding="ascii") as file:
        file.write("before")
    os.symlink("f", f"{folder}/state/a/b/l")
    before = files(f"{folder}/state")
    command = f"cd {folder}/state; rm -r a; echo x > a; mkdir new; echo y > new/z"
    world = World("declared", f"state={folder}/state", f"folder={folder}/logs")
    world.good("open")
    world.run(command)
    items = {key[len(folder) + 7:]: item["kind"] for key, item in world.items().items()}
    assert items == {"a": "file", "new": "directory", "new/z": "file"} or items.pop("a/b", "") == "absent", items
    world.good("close")
    assert files(f"{folder}/state") == before
    world.end()
    for instant in range(20):
        world = World("declared", f"state={folder}/state", f"folder={folder}/logs")
        world.process.stdin.write(f"open\nrun {command}; sleep 1000\n".encode())
        world.process.stdin.flush()
        time.sleep(instant * 0.002)  # an instant, not an event: none of them may matter
        world.kill()
        world = World("declared", f"folder={folder}/logs")
        world.good("recover")
        world.end()
        assert files(f"{folder}/state") == before, f"instant {instant}"
        assert not os.path.exists(f"{folder}/logs"), os.listdir(f"{folder}/logs")


@test
def without_a_right_to_namespaces_the_reason_is_said(_folder):
    world = World("overlay", prefix=("setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups", "--bounding-set=-all", "--no-new-privs"))
    best = world.ask("best")
    assert best["level"] != "overlay" and "namespaces" in best["reasons"], best
    world.end()


# ---- Databases ----


class Server:
    def __init__(self, folder):
        self.folder = f"{folder}/pg"
        os.makedirs(self.folder)
        shutil.chown(self.folder, "postgres")
        os.chmod(folder, 0o755)
        self.as_postgres(f"{POSTGRES}/initdb", "-D", f"{self.folder}/data", "-A", "trust", "--no-sync")
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]
        self.as_postgres(f"{POSTGRES}/pg_ctl", "-D", f"{self.folder}/data", "-w", "-l", f"{self.folder}/log", "-o",
                         f"-c listen_addresses=127.0.0.1 -c unix_socket_directories={self.folder} -p {self.port} -c fsync=off", "start")
        self.sql("postgres", "create database template_of_hooks")
        self.sql("template_of_hooks", "create table jobs(id int primary key, status text, twice int generated always as (id * 2) stored);"
                                      "insert into jobs values (1, 'running'), (2, 'done'); create sequence s; create view v as select 1 as one")

    def as_postgres(self, *command):
        subprocess.run(["setpriv", "--reuid", "postgres", "--regid", "postgres", "--clear-groups", *command], check=True,
                       stdout=subprocess.DEVNULL, cwd=self.folder)

    def sql(self, database, text):
        return subprocess.run([f"{POSTGRES}/psql", "-h", self.folder, "-p", str(self.port), "-U", "postgres", "-qAtXd", database, "-c", text],
                              check=True, stdout=subprocess.PIPE, text=True).stdout

    def copies(self):
        return self.sql("postgres", "select count(*) from pg_database where datname like 'endwell_world_%'").strip()

    def urls(self):
        return f"postgresql://postgres@/any?host={self.folder}&port={self.port}", f"postgresql://postgres:word@127.0.0.1:{self.port}/any"

    def stop(self):
        self.as_postgres(f"{POSTGRES}/pg_ctl", "-D", f"{self.folder}/data", "-m", "immediate", "stop")


@test
def a_copy_of_the_database_is_changed_seen_and_dropped(folder):
    server = Server(folder)
    try:
        for url in server.urls():
            world = World("overlay", f"database_url={url}", "database_name=template_of_hooks")
            world.good("open")
            first = world.ask("observe")
            assert first["items"] == {}, first
            world.run("psql \"$DATABASE_URL\" -qAtX -v ON_ERROR_STOP=1 -c \"update jobs set status = 'done' where id = 1; select nextval('s'); "
                      "create table more(x int)\"")
            world.run("psql -qAtX -c 'select 1'")
            second = world.ask("observe")
            assert second["items"]["table public.jobs"]["lines"] == ['{"id": 1, "twice": 2, "status": "done"}',
                                                                      '{"id": 2, "twice": 4, "status": "done"}'], second
            assert second["items"]["sequence public.s"]["lines"] == ["1"] and "catalogue" in second["items"], second
            assert second["items"]["table public.more"]["lines"] == [] and "table public.v" not in second["items"], second
            assert second["xmax"] > first["xmax"]
            world.good("close")
            assert server.copies() == "0"
            world.end()
        assert server.sql("template_of_hooks", "select status from jobs where id = 1") == "running\n"
    finally:
        server.stop()


@test
def a_database_that_is_not_allowed_is_not_copied_and_copies_of_the_dead_are_dropped(folder):
    server = Server(folder)
    try:
        url = server.urls()[0]
        living = World("overlay", f"database_url={url}", "database_name=template_of_hooks")
        living.good("open")
        dead = World("overlay", f"database_url={url}", "database_name=template_of_hooks")
        dead.good("open")
        assert server.copies() == "2"
        dead.kill()
        until(lambda: server.sql("postgres", "select count(*) from pg_locks where locktype = 'advisory'") == "1\n", "the dead one's lock to be free")
        recovering = World("overlay", f"database_url={url}")
        assert recovering.good("recover") == 1
        recovering.end()
        assert server.copies() == "1"
        living.good("close")
        living.end()
        assert server.copies() == "0"
        world = World("overlay", f"database_url={url}", "not_allowed=template_of_hooks")
        answer = world.ask("open")
        assert answer["result"] < 0 and "AllowDatabase" in answer["why"], answer
        world.end()
    finally:
        server.stop()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-k", dest="text", default="")
    parser.add_argument("--repeat", type=int, default=1)
    options = parser.parse_args()
    failed = 0
    chosen = [one for one in TESTS if options.text in one.__name__] * options.repeat
    for one in chosen:
        folder = tempfile.mkdtemp(prefix="endwell-worlds-", dir="/var/tmp")
        begun = time.monotonic()
        try:
            one(folder)
            print(f"ok   {one.__name__} ({time.monotonic() - begun:.1f} s)", flush=True)
        except Exception:  # whatever goes wrong in a test is its failure, and the others go on
            failed += 1
            print(f"FAIL {one.__name__}\n{traceback.format_exc()}", flush=True)
        finally:
            shutil.rmtree(folder, ignore_errors=True)
    print(f"{len(chosen) - failed} passed, {failed} failed")
    sys.exit(1 if failed or not chosen else 0)


main()
