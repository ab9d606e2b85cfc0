#!/usr/bin/python3
"""Sends a TCP socket whose close waits 30 s for a peer that reads nothing, and closes its own copy before it is received:
`lingerer.py notify` to $NOTIFY_SOCKET, `lingerer.py control` to $ENDWELL_SOCKET. Then serves until SIGTERM."""
import os
import signal
import socket
import struct
import sys


def lingering():
    server = socket.socket()
    server.bind(("127.0.0.1", 0))
    server.listen(1)
    client = socket.create_connection(server.getsockname())
    peer, _ = server.accept()
    client.setblocking(False)
    try:
        while True:
            client.send(b"x" * 65536)
    except BlockingIOError:
        pass
    client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 30))
    return client, peer


def send_by_notify(client):
    """Behind so many messages that the mailbox does not hear us for a while, so that our copy is closed first."""
    channel = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    channel.connect(os.environ["NOTIFY_SOCKET"])
    for _ in range(505):
        channel.send(b"X_ENDWELL_ACTIVE=1")
    socket.send_fds(channel, [b"STATUS=sent"], [client.fileno()])
    client.close()
    return channel


def send_by_control(client):
    """Behind requests whose answers are not read: what stands after them is received when they are, later."""
    channel = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    channel.connect(os.environ["ENDWELL_SOCKET"])
    channel.sendall(b'{"method":"status"}\n' * 2000)
    socket.send_fds(channel, [b'{"method":"surely_no_method"}\n'], [client.fileno()])
    client.close()
    seen = b""
    while b"surely_no_method" not in seen:
        seen = seen[-100:] + channel.recv(65536)
    return channel


def main():
    signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(0))
    client, peer = lingering()
    channel = send_by_notify(client) if sys.argv[1] == "notify" else send_by_control(client)
    with open(sys.argv[2], "w", encoding="ascii") as file:
        file.write("sent")
    while peer and channel:
        signal.pause()


main()
