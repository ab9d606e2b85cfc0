#!/usr/bin/python3
"""The real endwell-logger, driven as PID 1 drives it: bytes, marks, the journal's file, crashes and the end."""
import errno
import fcntl
import hashlib
import os
import resource
import shutil
import signal
import socket
import sys
import tempfile
import threading
import unittest

sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))
sys.dont_write_bytecode = True

from logger_driver import (Logger, Stream, can_read, fill, flags_of, journal_line, pipe,  # noqa: E402
                           read_exactly)

MIB = 1024 * 1024
# As in a container whose user is not the owner of the pipe that Docker made: it can be written to, but not opened anew.
NOT_OURS = ["setpriv", "--bounding-set", "-dac_override,-dac_read_search"]
CLEAN = (0, "")


class Case(unittest.TestCase):
    def setUp(self):
        self.directory = tempfile.mkdtemp(prefix="endwell-logger-")
        self.addCleanup(shutil.rmtree, self.directory, True)

    def file(self, name):
        return os.path.join(self.directory, name)

    def start(self, *words, **how):
        logger = Logger(*words, **how)
        self.addCleanup(logger.clean)
        return logger

    def read(self, path):
        with open(path, "rb") as file:
            return file.read()


class Bytes(Case):
    def pass_on(self, logger, send_to, receive, size=10 * MIB):
        """Sends random bytes through a stream in uneven pieces; `receive(size)` gives what came out."""
        data = os.urandom(size)
        stream = Stream(logger, 1, send_to, [("never", "^$^")])
        got = []
        reader = threading.Thread(target=lambda: got.append(receive(size)))
        reader.start()
        pieces, at = (1, 4095, 65536, 70001, 13), 0
        while at < size:
            length = pieces[at % len(pieces)]
            stream.write(data[at:at + length])
            at += length
        stream.close()
        logger.until(STREAM=1, ENDED=1)
        reader.join()
        self.assertEqual(hashlib.md5(got[0]).hexdigest(), hashlib.md5(data).hexdigest())

    def test_ten_megabytes_of_anything_come_out_of_a_pipe_as_they_went_in(self):
        logger = self.start()
        reader, writer = pipe(nonblocking_reader=False)
        before = flags_of(writer)
        self.pass_on(logger, writer, lambda size: read_exactly(reader, size))
        self.assertEqual(flags_of(writer), before, "the flags of a descriptor that others use")
        self.assertEqual(logger.end(), CLEAN)

    def test_a_pipe_that_cannot_be_opened_anew_is_served_all_the_same(self):
        logger = self.start(prefix=NOT_OURS)
        reader, writer = pipe(nonblocking_reader=False)
        os.fchown(writer, 65534, 65534)
        before = flags_of(writer)
        self.pass_on(logger, writer, lambda size: read_exactly(reader, size))
        self.assertEqual(flags_of(writer), before)
        self.assertEqual(logger.end(), CLEAN)

    def test_a_socket_gets_the_same_bytes(self):
        logger = self.start()
        reader, writer = socket.socketpair()
        self.addCleanup(reader.close)
        self.addCleanup(writer.close)
        self.pass_on(logger, writer.fileno(), lambda size: read_exactly(reader.fileno(), size), 3 * MIB)
        self.assertEqual(logger.end(), CLEAN)

    def test_a_file_that_is_shared_is_written_where_the_others_have_come_to(self):
        logger = self.start()
        with open(self.file("out"), "wb", buffering=0) as out:  # no O_APPEND: one offset for all who write
            out.write(b"before\n")
            stream = Stream(logger, 1, out.fileno())
            stream.write(b"between\n")
            logger.settle()
            out.write(b"after\n")
        self.assertEqual(self.read(self.file("out")), b"before\nbetween\nafter\n")
        self.assertEqual(logger.end(), CLEAN)

    def test_the_bytes_of_a_stream_without_a_target_are_matched_and_gone(self):
        logger = self.start()
        stream = Stream(logger, 1, None, [("done", "done")])
        stream.write(b"done\n" * 3)
        stream.close()
        logger.until(STREAM=1, ENDED=1)
        self.assertEqual(logger.marks, [(1, "done")] * 3)

    def test_lines_of_two_services_do_not_mix_in_one_pipe(self):
        logger = self.start()
        reader, writer = pipe(nonblocking_reader=False)
        fcntl.fcntl(writer, fcntl.F_SETPIPE_SZ, 8192)  # so that it is full again and again
        streams = [Stream(logger, n, writer) for n in (1, 2)]
        lines = [(str(n) * (50 + 7 * n) + "\n").encode() for n in (1, 2)]
        writers = [threading.Thread(target=lambda s=s, line=line: [s.write(line) for _ in range(4000)])
                   for s, line in zip(streams, lines)]
        for thread in writers:
            thread.start()
        got = read_exactly(reader, 4000 * sum(map(len, lines))).splitlines(keepends=True)
        for thread in writers:
            thread.join()
        self.assertEqual(sorted(set(got)), sorted(lines))
        self.assertEqual([got.count(line) for line in lines], [4000, 4000])

    def test_a_target_that_is_stuck_holds_up_its_own_service_only(self):
        for prefix in ([], NOT_OURS):
            with self.subTest(prefix=prefix):
                logger = self.start(prefix=prefix)
                stuck_reader, stuck_writer = pipe(nonblocking_reader=False)
                free_reader, free_writer = pipe(nonblocking_reader=False)
                if prefix:
                    os.fchown(stuck_writer, 65534, 65534)
                    os.fchown(free_writer, 65534, 65534)
                stuck, free = Stream(logger, 1, stuck_writer), Stream(logger, 2, free_writer)
                data = os.urandom(4 * MIB)
                taken, last = 0, -1
                while taken != last:  # settling: what it can take it has taken
                    last = taken
                    taken += fill(stuck.writer, data[taken:])
                    logger.settle()
                self.assertLess(taken, MIB // 2, "bytes that were taken from a service whose target takes none")
                other = os.urandom(2 * MIB)
                thread = threading.Thread(target=lambda: free.write(other))
                thread.start()
                self.assertEqual(read_exactly(free_reader, len(other)), other)
                thread.join()
                self.assertEqual(read_exactly(stuck_reader, taken), data[:taken])
                stuck.close()
                logger.until(STREAM=1, ENDED=1)

    def test_what_was_taken_for_a_full_pipe_comes_out_when_it_has_room(self):
        for prefix in ([], NOT_OURS):
            with self.subTest(prefix=prefix):
                logger = self.start(prefix=prefix)
                reader, writer = pipe(nonblocking_reader=False)
                os.fchown(writer, *((65534, 65534) if prefix else (-1, -1)))
                full = fill(writer, b"f" * MIB)
                stream = Stream(logger, 1, writer, [("heard", "words")])
                stream.write(b"a few last words\n")
                logger.until(MARK="heard")
                self.assertEqual(read_exactly(reader, full + 17)[full:], b"a few last words\n")
                stream.close()
                logger.until(STREAM=1, ENDED=1)

    def test_a_reader_that_is_gone_costs_the_bytes_and_not_the_service(self):
        logger = self.start()
        reader, writer = pipe(nonblocking_reader=False)
        stream = Stream(logger, 1, writer, [("tick", "tick")])
        os.close(reader)
        stream.write(b"tick\n" * 1000)
        logger.until(STREAM=1, ERROR=errno.EPIPE)
        writing = threading.Thread(target=lambda: (stream.write(b"tick\n" * 100000), stream.close()))
        writing.start()
        logger.until(STREAM=1, ENDED=1)
        writing.join()
        self.assertEqual(len(logger.marks), 101000)

    def test_no_more_descriptors_is_told_for_each_stream_that_cannot_be_served(self):
        logger = self.start(preexec=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (24, 24)))
        streams = [Stream(logger, n, None) for n in range(1, 41)]
        self.assertEqual(len(streams), 40)
        logger.until(STREAM=40, REFUSED=errno.EMFILE)


