#!/usr/bin/python3
"""test_demo.py ENDWELL - runs deploy/demo as a person does, and judges it by the journal and the numbers it leaves."""
import contextlib
import json
import os
import signal
import subprocess
import sys
import tempfile
import unittest

HOUSE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.realpath(__file__))))
DEMO = os.path.join(HOUSE, "deploy/demo")
sys.path.insert(0, os.path.join(HOUSE, "tests/support"))
sys.dont_write_bytecode = True

from laws import broken_laws  # noqa: E402

PHASES = ["http", "workers", "db"]
PHASE_OF = {"web": "http", "speech": "workers", "decode": "workers", "queues": "db", "endwell-database": "db", "endwell-migrate": "db",
            "endwell-reaper": "db"}
TIMEOUT_SECONDS = 180


class Demo:
    """One run; `before` are words in front of it, `pace` is how fast it goes."""

    def __init__(self, *options, before=(), pace=("--fast",)):
        self.folder = tempfile.TemporaryDirectory(prefix="endwell-test-demo.")
        os.chmod(self.folder.name, 0o711)
        self.kept = os.path.join(self.folder.name, "kept")
        self.temporary = os.path.join(self.folder.name, "tmp")
        os.mkdir(self.temporary)
        os.chmod(self.temporary, 0o1777)
        self.process = subprocess.Popen(
            [*before, DEMO, *pace, "--endwell", ENDWELL, "--keep", self.kept, *options],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
            env={**os.environ, "TMPDIR": self.temporary, "LANG": "C.UTF-8"}, start_new_session=True)
        self.said = ""

    def read_until(self, start):
        for line in self.process.stdout:
            self.said += line
            if line.startswith(start):
                return
        raise AssertionError(f"the demo never said {start!r}:\n{self.said}")

    def end(self):
        rest, _ = self.process.communicate(timeout=TIMEOUT_SECONDS)
        self.said += rest
        return self.process.returncode

    def clean(self):
        if self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()
        self.process.stdout.close()
        self.folder.cleanup()

    def journal(self, name="journal.jsonl"):
        with open(os.path.join(self.kept, name), encoding="utf-8") as file:
            return [json.loads(line) for line in file]

    def numbers(self):
        with open(os.path.join(self.kept, "numbers.json"), encoding="utf-8") as file:
            return json.load(file)


@contextlib.contextmanager
def demo(*options, **how):
    run = Demo(*options, **how)
    try:
        yield run
    finally:
        run.clean()


