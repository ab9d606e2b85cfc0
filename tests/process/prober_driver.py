"""Plays PID 1 towards a real endwell-prober, and the services that it looks at."""
import http.server
import os
import signal
import socket
import subprocess
import threading
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


class Handler(http.server.BaseHTTPRequestHandler):
    """/200, /503, …: that status. /302: to `elsewhere`."""

    def answer(self):
        self.server.requests.append((self.command, self.path, dict(self.headers), self.client_address))
        status = int(self.path.partition("?")[0].strip("/") or 200)
        self.send_response(status)
        self.send_header("Set-Cookie", "a=b")
        if 300 <= status < 400:
            self.send_header("Location", self.server.elsewhere)
        if status not in (204, 304):
            self.send_header("Content-Length", "3")
        self.end_headers()
        if status not in (204, 304) and self.command != "HEAD":
            self.wfile.write(b"ok\n")

    do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = do_HEAD = answer

    def log_message(self, *words):
        pass


class HttpServer(http.server.ThreadingHTTPServer):
    request_queue_size = 1024

    def __init__(self, host="127.0.0.1", context=None):
        self.address_family = socket.AF_INET6 if ":" in host else socket.AF_INET
        super().__init__((host, 0), Handler)
        self.requests, self.elsewhere, self.port = [], "", self.server_address[1]
        if context:
            self.socket = context.wrap_socket(self.socket, server_side=True)
        threading.Thread(target=self.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()

    def handle_error(self, request, client_address):
        pass  # a client that leaves in the middle is no error of a test's server

    def url(self, path="/", host="127.0.0.1"):
        return f"http://{host}:{self.port}{path}"

    def clean(self):
        self.shutdown()
        self.server_close()


class RawServer:
    """Each connection is given to `serve(connection)` in a thread; what that does decides."""

    def __init__(self, serve, path=None, backlog=1024):
        self.socket = socket.socket(socket.AF_UNIX if path else socket.AF_INET)
        self.socket.bind(path or ("127.0.0.1", 0))
        self.socket.listen(backlog)
        self.port = None if path else self.socket.getsockname()[1]
        self.serve, self.connections, self.released = serve, [], threading.Event()
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            try:
                connection, _ = self.socket.accept()
            except OSError:
                return
            self.connections.append(connection)
            threading.Thread(target=self.one, args=(connection,), daemon=True).start()

    def one(self, connection):
        try:
            self.serve(self, connection)
        except OSError:
            pass
        connection.close()

    def url(self, path="/"):
        return f"http://127.0.0.1:{self.port}{path}"

    def clean(self):
        self.released.set()
        self.socket.shutdown(socket.SHUT_RDWR)
        self.socket.close()


def read_request(connection):
    data = b""
    while not data.endswith(b"\r\n\r\n"):
        more = connection.recv(65536)
        if not more:
            break
        data += more
    return data
