#!/usr/bin/python3
"""The real endwell-prober, driven as PID 1 drives it, towards real servers: good ones, hostile ones, and none."""
import os
import shutil
import signal
import socket
import ssl
import subprocess
import sys
import tempfile
import threading
import time
import unittest

HERE = os.path.dirname(os.path.realpath(__file__))
sys.path[:0] = [HERE, os.path.join(os.path.dirname(HERE), "support")]
sys.dont_write_bytecode = True

from prober_driver import PROBER, SEC, Prober, until  # noqa: E402
from servers import HttpServer, RawServer, closed_port, read_request  # noqa: E402

MS = 1000
HEAD = b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\n"
REFUSED = ("failed", "connection refused")
CLEAN = (0, "")


def reads_and_waits(server, connection):
    read_request(connection)
    server.released.wait()


class Case(unittest.TestCase):
    def setUp(self):
        self.directory = tempfile.mkdtemp(prefix="endwell-prober-")
        self.addCleanup(shutil.rmtree, self.directory, True)

    def file(self, name, text=None):
        path = os.path.join(self.directory, name)
        if text is not None:
            with open(path, "w", encoding="utf-8") as file:
                file.write(text)
        return path

    def start(self, *words, **how):
        prober = Prober(*words, **how)
        self.addCleanup(prober.clean)
        return prober

    def http(self, *how, **more):
        server = HttpServer(*how, **more)
        self.addCleanup(server.clean)
        return server

    def raw(self, serve, **how):
        server = RawServer(serve, **how)
        self.addCleanup(server.clean)
        return server

    def took(self, function):
        begun = time.monotonic()
        return function(), time.monotonic() - begun


