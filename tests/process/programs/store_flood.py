#!/usr/bin/python3
"""Stores descriptors without an end, as many in each message as the kernel lets travel, always new ones."""
import array
import json
import os
import socket
import time


def log(event):
    line = {"t": time.monotonic_ns() // 1000, "pid": os.getpid(), "name": "flood", "instance": 0, "event": event}
    fd = os.open(os.environ["ACTOR_LOG"], os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o666)
    os.write(fd, (json.dumps(line) + "\n").encode())
    os.close(fd)


def main():
    channel = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    channel.connect(os.environ["NOTIFY_SOCKET"])
    log("flooding")
    while True:
        fds = [os.memfd_create("x") for _ in range(253)]
        channel.sendmsg([b"FDSTORE=1\nFDNAME=flood"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", fds))])
        for fd in fds:
            os.close(fd)


main()