class Files(Case):
    def test_a_file_is_emptied_once_and_a_later_logger_goes_on_in_it(self):
        path = self.file("out")
        with open(path, "wb") as file:
            file.write(b"of an earlier run\n")
        logger = self.start()
        stream = Stream(logger, 1, path=path, truncate=True)
        logger.until(STREAM=1, OPENED=1)
        stream.write(b"first\n")
        logger.settle()
        logger.kill()
        stream.write(b"second\n")
        stream.truncate = False
        later = self.start()
        stream.open(later)
        later.settle()
        self.assertEqual(self.read(path), b"first\nsecond\n")

    def test_a_missing_folder_is_told_and_the_file_is_written_once_it_is_there(self):
        path = self.file("folder/out")
        logger = self.start()
        stream = Stream(logger, 1, path=path)
        logger.until(STREAM=1, ERROR=errno.ENOENT)
        os.mkdir(self.file("folder"))
        logger.send("REOPEN=1\n")
        logger.until(STREAM=1, ERROR=0)
        stream.write(b"there\n")
        logger.settle()
        self.assertEqual(self.read(path), b"there\n")

    def test_a_missing_folder_is_tried_again_without_being_told(self):
        logger = self.start()
        Stream(logger, 1, path=self.file("folder/out"))
        logger.until(STREAM=1, ERROR=errno.ENOENT)
        os.mkdir(self.file("folder"))
        logger.until(STREAM=1, ERROR=0)

    def test_reopen_follows_the_name(self):
        path = self.file("out")
        logger = self.start()
        stream = Stream(logger, 1, path=path)
        stream.write(b"old\n")
        logger.settle()
        os.rename(path, path + ".old")
        logger.send("REOPEN=1\n")
        stream.write(b"new\n")
        logger.settle()
        self.assertEqual((self.read(path + ".old"), self.read(path)), (b"old\n", b"new\n"))

    def test_a_full_disk_costs_the_bytes_and_not_the_service(self):
        logger = self.start(shell=f"mount -t tmpfs -o size=256k none {self.directory}")
        stream = Stream(logger, 1, path=self.file("out"), hooks=[("last", "^last$")])
        stream.write(b"x" * 511 + b"\n")
        logger.settle()
        for _ in range(2000):
            stream.write(b"x" * 511 + b"\n")
        logger.until(STREAM=1, ERROR=errno.ENOSPC)
        stream.write(b"last\n")
        logger.until(STREAM=1, MARK="last")


