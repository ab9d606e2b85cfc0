#!/usr/bin/python3
"""test_connection.py TALKER - one connection to a real PostgreSQL, and everything that can become of it."""
import os
import socket
import sys
import threading
import unittest

sys.dont_write_bytecode = True

from stage import (Cluster, Frozen, Pooler, Talker, demand_password, milliseconds, signal_family, sql,  # noqa: E402
                   url, wait_until)

SECRET = "s3cret-and-more"
SLEEPING = "select 1 from pg_stat_activity where query like '%pg_sleep(50)' and pid <> pg_backend_pid()"


class WithCluster(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.cluster = Cluster()
        cls.addClassCleanup(cls.cluster.clean)

    def talker(self, place=None, **limits):
        return Talker(TALKER, place or url(self.cluster), **limits)


class Answers(WithCluster):
    def test_a_pipeline_is_answered_in_order_and_an_error_harms_no_neighbour(self):
        with self.talker() as talker:
            talker.await_line("up pooled=0 version=1")
            talker.say("send 9000 select 1\nsend 9000 select 1/0\nsend 9000 select nosuch()\nsend 9000 select 4")
            for wanted in ("done - 1 1", "failed 22012 0 - division by zero", "schema 42883", "done - 1 4"):
                self.assertRegex(talker.next(), f"^answer \\d+ {wanted}")

    def test_thousands_in_flight_and_long_rows_all_come(self):
        with self.talker() as talker:
            talker.await_line("up")
            talker.say("burst 3000 60000 select 1\nburst 200 60000 select repeat('x', 100000)")
            for _ in range(3200):
                self.assertRegex(talker.next(), "^answer \\d+ done - 1 ")

    def test_a_script_is_one_transaction_and_stands_alone(self):
        with self.talker() as talker:
            talker.await_line("up")
            talker.ask("script 9000 create table script(a int); insert into script values (7); select a from script", "done - 1 7")
            talker.ask("script 9000 insert into script values (8); select 1/0", "failed 22012")
            talker.ask("send 9000 select count(*) from script", "done - 1 1")
            talker.say("script 9000 select pg_sleep(0.1)\nsend 9000 select 1\nscript 9000 select 1")
            talker.await_line("refused EBUSY")
            talker.await_line("refused EBUSY")
            talker.await_line("answer \\d+ done")
            talker.ask("send 9000 select 5", "done - 1 5")

    def test_a_statement_that_fails_at_its_commit_is_not_done(self):
        sql(self.cluster, "create table parent(a int primary key); create table child(a int references parent deferrable "
                          "initially deferred)")
        with self.talker() as talker:
            talker.await_line("up")
            talker.ask("send 9000 insert into child values (1)", "failed 23503")

    def test_warnings_of_the_server_are_not_printed(self):
        with self.talker() as talker:
            talker.await_line("up")
            talker.ask("script 9000 do $$ begin raise warning 'loud'; end $$", "done")

    def test_a_notification_comes_by_itself(self):
        with self.talker() as talker:
            talker.await_line("up")
            talker.ask("send 9000 listen jobs", "done")
            sql(self.cluster, "notify jobs, 'mail'")
            talker.await_line("note jobs mail$")

    def test_statement_timeout_is_set_where_the_server_itself_is_there(self):
        with self.talker(statement_ms=12345) as talker:
            talker.await_line("up")
            talker.ask("send 9000 show statement_timeout", "done - 1 12345ms")
        with self.talker(statement_ms=200) as talker:
            talker.await_line("up")
            talker.ask("send 60000 select pg_sleep(50)", "timeout 57014")
            talker.ask("send 9000 select 1", "done")


class Mishaps(WithCluster):
    def test_a_server_that_crashes_answers_lost_and_is_found_again(self):
        with self.talker() as talker:
            talker.await_line("up")
            talker.say("send 60000 select pg_sleep(50)")
            wait_until(lambda: sql(self.cluster, SLEEPING),
                       "the statement at the server")
            self.cluster.restart("immediate")
            talker.await_line("answer \\d+ lost")
            talker.await_line("down lost")
            talker.await_line("up")
            talker.ask("send 9000 select 3", "done - 1 3")

    def test_a_server_that_throws_us_out_says_why(self):
        with self.talker() as talker:
            talker.await_line("up")
            sql(self.cluster, "select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'talker'")
            talker.await_line("down lost \\d+ 1 terminating connection due to administrator command")
            talker.await_line("up")

    def test_of_many_in_flight_each_is_answered_once_when_the_server_crashes(self):
        with self.talker() as talker:
            talker.await_line("up")
            talker.say("send 60000 select pg_sleep(50)\nburst 400 60000 select 1")
            wait_until(lambda: sql(self.cluster, SLEEPING),
                       "the statement at the server")
            self.cluster.restart("immediate")
            answers = [talker.await_line("answer \\d+ (\\w+)").group(1) for _ in range(401)]
            self.assertEqual(set(answers), {"lost"})
            talker.await_line("up")
            talker.ask("send 9000 select 3", "done - 1 3")

    def test_a_server_that_is_frozen_is_given_up_by_our_own_clock(self):
        with self.talker(connect_ms=400, retry_most_ms=300) as talker:
            talker.await_line("up")
            with Frozen(self.cluster):
                taken = talker.ask("send 500 select 1", "lost - 0 - the server did not answer within 500 ms")
                self.assertGreaterEqual(int(taken.group(0).split()[1]), 450)
                talker.await_line("down lost")
                talker.await_line("down lost \\d+ 2 no connection came about within 400 ms")
                talker.say("send 500 select 1")
                talker.await_line("refused ENOTCONN")
            talker.await_line("up")
            talker.ask("send 9000 select 2", "done - 1 2")

    def test_the_shortest_deadline_counts_and_not_the_oldest(self):
        with self.talker(connect_ms=400) as talker:
            talker.await_line("up")
            with Frozen(self.cluster):
                begun = milliseconds()
                talker.say("send 50000 select 1\nsend 300 select 2")
                talker.await_line("answer \\d+ lost")
                talker.await_line("answer \\d+ lost")
                self.assertLess(milliseconds() - begun, 40000)
            talker.await_line("up")

    def test_closing_waits_for_nobody(self):
        talker = self.talker()
        talker.await_line("up")
        with Frozen(self.cluster):
            talker.say("send 50000 select 1\nclose\nquit")
            talker.await_line("answer \\d+ lost - 0 - the connection was closed")
            talker.await_line("down lost -1 ")
            self.assertEqual(talker.end(), (0, ""))

    def test_refused_connections_are_tried_again_ever_more_slowly_until_one_comes_about(self):
        self.cluster.stop("fast")
        try:
            with self.talker(retry_most_ms=400) as talker:
                waits = [tuple(map(int, talker.await_line("down lost (\\d+) (\\d+) .*refused").groups())) for _ in range(6)]
                self.assertEqual([failures for _, failures in waits], [1, 2, 3, 4, 5, 6])
                for wait, failures in waits:
                    whole = min(400, 100 << (failures - 1))
                    self.assertTrue(whole // 2 - 1 <= wait <= whole, waits)
                self.cluster.start()
                talker.await_line("up")
        finally:
            if self.cluster.process is None:
                self.cluster.start()

    def test_a_server_that_takes_no_writes_is_none_unless_that_will_do(self):
        sql(self.cluster, "create role reader login")
        sql(self.cluster, "alter role reader set default_transaction_read_only = on")
        with self.talker(url(self.cluster, "reader")) as talker:
            talker.await_line("down read_only .*read-only")
        with self.talker(url(self.cluster, "reader"), read_only=1) as talker:
            talker.await_line("up")


class Refusals(WithCluster):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        demand_password(cls.cluster, "app", SECRET)

    def test_the_right_password_opens(self):
        with self.talker(url(self.cluster, "app", SECRET)) as talker:
            talker.await_line("up")
            talker.ask("send 9000 select current_user", "done - 1 app")

    def test_a_wrong_password_is_refused_and_never_shown(self):
        with self.talker(url(self.cluster, "app", "wr0ng-" + SECRET)) as talker:
            talker.await_line("down refused .*password authentication failed")
            self.assertNotIn("wr0ng", "".join(talker.all))

    def test_a_database_that_is_not_there_is_refused(self):
        with self.talker(url(self.cluster, database="nosuch")) as talker:
            talker.await_line('down refused .*database "nosuch" does not exist')

    def test_a_url_that_cannot_be_read_is_explained_and_never_shown(self):
        for place in (f"postgresql://app:{SECRET}%zz@db", SECRET, f"postgresql://app:a@{SECRET}@db/x",
                      f"postgresql://app:{SECRET}/x@db/x", f"mysql://app:{SECRET}@db"):
            talker = self.talker(place)
            talker.await_line("bad .{20}")
            self.assertEqual(talker.end(), (1, ""))
            self.assertNotIn("s3cret", "".join(talker.all))

    def test_a_host_that_takes_connections_and_says_nothing_is_given_up(self):
        with socket.create_server(("127.0.0.1", 0)) as hole:
            port = hole.getsockname()[1]
            with self.talker(f"postgresql://x@127.0.0.1:{port}/x", connect_ms=300, retry_most_ms=200) as talker:
                talker.await_line("down lost \\d+ 1 no connection came about within 300 ms")
                talker.await_line("down lost \\d+ 2 no connection came about within 300 ms")

    def test_a_host_that_talks_nonsense_is_no_server(self):
        with socket.create_server(("127.0.0.1", 0)) as one:
            def serve():
                while True:
                    try:
                        peer = one.accept()[0]
                    except OSError:
                        return
                    with peer:
                        peer.recv(1000)
                        peer.sendall(b"\x00\xff" * 50)
            threading.Thread(target=serve, daemon=True).start()
            port = one.getsockname()[1]
            with self.talker(f"postgresql://x@127.0.0.1:{port}/x?sslmode=disable", connect_ms=2000) as talker:
                talker.await_line("down ")
                talker.await_line("down ")
            one.shutdown(socket.SHUT_RDWR)


class Pooled(WithCluster):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.pooler = Pooler(cls.cluster)
        cls.addClassCleanup(cls.pooler.clean)

    def test_a_pooler_is_known_and_gets_no_session_state(self):
        with self.talker(url(self.pooler), statement_ms=12345) as talker:
            talker.await_line("up pooled=1")
            talker.ask("send 9000 show statement_timeout", "done - 1 (?!12345ms)")
            talker.say("burst 2000 60000 select 1")
            for _ in range(2000):
                talker.await_line("answer \\d+ done - 1 1")

    def test_transactions_of_several_statements_work_through_it(self):
        with self.talker(url(self.pooler)) as talker:
            talker.await_line("up pooled=1")
            talker.ask("script 9000 begin; create table pooled(a int)", "done")
            talker.ask("send 9000 insert into pooled values (1) returning a", "done - 1 1")
            talker.ask("script 9000 rollback", "done")
            talker.ask("send 9000 select to_regclass('pooled')", "done - 1 -")

    def test_a_pooler_without_its_server_is_not_up(self):
        with self.talker(url(self.pooler), connect_ms=500) as talker:
            talker.await_line("up")
            signal_family(self.cluster, 19)
            try:
                talker.ask("send 300 select 1", "lost")
                talker.await_line("down lost \\d+ 1 ")
                talker.await_line("down lost \\d+ 2 no connection came about")
                self.assertNotIn("up", talker.all[-3:])
            finally:
                signal_family(self.cluster, 18)
            talker.await_line("up")


if __name__ == "__main__":
    TALKER = os.path.realpath(sys.argv.pop(1))
    unittest.main(verbosity=2)
