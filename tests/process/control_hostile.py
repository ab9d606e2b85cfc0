#!/usr/bin/python3
"""Hostile and clumsy clients against the real control socket: `control_hostile.py CONTROL_SERVER [NAME…]`.

Whatever they do, the server answers the next honest client, stays small, and tells whom it dropped and why."""
import json
import os
import resource
import select
import signal
import socket
import subprocess
import sys
import tempfile

TESTS = []
TIMEOUT = 30  # seconds after which a thing that was waited for is a failure


def test(function):
    TESTS.append(function)
    return function


def check(truth, text):
    if not truth:
        raise AssertionError(text)


def equal(have, want):
    check(have == want, f"have {have!r}, want {want!r}")


class Server:
    def __init__(self, program, limit=None):
        self.directory = tempfile.mkdtemp(prefix="endwell-control-", dir="/dev/shm")
        os.chmod(self.directory, 0o711)
        self.path = os.path.join(self.directory, "control.sock")
        words = [program, self.path, os.path.join(self.directory, "journal")]
        set_limit = (lambda: resource.setrlimit(resource.RLIMIT_NOFILE, limit)) if limit else None
        self.process = subprocess.Popen(words, stdout=subprocess.PIPE, preexec_fn=set_limit)
        self.output = b""
        equal(self.says(), "ready")

    def says(self):
        """The next line of its output."""
        while b"\n" not in self.output:
            ready, _, _ = select.select([self.process.stdout], [], [], TIMEOUT)
            check(ready, "the server said nothing")
            more = os.read(self.process.stdout.fileno(), 65536)
            check(more, "the server ended")
            self.output += more
        line, self.output = self.output.split(b"\n", 1)
        return line.decode()

    def has_said(self):
        return b"\n" in self.output or bool(select.select([self.process.stdout], [], [], 0)[0])

    def connect(self):
        return Client(self.path)

    def memory(self):
        """KiB that are its own."""
        with open(f"/proc/{self.process.pid}/smaps_rollup", encoding="ascii") as file:
            return sum(int(line.split()[1]) for line in file if line.startswith("Private_"))

    def descriptors(self):
        return len(os.listdir(f"/proc/{self.process.pid}/fd"))

    def switches(self):
        """How often it went to sleep: what a loop that spins, or works for nobody, adds to."""
        with open(f"/proc/{self.process.pid}/status", encoding="ascii") as file:
            return sum(int(line.split()[1]) for line in file if "ctxt_switches" in line)

    def is_asleep(self):
        with open(f"/proc/{self.process.pid}/stat", encoding="ascii") as file:
            return file.read().rsplit(")", 1)[1].split()[0] == "S"

    def end(self):
        if self.process.poll() is None:
            try:
                self.connect().send(b'{"method":"stop"}\n')
            except OSError:
                self.process.kill()
        try:
            self.process.wait(TIMEOUT)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        subprocess.run(["rm", "-rf", self.directory], check=False)
        return self.process.returncode


class Client:
    def __init__(self, path):
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.socket.connect(path)  # waits while the backlog is full
        self.socket.settimeout(TIMEOUT)
        self.rest = b""

    def send(self, raw):
        self.socket.sendall(raw)

    def line(self):
        """The next line, parsed; None at the end."""
        while b"\n" not in self.rest:
            try:
                more = self.socket.recv(65536)
            except ConnectionResetError:
                more = b""
            if not more:
                check(not self.rest, f"half a line at the end: {self.rest[-100:]!r}")
                return None
            self.rest += more
        line, self.rest = self.rest.split(b"\n", 1)
        return json.loads(line)

    def ask(self, method, **params):
        self.send(json.dumps({"method": method, "params": params}).encode() + b"\n")
        return self.line()

    def close(self):
        self.socket.close()


def honest(server):
    client = server.connect()
    equal(client.ask("echo", text="hello")["result"]["text"], "hello")
    client.close()


