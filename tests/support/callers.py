"""Clients of a server that is held by endwell: `callers`, our own, and wrk. Both count what became of each call."""
import json
import os
import random
import re
import shutil
import signal
import socket
import subprocess

from journal import check

CALLERS = os.environ.get("ENDWELL_CALLERS", "")
OURSELVES = "127.0.0.1"


def free_port():
    """None that the kernel gives to clients, of whom there are many here."""
    while True:
        port = random.randrange(20000, 32000)
        with socket.socket() as one:
            one.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                one.bind(("0.0.0.0", port))
                return port
            except OSError:
                continue


class Callers:
    """`count` clients that call until over(); mode: fresh (a connection a call) or kept."""

    def __init__(self, case, address, count, mode):
        self.process = subprocess.Popen([CALLERS, address, str(count), mode], stdin=subprocess.PIPE, text=True,
                                        stdout=subprocess.PIPE)
        case.cleaners.append(self.clean)
        check(self.process.stdout.readline() == "calling\n", "the callers did not begin")

    def over(self):
        """{answered, refused, lost, other, longest_ms}"""
        said, _ = self.process.communicate(timeout=60)
        return json.loads(said)

    def clean(self):
        self.process.kill()
        self.process.wait()


class Wrk:
    """wrk until over(), in the same modes."""

    def __init__(self, case, port, count, mode):
        program = shutil.which("wrk")
        check(program, "wrk is not installed (tests/packages)")
        header = ["-H", "Connection: close"] if mode == "fresh" else []
        self.process = subprocess.Popen([program, "-t1", f"-c{count}", "-d600s", "--timeout", "30s", *header,
                                         f"http://{OURSELVES}:{port}/"], text=True, stdout=subprocess.PIPE)
        case.cleaners.append(self.clean)

    def over(self):
        """{requests, connect, read, write, timeout, status}: wrk names its errors only when there are some."""
        self.process.send_signal(signal.SIGINT)
        said, _ = self.process.communicate(timeout=120)
        errors = re.search(r"Socket errors: connect (\d+), read (\d+), write (\d+), timeout (\d+)", said)
        other = re.search(r"Non-2xx or 3xx responses: (\d+)", said)
        requests = re.search(r"(\d+) requests in", said)
        check(requests, f"wrk said nothing of its requests: {said}")
        found = dict(zip(("connect", "read", "write", "timeout"), map(int, errors.groups() if errors else (0,) * 4)))
        return {"requests": int(requests[1]), "status": int(other[1]) if other else 0, **found}

    def clean(self):
        self.process.kill()
        self.process.wait()