class Marks(Case):
    def marks_of(self, hooks, *pieces):
        logger = self.start()
        stream = Stream(logger, 7, None, hooks)
        for piece in pieces:
            stream.write(piece)
            logger.settle()
        stream.close()
        logger.until(STREAM=7, ENDED=1)
        self.assertEqual(logger.end(), CLEAN)
        return [name for _, name in logger.marks]

    def test_a_line_is_told_once_for_each_hook_it_matches_however_often(self):
        self.assertEqual(self.marks_of([("a", "a"), ("b", "b+")], b"aaa\n", b"abab\nc\n", b"bb\n"), ["a", "a", "b", "b"])

    def test_a_line_that_comes_in_pieces_is_one_line(self):
        self.assertEqual(self.marks_of([("all", "^shutdown (begun|done)$")], b"shut", b"down be", b"gun\nshutdown done\n"),
                         ["all", "all"])

    def test_a_last_line_without_a_newline_is_a_line(self):
        self.assertEqual(self.marks_of([("bye", "^bye$")], b"hello\nby", b"e"), ["bye"])

    def test_nul_is_a_byte_like_any_other(self):
        self.assertEqual(self.marks_of([("end", "end$"), ("begin", "^begin")], b"begin\0\0end\n"), ["end", "begin"])

    def test_of_a_very_long_line_the_first_64_kib_are_matched(self):
        long = b"x" * 65533 + b"yes" + b"no" + b"z" * 200000
        self.assertEqual(self.marks_of([("in", "yes"), ("out", "no"), ("next", "^next$")],
                                       *[long[i:i + 30000] for i in range(0, len(long), 30000)], b"\nnext\n"), ["in", "next"])

    def test_a_flood_that_pid_1_does_not_hear_holds_up_its_own_service_and_loses_no_mark(self):
        logger = self.start()
        reader, writer = pipe(nonblocking_reader=False)
        flood, calm = Stream(logger, 1, None, [("f", ".*")]), Stream(logger, 2, writer)
        count, done = 50000, []
        thread = threading.Thread(target=lambda: (flood.write(b"\n" * count), done.append(True), flood.close()))
        thread.start()
        calm.write(b"calm\n")
        self.assertEqual(read_exactly(reader, 5), b"calm\n")
        logger.until(STREAM=1, ENDED=1)
        thread.join()
        self.assertEqual(logger.marks, [(1, "f")] * count)

    def test_settled_is_said_after_every_mark_of_what_was_there(self):
        logger = self.start()
        stream = Stream(logger, 1, None, [("m", "m")])
        stream.write(b"m\n" * 5000)
        logger.settle(5)
        self.assertEqual(len(logger.marks), 5000)

    def test_an_expression_that_is_none_is_said_and_the_others_work(self):
        logger = self.start()
        stream = Stream(logger, 1, None, [("bad", "("), ("good", "x")])
        stream.write(b"(x\n")
        logger.settle()
        self.assertEqual(logger.marks, [(1, "good")])
        code, said = logger.end()
        self.assertEqual(code, 0)
        self.assertIn("hook bad", said)