class Http(Case):
    def test_a_check_is_good_from_200_to_399(self):
        server, prober = self.http(), self.start()
        for status in (200, 204, 299, 301, 302, 304, 399):
            self.assertEqual(prober.check("http", server.url(f"/{status}")), ("succeeded", f"HTTP {status}"))
        for status in (400, 404, 429, 500, 503, 599):
            self.assertEqual(prober.check("http", server.url(f"/{status}")), ("failed", f"HTTP {status}"))
        self.assertEqual(prober.end(), CLEAN)

    def test_a_hook_is_good_from_200_to_299(self):
        server, prober = self.http(), self.start()
        for status, result in ((200, "succeeded"), (204, "succeeded"), (302, "failed"), (404, "failed"), (500, "failed")):
            self.assertEqual(prober.check("http", server.url(f"/{status}"), HOOK=1), (result, f"HTTP {status}"))

    def test_a_redirect_is_not_followed(self):
        server, elsewhere, prober = self.http(), self.http(), self.start()
        server.elsewhere = elsewhere.url("/200")
        prober.check("http", server.url("/302"))
        prober.check("http", server.url("/302"), HOOK=1)
        prober.check("http", elsewhere.url("/200?asked"))
        self.assertEqual([path for _, path, _, _ in elsewhere.requests], ["/200?asked"])

    def test_what_is_sent(self):
        server, prober = self.http(), self.start()
        prober.check("http", server.url("/200/a/../b?x=y z".replace(" ", "%20")))
        for method in ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"):
            self.assertEqual(prober.check("http", server.url("/200"), HOOK=1, METHOD=method), ("succeeded", "HTTP 200"))
        self.assertEqual([request[0] for request in server.requests],
                         ["GET", "GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"])
        for method, _, headers, _ in server.requests:
            self.assertEqual(headers.pop("User-Agent").split("/")[0], "endwell")
            self.assertEqual(headers.pop("Host"), f"127.0.0.1:{server.port}")
            self.assertEqual(headers.pop("Accept"), "*/*")
            self.assertEqual(headers, {"Content-Length": "0"} if method in ("POST", "PUT", "PATCH") else {})

    def test_each_goes_over_a_connection_of_its_own_and_brings_no_cookie(self):
        server, prober = self.http(), self.start()
        for _ in range(3):
            prober.check("http", server.url("/200"))
        self.assertEqual(len({address for _, _, _, address in server.requests}), 3)
        self.assertFalse([headers for _, _, headers, _ in server.requests if "Cookie" in headers])

    def test_no_proxy_is_taken_from_the_environment(self):
        server, proxy = self.http(), self.http()
        words = {name: proxy.url() for name in ("http_proxy", "all_proxy", "HTTP_PROXY", "ALL_PROXY")}
        prober = self.start(environment={**words, "no_proxy": ""})
        self.assertEqual(prober.check("http", server.url("/200")), ("succeeded", "HTTP 200"))
        self.assertEqual(prober.check("http", server.url("/200"), HOOK=1), ("succeeded", "HTTP 200"))
        self.assertEqual((len(server.requests), proxy.requests), (2, []))

    def test_localhost_is_both_addresses(self):
        prober = self.start()
        for host in ("127.0.0.1", "::1"):
            server = self.http(host)
            self.assertEqual(prober.check("http", server.url("/200", "localhost")), ("succeeded", "HTTP 200"), host)
            self.assertEqual(prober.check("tcp", f"localhost:{server.port}"), ("succeeded", "connected"), host)
        self.assertEqual(prober.check("http", server.url("/200", "[::1]")), ("succeeded", "HTTP 200"))
        self.assertEqual(prober.check("http", f"http://localhost:{closed_port()}/"), REFUSED)
        self.assertEqual(prober.check("tcp", f"localhost:{closed_port()}"), REFUSED)

    def test_a_check_looks_no_name_up_and_goes_by_http_only(self):
        prober = self.start(shell=self.hosts("127.0.0.1 web"))
        server = self.http()
        for url in (server.url("/", "web"), server.url("/", "localhost.localdomain"), "https://127.0.0.1/",
                    "ftp://127.0.0.1/", f"file://{self.file('x', 'x')}", "no url", ""):
            result = prober.check("http", url) if url else ("failed", "this URL is not asked")
            self.assertEqual(result, ("failed", "this URL is not asked"), url)
        for url in ("ftp://web/", f"file://{self.file('x', 'x')}"):
            self.assertEqual(prober.check("http", url, HOOK=1), ("failed", "this URL is not asked"), url)
        self.assertEqual(prober.check("http", server.url("/200", "web"), HOOK=1), ("succeeded", "HTTP 200"))
        self.assertEqual(len(server.requests), 1)

    def hosts(self, line):
        return f"mount --bind {self.file('hosts', line)} /etc/hosts"

    def test_the_words_of_failures(self):
        def closes(server, connection):
            read_request(connection)

        def breaks_off(server, connection):
            read_request(connection)
            connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Le")

        def breaks_the_body(server, connection):
            read_request(connection)
            connection.sendall(HEAD + b"o")

        def resets(server, connection):
            read_request(connection)
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")

        prober = self.start()
        self.assertEqual(prober.check("http", f"http://127.0.0.1:{closed_port()}/"), REFUSED)
        self.assertEqual(prober.check("http", self.raw(closes).url()), ("failed", "closed without an answer"))
        self.assertEqual(prober.check("http", self.raw(resets).url()), ("failed", "connection reset by peer"))
        self.assertEqual(prober.check("http", self.raw(breaks_off).url(), HOOK=1)[0], "failed")
        self.assertEqual(prober.check("http", self.raw(breaks_the_body).url(), HOOK=1),
                         ("failed", "closed before the end of the answer"))
        self.assertEqual(prober.check("http", "http://no-such-name.invalid/", HOOK=1),
                         ("failed", "the name could not be resolved"))

    def test_a_check_is_judged_when_the_headers_are_there_and_a_hook_at_the_end(self):
        def pauses(server, connection):
            read_request(connection)
            connection.sendall(HEAD)
            server.released.wait()
            connection.sendall(b"ok\n")

        server, prober = self.raw(pauses), self.start()
        hook = prober.ask("http", server.url(), HOOK=1)
        until(lambda: server.connections, "the hook's connection")
        self.assertEqual(prober.check("http", server.url()), ("succeeded", "HTTP 200"))
        self.assertNotIn(hook, prober.answers)
        server.released.set()
        self.assertEqual(prober.answer(hook), ("succeeded", "HTTP 200"))

    def test_a_server_is_heard_out_to_the_end_of_its_answer(self):
        ended = []

        def speaks_slowly(server, connection):
            read_request(connection)
            connection.sendall(HEAD)
            server.released.wait()
            connection.sendall(b"ok\n")
            ended.append(connection.recv(1))

        server, prober = self.raw(speaks_slowly), self.start()
        self.assertEqual(prober.check("http", server.url()), ("succeeded", "HTTP 200"))
        server.released.set()
        until(lambda: ended, "the end of the connection")
        self.assertEqual(ended, [b""], "closed, and not reset")


