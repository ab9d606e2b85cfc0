#!/usr/bin/python3
"""test_jobs.py LEDGER JOBS ENDWELL - `endwell jobs`: what a person puts in, sees, and decides."""
import json
import os
import pty
import subprocess
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True

from stage import Cluster, sql, url  # noqa: E402

SECRET = "s3cret-payload"


class Jobs(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.cluster = Cluster()
        cls.addClassCleanup(cls.cluster.clean)

    def setUp(self):
        sql(self.cluster, "drop schema if exists endwell cascade")
        subprocess.run([LEDGER, "migrate"], check=True, env=self.environment(), stdout=subprocess.DEVNULL)

    def environment(self, **more):
        kept = {name: os.environ[name] for name in ("ASAN_OPTIONS", "UBSAN_OPTIONS") if name in os.environ}
        return {"PATH": "/usr/bin:/bin", "USER": "nina", "DATABASE_URL": url(self.cluster), **kept, **more}

    def run_jobs(self, *words, text="", **environment):
        return subprocess.run([JOBS, *map(str, words)], capture_output=True, text=True, check=False, timeout=120, input=text,
                              env=self.environment(**environment))

    def good(self, *words, text=""):
        done = self.run_jobs(*words, text=text)
        self.assertEqual((done.returncode, done.stderr), (0, ""), done.stdout)
        return done.stdout

    def json(self, *words):
        return json.loads(self.good(*words, "--json"))

    def ask(self, text, *values):
        return sql(self.cluster, text, *values)

    def work(self, queue, error="boom", kind="error", n=1):
        """Claims and fails."""
        worker = self.ask("select endwell.worker_up('here', 1)")[0][0]
        for one in self.ask("select id, gen, claim_id from endwell.claim(%s, %s, %s)", queue, worker, n):
            self.ask("select endwell.fail(%s, %s, %s, %s, %s)", *one, error.replace("#", str(one[0])), kind)

    def test_a_job_is_put_in_with_everything_that_was_said(self):
        said = self.good("enqueue", "mail", "--kind", "send", "--payload", '{"to": "x"}', "--dedup", "k", "--priority", "-5",
                         "--run-at", "+1h", "--max-attempts", "7")
        self.assertRegex(said, r"^made the queue mail.*\njob \d+ in the queue mail: scheduled\n$")
        self.assertEqual(self.ask("select queue, kind, payload::text, dedup_key, priority, max_attempts, run_at > now() + "
                                  "interval '59 min' from endwell.job"), [("mail", "send", '{"to": "x"}', "k", -5, 7, True)])

    def test_a_payload_comes_from_a_file_or_standard_input_and_must_be_json(self):
        with tempfile.NamedTemporaryFile("w") as file:
            file.write('{"from": "file"}')
            file.flush()
            self.good("enqueue", "default", "--payload", "@" + file.name)
        self.good("enqueue", "default", "--payload", "-", text=json.dumps({"long": "x" * 100000}))
        self.assertEqual(self.ask("select coalesce(j.payload, p.payload) ->> 'from', length(coalesce(j.payload, p.payload) ->> "
                                  "'long') from endwell.job j left join endwell.payload p on p.job_id = j.id order by j.id"),
                         [("file", None), (None, 100000)])
        for words, text in ((("--payload", "{no"), ""), (("--payload", "@/nonexistent"), ""), (("--payload", "-"), "a\0b")):
            done = self.run_jobs("enqueue", "default", *words, text=text)
            self.assertEqual(done.returncode, 64, words)
            self.assertRegex(done.stderr, "nothing was done")

    def test_many_alike_are_put_in_at_once(self):
        self.assertEqual(self.json("enqueue", "default", "--count", "2345")["created"], 2345)
        self.assertEqual(self.ask("select count(*) from endwell.job"), [(2345,)])

    def test_a_key_makes_one_job_and_a_dead_one_is_said(self):
        self.good("enqueue", "default", "--dedup", "k", "--max-attempts", "1")
        self.assertRegex(self.good("enqueue", "default", "--dedup", "k"), "has this dedup key already, and is ready")
        self.work("default")
        done = self.run_jobs("enqueue", "default", "--dedup", "k")
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stdout, "is dead: no new one was made")

    def test_the_list_has_states_and_errors_and_never_a_payload(self):
        self.good("enqueue", "a", "--payload", json.dumps(SECRET))
        self.good("enqueue", "a", "--run-at", "+1h", "--payload", json.dumps(SECRET))
        self.good("enqueue", "b", "--max-attempts", "1", "--payload", json.dumps(SECRET))
        self.work("b", "no such\nfile")
        for words in (("list",), ("list", "--json")):
            text = self.good(*words)
            self.assertNotIn("s3cret", text)
            self.assertRegex(text, "no such(\\\\n| )file")
        self.assertEqual([one["status"] for one in self.json("list")], ["dead", "scheduled", "ready"])
        for state, queue, wanted in (("dead", [], 1), ("scheduled", [], 1), ("ready", ["a"], 1), ("ready", ["b"], 0),
                                     ("running", [], 0), ("done", [], 0)):
            self.assertEqual(len(self.json("list", *queue, "--state", state)), wanted, state)
        self.assertEqual(len(self.json("list", "--limit", "2")), 2)

    def test_looking_at_a_stuck_job_frees_it_and_says_so(self):
        self.good("enqueue", "default")
        worker = self.ask("select endwell.worker_up('here', 1)")[0][0]
        [(job,)] = self.ask("select id from endwell.claim('default', %s)", worker)
        self.assertNotIn("stuck", self.good("show", job))
        self.ask("update endwell.queue set lease_ms = 1000; update endwell.job set lease_ms = 1000, beat_at = clock_timestamp() "
                 "- interval '1 h', claimed_at = clock_timestamp() - interval '1 h'")
        self.ask("select endwell.reap(0)")  # the sweep is alive
        self.ask("update endwell.pulse set quiet_from = '-infinity'")
        self.assertRegex(self.good("show", job), "It was stuck: .* it is in its queue again now")
        self.assertNotIn("stuck", self.good("show", job))
        [shown] = self.json("show", job)
        self.assertEqual((shown["deaths"], shown["recovered_now"], [one["outcome"] for one in shown["tries"]]),
                         (1, False, ["expired"]))

    def test_who_reads_expired_is_told_that_nobody_sweeps(self):
        self.good("enqueue", "default")
        worker = self.ask("select endwell.worker_up('here', 1)")[0][0]
        [(job,)] = self.ask("select id from endwell.claim('default', %s)", worker)
        self.assertNotIn("swept", self.good("stats"))
        self.ask("update endwell.job set beat_at = clock_timestamp() - interval '1 h', claimed_at = clock_timestamp() - interval "
                 "'1 h'; update endwell.pulse set tick_at = clock_timestamp() - interval '10 min'")
        for words in (["show", job], ["stats"]):
            self.assertRegex(self.good(*words), r"Nobody has swept this ledger for 10 min, .*recovered\. `endwell run`", words)
        self.ask("select endwell.reap(0)")
        self.assertNotIn("swept", self.good("stats"))

    def test_a_job_that_is_parked_for_ever_is_listed_and_shown(self):
        self.good("enqueue", "default")
        for when, wanted in (("infinity", "scheduled"), ("-infinity", "ready")):
            self.ask("update endwell.job set run_at = %s", when)
            self.assertRegex(self.good("list"), rf" {wanted} .* - *\n$")
            [listed] = self.json("list")
            self.assertEqual((listed["status"], listed["since_usec"]), (wanted, None))
            self.good("show", listed["id"])
            self.good("stats")

    def test_nobody_forges_a_line_or_moves_the_cursor(self):
        said = self.good("enqueue", "q\nx\033[31m", "--kind", "k\n  status       done\033[2J")
        self.assertNotIn("\033", said)
        self.assertEqual(len(said.splitlines()), 2, said)
        [(job,)] = self.ask("select id from endwell.job")
        shown = self.good("show", job)
        self.assertNotIn("\033", shown)
        self.assertEqual([line for line in shown.splitlines() if line.startswith("  status")], ["  status       ready"])

    def test_a_value_that_the_database_cannot_take_is_the_callers_fault(self):
        for words, wanted in ((["enqueue", "x" * 201], "at most 200 characters"), (["enqueue", b"\xff"], "does not take it"),
                              (["list", b"\xff"], "does not take it"), (["stats", b"\xff"], "does not take it"),
                              (["enqueue", "q", "--payload", "[" * 60000], "does not take it")):
            done = subprocess.run([JOBS, *words], capture_output=True, check=False, timeout=120, env=self.environment())
            self.assertEqual(done.returncode, 64, done.stderr)
            self.assertIn(wanted, done.stderr.decode())
        self.good("enqueue", "ö" * 200)

    def test_a_job_is_shown_with_its_attempts_and_its_payload_only_when_asked(self):
        self.good("enqueue", "default", "--payload", json.dumps(SECRET))
        self.work("default", "first fault")
        [(job,)] = self.ask("select id from endwell.job")
        text = self.good("show", job)
        self.assertRegex(text, "first fault")
        self.assertRegex(text, "bytes \\(--payload shows it\\)")
        self.assertNotIn("s3cret", text + self.good("show", job, "--json"))
        self.assertIn(SECRET, self.good("show", job, "--payload"))
        done = self.run_jobs("show", job, 999)
        self.assertEqual((done.returncode, done.stderr), (1, "endwell jobs show: there is no job 999\n"))

    def test_dead_jobs_are_retried_or_given_up_and_every_answer_is_said(self):
        self.good("enqueue", "default", "--max-attempts", "1", "--count", "3")
        self.work("default", n=2)
        jobs = [one[0] for one in self.ask("select id from endwell.job order by id")]
        done = self.run_jobs("retry", jobs[0], jobs[2], 999)
        self.assertEqual((done.returncode, done.stdout.splitlines()),
                         (1, [f"job {jobs[0]} is ready again, with a new budget of attempts",
                              f"job {jobs[2]} is not dead: nothing was done with it", "job 999 does not exist"]))
        self.assertRegex(self.good("discard", jobs[1]), "was discarded")
        self.assertEqual(self.json("cancel", jobs[0]), [{"id": jobs[0], "answer": "cancelled"}])
        self.assertEqual(self.run_jobs("cancel", jobs[0]).returncode, 1)
        self.assertEqual(self.ask("select verb, by from endwell.audit order by id"), [("retry", "nina"), ("discard", "nina")])

    def test_a_poisonous_job_does_not_hide_the_fault_that_many_have(self):
        self.good("enqueue", "poison", "--kind", "image", "--max-attempts", "1000")
        for _ in range(30):
            self.ask("update endwell.job set run_at = clock_timestamp() where queue = 'poison'")
            self.work("poison", "corrupt file at byte 17", "ValueError")
        self.good("enqueue", "real", "--count", "8")
        self.work("real", "host 10.0.0.# refused", "IOError", 8)
        lines = self.good("culprits").splitlines()
        self.assertEqual(lines[:2], ["38 failures in 24 h came from 9 jobs", "job 1 alone made 30 of them"])
        self.assertRegex(lines[4], r"^ +8 +8 +real .*IOError: host # refused$")
        self.assertRegex(lines[5], r"^ +1 +30 +poison +image .*ValueError: corrupt file at byte #$")
        found = self.json("culprits", "--since", "1h")
        self.assertEqual([(one["queue"], one["failures"], one["distinct_jobs"]) for one in found["culprits"]],
                         [("real", 8, 8), ("poison", 30, 1)])

    def test_queues_are_counted(self):
        self.good("enqueue", "a", "--count", "3")
        self.good("enqueue", "a", "--run-at", "+1h")
        self.ask("update endwell.queue set paused = true where name = 'a'")
        self.assertEqual([(one["queue"], one["ready"], one["scheduled"], one["paused"]) for one in self.json("stats")],
                         [("a", 3, 1, True), ("default", 0, 0, False)])
        self.assertRegex(self.good("stats", "a"), r"QUEUE .*\na +3 +1 .* paused\n$")
        self.assertEqual(self.run_jobs("stats", "nosuch").returncode, 1)

    def test_without_a_ledger_it_says_what_to_do(self):
        self.ask("drop schema endwell cascade")
        for words in (("list",), ("stats",), ("show", "1"), ("enqueue", "x"), ("culprits",), ("retry", "1"), ("cancel", "1")):
            done = self.run_jobs(*words)
            self.assertEqual((done.returncode, done.stdout.strip("[")), (69, ""), words)
            self.assertRegex(done.stderr, "endwell ledger migrate", words)

    def test_words_that_mean_nothing_are_refused(self):
        for words in ((), ("lst",), ("show",), ("show", "x"), ("retry", "-1"), ("enqueue",), ("enqueue", "a", "b"),
                      ("enqueue", "a", "--run-at", "tomorrow"), ("enqueue", "a", "--run-at", "2030-01-01T10:00"),
                      ("enqueue", "a", "--count", "0"), ("enqueue", "a", "--priority", "high"),
                      ("enqueue", "a", "--count", "2", "--dedup", "k"), ("list", "--state", "odd"), ("list", "--limit", "0"),
                      ("culprits", "--since", "0"), ("culprits", "x"), ("stats", "a", "b")):
            done = self.run_jobs(*words)
            self.assertEqual((done.returncode, done.stdout), (64, ""), words)
            self.assertTrue(done.stderr, words)
        for verb in ("enqueue", "list", "show", "stats", "culprits", "retry", "discard", "cancel"):
            self.assertRegex(self.good(verb, "--help"), f"^usage: endwell jobs {verb}")

    def on_a_terminal(self, *words, **environment):
        """What it prints there."""
        reader, writer = pty.openpty()
        with subprocess.Popen([JOBS, *words], stdout=writer, env=self.environment(**environment)) as process:
            os.close(writer)
            text = b""
            try:
                while part := os.read(reader, 65536):
                    text += part
            except OSError:  # the end of a terminal
                pass
        os.close(reader)
        self.assertEqual(process.returncode, 0)
        return text.decode()

    def test_colour_is_for_a_terminal_and_never_with_no_color(self):
        self.assertIn("\033[1m", self.on_a_terminal("stats"))
        self.assertNotIn("\033", self.on_a_terminal("stats", NO_COLOR="1"))
        self.assertNotIn("\033", self.good("stats"))

    def test_endwell_itself_becomes_these_programs(self):
        done = subprocess.run([ENDWELL, "jobs", "stats", "--json"], capture_output=True, text=True, check=True,
                              env=self.environment())
        self.assertEqual([one["queue"] for one in json.loads(done.stdout)], ["default"])
        done = subprocess.run([ENDWELL, "ledger", "check"], capture_output=True, text=True, check=True, env=self.environment())
        self.assertRegex(done.stdout, "nothing differs")


if __name__ == "__main__":
    LEDGER, JOBS, ENDWELL = (os.path.realpath(sys.argv.pop(1)) for _ in range(3))
    unittest.main(verbosity=2)
