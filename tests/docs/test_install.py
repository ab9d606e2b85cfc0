#!/usr/bin/python3
"""test_install.py ENDWELL - the README's build and install, word for word, in a copy of the tree; what comes out of it
works, and still does when it was moved."""
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True

import sources  # noqa: E402
from sandbox import run_script  # noqa: E402

# A hook that is a line of output needs the logger, so it shows that the logger was found.
CONFIGURATION = """[Service one]
ExecStart=echo all done
Restart=no
[Hook spoken]
Service=one
LogPattern=^all done
"""


def commands():
    text = sources.text("README.md")
    section = text[text.index("## Build and install"):]
    return re.search(r"^```sh\n(.*?)^```$", section, re.MULTILINE | re.DOTALL).group(1)


class Installed(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.place = tempfile.TemporaryDirectory(prefix="endwell-test-install.")
        tree, root = os.path.join(cls.place.name, "tree"), os.path.join(cls.place.name, "root")
        shutil.copytree(sources.HOUSE, tree, ignore=shutil.ignore_patterns("build", ".git", "__pycache__"))
        done = subprocess.run(["sh", "-euc", commands()], cwd=tree, env={**os.environ, "DESTDIR": root},
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
        if done.returncode != 0:
            cls.place.cleanup()
            raise AssertionError(done.stdout[-4000:])
        cls.root = os.path.join(root, "usr/local")

    @classmethod
    def tearDownClass(cls):
        cls.place.cleanup()

    def installed(self):
        return sorted(os.path.relpath(os.path.join(folder, name), self.root)
                      for folder, _, names in os.walk(self.root) for name in names)

    def test_it_consists_of_the_programs_a_unit_and_the_manual(self):
        programs = ["database", "gateway", "jobs", "keeper", "ledger", "logger", "prober", "reaper", "report", "worker"]
        pages = sorted(os.listdir(os.path.join(sources.HOUSE, "docs/man")))
        self.assertEqual(self.installed(), sorted(
            ["bin/endwell", "lib/systemd/system/endwell.service", *(f"libexec/endwell/endwell-{name}" for name in programs),
             *(f"share/man/man{page[-1]}/{page}" for page in pages if page[-1].isdigit())]))

    def runs_from(self, root):
        with tempfile.TemporaryDirectory(prefix="endwell-test-install.") as folder:
            with open(os.path.join(folder, "endwell.ini"), "w", encoding="utf-8") as file:
                file.write(CONFIGURATION)
            done = run_script("endwell run -c endwell.ini\ncat /run/endwell/journal.jsonl\n",
                              os.path.join(root, "bin/endwell"), folder)
        self.assertEqual(done.returncode, 0, done.stdout)
        self.assertIn('"event":"hook_marked","hook":"spoken"', done.stdout)

    def test_it_runs_and_finds_its_logger(self):
        self.runs_from(self.root)

    def test_it_can_be_moved(self):
        moved = os.path.join(self.place.name, "somewhere", "else")
        shutil.copytree(self.root, moved)
        self.runs_from(moved)

    def test_it_is_hardened(self):
        text = subprocess.run(["readelf", "-hld", os.path.join(self.root, "bin/endwell")], capture_output=True,
                              text=True, check=True).stdout
        for sign in ("DYN (Position-Independent Executable", "GNU_RELRO", "BIND_NOW"):
            self.assertIn(sign, text)


if __name__ == "__main__":
    sys.argv.pop(1)  # it builds its own
    unittest.main(verbosity=2)
