#!/usr/bin/python3
"""test_counts.py - the closing line of tests/run counts what the programs said of themselves, and never too well."""
import os
import sys
import unittest

sys.dont_write_bytecode = True

import sources  # noqa: E402

sys.path.insert(0, os.path.join(sources.HOUSE, "tests/support"))

from tiers import Count, count_fuzz, count_plants, count_program  # noqa: E402

CRITERION = "[====] Synthesis: Tested: 6 | Passing: 3 | Failing: 2 | Crashing: 1 \n"


class Counts(unittest.TestCase):
    def test_each_kind_of_program_is_counted_by_its_own_words(self):
        for output, passed, failed in ((CRITERION, 3, 3), ("ok one\n12 passed, 2 failed\n", 12, 2),
                                       ("Ran 9 tests in 1.2s\n\nFAILED (failures=1, errors=2)\n", 6, 3)):
            self.assertEqual(count_program(output, False), Count(passed, failed))

    def test_a_silent_program_is_one_test(self):
        self.assertEqual(count_program("", True), Count(1, 0))
        self.assertEqual(count_program("", False), Count(0, 1))

    def test_a_program_that_fails_behind_its_own_good_words_has_failed(self):
        self.assertEqual(count_program("5 passed, 0 failed\n", False), Count(5, 1))

    def test_no_test_at_all_is_a_failure(self):
        for output in ("0 passed, 0 failed\n", "Ran 0 tests in 0.0s\n",
                       "Synthesis: Tested: 0 | Passing: 0 | Failing: 0 | Crashing: 0"):
            self.assertEqual(count_program(output, True), Count(0, 1))

    def test_plants_and_fuzz_targets_are_counted_by_their_rows(self):
        table = "| plant | law | schedules |\n| 01-one-thing | L4 | 5 |\n| 02-other | none | more than 10000 |\n"
        self.assertEqual(count_plants(table, False), Count(1, 1))
        self.assertEqual(count_plants("", True), Count(0, 1))
        self.assertEqual(count_fuzz("fuzz_a: nothing in 60 s\nfuzz_b: FOUND SOMETHING\n", False), Count(1, 1))


if __name__ == "__main__":
    sys.argv.pop(1)  # endwell is not needed here
    unittest.main(verbosity=2)
