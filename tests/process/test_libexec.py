#!/usr/bin/python3
"""A built-in program is found beside wherever `endwell` was put: installed, moved, built, or behind a link."""
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

PROGRAM = None


class Case(unittest.TestCase):
    def setUp(self):
        self.root = os.path.realpath(tempfile.mkdtemp(prefix="endwell-libexec-"))
        self.addCleanup(shutil.rmtree, self.root)

    def put(self, path, mode=0o755):
        path = os.path.join(self.root, path)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        shutil.copy(PROGRAM, path)
        os.chmod(path, mode)
        return path

    def found(self, program, name="logger"):
        said = subprocess.run([program, name], stdout=subprocess.PIPE, check=True, text=True).stdout.strip()
        return os.path.realpath(said) if said.startswith("/") else said

    def test_in_an_installation_it_is_in_the_libexec_folder(self):
        endwell, logger = self.put("usr/bin/endwell"), self.put("usr/libexec/endwell/endwell-logger")
        self.assertEqual(self.found(endwell), logger)

    def test_an_installation_can_be_moved_and_linked_to(self):
        endwell, logger = self.put("opt/x/bin/endwell"), self.put("opt/x/libexec/endwell/endwell-logger")
        link = os.path.join(self.root, "link")
        os.symlink(endwell, link)
        self.assertEqual(self.found(link), logger)

    def test_in_a_build_tree_it_is_in_the_rooms_folder(self):
        endwell, logger = self.put("build/supervisor/endwell"), self.put("build/logger/endwell-logger")
        self.assertEqual(self.found(endwell), logger)

    def test_a_program_without_a_room_of_its_own_is_in_that_of_the_ledger(self):
        endwell = self.put("build/supervisor/endwell")
        for name in ("database", "jobs", "ledger"):
            program = self.put(f"build/ledger/endwell-{name}")
            self.assertEqual(self.found(endwell, name), program)

    def test_what_cannot_be_executed_is_not_found(self):
        endwell = self.put("usr/bin/endwell")
        self.put("usr/libexec/endwell/endwell-logger", 0o644)
        self.assertEqual(self.found(endwell), "ENOENT")

    def test_nowhere_is_an_error(self):
        self.assertEqual(self.found(self.put("usr/bin/endwell")), "ENOENT")


if __name__ == "__main__":
    PROGRAM = os.path.realpath(sys.argv.pop(1))
    unittest.main(verbosity=1)
