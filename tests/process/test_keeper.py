#!/usr/bin/python3
"""endwell-keeper, played with as the worker does it: over its socket, with commands of every kind.

ENDWELL_KEEPER names the program."""
import array
import os
import signal
import socket
import subprocess
import sys
import time
import traceback

KEEPER = os.environ["ENDWELL_KEEPER"]
TIMEOUT = 30


def alive(pid):
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as file:
            return file.read().rpartition(")")[2].split()[0] not in "ZX"
    except (FileNotFoundError, ProcessLookupError):
        return False


def until(test, what):
    end = time.monotonic() + TIMEOUT
    while not test():
        assert time.monotonic() < end, f"waited in vain for {what}"
        time.sleep(0.005)


class Keeper:
    def __init__(self, *command):
        self.socket, its = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.process = subprocess.Popen([KEEPER, *command], stdin=its, env={"PATH": "/usr/bin:/bin", "KEPT": "1"})
        its.close()
        self.socket.settimeout(TIMEOUT)

    def start(self, words=""):
        reading, writing = os.pipe()
        null = os.open("/dev/null", os.O_RDWR)
        fds = array.array("i", [null, writing, null])
        self.socket.sendmsg([f"DO=start\n\n{words}".encode()], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, fds)])
        os.close(writing)
        os.close(null)
        self.output = os.fdopen(reading, "rb")
        return self

    def say(self, what):
        self.socket.send(f"DO={what}\n".encode())

    def heard(self, what):
        said = dict(line.split("=", 1) for line in self.socket.recv(4096).decode().splitlines() if line)
        assert said.get("SAID") == what, f"{said} instead of {what}"
        return said

    def gone(self, **wanted):
        said = self.heard("gone")
        for key, value in wanted.items():
            assert said[key] == value, f"{key}: {said}"
        return said

    def end(self):
        self.socket.close()
        return self.process.wait(TIMEOUT)


def a_command_runs_with_the_words_of_its_start_and_its_end_is_told():
    keeper = Keeper("sh", "-c", 'echo "$KEPT $WORD $GIVEN"; exit 7').start("WORD=a b\nGIVEN=x\n")
    keeper.heard("started")
    keeper.gone(HOW="exited", STATUS="7", LEFT="0")
    assert keeper.output.read() == b"1 a b x\n"
    keeper.start("GIVEN")  # a word without = takes it away, the others stay
    keeper.heard("started")
    keeper.gone(HOW="exited", STATUS="7")
    assert keeper.output.read() == b"1 a b \n"
    assert keeper.end() == 0


def a_command_starts_with_nothing_of_the_keeper_but_its_environment():
    keeper = Keeper("sh", "-c", "ls -l /proc/self/fd | wc -l; grep -E 'SigBlk|SigIgn' /proc/self/status; ps -o sid= -p $$; echo $$")
    keeper.start().heard("started")
    keeper.gone(HOW="exited", STATUS="0")
    lines = keeper.output.read().decode().split("\n")
    assert int(lines[0]) == 5, lines  # a line of its own, 0 to 2, and the directory
    assert lines[1].split()[1] == lines[2].split()[1] == "0" * 16, lines
    assert lines[3].strip() == lines[4], "a session of its own"
    assert keeper.end() == 0


def who_cannot_be_started_is_told_with_the_reason():
    keeper = Keeper("/nonexistent").start()
    assert keeper.heard("failed")["ERROR"] == "2"
    assert keeper.end() == 0
    keeper = Keeper("/etc/passwd").start()
    assert keeper.heard("failed")["ERROR"] == "13"
    assert keeper.end() == 0


def a_second_start_beside_a_running_command_is_refused():
    keeper = Keeper("sleep", "1000").start()
    keeper.heard("started")
    keeper.start()
    keeper.heard("failed")
    keeper.say("kill")
    keeper.gone(HOW="killed", STATUS="9")
    assert keeper.end() == 0


def asking_reaches_the_whole_group_even_when_it_is_stopped():
    keeper = Keeper("sh", "-c", "trap 'echo asked; exit 3' TERM; echo $$; kill -STOP $$; while :; do sleep 0.01; done").start()
    keeper.heard("started")
    pid = int(keeper.output.readline())
    until(lambda: open(f"/proc/{pid}/stat", encoding="ascii").read().split()[2] == "T", "the stop")
    keeper.say("ask")
    keeper.gone(HOW="exited", STATUS="3")
    assert keeper.output.read() == b"asked\n"
    assert keeper.end() == 0