class TheDemo(unittest.TestCase):
    def ended(self, run, code):
        self.assertEqual(run.end(), code, run.said)

    def nothing_is_left(self, run):
        self.assertEqual([path for path in run.numbers()["folders"] if os.path.exists(path)], [])
        self.assertEqual(os.listdir(run.temporary), [])

    def nobody_came_to_harm(self, run):
        numbers = run.numbers()
        self.assertEqual((numbers["failed"], numbers["held"], numbers["lost"], numbers["doubled"]), (0, 0, 0, 0), run.said)
        self.assertEqual(numbers["harm"], [])
        self.assertTrue(numbers["database_in_order"])

    def in_order(self, run, name="journal.jsonl"):
        """http, then workers, then db: by who was gone before whom was asked."""
        lines = run.journal(name)
        self.assertEqual(broken_laws(lines, lines[-1]["code"], PHASES, PHASE_OF), [])
        at = next(i for i, line in enumerate(lines) if line["event"] == "ending_started")

        def numbers(event, service):
            return [line["seq"] for line in lines[at:] if line["event"] == event and line["service"] == service]
        for earlier, later in (("web", "speech"), ("web", "decode"), ("speech", "endwell-reaper"), ("decode", "endwell-reaper"),
                               ("endwell-reaper", "endwell-database")):
            self.assertLess(max(numbers("service_gone", earlier)), min(numbers("service_asked", later)))

    def all_was_done_once(self, run):
        """By a successor, at the end: each clip, each job, but the four that cannot be done."""
        numbers = run.numbers()
        self.assertEqual((numbers["clips"], numbers["waiting"], numbers["buried"]), (numbers["ordered"], 0, 4), run.said)
        self.assertEqual(numbers["done"] + numbers["buried"], numbers["put"])

    def test_a_stop_under_load_cuts_no_request_and_a_successor_finishes_all_that_can_be_done(self):
        with demo() as run:
            self.ended(run, 0)
            self.nobody_came_to_harm(run)
            self.in_order(run)
            self.in_order(run, "journal-2.jsonl")
            self.all_was_done_once(run)
            self.nothing_is_left(run)
            numbers = run.numbers()
            self.assertGreater(numbers["answered"], 20)
            self.assertGreater(numbers["in_hand"], 0)
            self.assertGreater(numbers["done_before"], 0)
            self.assertGreater(numbers["given_back"], 0)
            self.assertIn("as PID 1 of a PID namespace", run.said)

    def test_the_four_corrupt_recordings_are_named(self):
        with demo() as run:
            self.ended(run, 0)
            self.assertRegex(run.said, r"(?m)^\d+ failures in 24 h came from \d+ jobs$")
            for number in range(1, 5):
                self.assertRegex(run.said, rf"  payload +{{\"file\": \"corrupt-{number}.rec\"}}")
            self.assertEqual(run.said.count("  attempts     3 of 3, deaths 3 of 3"), 4, run.said)

    def test_its_picture_shows_each_phase_each_process_and_the_summary(self):
        with demo() as run:
            self.ended(run, 0)
            for start in ("http ", "  hook deregister ", "  web ", "workers ", "  speech@1 ", "  decode ", "db ",
                          "  endwell-reaper ", "  endwell-database ", "requests in hand ", "jobs in hand ", "exit 0: ",
                          "  requests ", "  clips "):
                self.assertTrue(any(line.startswith(start) for line in run.said.splitlines()),
                                f"{start!r} in\n{run.said}")
            self.assertNotIn("HARM", run.said)

    def test_two_at_once_do_not_disturb_each_other(self):
        with demo() as one, demo() as other:
            for run in (one, other):
                self.ended(run, 0)
                self.nobody_came_to_harm(run)
                self.in_order(run)

    def test_without_the_right_to_a_pid_namespace_it_says_so_and_is_a_subreaper(self):
        with demo(before=["setpriv", "--bounding-set=-sys_admin", "--inh-caps=-sys_admin"]) as run:
            self.ended(run, 0)
            self.assertIn("as a subreaper", run.said)
            self.nobody_came_to_harm(run)
            self.in_order(run)
            self.nothing_is_left(run)

    def test_ctrl_c_ends_it_in_order_and_leaves_nothing(self):
        with demo("--seconds", "60") as run:
            run.read_until("load")
            os.killpg(run.process.pid, signal.SIGINT)
            self.ended(run, 130)
            self.nobody_came_to_harm(run)
            self.in_order(run)
            self.nothing_is_left(run)

    def test_a_wrong_order_is_seen_to_leave_jobs_in_the_hands_of_the_dead(self):
        # The start is wrong, too, then: nothing may wait for workers that wait for the database.
        config = self.changed(("Phases=http workers db", "Phases=db workers http"),
                              ("Phase=workers\nType=notify\n", "Phase=workers\n"))
        with demo("--config", config) as run:
            self.assertNotEqual(run.end(), 0, run.said)
            self.assertGreater(run.numbers()["held"], 0)
            self.assertIn("HARM", run.said)

    def test_a_wrong_signal_is_seen_to_cut_requests(self):
        with demo("--config", self.changed(("KillSignal=SIGQUIT", "KillSignal=SIGTERM"))) as run:
            self.ended(run, 1)
            self.assertGreater(run.numbers()["failed"], 0)
            self.assertIn("HARM", run.said)

    def changed(self, *changes):
        with open(os.path.join(HOUSE, "deploy/demo.d/endwell.ini"), encoding="utf-8") as file:
            text = file.read()
        for before, after in changes:
            self.assertIn(before, text)
            text = text.replace(before, after)
        config = tempfile.NamedTemporaryFile("w", suffix=".ini", encoding="utf-8")
        self.addCleanup(config.close)
        config.write(text)
        config.flush()
        return config.name


if __name__ == "__main__":
    ENDWELL = sys.argv.pop(1)
    unittest.main(verbosity=2)
