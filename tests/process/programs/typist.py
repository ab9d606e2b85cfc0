#!/usr/bin/python3
"""A program for a person at a terminal: logs every signal that it handles and every line that is typed.

typist.py NAME [--raw] [--deaf] [--catch SIGNAL]… [--tell WORDS]

--raw    puts the terminal into raw mode, as an editor does, and does so again when it is continued
--deaf   reads nothing, until SIGUSR1 comes
--catch  logs this signal besides CONT and WINCH, instead of doing what it does by default
--tell   what to send to $NOTIFY_SOCKET at the first line

A line `exit N` ends it; in raw mode each byte is a line. Its log is that of an actor: $ACTOR_LOG, a JSON object a
line."""
import argparse
import json
import os
import select
import signal
import socket
import sys
import termios
import tty


def options():
    parser = argparse.ArgumentParser()
    parser.add_argument("name")
    parser.add_argument("--raw", action="store_true")
    parser.add_argument("--deaf", action="store_true")
    parser.add_argument("--catch", action="append", default=[])
    parser.add_argument("--tell", default="")
    return parser.parse_args()


chosen = options()
log_fd = os.open(os.environ["ACTOR_LOG"], os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o644)


def log(event, **fields):
    os.write(log_fd, (json.dumps({"event": event, "name": chosen.name, "pid": os.getpid(), **fields}) + "\n").encode())


def size():
    return list(os.get_terminal_size(0)) if os.isatty(0) else []


def foreground():
    try:
        return os.tcgetpgrp(0)
    except OSError:
        return -1


def hear():
    """A byte of the pipe is one delivery: two of the same signal do not become one here, as they do in a handler."""
    ears, mouth = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
    signal.set_wakeup_fd(mouth, warn_on_full_buffer=False)
    for name in ["CONT", "WINCH", "USR1", *chosen.catch]:
        signal.signal(getattr(signal, "SIG" + name), lambda number, frame: None)
    return ears


def tell():
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as sender:
        sender.sendto("\n".join(chosen.tell.split()).encode(), os.environ["NOTIFY_SOCKET"])


def take_signals(ears, wanted):
    for number in os.read(ears, 1000):
        if number == signal.SIGUSR1:
            wanted.append(0)
            continue
        log("signal", signal=number, size=size(), foreground=foreground())
        if number == signal.SIGCONT and chosen.raw:
            tty.setraw(0, termios.TCSANOW)


def take_line(line):
    """False: that was the end of the input."""
    if not line:
        log("end of input")
        return False
    text = line.decode(errors="replace").rstrip("\n")
    if chosen.tell:
        tell()
    log("line", text=text)
    if text.startswith("exit"):
        sys.exit(int(text.split()[1]))
    return True


def main():
    ears, modes = hear(), termios.tcgetattr(0)[:4] if os.isatty(0) else []
    if chosen.raw:
        tty.setraw(0, termios.TCSANOW)
    log("begun", group=os.getpgrp(), session=os.getsid(0), foreground=foreground(),
        modes=modes, tty=[os.isatty(fd) for fd in range(3)])
    wanted, going = [ears] if chosen.deaf else [ears, 0], True
    while going:
        for fd in select.select(wanted, [], [])[0]:
            if fd == ears:
                take_signals(ears, wanted)
            else:
                going = take_line(os.read(0, 1 if chosen.raw else 4096))


main()