def what_a_command_leaves_is_killed_and_named_however_it_hid():
    keeper = Keeper("sh", "-c", "for i in 1 2 3; do setsid sh -c 'trap \"\" TERM HUP INT; echo $$; exec sleep 1000' & done; "
                    "(setsid setsid nohup sleep 999 >/dev/null 2>&1 &) ; sleep 0.3; exit 0").start()
    keeper.heard("started")
    pids = [int(keeper.output.readline()) for _ in range(3)]
    said = keeper.gone(HOW="exited", STATUS="0", LEFT="4")
    assert set(said["NAMES"].split()) == {"sleep"}, said
    assert not any(map(alive, pids))
    assert keeper.end() == 0


def a_bomb_is_defused():
    keeper = Keeper("sh", "-c", "b() { sleep 0.02; if [ $1 -gt 0 ]; then b $(($1 - 1)) & b $(($1 - 1)) & fi; wait; sleep 1000; }; b 7").start()
    keeper.heard("started")
    until(lambda: len(everybody_below(keeper.process.pid)) > 40, "a tree of some size")
    keeper.say("kill")
    while True:
        said = dict(line.split("=", 1) for line in keeper.socket.recv(4096).decode().splitlines() if line)
        if said["SAID"] == "gone":
            break
        assert said["SAID"] == "stuck", said
    assert children(keeper.process.pid) == []
    assert keeper.end() == 0


def children(pid):
    try:
        with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as file:
            return file.read().split()
    except (FileNotFoundError, ProcessLookupError):
        return []


def everybody_below(pid):
    found, new = [], [pid]
    while new:
        new = [child for one in new for child in children(one)]
        found += new
    return found


def signals_to_the_group_do_not_end_the_keeper():
    keeper = Keeper("sh", "-c", "echo $$; sleep 1000").start()
    keeper.heard("started")
    keeper.output.readline()
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGQUIT, signal.SIGUSR1, signal.SIGTSTP):
        keeper.process.send_signal(number)
    keeper.say("kill")
    keeper.gone(HOW="killed", STATUS="9")
    assert keeper.end() == 0


def when_the_worker_is_gone_nothing_lives_on():
    keeper = Keeper("sh", "-c", "setsid sh -c 'trap \"\" TERM; echo $$; exec sleep 1000' & echo $$; wait").start()
    keeper.heard("started")
    pids = [int(keeper.output.readline()) for _ in range(2)]
    assert keeper.end() == 0
    assert not any(map(alive, pids)), "something lives on"


def when_the_keeper_is_killed_its_command_dies_with_it():
    keeper = Keeper("sh", "-c", "echo $$; exec sleep 1000").start()
    keeper.heard("started")
    pid = int(keeper.output.readline())
    keeper.process.kill()
    until(lambda: not alive(pid), "the command's end")
    assert keeper.end() == -signal.SIGKILL


def nonsense_from_the_socket_is_passed_over():
    keeper = Keeper("true")
    for text in (b"\n", b"hello", b"DO=\n", b"DO=dance\n", b"DO=kill\n", b"DO=ask\n", b"x" * 60000, b"=\n\n\n"):
        keeper.socket.send(text)
    keeper.socket.send(b"DO=start\n")  # and no descriptors
    keeper.heard("failed")
    keeper.start().heard("started")
    keeper.gone(HOW="exited", STATUS="0")
    assert keeper.end() == 0


def without_a_socket_it_says_who_starts_it():
    done = subprocess.run([KEEPER, "true"], stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    assert done.returncode == 64 and "endwell worker" in done.stderr, done


TESTS = [value for value in list(globals().values()) if callable(value) and getattr(value, "__code__", None)
         and value.__code__.co_argcount == 0 and value.__module__ == "__main__"]


def main():
    failed = 0
    for test in TESTS:
        try:
            test()
            print(f"ok   {test.__name__}")
        except Exception:  # whatever goes wrong in one is its failure, and the others go on
            failed += 1
            print(f"FAIL {test.__name__}\n{traceback.format_exc()}")
    print(f"{len(TESTS) - failed} passed, {failed} failed")
    return 1 if failed or not TESTS else 0


if __name__ == "__main__":
    sys.exit(main())
