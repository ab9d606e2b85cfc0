#!/usr/bin/python3
"""timeline.py [--width N] [--ascii] [--colour] [--spans FILE] JOURNAL - draws the last ending of a journal in text.

A phase is a bar; below it stand its hooks and its processes, from the moment when they were asked to the one when they
were gone. A second, smaller chart shows what each phase was allowed. --spans adds rows of what was in hand, seen from
outside: lines of JSON with name, begin and end (seconds since 1970)."""
import argparse
import datetime
import json
import os
import sys
from dataclasses import dataclass, field

UNICODE = {"bar": "█", "allowed": "░", "line": "─", "asked": "▼", "exited": "●", "killed": "✖", "left": "?",
           "open": "├", "close": "┤", "point": "│", "axis": "─", "tick": "┴",
           "levels": " ▁▂▃▄▅▆▇█", "by": "×", "dash": "–"}
ASCII = {"bar": "#", "allowed": ".", "line": "-", "asked": "v", "exited": "o", "killed": "X", "left": "?", "open": "[",
         "close": "]", "point": "|", "axis": "-", "tick": "+", "levels": " 123456789", "by": "x", "dash": "-"}
COLOURS = {"phase": "1", "dim": "2", "good": "32", "warning": "33", "bad": "31", "plain": ""}
OF_MEMBERS = ("service_asked", "service_killed", "service_exited", "service_left", "service_gone")
TOGETHER = 8  # instances of one service that still have a row each


class Unreadable(Exception):
    """What is wrong with the journal."""


@dataclass
class Row:
    """One line of the chart: marks are (begin, end, glyph, colour) in microseconds; a point has begin == end."""
    label: str
    marks: list
    text: str = ""
    tone: str = "plain"


@dataclass
class Phase:
    name: str
    begin: int
    limit: int
    end: int | None = None
    tally: dict = field(default_factory=dict)
    hooks: dict = field(default_factory=dict)
    members: dict = field(default_factory=dict)


@dataclass
class Ending:
    cause: str
    zero: int  # the instant of the request, in the journal's clock
    offset: float  # seconds since 1970 at the journal's instant 0
    deadline: int
    phases: list
    last: dict | None  # ending_finished
    end: int
    several: set  # services with more than one instance

    def since(self, line):
        return line["mono_us"] - self.zero


def read(path):
    """The journal's lines; a torn last one is left out."""
    lines = []
    with open(path, encoding="utf-8", errors="replace") as file:
        for number, text in enumerate(file, 1):
            try:
                lines.append(json.loads(text))
            except ValueError:
                if text.endswith("\n"):
                    raise Unreadable(f"line {number} is no JSON") from None
    return lines


def last_ending(lines):
    """The lines of the last ending, from the request that began it."""
    begins = [i for i, line in enumerate(lines) if line["event"] == "ending_started"]
    if not begins:
        raise Unreadable("it has no ending")
    first = begins[-1]
    if first > 0 and lines[first - 1]["event"] in ("signal_received", "request_received", "service_gave_up"):
        first -= 1
    return lines[first:]


def wall_offset(line):
    when = datetime.datetime.fromisoformat(line["time"].replace("Z", "+00:00"))
    return when.timestamp() - line["mono_us"] / 1e6


def understand(journal):
    lines = last_ending(journal)
    started = next(line for line in lines if line["event"] == "ending_started")
    ending = Ending(cause=describe_cause(lines[0], started), zero=lines[0]["mono_us"], offset=wall_offset(started),
                    deadline=started["deadline_us"], phases=[], last=None,
                    end=lines[-1]["mono_us"] - lines[0]["mono_us"],
                    several={line["service"] for line in journal if (line.get("instance") or 0) > 1})
    for line in lines:
        take(ending, line)
    return ending


def describe_cause(first, started):
    if first["event"] == "signal_received":
        return first["signal"]
    return {"request": "endwell shutdown"}.get(started["cause"], started["cause"])


