#!/usr/bin/python3
"""test_timeline.py - the picture of an ending, from journals of known events."""
import json
import os
import subprocess
import sys
import tempfile
import unittest

HOUSE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.realpath(__file__))))
PROGRAM = os.path.join(HOUSE, "deploy/demo.d/timeline.py")
sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(PROGRAM))

import timeline  # noqa: E402


class Journal:
    """Lines at given milliseconds after the boot of a world whose wall clock then stood at 1000 s."""

    def __init__(self):
        self.lines = []

    def at(self, ms, event, **fields):
        time = f"1970-01-01T00:16:{40 + ms / 1000:09.6f}Z"
        self.lines.append({"seq": len(self.lines) + 1, "mono_us": ms * 1000, "time": time, "epoch": 2, "event": event,
                           **fields})
        return self

    def begin(self, ms=1000, deadline_ms=8000):
        return self.at(ms, "signal_received", signal="SIGTERM", effect="ending_begins").at(
            ms, "ending_started", cause="signal", fast=False, deadline_us=deadline_ms * 1000)

    def phase(self, ms, name, limit_ms):
        return self.at(ms, "phase_started", phase=name, members=1, limit_us=limit_ms * 1000)

    def closed(self, ms, name, took_ms, gone=1, killed=0, left=0):
        return self.at(ms, "phase_finished", phase=name, gone=gone, killed=killed, left=left, took_us=took_ms * 1000)

    def asked(self, ms, service, instance=1):
        return self.at(ms, "service_asked", service=service, instance=instance, signal="SIGTERM", reason="ending",
                       pid=7)

    def killed(self, ms, service, instance=1):
        return self.at(ms, "service_killed", service=service, instance=instance, signal="SIGKILL", reason="limit",
                       pid=7)

    def exited(self, ms, service, instance=1, code="exited", status=0, clean=True):
        return self.at(ms, "service_exited", service=service, instance=instance, code=code, status=status, clean=clean,
                       asked=True, took_us=1)

    def over(self, ms, code=0, left_ms=5000):
        return self.at(ms, "ending_finished", code=code, reason="because", took_us=1, left_of_grace_us=left_ms * 1000)

    def draw(self, width=100, glyphs=timeline.ASCII, spans=()):
        return timeline.draw(timeline.understand(self.lines), width, glyphs, False, spans)


def clean_ending():
    return (Journal().begin()
            .phase(1000, "http", 3000).asked(1000, "web").exited(2000, "web").closed(2000, "http", 1000)
            .phase(2000, "workers", 5000).asked(2000, "worker", 1).asked(2000, "worker", 2).exited(2500, "worker", 1)
            .exited(3000, "worker", 2).closed(3000, "workers", 1000, gone=2).over(3000))


def row(lines, start):
    found = [line for line in lines if line.startswith(start)]
    assert found, f"no row {start!r} in\n" + "\n".join(lines)
    return found[0]


