"""Plays PID 1 towards a real endwell-prober."""
import os
import signal
import socket
import subprocess
import time

PROBER = os.environ.get("ENDWELL_PROBER", "build/dev/prober/endwell-prober")
PATIENCE = 60  # seconds until something that must come is called missing
SEC = 1_000_000


class Prober:
    """`shell`: is run first, in a mount namespace of its own, and ends in nothing. `before`: words in front of it."""

    def __init__(self, *words, shell=None, environment=None, before=()):
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        command = [*before, PROBER, *words]
        if shell:
            command = ["unshare", "-m", "sh", "-c", shell + ' && exec "$@"', "sh", *command]
        self.process = subprocess.Popen(command, stdin=theirs, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                                        env={**os.environ, **(environment or {})})
        theirs.close()
        ours.settimeout(PATIENCE)
        self.socket, self.asked, self.answers = ours, 0, {}

    def send(self, text):
        self.socket.send(text.encode())

    def ask(self, by, target, timeout=10 * SEC, **words):
        """The number of the request."""
        self.asked += 1
        more = "".join(f"{key}={value}\n" for key, value in words.items())
        self.send(f"ASK={self.asked}\nBY={by}\nTIMEOUT={timeout}\n{more}\n{target}")
        return self.asked

    def hear(self):
        data = self.socket.recv(4096)
        if not data:
            raise AssertionError("the prober has closed its socket: " + self.process.stderr.read().decode())
        message = dict(line.split("=", 1) for line in data.decode().splitlines())
        number = int(message["ANSWER"])
        if number in self.answers:
            raise AssertionError(f"{number} was answered twice")
        self.answers[number] = (message["RESULT"], message["DETAIL"])
        return number

    def answer(self, number):
        while number not in self.answers:
            self.hear()
        return self.answers[number]

    def check(self, by, target, timeout=10 * SEC, **words):
        return self.answer(self.ask(by, target, timeout, **words))

    def descriptors(self):
        return len(os.listdir(f"/proc/{self.process.pid}/fd"))

    def resident_kib(self):
        with open(f"/proc/{self.process.pid}/status", encoding="ascii") as file:
            return next(int(line.split()[1]) for line in file if line.startswith("VmRSS:"))

    def stop(self):
        self.process.send_signal(signal.SIGSTOP)
        until(lambda: state_of(self.process.pid) == "T", "the prober is stopped")

    def end(self):
        """PID 1 closes: the prober's exit code and what it said."""
        self.socket.close()
        said = self.process.stderr.read().decode()
        return self.process.wait(PATIENCE), said

    def clean(self):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        self.process.stderr.close()
        self.socket.close()


def state_of(pid):
    with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as file:
        return file.read().rpartition(")")[2].split()[0]


def until(test, what):
    end = time.monotonic() + PATIENCE
    while True:
        found = test()
        if found:
            return found
        if time.monotonic() > end:
            raise AssertionError(f"waited {PATIENCE} s in vain for: {what}")
        time.sleep(0.002)