class Hostile(Case):
    def test_an_endless_header_is_cut(self):
        def never_stops(server, connection):
            read_request(connection)
            connection.sendall(b"HTTP/1.1 200 OK\r\n")
            while True:
                connection.sendall(b"X-More: " + b"x" * 100 + b"\r\n")

        def one_line(server, connection):
            read_request(connection)
            connection.sendall(b"HTTP/1.1 200 OK\r\nX-More: ")
            while True:
                connection.sendall(b"x" * 4096)

        def continues(server, connection):
            read_request(connection)
            while True:
                connection.sendall(b"HTTP/1.1 100 Continue\r\n\r\n")

        prober = self.start()
        for serve in (never_stops, one_line, continues):
            for words in ({}, {"HOOK": 1}):
                self.assertEqual(prober.check("http", self.raw(serve).url(), **words),
                                 ("failed", "the headers are too long"), serve.__name__)
        self.assertLess(prober.resident_kib(), 64 * 1024)

    def test_an_endless_body_is_cut_in_a_check_and_costs_no_memory_in_a_hook(self):
        sent = []

        def never_stops(server, connection):
            read_request(connection)
            connection.sendall(b"HTTP/1.1 200 OK\r\n\r\n")
            sent.append(0)
            place = len(sent) - 1
            while True:
                sent[place] += connection.send(b"x" * 65536)

        server, prober = self.raw(never_stops), self.start()
        self.assertEqual(prober.check("http", server.url()), ("succeeded", "HTTP 200"))
        until(lambda: server.connections[0].fileno() < 0, "the end of the connection")
        self.assertLess(sent[0], 32 * 1024 * 1024)
        hook = prober.ask("http", server.url(), HOOK=1)
        until(lambda: len(sent) == 2 and sent[1] > 64 * 1024 * 1024, "64 MiB for the hook")
        self.assertLess(prober.resident_kib(), 64 * 1024)
        prober.send(f"CANCEL={hook}\n")
        self.assertEqual(prober.answer(hook), ("unknown", "called off"))

    def test_garbage_is_no_http(self):
        def talks(server, connection):
            connection.sendall(bytes(range(256)) * 16)
            server.released.wait()

        prober = self.start()
        self.assertEqual(prober.check("http", self.raw(talks).url()), ("failed", "the answer is not HTTP"))

    def test_a_server_that_never_answers_is_left_when_the_time_is_up(self):
        server, prober = self.raw(reads_and_waits), self.start()
        result, took = self.took(lambda: prober.check("http", server.url(), 300 * MS))
        self.assertEqual(result, ("failed", "timed out"))
        self.assertGreaterEqual(took, 0.27)
        self.assertLess(took, 15)
        self.assertEqual(server.connections[0].recv(1), b"", "the connection was closed")

    def test_a_name_that_is_not_resolved_holds_up_nobody(self):
        resolver = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)  # hears, and says nothing
        self.addCleanup(resolver.close)
        host = f"127.{os.getpid() % 200 + 20}.66.55"
        resolver.bind((host, 53))
        path = self.file("resolv.conf", f"nameserver {host}\noptions timeout:30 attempts:1\n")
        prober = self.start(shell=f"mount --bind {path} /etc/resolv.conf")
        hook = prober.ask("http", "http://web.example.com/", 500 * MS, HOOK=1)
        resolver.recv(512)
        self.assertEqual(prober.check("http", self.http().url("/200")), ("succeeded", "HTTP 200"))
        self.assertNotIn(hook, prober.answers)
        self.assertEqual(prober.answer(hook), ("failed", "timed out"))
        prober.ask("http", "http://other.example.com/", 60 * SEC, HOOK=1)
        resolver.recv(512)
        end, took = self.took(prober.end)
        self.assertEqual(end, CLEAN)
        self.assertLess(took, 10, "its end waited for the resolver")


class Certificates(Case):
    def make(self):
        key, certificate = self.file("key.pem"), self.file("certificate.pem")
        subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
                        "-keyout", key, "-out", certificate, "-days", "2", "-subj", "/CN=localhost", "-addext",
                        "subjectAltName=DNS:localhost"], check=True, capture_output=True)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate, key)
        return certificate, context

    def test_a_hook_verifies_the_certificate_and_its_name(self):
        certificate, context = self.make()
        server = self.http(context=context)
        good, other = f"https://localhost:{server.port}/200", f"https://127.0.0.1:{server.port}/200"
        unverified = ("failed", "the certificate could not be verified")
        self.assertEqual(self.start().check("http", good, HOOK=1), unverified)
        prober = self.start(environment={"SSL_CERT_FILE": certificate})
        self.assertEqual(prober.check("http", good, HOOK=1), ("succeeded", "HTTP 200"))
        self.assertEqual(prober.check("http", other, HOOK=1), unverified)
        self.assertEqual(len(server.requests), 1)


