"""A client of the control socket, by hand: JSON lines over SOCK_STREAM."""
import json
import socket

from journal import check


def connect(path):
    client = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM | socket.SOCK_CLOEXEC)
    try:
        client.connect(path)
    except OSError:
        client.close()
        return None
    client.settimeout(60)
    return client


class Connection:
    def __init__(self, client):
        self.client, self.rest = client, b""

    def send(self, raw):
        self.client.sendall(raw)

    def line(self):
        """The next line as a value; None when the other side has closed."""
        while b"\n" not in self.rest:
            try:
                more = self.client.recv(65536)
            except ConnectionResetError:
                more = b""
            if not more:
                return None
            self.rest += more
        line, self.rest = self.rest.split(b"\n", 1)
        return json.loads(line)

    def ask(self, method, **params):
        self.send(json.dumps({"method": method, "params": params}).encode() + b"\n")
        answer = self.line()
        check(answer is not None, f"no answer to {method}: the connection was closed")
        return answer

    def result(self, method, **params):
        answer = self.ask(method, **params)
        check("result" in answer, f"{method} was refused: {answer}")
        return answer["result"]

    def close(self):
        self.client.close()