def take(ending, line):
    event, now = line["event"], ending.since(line)
    if event == "ending_finished":
        ending.last = line
    elif event == "phase_started":
        ending.phases.append(Phase(line["phase"], now, line["limit_us"]))
    elif ending.phases:
        take_in_phase(ending.phases[-1], line, event, now)


def member_of(phase, line):
    key = (line["service"], line["instance"])
    return phase.members.setdefault(key, {"asked": None, "exited": None, "killed": [], "left": False, "gone": None})


def take_in_phase(phase, line, event, now):
    if event == "phase_finished":
        phase.end, phase.tally = now, line
    elif event == "hook_started":
        phase.hooks[(line["hook"], line["instance"])] = [now, None, None]
    elif event == "hook_finished" and (line["hook"], line["instance"]) in phase.hooks:
        phase.hooks[(line["hook"], line["instance"])][1:] = [now, line]
    elif event in OF_MEMBERS and line.get("service"):
        take_of_member(member_of(phase, line), line, event, now)


def take_of_member(member, line, event, now):
    if event == "service_asked" and member["asked"] is None:
        member["asked"], member["signal"] = now, line["signal"]
    elif event == "service_killed":
        member["killed"].append(now)
    elif event == "service_exited":
        member["exited"], member["how"] = now, line
    elif event == "service_left" and not line.get("probe"):
        member["left"], member["gone"] = True, now
    elif event == "service_gone":
        member["gone"] = now


def duration(us):
    if us < 1000:
        return f"{us} us"
    if us < 999_500:
        return f"{us / 1000:.0f} ms"
    return f"{us / 1e6:.2f} s" if us < 60_000_000 else f"{us / 60e6:.1f} min"


class Chart:
    """Rows over one time axis from 0 to `end`."""

    def __init__(self, end, label_width, width, glyphs, colour):
        self.end, self.label_width, self.width = max(end, 1), label_width, width
        self.glyphs, self.colour = glyphs, colour

    def column(self, us):
        return min(max(int(us * self.width / self.end), 0), self.width - 1)

    def paint(self, text, tone):
        code = COLOURS[tone]
        return f"\033[{code}m{text}\033[0m" if self.colour and code and text.strip() else text

    def cells(self, marks):
        cells = [(" ", "plain")] * self.width
        for begin, end, glyph, tone in marks:
            first, last = self.column(begin), self.column(end)
            if glyph == self.glyphs["close"] and cells[first][0] == self.glyphs["open"]:
                glyph = self.glyphs["point"]  # too short to have two ends
            for at in range(first, last + 1):
                cells[at] = (glyph, tone)
        return cells

    def line(self, row):
        chart = "".join(self.paint(glyph, tone) for glyph, tone in self.cells(row.marks))
        label = self.paint(row.label.ljust(self.label_width), row.tone if row.tone == "phase" else "plain")
        return f"{label} {chart}  {self.paint(row.text, row.tone)}".rstrip()

    def step(self):
        """A round span of which 4 to 10 fit."""
        unit = 1
        while True:
            for factor in (1, 2, 5):
                if self.end / (unit * factor) <= 8:
                    return unit * factor
            unit *= 10

    def axis(self, title=""):
        labels, ticks = [" "] * (self.width + 8), [self.glyphs["axis"]] * self.width
        step, at = self.step(), 0
        while at <= self.end:
            column = self.column(at)
            ticks[column] = self.glyphs["tick"]
            text = f"{at / 1e6:g}" + (" s" if at == 0 else "")
            labels[column:column + len(text)] = text
            at += step
        head = title.ljust(self.label_width) + " " + "".join(labels).rstrip()
        return [head, " " * self.label_width + " " + self.paint("".join(ticks), "dim")]


