#!/usr/bin/python3
"""test_ledger.py LEDGER - `endwell ledger`: ten at once, odd schemas, newer databases, drift, and places that are not there."""
import json
import os
import subprocess
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True

from stage import Cluster, Pooler, demand_password, sql, url  # noqa: E402

ODD = 'my "jobs"'
SECRET = "s3cret-and-more"


class Ledger(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.cluster = Cluster()
        cls.addClassCleanup(cls.cluster.clean)

    def setUp(self):
        sql(self.cluster, "create database one")
        self.addCleanup(sql, self.cluster, "drop database one with (force)")

    def environment(self, schema=None, place=None, **more):
        kept = {name: os.environ[name] for name in ("ASAN_OPTIONS", "UBSAN_OPTIONS") if name in os.environ}
        named = {"ENDWELL_DATABASE_SCHEMA": schema} if schema else {}
        return {"PATH": "/usr/bin:/bin", "DATABASE_URL": place or url(self.cluster, database="one"), **kept, **named, **more}

    def run_ledger(self, *words, **environment):
        return subprocess.run([LEDGER, *words], capture_output=True, text=True, check=False, timeout=120,
                              stdin=subprocess.DEVNULL, env=self.environment(**environment))

    def good(self, *words, **environment):
        done = self.run_ledger(*words, **environment)
        self.assertEqual((done.returncode, done.stderr), (0, ""), done.stdout)
        return done.stdout

    def ask(self, text, *values):
        return sql(self.cluster, text, *values, database="one")

    def test_it_installs_once_and_then_has_nothing_to_do(self):
        self.assertRegex(self.good("migrate"), r"^installed the ledger, version \d+, in the schema endwell: \d+ files\n$")
        self.assertRegex(self.good("migrate"), "nothing to do")
        self.assertEqual(self.ask("select count(*) from endwell.queue where name = 'default'"), [(1,)])
        self.assertRegex(self.good("check"), "nothing differs")

    def test_ten_at_once_install_it_once(self):
        running = [subprocess.Popen([LEDGER, "migrate"], env=self.environment(), stdout=subprocess.PIPE,
                                    stderr=subprocess.PIPE, text=True) for _ in range(10)]
        said = [one.communicate(timeout=120) for one in running]
        self.assertEqual([one.returncode for one in running], [0] * 10, said)
        self.assertEqual(sum("installed" in out for out, _ in said), 1, said)
        self.assertRegex(self.good("check"), "nothing differs")

    def test_an_odd_schema_is_a_schema_like_any_other_and_two_live_side_by_side(self):
        for schema in (ODD, "Jobs", "endwell"):
            self.good("migrate", schema=schema)
        for schema in (ODD, "Jobs", "endwell"):
            self.assertRegex(self.good("check", schema=schema), "nothing differs")
        self.assertEqual(self.ask('select status from "my ""jobs""".enqueue(%s, %s, %s)', "default", "k", "{}"), [("ready",)])
        self.assertEqual(self.ask('select count(*) from "Jobs".job'), [(0,)])

    def test_through_a_pooler_it_installs_and_checks_too(self):
        pooler = Pooler(self.cluster)
        self.addCleanup(pooler.clean)
        place = url(pooler, database="one")
        self.assertRegex(self.good("migrate", place=place), "installed")
        self.assertRegex(self.good("check", place=place), "nothing differs")

    def test_a_failure_in_the_midst_leaves_nothing_behind(self):
        self.ask("create schema endwell; create table endwell.item(a int)")  # in the way of schema.sql's
        done = self.run_ledger("migrate")
        self.assertEqual(done.returncode, 70)
        self.assertRegex(done.stderr, r"installing schema\.sql: .*already exists.*nothing was done")
        self.assertEqual(self.ask("select relname from pg_class c join pg_namespace n on n.oid = relnamespace "
                                  "where nspname = 'endwell' and relkind = 'r'"), [("item",)])

    def test_a_newer_ledger_is_refused(self):
        self.good("migrate")
        self.ask("update endwell.migration set version = 99 where name = 'schema.sql'")
        for verb in ("migrate", "check"):
            done = self.run_ledger(verb)
            self.assertEqual(done.returncode, 1)
            self.assertRegex(done.stderr, "version 99")

    def test_what_an_older_build_left_is_renewed_and_taken_out(self):
        self.good("migrate")
        self.ask("drop function endwell.stats(); create function endwell.stats() returns int language sql as 'select 1'; "
                 "create function endwell.cancel(a text) returns int language sql as 'select 1'; "
                 "create function endwell.mine() returns int language sql as 'select 1'; "
                 "update endwell.migration set digest = 'old' where name = 'stats.sql'")
        self.assertRegex(self.good("migrate"), r"renewed in the ledger .*: stats\.sql\n")
        done = self.run_ledger("check", "--json")
        self.assertEqual([(one["kind"], one["name"], one["problem"]) for one in json.loads(done.stdout)],
                         [("function", "mine()", "extra")])

    def test_each_drift_is_named(self):
        self.good("migrate")
        for change, wanted in (
                ("drop index endwell.job_dead", ("index", "job_dead", "missing")),
                ("create index odd on endwell.job (kind)", ("index", "odd", "extra")),
                ("alter table endwell.job add mine int", ("column", "job.mine", "extra")),
                ("alter table endwell.queue drop column keep", ("column", "queue.keep", "missing")),
                ("alter table endwell.queue alter lease_ms set default 5", ("column", "queue.lease_ms", "changed")),
                ("alter table endwell.queue alter max_deaths type bigint", ("column", "queue.max_deaths", "changed")),
                ("alter table endwell.job drop constraint job_holder", ("constraint", "job.job_holder", "missing")),
                ("alter table endwell.item disable trigger item_is_life", ("trigger", "item.item_is_life", "changed")),
                ("drop trigger item_is_life on endwell.item", ("trigger", "item.item_is_life", "missing")),
                ("alter type endwell.state add value 'odd'", ("type", "state", "changed")),
                ("create table endwell.odd()", ("table", "odd", "extra")),
                ("drop function endwell.look(bigint)", ("function", "look(id bigint)", "missing")),
                ("alter function endwell.look(bigint) security definer", ("function", "look(id bigint)", "changed")),
                ("delete from endwell.pulse", ("row", "pulse", "missing")),
                ("update endwell.migration set digest = '' where name = 'reap.sql'", ("file", "reap.sql", "changed"))):
            with self.subTest(change=change):
                self.ask("drop schema endwell cascade")
                self.good("migrate")
                self.ask(change)
                done = self.run_ledger("check", "--json")
                self.assertEqual(done.returncode, 1, done.stderr)
                found = [(one["kind"], one["name"], one["problem"]) for one in json.loads(done.stdout)]
                self.assertIn(wanted, found)
                self.assertRegex(self.run_ledger("check").stdout, "difference")
        self.assertEqual(self.ask("select count(*) from pg_namespace where nspname ~ 'check|scratch'"), [(0,)])

    def test_tuning_is_no_drift(self):
        self.good("migrate")
        self.ask("alter table endwell.job set (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.5)")
        self.assertRegex(self.good("check"), "nothing differs")

    def test_who_may_not_compare_is_told_so(self):
        self.good("migrate")
        demand_password(self.cluster, "app", SECRET)
        self.addCleanup(sql, self.cluster, "drop role app")
        place = url(self.cluster, "app", SECRET, "one")
        self.assertRegex(self.run_ledger("check", place=place).stderr, "permission denied.*GRANTS")
        self.ask("grant usage on schema endwell to app; grant select on all tables in schema endwell to app")
        self.addCleanup(self.ask, "drop owned by app")
        done = self.run_ledger("check", place=place)
        self.assertEqual(done.returncode, 69)
        self.assertRegex(done.stderr, "could not be compared.*permission denied")
        self.ask("grant create on database one to app")
        done = self.run_ledger("check", "--json", place=place)
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertEqual({one["kind"] for one in json.loads(done.stdout)}, {"grant"})
        self.assertNotIn("s3cret", done.stdout + done.stderr)

    def test_the_printed_sql_makes_the_same_ledger(self):
        script = self.good("migrate", "--print", schema=ODD)
        self.ask(script)
        self.assertRegex(self.good("check", schema=ODD), "nothing differs")
        self.assertRegex(self.good("migrate", schema=ODD), "nothing to do")

    def test_json_says_what_was_done(self):
        first, second = json.loads(self.good("migrate", "--json")), json.loads(self.good("migrate", "--json"))
        self.assertEqual((first["schema"], first["was"]), ("endwell", 0))
        self.assertIn("claim.sql", first["applied"])
        self.assertEqual((second["was"], second["applied"]), (first["version"], []))

    def test_a_place_that_is_not_there_is_69_and_a_url_that_is_none_78(self):
        done = self.run_ledger("migrate", place=f"postgresql://app:{SECRET}@127.0.0.1:1/x")
        self.assertEqual(done.returncode, 69)
        self.assertRegex(done.stderr, r"could not connect to app@127\.0\.0\.1:1/x \(from \$DATABASE_URL\): .*refused")
        self.assertNotIn("s3cret", done.stderr)
        for place in (f"postgresql://app:{SECRET}%zz@db", f"mysql://app:{SECRET}@db", SECRET):
            done = self.run_ledger("migrate", place=place)
            self.assertEqual(done.returncode, 78)
            self.assertNotIn("s3cret", done.stderr)

    def test_waiting_goes_on_until_the_server_is_there(self):
        self.cluster.stop("fast")
        waiting = subprocess.Popen([LEDGER, "migrate", "--wait", "90s"], env=self.environment(), stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, text=True)
        self.assertRegex(waiting.stderr.readline(), "not there yet: .*refused.*the next attempt is in")
        self.cluster.start()
        out, _ = waiting.communicate(timeout=120)
        self.assertEqual(waiting.returncode, 0)
        self.assertRegex(out, "installed")

    def test_a_configuration_is_judged_by_its_database_only(self):
        with tempfile.NamedTemporaryFile("w", suffix=".ini") as file:
            file.write(f"[Service a]\nNonsense=1\n[Database]\nUrl={url(self.cluster, database='one')}\nSchema={ODD}\n")
            file.flush()
            self.assertRegex(self.good("migrate", "-c", file.name, place="postgresql://127.0.0.1:1/x"), "installed")
            file.write("Shema=x\n")
            file.flush()
            done = self.run_ledger("check", "-c", file.name)
            self.assertEqual(done.returncode, 78)
            self.assertRegex(done.stderr, r":6: unknown key Shema in a section \[Database\], did you mean Schema\?")
        self.assertEqual(self.run_ledger("check", "-c", "/nonexistent.ini").returncode, 78)

    def test_words_that_mean_nothing_are_refused(self):
        for words in ((), ("migrat",), ("migrate", "x"), ("migrate", "--no"), ("check", "--wait", "soon"), ("check", "-c")):
            done = self.run_ledger(*words)
            self.assertEqual((done.returncode, done.stdout), (64, ""), words)
            self.assertTrue(done.stderr, words)
        for words in (("--help",), ("migrate", "--help"), ("check", "--help")):
            self.assertRegex(self.good(*words), "^usage: endwell ledger")


if __name__ == "__main__":
    LEDGER = os.path.realpath(sys.argv.pop(1))
    unittest.main(verbosity=2)