class Connections(Case):
    def test_a_port_is_good_when_it_takes_the_connection_and_nothing_is_sent(self):
        heard = []

        def listens(server, connection):
            heard.append(connection.recv(1))

        server, prober = self.raw(listens), self.start()
        self.assertEqual(prober.check("tcp", f"127.0.0.1:{server.port}"), ("succeeded", "connected"))
        until(lambda: heard, "the end of the connection")
        self.assertEqual(heard, [b""])
        self.assertEqual(prober.check("tcp", f"127.0.0.1:{closed_port()}"), REFUSED)
        self.assertEqual(prober.check("tcp", "web:80")[0], "failed")

    def test_a_unix_socket(self):
        heard = []

        def listens(server, connection):
            heard.append(connection.recv(1))

        prober, path = self.start(), self.file("socket")
        self.assertEqual(prober.check("unix", path), ("failed", "no such file or directory"))
        server = self.raw(listens, path=path)
        self.assertEqual(prober.check("unix", path), ("succeeded", "connected"))
        until(lambda: heard, "the end of the connection")
        server.clean()
        self.assertEqual(prober.check("unix", path), REFUSED)
        self.assertEqual(prober.check("unix", "/" + "x" * 200)[0], "failed")
        server.socket = socket.socket()  # closed once more at the end
        server.socket.listen()

    def test_a_unix_socket_whose_queue_is_full_is_waited_for(self):
        path = self.file("socket")
        with socket.socket(socket.AF_UNIX) as server, socket.socket(socket.AF_UNIX) as other:
            server.bind(path)
            server.listen(0)
            other.connect(path)
            prober = self.start()
            self.assertEqual(prober.check("unix", path, 100 * MS), ("failed", "timed out"))
            number = prober.ask("unix", path)
            self.assertEqual(prober.check("unix", "/nonexistent")[0], "failed")
            self.assertNotIn(number, prober.answers)
            server.accept()[0].close()
            self.assertEqual(prober.answer(number), ("succeeded", "connected"))


class Many(Case):
    def hold(self, wanted):
        """A server that answers nobody before so many are connected at once."""
        present, lock = [], threading.Lock()

        def holds(server, connection):
            read_request(connection)
            with lock:
                present.append(connection)
                if len(present) == wanted:
                    server.released.set()
            server.released.wait()
            connection.sendall(HEAD + b"ok\n")

        return self.raw(holds)

    def test_a_thousand_checks_at_once(self):
        server, prober = self.hold(1000), self.start()
        path = self.file("socket")
        local = self.raw(lambda server, connection: connection.recv(1), path=path)
        numbers = [prober.ask("http", server.url(), 60 * SEC) for _ in range(1000)]
        numbers += [prober.ask("unix", path, 60 * SEC) for _ in range(1000)]
        numbers += [prober.ask("tcp", f"127.0.0.1:{server.port}", 60 * SEC) for _ in range(10)]
        for number in numbers:
            self.assertEqual(prober.answer(number)[0], "succeeded")
        until(lambda: len(local.connections) == 1000, "a thousand connections")
        self.assertEqual(prober.end(), CLEAN)

    def test_few_descriptors_are_enough_for_many_checks(self):
        server, prober = self.raw(reads_and_waits), self.start(before=["prlimit", "--nofile=64:64"])
        numbers = [prober.ask("http", server.url(), 300 * MS) for _ in range(100)]
        found = [prober.answer(number) for number in numbers]
        self.assertEqual(found.count(("failed", "timed out")), 8)
        self.assertEqual(found.count(("unknown", "could not look: too many checks at once")), 92)
        good = self.http()
        numbers = [prober.ask("http", good.url("/200"), 60 * SEC) for _ in range(300)]
        self.assertEqual({prober.answer(number) for number in numbers}, {("succeeded", "HTTP 200")})
        self.assertEqual(prober.end(), CLEAN)

    def test_answers_that_nobody_reads_are_kept_and_come_later(self):
        prober = self.start()
        for _ in range(5000):
            prober.ask("unix", "/nonexistent")
        for number in range(1, 5001):
            self.assertEqual(prober.answer(number)[0], "failed")

    def test_nothing_is_left_of_checks_that_are_over(self):
        server, prober = self.http(), self.start()
        prober.check("http", server.url("/200"))
        until(lambda: prober.descriptors() <= 8, "few descriptors")
        before = prober.descriptors()
        for _ in range(50):
            prober.check("http", server.url("/200"))
            prober.check("http", server.url("/500"), HOOK=1)
            prober.check("tcp", f"localhost:{server.port}")
            prober.check("tcp", f"127.0.0.1:{closed_port()}")
        until(lambda: prober.descriptors() <= before, f"as many descriptors as before ({before})")


