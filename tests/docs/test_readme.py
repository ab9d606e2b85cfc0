#!/usr/bin/python3
"""test_readme.py ENDWELL - what the README says works: its configuration, each of its commands, outputs and links."""
import os
import re
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True

import sources  # noqa: E402
from sandbox import UNTIL_READY, run_script  # noqa: E402

README = sources.text("README.md")
# Run as they are by others: demo.demo, tests/run itself, docs.install.
ELSEWHERE = {"deploy/demo", "tests/run", "cmake --preset release -DBUILD_TESTING=OFF", "cmake --build --preset release",
             "cmake --install build/release --prefix /usr/local"}


def blocks(language):
    return re.findall(rf"^```{language}\n(.*?)^```$", README, re.MULTILINE | re.DOTALL)


def commands(block):
    return [line.split("#")[0].strip() for line in block.splitlines() if line.split("#")[0].strip()]


class TheReadme(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="endwell-test-readme.")
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        with open(os.path.join(self.folder, "endwell.ini"), "w", encoding="utf-8") as file:
            file.write(blocks("ini")[0])

    def succeeds(self, script):
        done = run_script(script, ENDWELL, self.folder)
        self.assertEqual(done.returncode, 0, done.stdout)
        return done.stdout

    def test_each_command_succeeds(self):
        ran = 0
        for block in blocks("sh"):
            lines = [line for line in commands(block) if line not in ELSEWHERE]
            script = "".join(line + "\n" + (UNTIL_READY if line.endswith("&") else "") for line in lines)
            if lines:
                self.succeeds(script + ("wait $!\n" if "&\n" in script else ""))
            ran += len(lines)
        self.assertGreaterEqual(ran, 6)

    def test_what_is_run_elsewhere_is_still_in_it(self):
        self.assertEqual(ELSEWHERE - {line for block in blocks("sh") for line in commands(block)}, set())
        for program in ("deploy/demo", "tests/run", "bench/supervisor/run"):
            self.assertTrue(os.access(os.path.join(sources.HOUSE, program), os.X_OK), program)

    def test_each_shown_output_is_the_real_one(self):
        for block in blocks("console"):
            first, shown = block.split("\n", 1)
            self.assertTrue(first.startswith("$ "))
            self.assertEqual(self.succeeds(first[2:]), shown)

    def test_its_configuration_is_twenty_lines_or_so(self):
        self.assertLessEqual(len([line for line in blocks("ini")[0].splitlines() if line]), 20)

    def test_the_stop_goes_in_the_order_that_it_promises(self):
        said = self.succeeds("endwell run -c endwell.ini &\n" + UNTIL_READY + "kill -TERM $!\nwait $!\n")
        at = [said.index(f"phase {name} ended") for name in ("http", "workers", "db")]
        self.assertEqual(at, sorted(at), said)
        self.assertLess(said.index("the load balancer sends nothing more"), at[0])

    def test_tinis_options_are_taken(self):
        self.succeeds("endwell run -s -g -w -p TERM -e 143 -- sh -c 'exit 143'\n"
                      "endwell run -- sh -c 'exit 7' || test $? = 7\n"
                      "endwell run -- /nonexistent || test $? = 127\n"
                      "endwell run -- /etc || test $? = 126\n")

    def test_its_table_has_each_exit_code_of_run(self):
        table = {int(code) for code in re.findall(r"^\| (\d+) \|", README, re.MULTILINE)}
        self.assertEqual(table, sources.exit_codes() - {69})  # 69 is of the verbs that find nobody

    def test_each_link_leads_somewhere(self):
        links = re.findall(r"\]\(([^)]+)\)", README)
        self.assertGreater(len(links), 8)
        for link in links:
            self.assertTrue(os.path.exists(os.path.join(sources.HOUSE, link)), link)


if __name__ == "__main__":
    ENDWELL = sys.argv.pop(1)
    unittest.main(verbosity=2)
