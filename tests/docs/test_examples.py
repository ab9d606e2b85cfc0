#!/usr/bin/python3
"""test_examples.py ENDWELL - each configuration in deploy/ is good, and those that need nothing special run and end."""
import glob
import json
import os
import subprocess
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True

import sources  # noqa: E402
from sandbox import UNTIL_READY, run_script  # noqa: E402

EXAMPLES = os.path.join(sources.HOUSE, "deploy/examples")
HELD = os.path.join(EXAMPLES, "held-sockets")

# Calls the server that is held until it was restarted three times, by SIGTERM and in the midst of that; says how it went.
CALL_AND_RESTART = """
import json, os, signal, socket, subprocess
answered, pids = 0, []
def call():
    with socket.socket(socket.AF_UNIX) as one:
        one.settimeout(30)
        one.connect("/run/web.sock")
        one.sendall(b"GET / HTTP/1.1\\r\\nHost: held\\r\\nConnection: close\\r\\n\\r\\n")
        return one.makefile("rb").read().split()[-1].decode()
while len(pids) < 4:
    pid = call()
    answered += 1
    if pid not in pids:
        pids.append(pid)
        os.kill(int(pid), signal.SIGTERM)
print(answered >= 4 and len(pids), "processes answered every call")
"""

# A stream that answers each job with how long its payload is.
STREAM = """
import json, sys
for line in sys.stdin:
    job = json.loads(line)
    if "payload" in job:
        print(json.dumps({"id": job["id"], "generation": job["generation"], "result": len(job["payload"])}), flush=True)
"""
JOBS = """
config="-c {examples}/worker.ini"
id() { endwell jobs enqueue $config "$@" --json | python3 -c 'import json, sys; print(json.load(sys.stdin)["first_id"])'; }
until_done() { until endwell jobs show $config $1 | grep -q '^  status  *done'; do kill -0 $pid; sleep 0.05; done; }
pid=$!
spoken=$(id speech --payload '"hello"')
decoded=$(id decode --payload '"hello"')
until_done $spoken
until_done $decoded
endwell jobs show $config $spoken $decoded | grep '^  result'
kill -TERM $pid
code=0
wait $pid || code=$?
exit $code
"""


class Examples(unittest.TestCase):
    def run_and_end(self, example):
        """Runs it to a SIGTERM; ($? of run, its output, its journal)."""
        with tempfile.TemporaryDirectory(prefix="endwell-test-example.") as folder:
            done = run_script(f"endwell run -c {EXAMPLES}/{example} &\n" + UNTIL_READY +
                              "kill -TERM $!\ncode=0\nwait $! || code=$?\n"
                              "cp /run/endwell/journal.jsonl .\nexit $code\n", ENDWELL, folder)
            with open(os.path.join(folder, "journal.jsonl"), encoding="utf-8") as file:
                return done.returncode, done.stdout, [json.loads(line) for line in file]

    def test_each_passes_check_and_warns_of_nothing_but_programs_that_are_not_here(self):
        paths = glob.glob(os.path.join(EXAMPLES, "**/*.ini"), recursive=True)
        self.assertGreaterEqual(len(paths), 4)
        for path in paths:
            done = subprocess.run([ENDWELL, "check", "-c", path], capture_output=True, text=True, check=False)
            self.assertEqual(done.returncode, 0, done.stderr)
            warnings = [line for line in done.stdout.splitlines()
                        if "warning: " in line and "cannot be found" not in line]
            self.assertEqual(warnings, [], path)

    def test_the_hooks_run_each_once_at_its_edge(self):
        code, said, journal = self.run_and_end("hooks.ini")
        self.assertEqual(code, 0, said)
        began = [line["hook"] for line in journal if line["event"] == "hook_started"]
        ended = [line["hook"] for line in journal if line["event"] == "hook_finished" and line["status"] == 0]
        self.assertEqual(began, ["check-disk", "announce", "deregister", "tell", "last-copy"], said)
        self.assertEqual(sorted(ended), sorted(began), said)  # announce may take longer than what comes after it

    def test_a_real_journal_has_the_lines_that_the_manual_explains(self):
        _, said, journal = self.run_and_end("hooks.ini")
        known = sources.events()
        self.assertGreater(len(journal), 20, said)
        for line in journal:
            self.assertEqual(sorted(line), sorted(["seq", "mono_us", "time", "epoch", "event", *known[line["event"]]]))

    def test_the_entrypoint_exits_as_its_server_does(self):
        code, said, journal = self.run_and_end("one-command.ini")
        self.assertEqual(code, 143, said)  # Python's web server is ended by SIGTERM itself
        self.assertIn("preparing /srv/data", said)
        self.assertEqual(journal[-1]["code"], 143)

    def test_a_restart_of_the_server_whose_socket_is_held_refuses_nobody(self):
        with tempfile.TemporaryDirectory(prefix="endwell-test-example.") as folder:
            with open(os.path.join(folder, "call.py"), "w", encoding="utf-8") as file:
                file.write(CALL_AND_RESTART)
            done = run_script("export DELAY=0 LISTEN=unix:/run/web.sock "
                              f"SERVER={HELD}/server.py\nendwell run -c {HELD}/endwell.ini &\n" + UNTIL_READY +
                              "python3 call.py\nkill -TERM $!\nwait $!\n", ENDWELL, folder)
        self.assertEqual(done.returncode, 0, done.stdout)
        self.assertIn("4 processes answered every call", done.stdout)

    def test_the_workers_do_a_job_by_a_command_and_one_by_a_stream(self):
        with tempfile.TemporaryDirectory(prefix="endwell-test-example.") as folder:
            with open(os.path.join(folder, "stream.py"), "w", encoding="utf-8") as file:
                file.write(STREAM)
            done = run_script("export WEB='sleep infinity' SYNTHESIZE='wc -c' DATABASE=/run/db "
                              f"DECODE='python3 {folder}/stream.py'\n"
                              f"endwell run -c {EXAMPLES}/worker.ini &\n" + UNTIL_READY +
                              JOBS.replace("{examples}", EXAMPLES), ENDWELL, folder)
        self.assertEqual(done.returncode, 0, done.stdout)
        results = [line.split()[-1] for line in done.stdout.splitlines() if line.startswith("  result ")]
        self.assertEqual(results, ["7", "5"], done.stdout)


if __name__ == "__main__":
    ENDWELL = sys.argv.pop(1)
    unittest.main(verbosity=2)