def how_it_went(member, glyphs):
    """(text, tone) of one process."""
    asked = member["signal"] if member["asked"] is not None else "not asked"
    if member["left"]:
        return f"{asked}, given up", "bad"
    if member["killed"]:
        return f"{asked}, killed at its limit", "warning"
    if member["exited"] is None:
        return asked, "plain"
    how = member["how"]
    end = f"exit {how['status']}" if how["code"] == "exited" else f"{how['code']} by signal {how['status']}"
    took = duration(member["exited"] - member["asked"]) if member["asked"] is not None else ""
    return f"{asked}, {end}" + (f" after {took}" if took else ""), "plain" if how["clean"] or how["asked"] else "bad"


def member_marks(members, end, glyphs):
    """One row of all these: from the first that was asked to the last that is gone."""
    begin = min((m["asked"] if m["asked"] is not None else m["exited"] or end for m in members), default=end)
    last = max(m["exited"] or m["gone"] or end for m in members)
    marks = [(begin, last, glyphs["line"], "plain")]
    if members[0]["asked"] is not None:
        marks.append((begin, begin, glyphs["asked"], "warning"))
    for member in members:
        if member["exited"] is not None:
            marks.append((member["exited"], member["exited"], glyphs["exited"], "good"))
    for member in members:
        marks += [(at, at, glyphs["killed"], "bad") for at in member["killed"]]
        if member["left"]:
            marks.append((member["gone"], member["gone"], glyphs["left"], "bad"))
    return marks


def hook_row(name, span, end, glyphs):
    begin, until, line = span
    until = end if until is None else until
    marks = [(begin, until, glyphs["line"], "plain"), (begin, begin, glyphs["open"], "plain"),
             (until, until, glyphs["close"], "plain")]
    if line is None:
        return Row(f"  hook {name}", marks, "did not end", "bad")
    if line["timed_out"]:
        return Row(f"  hook {name}", marks, "cut at its limit", "warning")
    good = line["code"] == "exited" and line["status"] == 0
    return Row(f"  hook {name}", marks, f"exit {line['status']} after {duration(line['took_us'])}",
               "plain" if good else "warning")


def member_rows(phase, ending, glyphs):
    end = ending.end
    services = {}
    for (service, instance), member in phase.members.items():
        services.setdefault(service, []).append((instance, member))
    for service, found in services.items():
        if len(found) > TOGETHER:
            members = [member for _, member in found]
            killed = sum(bool(member["killed"]) for member in members)
            yield Row(f"  {service} {glyphs['by']}{len(found)}", member_marks(members, end, glyphs),
                      f"{killed} killed" if killed else "nobody killed", "warning" if killed else "plain")
            continue
        for instance, member in sorted(found, key=lambda one: one[0]):
            text, tone = how_it_went(member, glyphs)
            name = f"{service}@{instance}" if service in ending.several else service
            yield Row(f"  {name}", member_marks([member], end, glyphs), text, tone)


def phase_row(phase, end, glyphs):
    if phase.end is None:
        return Row(phase.name, [(phase.begin, end, glyphs["bar"], "bad")], "did not end", "bad")
    tally, took = phase.tally, duration(phase.tally["took_us"])
    total, drained = tally["gone"] + tally["left"], tally["gone"] - tally["killed"]
    text = f"{drained}/{total} drained in {took}" if total else f"nobody to stop, {took}"
    if tally["killed"]:
        text += f", {tally['killed']} killed"
    if tally["left"]:
        text += f", {tally['left']} left"
    bad = tally["killed"] or tally["left"]
    row = Row(phase.name, [(phase.begin, phase.end, glyphs["bar"], "bad" if bad else "good")], text, "phase")
    return row


def phase_rows(phase, ending, glyphs):
    yield phase_row(phase, ending.end, glyphs)
    for (name, _), span in phase.hooks.items():
        yield hook_row(name, span, ending.end, glyphs)
    yield from member_rows(phase, ending, glyphs)


def allowed_rows(ending, glyphs):
    for phase in ending.phases:
        until = ending.end if phase.end is None else phase.end
        limit = phase.begin + phase.limit
        allowed, used = (phase.begin, limit, glyphs["allowed"], "dim"), (phase.begin, until, glyphs["bar"], "good")
        yield Row(f"  {phase.name}", [allowed, used],
                  f"{duration(until - phase.begin)} of at most {duration(phase.limit)}")