def refused(server, raw, code):
    client = server.connect()
    client.send(raw)
    answer = client.line()
    equal(answer["error"]["code"], code)
    check(answer["error"]["message"], "an error without a message")
    equal(client.line(), None)
    client.close()
    honest(server)


@test
def a_request_gets_its_answer_and_the_peer_is_who_the_kernel_says(server):
    refused(server, b'{"method":"echo","params":{"text":"a\\u0000b"}}\n', "bad_json")  # a NUL is no text
    client = server.connect()
    equal(client.ask("echo", text="ä😀")["result"], {"text": "ä😀", "pid": os.getpid(), "uid": os.getuid()})
    equal(client.ask("echo")["result"]["text"], "")
    equal(client.ask("fail")["error"], {"code": "ending", "message": "it is ending \ufffd already"})


@test
def malformed_lines_get_an_error_and_the_connection_is_closed(server):
    refused(server, b"nonsense\n", "bad_json")
    refused(server, b"\n", "bad_json")
    refused(server, b'{"method":"echo"} trailing\n', "bad_json")
    refused(server, b'{"method":"echo","method":"stop"}\n', "bad_json")
    refused(server, b'{"method":"echo","params":{"text":"\xff\xfe"}}\n', "bad_json")
    refused(server, b'\x00\x00\x00\n', "bad_json")
    refused(server, b'["echo"]\n', "bad_request")
    refused(server, b'{"params":{}}\n', "bad_request")
    refused(server, b'{"method":7}\n', "bad_request")
    refused(server, b'{"method":"echo","params":[]}\n', "bad_request")


@test
def a_well_formed_request_that_is_wrong_keeps_the_connection(server):
    client = server.connect()
    equal(client.ask("no_such_method")["error"]["code"], "unknown_method")
    equal(client.ask("echo", text=7)["error"]["code"], "bad_params")
    equal(client.ask("subscribe", since="1")["error"]["code"], "bad_params")
    equal(client.ask("subscribe", since=-1)["error"]["code"], "bad_params")
    equal(client.ask("subscribe", **{"as": "a b"})["error"]["code"], "bad_params")
    equal(client.ask("echo", text="still here")["result"]["text"], "still here")


@test
def deep_nesting_is_refused_before_it_is_parsed(server):
    refused(server, b"[" * 60000 + b"\n", "too_deep")
    refused(server, b'{"method":"echo","params":{"a":' + b"[" * 33 + b"]" * 33 + b"}}\n", "too_deep")
    client = server.connect()
    client.send(b'{"method":"echo","params":{"text":"' + b"[" * 1000 + b'\\"' + b"{" * 1000 + b'"}}\n')
    equal(len(client.line()["result"]["text"]), 2001)  # brackets in a text are no nesting


@test
def a_line_of_64_kib_is_taken_and_one_byte_more_is_not(server):
    frame = len(b'{"method":"echo","params":{"text":""}}\n')
    client = server.connect()
    client.send(b'{"method":"echo","params":{"text":"' + b"x" * (65536 - frame) + b'"}}\n')
    equal(len(client.line()["result"]["text"]), 65536 - frame)
    refused(server, b'{"method":"echo","params":{"text":"' + b"x" * (65537 - frame) + b'"}}\n', "too_long")


@test
def a_megabyte_without_a_newline_costs_no_more_than_64_kib(server):
    honest(server)
    before = server.memory()
    for _ in range(50):
        client = server.connect()
        try:
            client.send(b"x" * (1 << 20))
        except (BrokenPipeError, ConnectionResetError):
            pass
        client.close()
    honest(server)
    grown = server.memory() - before
    check(grown < (512 if not server.is_sanitized else 65536), f"grew by {grown} KiB")


@test
def half_a_line_waits_without_harm_and_is_completed_later(server):
    client = server.connect()
    for byte in b'{"method":"echo","params":{"text":"slow"}}\n':
        client.send(bytes([byte]))
        if byte == ord("p"):
            honest(server)
    equal(client.line()["result"]["text"], "slow")


