#!/usr/bin/python3
"""A web server that is given its socket and ends well: README.md says why it does what it does, in which order."""
import os
import signal
import socket
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

FIRST_PASSED = 3  # sd_listen_fds(3)


def passed_socket():
    if os.environ.get("LISTEN_PID") != str(os.getpid()) or os.environ.get("LISTEN_FDS") != "1":
        raise SystemExit("server.py: no socket was passed (LISTEN_PID, LISTEN_FDS)")
    return socket.socket(fileno=FIRST_PASSED)


def notify(words):
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as channel:
        channel.sendto(words.encode(), os.environ["NOTIFY_SOCKET"])


class Answer(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    timeout = 5  # a client that says nothing for so long is let go

    def do_GET(self):
        body = f"hello from process {os.getpid()}\n".encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        if self.server.draining:  # the client's next request goes to another process, over another connection
            self.send_header("Connection", "close")
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


class Server(ThreadingHTTPServer):
    daemon_threads = False  # so that server_close() waits for what is in hand
    draining = False

    def __init__(self, one):
        super().__init__(one.getsockname(), Answer, bind_and_activate=False)
        self.socket = one

    def drain(self):
        self.draining = True
        self.socket.setblocking(False)
        try:
            while True:  # who is in the queue is accepted
                self.process_request(*self.get_request())
        except BlockingIOError:
            pass
        self.server_close()  # at once: who comes now is refused, or waits for the next run


def main():
    server = Server(passed_socket())
    # In a thread: shutdown() waits until the loop below has ended.
    signal.signal(signal.SIGTERM, lambda *_: threading.Thread(target=server.shutdown).start())
    notify("READY=1")
    server.serve_forever(poll_interval=0.05)
    notify("STOPPING=1")
    server.drain()


if __name__ == "__main__":
    main()
