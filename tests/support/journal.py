"""Follows files of JSON lines while they grow: the journal of a run, and what its actors saw.

A test never sleeps for a time: it waits for an event, and fails after a generous timeout with everything that is known."""
import json
import os
import time

TIMEOUT_SECONDS = int(os.environ.get("ENDWELL_TIMEOUT", "60"))


def check(condition, message):
    if not condition:
        raise AssertionError(message)


def equal(found, wanted, what):
    check(found == wanted, f"{what}: found {found!r}, wanted {wanted!r}")


def within(found, low, high, what):
    check(low <= found <= high, f"{what}: found {found!r}, wanted {low!r} to {high!r}")


LATE_US = 15_000_000  # so late may a machine be that is loaded, or a guest of one, and be no fault of ours


def lasted(span_us, limit_us, what):
    """It took the time that it was given. A timer counts from the instant at which the loop woke up, and a line is stamped when
    it is written, so that a span between two lines may be a little shorter than the timer's; and it may be much longer."""
    within(span_us, limit_us * 9 // 10, limit_us + LATE_US, what)


def soon(span_us, what):
    """Nothing was waited for, where waiting would last longer than any delay that may be excused."""
    within(span_us, 0, LATE_US, what)


def wait_until(test, what, timeout=TIMEOUT_SECONDS, alive=None):
    """Waits until `test` answers something true and returns that. `alive` false: looks once more, then gives up."""
    end = time.monotonic() + timeout
    while True:
        living = alive is None or alive()
        found = test()
        if found:
            return found
        check(living, f"endwell ended before this came: {what}")
        check(time.monotonic() < end, f"waited {timeout} s in vain for: {what}")
        time.sleep(0.002)


def matches(line, fields):
    for key, wanted in fields.items():
        if key not in line:
            return False
        if callable(wanted) and not wanted(line[key]) or not callable(wanted) and line[key] != wanted:
            return False
    return True


class Follower:
    """Lines of a file, oldest first; a rotated file is read to its end before the new one."""

    def __init__(self, path, alive=None):
        self.path, self.alive = path, alive
        self.lines, self.file, self.rest, self.closed = [], None, b"", False

    def _take(self, text):
        *whole, self.rest = (self.rest + text).split(b"\n")
        for line in whole:
            self.lines.append(json.loads(line))

    def read(self):
        while not self.closed:
            if self.file is None:
                try:
                    self.file = open(self.path, "rb", buffering=0)
                except FileNotFoundError:
                    return self.lines
            self._take(self.file.read() or b"")
            try:
                same = os.stat(self.path).st_ino == os.fstat(self.file.fileno()).st_ino
            except FileNotFoundError:
                return self.lines
            if same:
                return self.lines
            self._take(self.file.read() or b"")
            self.file.close()
            self.file = None
        return self.lines

    def close(self):
        """What was read stays; nothing more is."""
        self.closed = True
        if self.file:
            self.file.close()

    def all(self, event, **fields):
        return [line for line in self.read() if line["event"] == event and matches(line, fields)]

    def first(self, event, **fields):
        found = self.all(event, **fields)
        check(found, f"no {event} with {fields}")
        return found[0]

    def last(self, event, **fields):
        found = self.all(event, **fields)
        check(found, f"no {event} with {fields}")
        return found[-1]

    def only(self, event, **fields):
        found = self.all(event, **fields)
        check(len(found) == 1, f"{len(found)} times {event} with {fields}, wanted once: {found}")
        return found[0]

    def none(self, event, **fields):
        found = self.all(event, **fields)
        check(not found, f"{event} with {fields} must not be: {found}")

    def until(self, event, count=1, timeout=TIMEOUT_SECONDS, **fields):
        """The line that made it `count` of them."""
        def enough():
            found = self.all(event, **fields)
            return found[count - 1] if len(found) >= count else None
        return wait_until(enough, f"{count} times {event} with {fields} in {self.path}", timeout, self.alive)


class Journal(Follower):
    def order(self, *lines):
        """Each line stands before the next."""
        for before, after in zip(lines, lines[1:]):
            check(before["seq"] < after["seq"], f"wrong order: {before} must stand before {after}")

    def span_us(self, before, after):
        return after["mono_us"] - before["mono_us"]

    def tail(self, count=40):
        return "\n".join(json.dumps(line) for line in self.read()[-count:])


def overlap(one, other):
    """Two spans (begin, end) have an instant in common."""
    return max(one[0], other[0]) < min(one[1], other[1])