@test
def a_half_line_at_the_end_is_refused_and_a_closed_writing_half_gets_its_answers(server):
    client = server.connect()
    client.send(b'{"method":"echo","params":{"text":"1"}}\n{"method":"echo","params":{"text":"2"}}\n')
    client.socket.shutdown(socket.SHUT_WR)
    equal([client.line()["result"]["text"] for _ in range(2)], ["1", "2"])
    equal(client.line(), None)
    client = server.connect()
    client.send(b'{"method":"echo"}')
    client.socket.shutdown(socket.SHUT_WR)
    equal(client.line()["error"]["code"], "bad_request")
    equal(client.line(), None)


@test
def a_subscriber_that_closed_its_writing_half_goes_on_reading(server):
    client = server.connect()
    client.ask("subscribe")
    client.socket.shutdown(socket.SHUT_WR)
    honest(server)
    before = server.switches()
    maker = server.connect()
    for seq in range(1, 20):
        equal(maker.ask("grow")["result"], seq)
        equal(client.line()["seq"], seq)
    check(server.switches() - before < 200, "it spins over a closed half")
    descriptors = server.descriptors()
    client.close()
    while server.descriptors() >= descriptors:
        honest(server)


@test
def a_request_whose_sender_went_at_once_is_carried_out(server):
    watcher = server.connect()
    watcher.ask("subscribe")
    for _ in range(20):
        client = server.connect()
        client.send(b'{"method":"grow","params":{"lines":1}}\n')
        client.close()
    equal([watcher.line()["seq"] for _ in range(20)], list(range(1, 21)))


@test
def pipelined_requests_are_answered_in_order_and_let_others_in_between(server):
    hog, n = server.connect(), 5000
    lines = b"".join(b'{"method":"echo","params":{"text":"%d"}}\n' % i for i in range(n))
    sender = os.fork()
    if sender == 0:
        try:
            hog.send(lines)
        finally:
            os._exit(0)
    for _ in range(20):
        honest(server)
    equal([hog.line()["result"]["text"] for _ in range(n)], [str(i) for i in range(n)])
    os.waitpid(sender, 0)


@test
def who_does_not_read_answers_is_not_worked_for(server):
    hog = server.connect()
    hog.socket.setblocking(False)
    sent, line = 0, b'{"method":"large","params":{"bytes":900000}}\n'
    while select.select([], [hog.socket], [], 0.5)[1]:  # until it takes no more requests
        try:
            sent += hog.socket.send(line * 100)
        except BlockingIOError:
            pass
    check(sent > len(line), "nothing was sent")
    honest(server)
    before = server.switches()
    for _ in range(50):
        honest(server)
    check(server.switches() - before < 500, "it works for one who does not read")
    check(server.is_sanitized or server.memory() < 4096, f"{server.memory()} KiB")


@test
def an_answer_that_is_too_large_is_whole_and_says_so(server):
    client = server.connect()
    answer = client.ask("large", bytes=2 << 20)
    equal(answer["truncated"], True)
    check(len(answer["result"]) > 100000, "too little")
    answer = client.ask("large", bytes=900000)
    check("truncated" not in answer, "not cut, but says so")
    equal(len(answer["result"]), 90000)


@test
def large_answers_to_pipelined_requests_come_whole_one_after_the_other(server):
    client = server.connect()
    client.send(b"".join(b'{"method":"large","params":{"bytes":%d}}\n' % (n * 100000) for n in range(1, 9)))
    equal([len(client.line()["result"]) for _ in range(8)], [n * 10000 for n in range(1, 9)])


