"""What stands outside the container in the demo: a load balancer with its clients.

The balancer is asked to take the web server out over HTTP (DELETE /targets/web). It answers when no new request will be
sent there and every one that was sent has begun to be answered: what real ones promise, and call deregistration."""
import collections
import http.client
import http.server
import random
import threading
import time

REQUEST_TIMEOUT_SEC = 20
Request = collections.namedtuple("Request", "path begin end problem")


class Balancer:
    def __init__(self, address, port):
        self.target = (address, port)
        self.registered = True
        self.on_the_way = 0  # sent, and nothing came back yet
        self.changed = threading.Condition()
        self.server = http.server.ThreadingHTTPServer((address, 0), self.handler())
        self.server.daemon_threads = True
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def url(self):
        return "http://{}:{}".format(*self.server.server_address)

    def handler(balancer):  # noqa: N805  `self` below is the request
        class Handler(http.server.BaseHTTPRequestHandler):
            def do_DELETE(self):
                known = self.path == "/targets/web"
                done = known and balancer.take_out()
                self.send_response(204 if done else 504 if known else 404)
                self.end_headers()

            def log_message(self, *_):
                pass

        return Handler

    def take_out(self):
        with self.changed:
            self.registered = False
            return self.changed.wait_for(lambda: self.on_the_way == 0, timeout=REQUEST_TIMEOUT_SEC)

    def send(self):
        """True: a request may be sent, and arrived() must follow."""
        with self.changed:
            self.on_the_way += self.registered
            return self.registered

    def arrived(self):
        with self.changed:
            self.on_the_way -= 1
            self.changed.notify_all()

    def close(self):
        self.server.shutdown()
        self.server.server_close()


class Clients:
    """Threads that send one request after another for as long as the balancer lets them."""

    def __init__(self, balancer, sizes, pages, reports):
        """`sizes`: what each path must answer with; `pages` and `reports`: how many threads ask for each."""
        self.balancer, self.sizes, self.done = balancer, sizes, []
        self.began = {}  # thread: when its request began
        self.over = threading.Event()
        paths = ["/page"] * pages + ["/report"] * reports
        self.threads = [threading.Thread(target=self.run, args=(path,), daemon=True) for path in paths]

    def start(self):
        for thread in self.threads:
            thread.start()

    def run(self, path):
        while not self.over.wait(0.004 if path == "/page" else random.uniform(0, 0.5)) and self.balancer.send():
            begin = self.began[threading.get_ident()] = time.time()
            problem = self.request(path)
            self.began.pop(threading.get_ident())
            self.done.append(Request(path, begin, time.time(), problem))

    def request(self, path):
        """None, or what went wrong."""
        way = Way(self.balancer)
        connection = http.client.HTTPConnection(*self.balancer.target, timeout=REQUEST_TIMEOUT_SEC)
        try:
            connection.request("GET", path)
            answer = connection.getresponse()
            way.end()
            length = len(answer.read())
        except (OSError, http.client.HTTPException) as error:
            return f"{path}: {error!r}"
        finally:
            way.end()
            connection.close()
        if answer.status != 200 or length != self.sizes[path]:
            return f"{path}: status {answer.status}, {length} of {self.sizes[path]} bytes"
        return None

    def in_flight(self):
        return len(self.began)

    def stop(self):
        """After the end of the server, or when it never came up."""
        self.over.set()
        for thread in self.threads:
            if thread.ident:
                thread.join(REQUEST_TIMEOUT_SEC)


class Way:
    """From sending to the first byte of the answer; ends once."""

    def __init__(self, balancer):
        self.balancer, self.ended = balancer, False

    def end(self):
        if not self.ended:
            self.ended = True
            self.balancer.arrived()