class Crashes(Case):
    def test_a_crash_loses_nothing_that_is_in_the_pipe_and_kills_no_writer(self):
        reader, writer = pipe(nonblocking_reader=False)
        logger = self.start()
        stream = Stream(logger, 1, writer, [("m", "9$")])
        expected, at = b"", 0
        for _ in range(5):
            data = b"".join(b"line %d\n" % n for n in range(at, at + 1000))
            at += 1000
            stream.write(data)
            logger.settle()
            self.assertEqual(read_exactly(reader, len(data)), data)
            logger.kill()
            data = b"".join(b"line %d\n" % n for n in range(at, at + 1000))
            at += 1000
            stream.write(data)  # nobody reads: it waits in the pipe
            logger = self.start()
            stream.open(logger)
            self.assertEqual(read_exactly(reader, len(data)), data)
            logger.settle()
            self.assertEqual(logger.marks, [(1, "m")] * 100)
            logger.marks.clear()
        stream.close()
        logger.until(STREAM=1, ENDED=1)

    def test_a_journal_line_is_written_once_whoever_crashed_between(self):
        path = self.file("journal")
        logger = self.start("--journal", path)
        logger.open_journal()
        logger.write_journal(1, 300)
        logger.until(JOURNAL_BEGUN=1)
        logger.kill()
        later = self.start("--journal", path)
        later.open_journal(handed=300)
        later.write_journal(1, 500)  # PID 1 does not know what was written: it begins anew
        self.assertEqual(later.end(), CLEAN)
        self.assertEqual(self.read(path), b"".join(map(journal_line, range(1, 501))))

    def test_a_journal_of_another_run_hides_no_line_of_this_one(self):
        path = self.file("journal")
        with open(path, "wb") as file:
            file.write(journal_line(9000))
        logger = self.start("--journal", path)
        logger.open_journal(handed=20)
        logger.write_journal(1, 20)
        self.assertEqual(logger.end(), CLEAN)
        self.assertEqual(self.read(path), journal_line(9000) + b"".join(map(journal_line, range(1, 21))))