@test
def a_subscriber_gets_every_line_once_and_in_order_with_answers_between_whole_lines(server):
    client = server.connect()
    equal(client.ask("grow", lines=10)["result"], 10)
    equal(client.ask("subscribe", since=4)["result"], {"subscribed": True, "since": 4, "newest": 10})
    client.send(b'{"method":"grow","params":{"lines":3000,"width":300}}\n{"method":"echo","params":{"text":"x"}}\n')
    seqs, answers = [], []
    while len(seqs) < 3006 or len(answers) < 2:
        line = client.line()
        if "seq" in line:
            seqs.append(line["seq"])
        else:
            answers.append(line)
    equal(seqs, list(range(5, 3011)))
    equal(answers[0], {"result": 3010})
    equal(answers[1]["result"]["text"], "x")
    equal(client.ask("subscribe")["error"]["code"], "bad_params")


@test
def a_subscriber_far_behind_is_served_from_the_file(server):
    client = server.connect()
    equal(client.ask("grow", lines=10000, width=500)["result"], 10000)
    client.ask("subscribe", since=0)
    equal([client.line()["seq"] for _ in range(10000)], list(range(1, 10001)))


@test
def without_since_or_with_one_from_the_future_only_what_follows_is_sent(server):
    maker = server.connect()
    maker.ask("grow", lines=5)
    first, second = server.connect(), server.connect()
    equal(first.ask("subscribe")["result"]["since"], 5)
    equal(second.ask("subscribe", since=1 << 60)["result"]["since"], 5)
    maker.ask("grow", lines=1)
    equal((first.line()["seq"], second.line()["seq"]), (6, 6))


def stopped_subscriber(server):
    """A process that subscribed and stopped itself."""
    told, tell = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            client = server.connect()
            client.ask("subscribe")
            os.write(tell, b"x")
            os.kill(os.getpid(), signal.SIGSTOP)
        finally:
            os._exit(0)
    equal(os.read(told, 1), b"x")
    os.close(told)
    os.close(tell)
    os.waitpid(child, os.WUNTRACED)
    return child


@test
def a_stopped_subscriber_is_dropped_after_one_mebibyte_and_nobody_waits_for_it(server):
    child, reader, maker = stopped_subscriber(server), server.connect(), server.connect()
    try:
        reader.ask("subscribe")
        grown, memory = 0, server.memory()
        while grown < 4 << 20 and not server.has_said():
            last = maker.ask("grow", lines=20, width=500)["result"]
            while True:
                line = reader.line()
                grown += len(json.dumps(line, separators=(",", ":"))) + 1
                if line["seq"] >= last:
                    break
        equal(server.says(), f"dropped {child}: it did not read while the journal grew by 1 MiB")
        # what its socket had taken before comes to the mebibyte
        check(1 << 20 <= grown <= (1 << 20) + (600 << 10), f"dropped after {grown} bytes")
        check(server.is_sanitized or server.memory() - memory < 512, f"grew by {server.memory() - memory} KiB")
    finally:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)


@test
def the_place_of_the_one_idle_longest_goes_to_the_next(server):
    keeper = server.connect()
    keeper.ask("subscribe")
    idle = [server.connect() for _ in range(63)]
    for client in idle + idle[:1]:
        equal(client.ask("echo", text="i")["result"]["text"], "i")
    new = server.connect()
    equal(new.ask("echo", text="new")["result"]["text"], "new")
    equal(idle[1].line(), None)
    equal(idle[0].ask("echo", text="i")["result"]["text"], "i")
    equal(server.says(), f"dropped {os.getpid()}: it was idle longest when all 64 places were taken")
    equal(keeper.line()["seq"], 1)  # the subscriber, silent for longer, kept its place


@test
def when_all_places_are_subscribers_the_next_is_told_so(server):
    subscribers = [server.connect() for _ in range(64)]
    for client in subscribers:
        client.ask("subscribe")
    client = server.connect()
    equal(client.line()["error"]["code"], "busy")
    equal(client.line(), None)
    subscribers[7].send(b'{"meth')  # half a request: now it holds its place without need
    while subscribers[7].rest == b"" and subscribers[7].line() is not None:
        client = server.connect()
        try:
            client.ask("echo", text="x")
        except (BrokenPipeError, ConnectionResetError):
            pass
        client.close()


