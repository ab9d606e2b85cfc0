"""A control socket as the reaper sees it, played by a test: it tells of as many deaths as one likes, falls silent, or lies."""
import json
import os
import socket
import threading
import uuid


class FakeControl:
    """silent: accepts, and never says a word. lie: these bytes come instead of the answer to `subscribe`."""

    def __init__(self, path, silent=False, lie=None):
        self.path, self.silent, self.lie = path, silent, lie
        self.lines, self.reports, self.connections = [], [], []
        self.guard = threading.Condition()
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.socket.bind(path)
        self.socket.listen(16)
        threading.Thread(target=self.accept, daemon=True).start()

    def tell(self, event, **fields):
        with self.guard:
            self.lines.append(json.dumps({"seq": len(self.lines) + 1, "event": event, **fields}).encode() + b"\n")
            self.guard.notify_all()

    def gone(self, owner=None, service="worker", cause="crashed", certain=True):
        owner = owner or str(uuid.uuid4())
        self.tell("service_gone", service=service, instance=1, owner=owner, cause=cause, certain=certain)
        return owner

    def accept(self):
        while True:
            try:
                client, _ = self.socket.accept()
            except OSError:
                return
            self.connections.append(client)
            if not self.silent:
                threading.Thread(target=self.serve, args=(client,), daemon=True).start()

    def serve(self, client):
        try:
            with client.makefile("rb") as lines:
                for line in lines:
                    self.answer(client, json.loads(line))
        except OSError:
            pass

    def answer(self, client, request):
        if request["method"] == "report":
            self.reports.append(request["params"])
            client.sendall(b'{"result":{"taken":true}}\n')
        elif self.lie is not None:
            client.sendall(self.lie)
        else:
            since, newest = request["params"]["since"], len(self.lines)
            client.sendall(json.dumps({"result": {"subscribed": True, "since": since, "newest": newest}}).encode() + b"\n")
            threading.Thread(target=self.stream, args=(client, since), daemon=True).start()

    def stream(self, client, at):
        try:
            while True:
                with self.guard:
                    self.guard.wait_for(lambda: len(self.lines) > at)
                    chunk, at = b"".join(self.lines[at:at + 200]), min(at + 200, len(self.lines))
                client.sendall(chunk)
        except OSError:
            pass

    def clean(self):
        self.socket.close()
        for client in self.connections:
            client.close()
        if os.path.exists(self.path):
            os.unlink(self.path)