class Manners(Case):
    def test_what_is_called_off_is_answered_and_its_connection_closed(self):
        server, prober = self.raw(reads_and_waits), self.start()
        number = prober.ask("http", server.url(), 60 * SEC)
        until(lambda: server.connections, "its connection")
        prober.send(f"CANCEL={number}\n")
        self.assertEqual(prober.answer(number), ("unknown", "called off"))
        while server.connections[0].recv(65536):
            pass
        prober.send(f"CANCEL={number}\n")
        self.assertEqual(prober.check("unix", "/nonexistent")[0], "failed")

    def test_time_that_went_by_while_it_was_stopped_is_nobodys_failure(self):
        server, prober = self.raw(reads_and_waits), self.start()
        number = prober.ask("http", server.url(), 200 * MS)
        until(lambda: server.connections, "its connection")
        prober.stop()
        time.sleep(0.6)  # no event: the very time that must go by
        prober.process.send_signal(signal.SIGCONT)
        self.assertEqual(prober.answer(number), ("unknown", "could not look in time"))

    def test_it_ends_when_pid_1_is_gone_and_not_when_it_is_signalled(self):
        server, prober = self.raw(reads_and_waits), self.start()
        prober.ask("http", server.url(), 60 * SEC)
        until(lambda: server.connections, "its connection")
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGQUIT, signal.SIGUSR1, signal.SIGUSR2):
            prober.process.send_signal(number)
        self.assertEqual(prober.check("unix", "/nonexistent")[0], "failed")
        self.assertEqual(prober.end(), CLEAN)

    def test_messages_that_make_no_sense_are_ignored_or_answered(self):
        prober = self.start()
        for text in ("", "nonsense", "ASK=\n", "ASK=-1\n\nx", "CANCEL=7\n", "\n\n"):
            if text:
                prober.send(text)
        for number, text in ((101, "ASK=101\n"), (102, "ASK=102\nBY=gopher\nTIMEOUT=1\n\nx"),
                             (103, "ASK=103\nBY=tcp\nTIMEOUT=x\n\nx"), (104, "ASK=104\nBY=tcp\nTIMEOUT=1000\n")):
            prober.send(text)
            self.assertNotEqual(prober.answer(number)[0], "succeeded", text)
        prober.send("x" * 100_000)
        self.assertEqual(prober.check("unix", "/nonexistent")[0], "failed")

    def test_no_url_is_ever_printed(self):
        server, prober = self.http(), self.start("--log-level", "debug")
        secret = "hunter2"
        for url in (f"http://user:{secret}@127.0.0.1:{server.port}/200?token={secret}",
                    f"http://user:{secret}@127.0.0.1:{closed_port()}/?token={secret}",
                    f"http://user:{secret}@{secret}.invalid/?token={secret}", f"nonsense://{secret}@{secret}", secret):
            for words in ({}, {"HOOK": 1}):
                self.assertNotIn(secret, prober.check("http", url, **words)[1])
        prober.send(f"ASK=900\nBY=http\n\nhttp://user:{secret}@127.0.0.1/")
        prober.answer(900)
        prober.send(f"nonsense={secret}")
        with open(f"/proc/{prober.process.pid}/cmdline", encoding="ascii") as file:
            self.assertNotIn(secret, file.read())
        code, said = prober.end()
        self.assertEqual(code, 0)
        self.assertNotIn(secret, said)

    def test_it_refuses_to_run_without_pid_1(self):
        for words, said in (([], "started by endwell run"), (["--nonsense"], "unknown option: --nonsense"),
                            (["--log-level", "loud"], "log-level: loud"), (["x"], "too many words: x")):
            run = subprocess.run([PROBER, *words], stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
            self.assertEqual(run.returncode, 64)
            self.assertIn(said, run.stderr)


if __name__ == "__main__":
    unittest.main()