class Timeline(unittest.TestCase):
    def test_each_bar_is_as_long_as_its_phase_and_stands_where_it_was(self):
        lines = clean_ending().draw()
        http, workers = row(lines, "http "), row(lines, "workers ")
        self.assertLess(http.rindex("#"), workers.index("#") + 2)
        self.assertAlmostEqual(http.count("#"), workers.count("#"), delta=1)

    def test_a_process_reaches_from_asked_to_exited(self):
        lines = clean_ending().draw()
        first, second = row(lines, "  worker@1 "), row(lines, "  worker@2 ")
        self.assertEqual(first.index(" v-"), second.index(" v-"))
        self.assertLess(first.index("-o "), second.index("-o "))
        self.assertIn("SIGTERM, exit 0 after 500 ms", first)

    def test_only_a_service_of_several_instances_has_numbers(self):
        lines = clean_ending().draw()
        self.assertTrue(row(lines, "  web "))
        self.assertTrue(row(lines, "  worker@1 "))

    def test_many_instances_share_a_row(self):
        journal = Journal().begin().phase(1000, "workers", 5000)
        for i in range(1, 57):
            journal.asked(1000, "worker", i)
        for i in range(1, 57):
            journal.exited(1000 + i, "worker", i)
        lines = journal.closed(1100, "workers", 100, gone=56).over(1100).draw()
        self.assertIn("nobody killed", row(lines, "  worker x56 "))
        self.assertFalse([line for line in lines if "worker@" in line])

    def test_who_was_killed_is_marked_and_counted(self):
        lines = (Journal().begin().phase(1000, "http", 3000).asked(1000, "web").killed(4000, "web")
                 .exited(4100, "web", code="killed", status=9, clean=False).closed(4100, "http", 3100, killed=1)
                 .over(4100, 81).draw())
        self.assertIn("X", row(lines, "  web "))
        self.assertIn("killed at its limit", row(lines, "  web "))
        self.assertIn("0/1 drained in 3.10 s, 1 killed", row(lines, "http "))
        self.assertIn("exit 81", lines[-1])

    def test_who_was_given_up_is_named(self):
        lines = (Journal().begin().phase(1000, "http", 3000).asked(1000, "web").killed(4000, "web")
                 .at(5000, "service_left", service="web", instance=1, pid=7, reason="outlived SIGKILL")
                 .closed(5000, "http", 4000, gone=0, left=1).over(5000, 82).draw())
        self.assertIn("given up", row(lines, "  web "))
        self.assertIn("1 left", row(lines, "http "))

    def test_a_hook_that_failed_says_its_code(self):
        hook = {"hook": "deregister", "instance": 1, "service": "web"}
        lines = (Journal().begin().phase(1000, "http", 3000).at(1000, "hook_started", **hook)
                 .at(1500, "hook_finished", code="exited", status=22, timed_out=False, took_us=500_000, **hook)
                 .asked(1500, "web").exited(2000, "web").closed(2000, "http", 1000).over(2000).draw())
        self.assertIn("exit 22 after 500 ms", row(lines, "  hook deregister "))
        self.assertIn("[", row(lines, "  hook deregister "))
        self.assertIn("]", row(lines, "  hook deregister "))

    def test_the_allowance_is_drawn_up_to_the_limit_and_used_up_to_the_end(self):
        lines = clean_ending().draw()
        at = lines.index(next(line for line in lines if "allowed" in line))
        http, workers = row(lines[at:], "  http "), row(lines[at:], "  workers ")
        self.assertIn("1.00 s of at most 3.00 s", http)
        self.assertAlmostEqual(http.count(".") / http.count("#"), 2, delta=0.8)
        self.assertGreater(workers.rindex(".  "), http.rindex(".  ") + 5)

    def test_what_was_in_hand_outside_is_placed_by_the_wall_clock(self):
        spans = [{"name": "requests", "begin": 1000.5, "end": 1002.0},
                 {"name": "requests", "begin": 1000.9, "end": 1001.5}]
        line = row(clean_ending().draw(spans=spans), "requests in hand ")
        self.assertIn("over at 1.00 s", line)  # 1002 s are 2 s after the boot, 1 s after the request
        self.assertIn("9", line)
        self.assertGreater(line.count("9") + line.count("5"), 15)

    def test_the_last_ending_counts(self):
        journal = clean_ending()
        journal.begin(5000).phase(5000, "http", 3000).closed(5200, "http", 200, gone=0).over(5200)
        lines = journal.draw()
        self.assertIn("200 ms", lines[0])
        self.assertFalse([line for line in lines if "worker" in line])

    def test_an_ending_that_was_cut_off_is_drawn_as_far_as_it_came(self):
        lines = Journal().begin().phase(1000, "http", 3000).asked(1000, "web").draw()
        self.assertIn("did not end", row(lines, "http "))
        self.assertIn("ends before the ending did", lines[-1])

    def test_no_line_is_wider_than_was_asked_for(self):
        for width in (90, 120, 200):
            self.assertLessEqual(max(len(line) for line in clean_ending().draw(width)), width)

    def test_ascii_is_ascii(self):
        self.assertTrue("\n".join(clean_ending().draw()).isascii())
        self.assertFalse("\n".join(clean_ending().draw(glyphs=timeline.UNICODE)).isascii())


class TheProgram(unittest.TestCase):
    def draw(self, text, *options):
        with tempfile.NamedTemporaryFile("w", suffix=".jsonl", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            return subprocess.run([PROGRAM, *options, file.name], capture_output=True, text=True, check=False,
                                  env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1", "LANG": "C.UTF-8"})

    def text(self):
        return "".join(json.dumps(line) + "\n" for line in clean_ending().lines)

    def test_a_torn_last_line_is_left_out(self):
        done = self.draw(self.text() + '{"seq":99,"mono')
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertIn("exit 0: because", done.stdout)

    def test_what_is_no_journal_is_refused_with_a_reason(self):
        for text, why in (("hello\n", "line 1 is no JSON"), ('{"event":"startup_finished"}\n', "has no ending"),
                          ("", "has no ending")):
            done = self.draw(text)
            self.assertEqual(done.returncode, 1)
            self.assertIn(why, done.stderr)


if __name__ == "__main__":
    unittest.main(verbosity=2)
