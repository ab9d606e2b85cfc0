#!/usr/bin/python3
"""test_manual.py ENDWELL - the manual names what the program has, all of it and nothing else."""
import glob
import os
import re
import subprocess
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True

import sources  # noqa: E402

PAGES = sorted(glob.glob(os.path.join(sources.HOUSE, "docs/man/*.[157]")))


def page(name):
    return sources.text("docs/man", name)


def part(text, heading):
    """The lines of one .Sh or .Ss, up to the next."""
    match = re.search(rf"^\.S[hs] {re.escape(heading)}\n(.*?)(?=^\.S[hs] |\Z)", text, re.MULTILINE | re.DOTALL)
    assert match, f"no heading {heading}"
    return match.group(1)


def items(text, macro):
    return re.findall(rf"^\.It {macro} (.*)$", text, re.MULTILINE)


def endwell(*words):
    return subprocess.run([ENDWELL, *words], capture_output=True, text=True, check=True).stdout


class TheManual(unittest.TestCase):
    def test_no_page_has_a_fault_that_mandoc_warns_of(self):
        self.assertGreaterEqual(len(PAGES), 3)
        for path in PAGES:
            done = subprocess.run(["mandoc", "-T", "lint", "-W", "warning", path], capture_output=True, text=True,
                                  check=False)
            self.assertEqual((done.returncode, done.stdout), (0, ""), path)

    def test_endwell_ini_has_each_key_of_this_version_and_no_other(self):
        known = sources.keys()
        self.assertGreater(sum(map(len, known.values())), 35)
        text = page("endwell.ini.5")
        for section, keys in known.items():
            heading = f"[{section} name]" if section in ("Phase", "Service", "Hook") else f"[{section}]"
            written = [item.split()[0] for item in items(part(text, heading), "Va")]
            self.assertEqual(sorted(written), sorted(keys), heading)

    @unittest.skipIf(os.geteuid(), "to become another user one must be root")
    def test_each_example_of_endwell_ini_is_good(self):
        examples = re.findall(r"^\.Bd -literal -offset indent\n(.*?)^\.Ed$", part(page("endwell.ini.5"), "EXAMPLES"),
                              re.MULTILINE | re.DOTALL)
        self.assertEqual(len(examples), 2)
        for text in examples:
            # What not every machine has.
            for name, here in (("User=app", "User=nobody"), ("ssl-cert", "daemon"), ("=/run/secrets", "=-/run/secrets")):
                text = text.replace(name, here)
            with tempfile.NamedTemporaryFile("w", prefix="endwell-test-manual.", suffix=".ini") as file:
                file.write(text)
                file.flush()
                done = subprocess.run([ENDWELL, "check", "-c", file.name], capture_output=True, text=True, check=False)
            self.assertEqual(done.returncode, 0, done.stderr)
            warnings = [line for line in done.stdout.splitlines()
                        if "warning: " in line and "cannot be found" not in line and "is not there yet" not in line]
            self.assertEqual(warnings, [])

    def test_endwell_journal_has_each_event_with_each_of_its_fields_and_no_other(self):
        known = sources.events()
        self.assertGreater(len(known), 30)
        written = {}
        for line in items(part(page("endwell-journal.5"), "EVENTS"), "Cm"):
            name, *rest = line.split()
            written[name] = sorted(rest[1:])  # the first one is Ar
        self.assertEqual(written, {name: sorted(fields) for name, fields in known.items()})

    def test_endwell_journal_explains_each_field_once(self):
        known = {field for fields in sources.events().values() for field in fields}
        self.assertEqual(sorted(items(part(page("endwell-journal.5"), "FIELDS"), "Va")), sorted(known))

    def test_endwell_has_each_verb_and_no_other(self):
        verbs = re.findall(r"^  (\w+) ", endwell("--help"), re.MULTILINE)
        self.assertGreater(len(verbs), 5)
        written = re.findall(r"^\.Ss endwell (\w+)$", page("endwell.1"), re.MULTILINE)
        self.assertEqual(sorted(written), sorted(verbs))

    def test_each_option_that_a_verb_explains_is_in_the_manual_and_the_other_way_round(self):
        place = {"--socket", "--config"}
        for verb in ("run", "check", "status", "events", "shutdown", "start", "stop", "restart", "signal", "hook", "wait",
                     "health", "mark"):
            helped = set(re.findall(r"(?<![\w-])--[a-z][a-z-]*", endwell("help", verb))) - {"--help"}
            written = set()
            for line in items(part(page("endwell.1"), f"endwell {verb}"), "Fl"):
                written |= {"--" + word for word in re.findall(r"(?:^|Fl )-([a-z-]+)", line.replace(", Fl ", " Fl "))}
                written |= {"--" + word for word in re.findall(r", Fl -([a-z-]+)", line)}
            if verb not in ("run", "check"):
                helped -= place  # written once, for all of them
            if verb == "run":
                helped |= {"--config"}  # the synopsis has its short form
            self.assertEqual(written, helped, verb)

    def test_each_option_of_the_worker_is_in_its_page_and_no_other(self):
        helped = set(re.findall(r"(?<![\w-])--[a-z][a-z-]*", endwell("worker", "--help")))
        written = set()
        for line in items(part(page("endwell-worker.1"), "OPTIONS"), "Fl"):
            written |= {"--" + word for word in re.findall(r"(?:^|Fl )-([a-z-]+)", line)}
        self.assertGreater(len(written), 15)
        self.assertEqual(written, helped)

    def test_endwell_reaper_has_each_option_of_the_program_and_no_other(self):
        helped = set(re.findall(r"(?<![\w-])--[a-z][a-z-]*", endwell("reaper", "--help")))
        self.assertGreater(len(helped), 5)
        lines = items(part(page("endwell-reaper.1"), "OPTIONS"), "Fl")
        self.assertEqual({"--" + word for line in lines for word in re.findall(r"(?:^|Fl )-([a-z-]+)", line)}, helped)

    def test_each_option_of_the_report_is_in_the_manual_and_no_other(self):
        helped = set(re.findall(r"(?<![\w-])--[a-z][a-z-]*", endwell("report", "--help"))) - {"--help"}
        lines = items(part(page("endwell.1"), "endwell report"), "Fl")
        self.assertEqual({"--" + word for line in lines for word in re.findall(r"(?:^|Fl )-([a-z-]+)", line)}, helped)

    def test_each_exit_code_is_explained(self):
        text = part(page("endwell.1"), "EXIT STATUS")
        self.assertEqual({int(code) for code in items(text, "") if code.isdigit()} | {
            int(code) for code in re.findall(r"^\.It (\d+)$", text, re.MULTILINE)} | {69}, sources.exit_codes())
        self.assertIn("69", text)


if __name__ == "__main__":
    ENDWELL = sys.argv.pop(1)
    unittest.main(verbosity=2)
