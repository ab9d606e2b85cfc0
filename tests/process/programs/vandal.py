#!/usr/bin/python3
"""Throws everything at a notify socket that is no sensible message: `vandal.py FILE`, FILE holds the socket's path."""
import array
import os
import random
import socket
import sys


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        path = file.read()
    channel = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    dice = random.Random(1)
    messages = [b"", b"\0", b"\n\n\n", b"=", b"READY", b"READY=", b"READY=2", b"MAINPID=-1", b"MAINPID=99999999999999999999",
                b"EXTEND_TIMEOUT_USEC=-1", b"WATCHDOG_USEC=x", b"STATUS=" + b"x" * 100000, b"STATUS=\xff\xfe\0\x1b[2J",
                b"X_ENDWELL_HOOK=" + b"y" * 5000, b"X_ENDWELL_ACTIVE=99999999999", b"X_ENDWELL_EDGE=sideways", b"BARRIER=1"]
    messages += [bytes(dice.randrange(256) for _ in range(dice.randrange(300))) for _ in range(200)]
    for message in messages:
        channel.sendto(message, path)
    zero = os.open("/dev/zero", os.O_RDONLY)
    for count in (1, 16, 253):
        rights = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [zero] * count))]
        channel.sendmsg([b"FDSTORE=1\nFDNAME=zero"], rights, 0, path)
        channel.sendmsg([b"BARRIER=1"], rights, 0, path)


main()