class JournalFile(Case):
    def written(self, path):
        return [int(line.split(b":")[1].split(b",")[0]) for line in self.read(path).splitlines()]

    def test_the_end_of_the_pipe_ends_it_when_everything_is_in_the_file(self):
        path = self.file("journal")
        logger = self.start("--journal", path)
        logger.open_journal()
        logger.write_journal(1, 5000, 120)
        logger.close_journal()
        self.assertEqual(logger.ended(), CLEAN)
        self.assertEqual(self.written(path), list(range(1, 5001)))

    def test_signals_do_not_end_it(self):
        path = self.file("journal")
        logger = self.start("--journal", path)
        logger.open_journal()
        logger.settle()
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            logger.process.send_signal(number)
        logger.write_journal(1, 1)
        self.assertEqual(logger.end(), CLEAN)
        self.assertEqual(self.written(path), [1])

    def test_it_rotates_at_the_size_and_tears_no_line(self):
        path = self.file("journal")
        logger = self.start("--journal", path, "--journal-max-size", "16K")
        logger.open_journal()
        logger.write_journal(1, 1000, 100)
        self.assertEqual(logger.end(), CLEAN)
        old, new = self.written(path + ".1"), self.written(path)
        self.assertEqual(old + new, list(range(old[0], 1001)))
        self.assertEqual(len(old), 163, "lines of 100 bytes in 16 KiB")
        self.assertLessEqual(len(new), 163)
        self.assertEqual(sorted(os.listdir(self.directory)), ["journal", "journal.1"])

    def test_a_torn_last_line_of_ours_is_cut_and_a_foreign_one_is_ended(self):
        for torn, kept in ((b'{"seq":3,"ev', b""), (b'{"s', b""), (b"notes", b"notes\n")):
            with self.subTest(torn=torn):
                path = self.file("journal")
                with open(path, "wb") as file:
                    file.write(journal_line(1) + torn)
                logger = self.start("--journal", path)
                logger.open_journal()
                logger.write_journal(2, 1)
                self.assertEqual(logger.end(), CLEAN)
                self.assertEqual(self.read(path), journal_line(1) + kept + journal_line(2))

    def test_half_a_line_at_the_end_of_the_pipe_is_left_out(self):
        path = self.file("journal")
        logger = self.start("--journal", path)
        logger.open_journal()
        logger.write_journal(1, 1)
        os.write(logger.journal, b'{"seq":2,')
        self.assertEqual(logger.end(), CLEAN)
        self.assertEqual(self.read(path), journal_line(1))

    def test_a_full_disk_is_told_once_and_every_line_is_there_when_it_has_room_again(self):
        path = self.file("journal")
        logger = self.start("--journal", path, shell=f"mount -t tmpfs -o size=64k none {self.directory}")
        logger.open_journal()
        logger.settle()
        seen = logger.path(path)
        with open(logger.path(self.file("filler")), "wb") as filler:
            filler.write(b"f" * 40960)
        logger.write_journal(1, 300, 100)
        self.assertEqual(logger.until(JOURNAL_ERROR=errno.ENOSPC), {"JOURNAL_ERROR": str(errno.ENOSPC)})
        self.assertEqual(self.read(seen)[-1:], b"\n", "whole lines while the disk is full")
        os.unlink(logger.path(self.file("filler")))
        logger.until(JOURNAL_ERROR=0)
        logger.settle()
        self.assertEqual(self.written(seen), list(range(1, 301)))
        self.assertEqual(logger.end(), CLEAN)

    def test_a_disk_that_stays_full_is_said_at_the_end(self):
        logger = self.start("--journal", self.file("journal"), shell=f"mount -t tmpfs -o size=16k none {self.directory}")
        logger.open_journal()
        logger.write_journal(1, 300, 100)
        logger.until(JOURNAL_ERROR=errno.ENOSPC)
        code, said = logger.end()
        self.assertEqual(code, 1)
        self.assertIn("No space left on device", said)

    def test_a_missing_folder_is_told_at_once_and_tried_again(self):
        path = self.file("folder/journal")
        logger = self.start("--journal", path)
        logger.open_journal()
        logger.until(JOURNAL_ERROR=errno.ENOENT)
        logger.write_journal(1, 1)
        os.mkdir(self.file("folder"))
        logger.until(JOURNAL_ERROR=0)
        self.assertEqual(logger.end(), CLEAN)
        self.assertEqual(self.written(path), [1])

    def test_what_is_no_file_is_not_written_to(self):
        os.mkfifo(self.file("fifo"))
        logger = self.start("--journal", self.file("fifo"))
        logger.open_journal()
        logger.until(JOURNAL_ERROR=errno.EINVAL)

    def test_reopen_follows_the_name(self):
        path = self.file("journal")
        logger = self.start("--journal", path)
        logger.open_journal()
        logger.write_journal(1, 1)
        logger.until(JOURNAL_BEGUN=1)
        os.rename(path, path + ".old")
        logger.send("REOPEN=1\n")
        logger.settle()
        logger.write_journal(2, 1)
        self.assertEqual(logger.end(), CLEAN)
        self.assertEqual((self.written(path + ".old"), self.written(path)), ([1], [2]))


class TheEnd(Case):
    def test_pid_1_gone_ends_it_with_what_was_said_passed_on(self):
        reader, writer = pipe(nonblocking_reader=False)
        logger = self.start()
        stream = Stream(logger, 1, writer)
        stream.write(b"last words\n")
        logger.socket.close()  # the service lives on and keeps its pipe open
        self.assertEqual(logger.ended(), CLEAN)
        self.assertEqual(read_exactly(reader, 11), b"last words\n")

    def test_a_target_that_is_stuck_does_not_keep_it(self):
        reader, writer = pipe(nonblocking_reader=False)
        logger = self.start()
        stream = Stream(logger, 1, writer)
        fill(stream.writer, b"x" * MIB)
        logger.settle()
        fill(stream.writer, b"x" * MIB)
        code, said = logger.end()
        self.assertEqual(code, 0)
        self.assertIn("not taken", said)
        self.assertTrue(can_read(reader))

    def test_a_closed_stream_is_forgotten_and_the_others_live(self):
        reader, writer = pipe(nonblocking_reader=False)
        logger = self.start()
        one, two = Stream(logger, 1, writer), Stream(logger, 2, writer)
        logger.settle()
        logger.send("CLOSE=1\n")
        logger.settle()
        one.write(b"nobody takes this\n")
        two.write(b"two\n")
        logger.settle()
        self.assertEqual(read_exactly(reader, 4), b"two\n")
        self.assertFalse(can_read(reader, 0))

    def test_without_a_socket_it_says_who_starts_it(self):
        logger = Logger("--socket-fd", "2")
        code, said = logger.ended()
        self.assertEqual(code, 64)
        self.assertIn("endwell run", said)


if __name__ == "__main__":
    unittest.main(verbosity=1)
