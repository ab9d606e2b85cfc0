#!/usr/bin/python3
"""test_ledger_manual.py LEDGER - the examples of endwell-ledger(7) for psql and Python do what they say."""
import os
import re
import subprocess
import sys
import unittest

sys.dont_write_bytecode = True

from stage import HERE, Cluster, sql, url  # noqa: E402
from postgres import program  # noqa: E402


def examples():
    """Each display of the page, as a reader sees it."""
    with open(os.path.join(HERE, "../../docs/man/endwell-ledger.7"), encoding="utf-8") as file:
        text = file.read()
    return [one.replace("\\e", "\\") for one in re.findall(r"^\.Bd -literal -offset indent\n(.*?)^\.Ed$", text,
                                                           re.MULTILINE | re.DOTALL)]


class Examples(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.cluster = Cluster()
        cls.addClassCleanup(cls.cluster.clean)
        cls.environment = {"PATH": "/usr/bin:/bin", "DATABASE_URL": url(cls.cluster)}
        subprocess.run([LEDGER, "migrate"], check=True, env=cls.environment, stdout=subprocess.DEVNULL)

    def psql(self, text):
        done = subprocess.run([program("psql"), "-XqAt", "-v", "ON_ERROR_STOP=1", url(self.cluster)], input=text,
                              capture_output=True, text=True, check=False, timeout=60)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return done.stdout

    def test_all_of_them_in_the_order_of_the_page(self):
        grants, one_job, old_table, python, node = examples()
        self.psql(grants)
        said = self.psql(one_job)
        self.assertRegex(said, r"^1\|t\|ready\nok\nok\ndone\|")
        self.assertRegex(self.psql(old_table), r"^\d+\n$")
        done = subprocess.run(["/usr/bin/python3", "-c", python], capture_output=True, text=True, check=False, timeout=60,
                              env=self.environment)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertRegex(done.stdout, r"^working on \{'file': 'a'\}\nok\n$")
        self.assertIn("endwell.claim", node)
        # What the page grants is enough for a worker, and not more.
        as_worker = "set role jobs_worker; select status from endwell.enqueue('default', 'x', '{}'); select endwell.worker_up('w');"
        self.assertRegex(self.psql(as_worker), "^ready\n")
        self.assertEqual(sql(self.cluster, "select has_schema_privilege('jobs_worker', 'endwell', 'create')"), [(False,)])


if __name__ == "__main__":
    LEDGER = os.path.realpath(sys.argv.pop(1))
    unittest.main(verbosity=2)
