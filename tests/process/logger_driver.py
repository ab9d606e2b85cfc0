"""Plays PID 1 towards a real endwell-logger: its socket, its pipes, its journal."""
import array
import fcntl
import os
import select
import signal
import socket
import subprocess

LOGGER = os.environ.get("ENDWELL_LOGGER", "build/dev/logger/endwell-logger")
PATIENCE = 60  # seconds until something that must come is called missing


def pipe(nonblocking_reader=True):
    reader, writer = os.pipe()
    os.set_blocking(reader, not nonblocking_reader)
    return reader, writer


def can_read(fd, seconds=PATIENCE):
    return bool(select.select([fd], [], [], seconds)[0])


def read_exactly(fd, size):
    data = bytearray()
    while len(data) < size:
        if not can_read(fd):
            raise AssertionError(f"{len(data)} of {size} bytes came")
        more = os.read(fd, min(size - len(data), 1 << 16))
        if not more:
            raise AssertionError(f"the end came after {len(data)} of {size} bytes")
        data += more
    return bytes(data)


def fill(fd, data):
    """Writes without waiting; how many bytes were taken."""
    os.set_blocking(fd, False)
    done = 0
    while done < len(data):
        try:
            done += os.write(fd, data[done:done + 65536])
        except BlockingIOError:
            break
    os.set_blocking(fd, True)
    return done


class Stream:
    """The writing end is `writer`; `reader` is the copy that PID 1 keeps."""
    def __init__(self, logger, number, target=None, hooks=(), path=None, truncate=False):
        self.number, self.target, self.hooks, self.path, self.truncate = number, target, hooks, path, truncate
        self.reader, self.writer = pipe()
        self.open(logger)

    def open(self, logger):
        for name, expression in self.hooks:
            logger.send(f"HOOK={self.number}\nNAME={name}\n\n{expression}")
        text = f"OPEN={self.number}\n" + ("TRUNCATE=1\n" if self.truncate else "")
        fds = [self.reader] + ([] if self.target is None else [self.target])
        logger.send(text + (f"\n{self.path}" if self.path else ""), fds)

    def write(self, data):
        while data:
            data = data[os.write(self.writer, data):]

    def close(self):
        os.close(self.writer)


class Logger:
    def __init__(self, *words, shell=None, prefix=(), preexec=None):
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        command = [*prefix, LOGGER, "--socket-fd", "0", *words]
        if shell:  # in a mount namespace of its own
            command = ["unshare", "-m", "sh", "-c", shell + ' && exec "$@"', "sh", *command]
        self.process = subprocess.Popen(command, stdin=theirs, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                                        preexec_fn=preexec)
        theirs.close()
        ours.settimeout(PATIENCE)
        self.socket, self.journal, self.marks = ours, None, []

    def send(self, text, fds=()):
        control = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", fds))] if fds else []
        self.socket.sendmsg([text.encode() if isinstance(text, str) else text], control)

    def hear(self):
        """The next message as a dictionary."""
        data = self.socket.recv(4096)
        if not data:
            raise AssertionError("the logger has closed its socket: " + self.process.stderr.read().decode())
        return dict(line.split("=", 1) for line in data.decode().splitlines())

    def until(self, **wanted):
        """Hears until a message has these words; marks on the way are kept in `marks`."""
        while True:
            message = self.hear()
            if "MARK" in message:
                self.marks.append((int(message["STREAM"]), message["MARK"]))
            if all(message.get(key) == str(value) for key, value in wanted.items()):
                return message

    def settle(self, number=1):
        self.send(f"SETTLE={number}\n")
        self.until(SETTLED=number)

    def open_journal(self, handed=0):
        reader, self.journal = pipe()
        self.send(f"JOURNAL={handed}\n", [reader])
        os.close(reader)

    def write_journal(self, first, count, size=0):
        for seq in range(first, first + count):
            line = journal_line(seq, size)
            while line:
                line = line[os.write(self.journal, line):]

    def close_journal(self):
        os.close(self.journal)
        self.journal = None

    def kill(self):
        self.process.send_signal(signal.SIGKILL)
        self.process.wait(PATIENCE)
        self.clean()

    def end(self):
        """PID 1 is done: its exit code and what it said on stderr."""
        if self.journal is not None:
            self.close_journal()
        self.socket.shutdown(socket.SHUT_WR)
        return self.ended()

    def ended(self):
        said = self.process.stderr.read().decode()
        code = self.process.wait(PATIENCE)
        self.clean()
        return code, said

    def clean(self):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        self.process.stderr.close()
        self.socket.close()
        if self.journal is not None:
            self.close_journal()

    def path(self, name):
        """A file as the logger's mount namespace sees it."""
        return f"/proc/{self.process.pid}/root{name}"


def journal_line(seq, size=0):
    text = f'{{"seq":{seq},"event":"service_status","text":"'
    return (text + "x" * max(0, size - len(text) - 3) + '"}\n').encode()


def flags_of(fd):
    return fcntl.fcntl(fd, fcntl.F_GETFL)