@test
def a_thousand_connections_leave_no_descriptor_behind(server):
    honest(server)
    before, clients = server.descriptors(), []
    for _ in range(1000):
        clients.append(server.connect())
    honest(server)
    check(server.descriptors() <= before + 65, f"{server.descriptors()} descriptors")  # one more while it is let in
    for client in clients:
        client.close()
    while server.descriptors() > before:
        honest(server)


@test
def the_gateway_is_known_while_it_is_connected(server):
    client, gateway = server.connect(), server.connect()
    equal(client.ask("gateway")["result"], False)
    gateway.ask("subscribe", **{"as": "gateway"})
    equal(client.ask("gateway")["result"], True)
    gateway.close()
    while client.ask("gateway")["result"]:
        pass


def connect_as_nobody(server):
    """1: the mode forbids it; 0: let in and refused by a line."""
    pid = os.fork()
    if pid == 0:
        try:
            os.setgroups([])
            os.setgid(65534)
            os.setuid(65534)
            os._exit(0 if server.connect().line()["error"]["code"] == "refused" else 3)
        except PermissionError:
            os._exit(1)
        except BaseException:
            os._exit(4)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


@test
def another_uid_is_refused_by_the_mode_and_by_the_kernels_word(server):
    equal(os.stat(server.path).st_mode & 0o777, 0o600)
    if os.getuid() != 0:
        return
    equal(connect_as_nobody(server), 1)
    os.chmod(server.path, 0o666)
    equal(connect_as_nobody(server), 0)
    check(server.says().endswith(": uid 65534 may not use this control socket"), "it was not said")


@test
def the_last_line_reaches_every_subscriber(server):
    subscribers = [server.connect() for _ in range(20)]
    for client in subscribers:
        client.ask("subscribe")
    maker = server.connect()
    maker.send(b'{"method":"grow","params":{"lines":100,"width":500}}\n{"method":"stop"}\n')
    for client in subscribers:
        equal([client.line()["seq"] for _ in range(101)], list(range(1, 102)))
        equal(client.line(), None)
    server.process.wait(TIMEOUT)
    equal(os.path.exists(server.path), False)


@test
def without_descriptors_the_next_are_turned_away_and_nothing_spins(server):
    limit = resource.prlimit(server.process.pid, resource.RLIMIT_NOFILE)
    resource.prlimit(server.process.pid, resource.RLIMIT_NOFILE, (server.descriptors() + 5, limit[1]))
    clients = [server.connect() for _ in range(20)]
    told = server.says()
    check(told.endswith("endwell had no file descriptor left for another client"), told)
    equal(clients[0].ask("echo", text="in")["result"]["text"], "in")
    equal(clients[19].line()["error"]["code"], "busy")
    while not server.is_asleep():
        pass
    before = server.switches()
    for _ in range(20):
        equal(clients[0].ask("echo", text="in")["result"]["text"], "in")
    check(server.switches() - before < 100, "it spins")


def run(one, program):
    """None, or what is wrong."""
    server = Server(program)
    with open(f"/proc/{server.process.pid}/maps", encoding="utf-8") as file:
        server.is_sanitized = "libasan" in file.read()
    problem = None
    try:
        one(server)
    except Exception as error:  # whatever goes wrong is this test's failure, and the others go on
        line = error.__traceback__.tb_next.tb_lineno if error.__traceback__.tb_next else 0
        problem = f"line {line}: {type(error).__name__}: {error}"
    code = server.end()
    return problem or (f"the server ended with {code}" if code else None)


def main():
    program, names, failed = sys.argv[1], sys.argv[2:], 0
    for one in TESTS:
        if names and one.__name__ not in names:
            continue
        problem = run(one, program)
        failed += problem is not None
        print(f"{'FAIL' if problem else 'ok  '} {one.__name__}" + (f": {problem}" if problem else ""), flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
