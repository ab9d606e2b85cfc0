#!/usr/bin/python3
"""A service that is given descriptors: says in $ACTOR_LOG what it found, then does what its words say, one after another.

`holder.py WORD…`: ready, notify TEXT, store NAME [N] (new files), store-hung NAME (a socket whose peer is closed), forget NAME, again
NAME (what was passed first, once more), shut (shutdown(2) on what was passed), nonblock, line N TEXT (to descriptor N),
close N, accept (one client, gets "served by PID"), wait-for FILE, exit CODE, say EVENT, barrier. At the end, and at a
serve, it waits for SIGTERM; then it closes its sockets, says so, and with `slow FILE` before, stays until FILE is there."""
import array
import fcntl
import json
import os
import signal
import socket
import stat
import sys
import time

FIRST = 3
STATE = {"slow": None}


def log(event, **fields):
    line = {"t": time.monotonic_ns() // 1000, "pid": os.getpid(), "name": os.environ.get("ENDWELL_SERVICE", "?"),
            "instance": int(os.environ.get("ENDWELL_INSTANCE", "0")), "event": event, **fields}
    fd = os.open(os.environ["ACTOR_LOG"], os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o666)
    os.write(fd, (json.dumps(line) + "\n").encode())
    os.close(fd)


def passed():
    return list(range(FIRST, FIRST + int(os.environ.get("LISTEN_FDS", "0"))))


def describe(fd):
    about, flags = os.fstat(fd), fcntl.fcntl(fd, fcntl.F_GETFL)
    found = {"fd": fd, "inode": about.st_ino, "socket": stat.S_ISSOCK(about.st_mode),
             "nonblocking": bool(flags & os.O_NONBLOCK), "cloexec": bool(fcntl.fcntl(fd, fcntl.F_GETFD) & 1)}
    if found["socket"]:
        one = socket.socket(fileno=os.dup(fd))
        found["listens"] = bool(one.getsockopt(socket.SOL_SOCKET, socket.SO_ACCEPTCONN))
        name = one.getsockname()
        found["address"] = name if isinstance(name, str) else f"{name[0]}:{name[1]}"
        one.close()
    elif stat.S_ISREG(about.st_mode):
        found["text"] = os.pread(fd, 100, 0).decode()
    return found


def say_found():
    others = [int(name) for name in os.listdir("/proc/self/fd")]
    log("found", fds=[describe(fd) for fd in passed()], names=os.environ.get("LISTEN_FDNAMES", "").split(":"),
        mine=os.environ.get("LISTEN_PID") == str(os.getpid()), open=sorted(fd for fd in others if os.path.exists(f"/proc/self/fd/{fd}")),
        uid=os.getuid(), listen={key: value for key, value in os.environ.items() if key.startswith("LISTEN_")})


def notify(text, fds=()):
    channel = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    rights = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", fds))] if fds else []
    channel.sendmsg([text.encode()], rights, 0, os.environ["NOTIFY_SOCKET"])


def barrier():
    mine, theirs = os.pipe()
    notify("BARRIER=1", [theirs])
    os.close(theirs)
    os.read(mine, 1)
    os.close(mine)


def new_file(text):
    fd = os.memfd_create(text)
    os.write(fd, text.encode())
    return fd


def store(name, fds, more=""):
    notify(f"FDSTORE=1\nFDNAME={name}{more}", fds)


def wait_for(path):
    while not os.path.exists(path):
        time.sleep(0.002)


def accept():
    one = socket.socket(fileno=os.dup(FIRST))
    one.setblocking(True)
    client, _ = one.accept()
    client.sendall(f"served by {os.getpid()}".encode())
    client.close()
    one.close()


def on_term(*_):
    for fd in passed():
        os.close(fd)
    log("closed")
    if STATE["slow"]:
        wait_for(STATE["slow"])
    os._exit(0)  # an exception could be lost here, in the midst of whatever is being done


def hung():
    one, other = socket.socketpair()
    other.close()
    return one.detach()


def run(words):
    todo = list(words)
    while todo:
        word = todo.pop(0)
        if word == "ready":
            notify("READY=1")
        elif word == "notify":
            notify(todo.pop(0))
        elif word == "store":
            name = todo.pop(0)
            count = int(todo.pop(0)) if todo and todo[0].isdigit() else 1
            store(name, [new_file(f"{name} {number}") for number in range(count)])
        elif word == "store-hung":
            store(todo.pop(0), [hung()])
        elif word == "store-hung-unwatched":
            store(todo.pop(0), [hung()], "\nFDPOLL=0")
        elif word == "forget":
            notify(f"FDSTOREREMOVE=1\nFDNAME={todo.pop(0)}")
        elif word == "again":
            store(todo.pop(0), passed()[:1])
        elif word == "shut":
            for fd in passed():
                socket.socket(fileno=os.dup(fd)).shutdown(socket.SHUT_RDWR)
        elif word == "nonblock":
            for fd in passed():
                os.set_blocking(fd, False)
        elif word == "line":
            fd = int(todo.pop(0))
            os.write(fd, todo.pop(0).encode().decode("unicode_escape").encode())
        elif word == "close":
            os.close(int(todo.pop(0)))
        elif word == "accept":
            accept()
        elif word == "wait-for":
            wait_for(todo.pop(0))
        elif word == "slow":
            STATE["slow"] = todo.pop(0)
        elif word == "say":
            log(todo.pop(0))
        elif word == "barrier":
            barrier()
        elif word == "exit":
            sys.exit(int(todo.pop(0)))
        else:
            sys.exit(f"holder.py: {word} is no word")


def main():
    signal.signal(signal.SIGTERM, on_term)
    say_found()
    run(sys.argv[1:])
    log("serving")
    while True:
        time.sleep(0.05)  # not pause(2): a signal just before it would be heard only after the next one


main()
