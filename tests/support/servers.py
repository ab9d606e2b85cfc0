"""Servers that are looked at: a good one by HTTP, and one that does with each connection what a test says."""
import http.server
import socket
import threading


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


def closed_port():
    """A port that nobody listens on: bound a moment ago, so that the kernel gives it to nobody else soon."""
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]