def span_rows(ending, spans, chart):
    """How many were in hand in each slice of time, scaled to the most."""
    levels = chart.glyphs["levels"]
    for name in dict.fromkeys(span["name"] for span in spans):
        slices = [0] * chart.width
        mine = [(own(ending, span["begin"]), own(ending, span["end"])) for span in spans if span["name"] == name]
        for begin, end in mine:
            if end >= 0 and begin <= chart.end:
                for at in range(chart.column(begin), chart.column(end) + 1):
                    slices[at] += 1
        most = max(slices, default=0)
        middle, top = 0.5 * chart.end / chart.width, len(levels) - 1
        marks = [((2 * at + 1) * middle, (2 * at + 1) * middle, levels[-(-n * top // most)], "good")
                 for at, n in enumerate(slices) if n]
        last = max((end for _, end in mine if end >= 0), default=0)
        yield Row(f"{name} in hand", marks, f"the last one over at {duration(int(last))}" if marks else "none in hand")


def own(ending, seconds):
    """An instant of the outside in microseconds since the request."""
    return (seconds - ending.offset) * 1e6 - ending.zero


def draw(ending, width=100, glyphs=None, colour=False, spans=()):
    """The picture, as lines."""
    glyphs = glyphs or UNICODE
    rows = [row for phase in ending.phases for row in phase_rows(phase, ending, glyphs)]
    label_width = min(max([len(row.label) for row in rows] + [len(span["name"]) + 8 for span in spans] + [14]), 28)
    text_width = max([len(row.text) for row in rows] + [26])
    chart = Chart(ending.end, label_width, max(width - label_width - text_width - 3, 20), glyphs, colour)
    lines = [f"From {ending.cause} to the end: {duration(ending.end)}"]
    lines += [""] + chart.axis() + [chart.line(row) for row in rows]
    if spans:
        lines += [""] + [chart.line(row) for row in span_rows(ending, spans, chart)]
    lines += ["", f"{glyphs['asked']} asked to stop   {glyphs['exited']} exited   {glyphs['killed']} killed   "
              f"{glyphs['open']}{glyphs['line']}{glyphs['close']} hook"]
    return lines + draw_allowance(ending, chart) + draw_summary(ending, chart)


def draw_allowance(ending, chart):
    wide = Chart(max(ending.deadline, ending.end), chart.label_width, chart.width, chart.glyphs, chart.colour)
    lines = ["", "What each phase was allowed (time that one does not use goes to the next):"] + wide.axis()
    return lines + [wide.line(row) for row in allowed_rows(ending, chart.glyphs)]


def draw_summary(ending, chart):
    if ending.last is None:
        return ["", chart.paint("the journal ends before the ending did", "bad")]
    last, left = ending.last, ending.last["left_of_grace_us"]
    spare = f"{duration(left)} of the grace left" if left >= 0 else f"{duration(-left)} more than the grace"
    summary = chart.paint(f"exit {last['code']}: {last['reason']}", "good" if last["code"] == 0 else "bad")
    return ["", f"{summary} ({spare})"]


def read_spans(path):
    with open(path, encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--width", type=int, default=100)
    parser.add_argument("--ascii", action="store_true", help="no character beyond ASCII")
    parser.add_argument("--colour", action="store_true")
    parser.add_argument("--spans", metavar="FILE")
    parser.add_argument("journal")
    options = parser.parse_args()
    try:
        ending = understand(read(options.journal))
        spans = read_spans(options.spans) if options.spans else []
    except (OSError, Unreadable) as problem:
        print(f"timeline: {options.journal} cannot be drawn: {problem}", file=sys.stderr)
        return 1
    for line in draw(ending, options.width, ASCII if options.ascii else UNICODE, options.colour, spans):
        print(line)
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except BrokenPipeError:  # the reader has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)
