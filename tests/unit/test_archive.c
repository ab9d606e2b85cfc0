/* test_archive.c - the journal's ring and file, and readers that are ahead, behind, and overtaken. */
#include "base/take.h"
#include "shutdown/event.h"
#include "supervisor/archive.h"
#include "supervisor/archive_file.h"
#include "supervisor/archive_ring.h"
#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[64], journal[80], journal_1[84];

static void setup(void) {
        strcpy(folder, "/dev/shm/archive-test-XXXXXX");
        cr_assert(mkdtemp(folder));
        snprintf(journal, sizeof journal, "%s/journal", folder);
        snprintf(journal_1, sizeof journal_1, "%s/journal.1", folder);
}

static void teardown(void) {
        unlink(journal);
        unlink(journal_1);
        rmdir(journal);
        rmdir(folder);
}

TestSuite(archive, .init = setup, .fini = teardown, .timeout = 30);

static Archive *make(const char *path, uint64_t max_size) {
        Archive *archive = NULL;

        cr_assert_eq(archive_new(&archive, &(ArchivePlan){ .path = path, .max_size = max_size }), 0);
        return archive;
}

/* A line of about `width` bytes with the number `seq`. */
static void append(Archive *archive, uint64_t seq, size_t width) {
        char line[EVENT_LINE_MAX + 1];
        int n = snprintf(line, sizeof line, "{\"seq\":%llu,\"text\":\"", (unsigned long long)seq);

        while ((size_t)n < width)
                line[n++] = 'x';
        n += snprintf(line + n, sizeof line - (size_t)n, "\"}\n");
        archive_append(archive, seq, line, (size_t)n);
        archive_flush(archive);
}

/* Reads to the end with a buffer of `size` and demands that numbers grow by one from `first` to `last`. */
static void expect_run(Archive *archive, ArchiveCursor *cursor, size_t size, uint64_t first, uint64_t last) {
        _cleanup_(freep) char *buffer = malloc(size);
        ssize_t n;

        while ((n = archive_read(archive, cursor, buffer, size)) > 0) {
                cr_assert_eq(buffer[n - 1], '\n', "a reader was given half a line");
                for (char *at = buffer; at < buffer + n; first++) {
                        char *end = memchr(at, '\n', (size_t)(buffer + n - at));
                        cr_assert_eq(archive_line_seq(at, (size_t)(end - at)), first);
                        at = end + 1;
                }
        }
        cr_assert_eq(n, 0);
        cr_assert_eq(first, last + 1, "ended at %llu", (unsigned long long)first - 1);
}

static void expect_all_since(Archive *archive, uint64_t since, uint64_t first, uint64_t last) {
        ArchiveCursor cursor;

        archive_cursor_init(&cursor, since);
        expect_run(archive, &cursor, 4096, first, last);
        archive_cursor_done(&cursor);
}

static long count_lines(const char *path, uint64_t *ret_first, uint64_t *ret_last) {
        char line[EVENT_LINE_MAX];
        long n = 0;
        FILE *file = fopen(path, "re");

        cr_assert(file, "no file %s", path);
        while (fgets(line, sizeof line, file)) {
                uint64_t seq = archive_line_seq(line, strlen(line));
                cr_assert_eq(line[strlen(line) - 1], '\n');
                if (n++ == 0)
                        *ret_first = seq;
                else
                        cr_assert_eq(seq, *ret_last + 1);
                *ret_last = seq;
        }
        fclose(file);
        return n;
}

Test(archive, a_reader_gets_every_line_once_and_then_nothing) {
        Archive *archive = make(NULL, 0);
        ArchiveCursor cursor;

        archive_cursor_init(&cursor, 0);
        for (uint64_t seq = 1; seq <= 10; seq++)
                append(archive, seq, 100);
        expect_run(archive, &cursor, 4096, 1, 10);
        expect_run(archive, &cursor, 4096, 11, 10);
        append(archive, 11, 100);
        expect_run(archive, &cursor, 4096, 11, 11);
        expect_all_since(archive, 7, 8, 11);
        archive_cursor_done(&cursor);
        archive_free(archive);
}

Test(archive, a_ring_that_wrapped_keeps_the_newest_lines_whole) {
        Archive *archive = make(NULL, 0);
        char buffer[4096];
        ArchiveCursor cursor;

        for (uint64_t seq = 1; seq <= 20000; seq++)
                append(archive, seq, 90 + seq % 400);
        archive_cursor_init(&cursor, 0);
        ssize_t n = archive_read(archive, &cursor, buffer, sizeof buffer);
        cr_assert_gt(n, 0);
        uint64_t oldest = archive_line_seq(buffer, (size_t)n);
        cr_assert_gt(oldest, 19000);
        cr_assert_lt(oldest, 19400, "the ring keeps less than it could");
        archive_cursor_done(&cursor);
        expect_all_since(archive, 0, oldest, 20000);
        expect_all_since(archive, 19990, 19991, 20000);
        archive_free(archive);
}

Test(archive, a_reader_that_was_overtaken_goes_on_with_the_oldest_line_kept) {
        Archive *archive = make(NULL, 0);
        char buffer[4096];
        ArchiveCursor cursor;

        append(archive, 1, 100);
        archive_cursor_init(&cursor, 0);
        expect_run(archive, &cursor, 4096, 1, 1);
        for (uint64_t seq = 2; seq <= 9000; seq++)
                append(archive, seq, 200);
        ssize_t n = archive_read(archive, &cursor, buffer, sizeof buffer);
        uint64_t oldest = archive_line_seq(buffer, (size_t)n);
        cr_assert_gt(oldest, 7000);
        expect_run(archive, &cursor, 4096, cursor.seq, 9000);
        archive_cursor_done(&cursor);
        archive_free(archive);
}

Test(archive, a_line_of_the_greatest_length_is_kept_and_read) {
        Archive *archive = make(journal, 0);

        append(archive, 1, EVENT_LINE_MAX - 3);
        append(archive, 2, EVENT_LINE_MAX - 3);
        expect_all_since(archive, 0, 1, 2);
        archive_free(archive);
}

Test(archive, what_left_the_ring_is_read_from_the_file) {
        Archive *archive = make(journal, 64 << 20);

        for (uint64_t seq = 1; seq <= 20000; seq++)
                append(archive, seq, 120 + seq % 300);
        expect_all_since(archive, 0, 1, 20000);
        expect_all_since(archive, 1, 2, 20000);
        expect_all_since(archive, 9999, 10000, 20000);
        expect_all_since(archive, 19999, 20000, 20000);
        archive_free(archive);
}

Test(archive, a_file_that_is_too_large_is_rotated_and_two_generations_are_kept) {
        Archive *archive = make(journal, 600 * 1024);
        uint64_t first, last, first_1, last_1;
        struct stat st;

        for (uint64_t seq = 1; seq <= 20000; seq++)
                append(archive, seq, 200);
        count_lines(journal, &first, &last);
        count_lines(journal_1, &first_1, &last_1);
        cr_assert_eq(last, 20000);
        cr_assert_eq(last_1 + 1, first);
        cr_assert_gt(first_1, 1);
        cr_assert_eq(stat(journal_1, &st), 0);
        cr_assert_leq(st.st_size, 600 * 1024);
        cr_assert_geq(st.st_size, 599 * 1024);
        expect_all_since(archive, 0, first_1, 20000);
        expect_all_since(archive, first_1 + 5, first_1 + 6, 20000);
        archive_free(archive);
}

Test(archive, a_reader_in_the_middle_of_a_file_goes_on_over_a_rotation) {
        Archive *archive = make(journal, 600 * 1024);
        char buffer[4096];
        ArchiveCursor cursor;
        uint64_t seq = 1;

        for (; seq <= 2500; seq++)
                append(archive, seq, 200);
        archive_cursor_init(&cursor, 0);
        cr_assert_gt(archive_read(archive, &cursor, buffer, sizeof buffer), 0);
        cr_assert_geq(cursor.fd, 0, "this reader should be in the file");
        for (; seq <= 5500; seq++) /* one rotation: the reader's file is FILE.1 now */
                append(archive, seq, 200);
        expect_run(archive, &cursor, 4096, cursor.seq, 5500);
        archive_cursor_done(&cursor);
        archive_free(archive);
}

Test(archive, a_reader_whose_file_is_gone_loses_nothing_that_it_holds_open) {
        Archive *archive = make(journal, 600 * 1024);
        char buffer[4096];
        ArchiveCursor cursor;
        uint64_t seq = 1, before = 0;
        ssize_t n;

        for (; seq <= 2900; seq++)
                append(archive, seq, 200);
        archive_cursor_init(&cursor, 0);
        cr_assert_gt(archive_read(archive, &cursor, buffer, sizeof buffer), 0);
        for (; seq <= 20000; seq++)
                append(archive, seq, 200);
        unsigned gaps = 0;
        for (before = cursor.seq - 1; (n = archive_read(archive, &cursor, buffer, sizeof buffer)) > 0;)
                for (char *at = buffer; at < buffer + n;) {
                        char *end = memchr(at, '\n', (size_t)(buffer + n - at));
                        uint64_t got = archive_line_seq(at, (size_t)(end - at));
                        cr_assert_gt(got, before);
                        gaps += got != before + 1;
                        before = got;
                        at = end + 1;
                }
        cr_assert_eq(before, 20000);
        cr_assert_eq(gaps, 1, "its own file to the end, then FILE.1: one gap, not %u", gaps);
        archive_cursor_done(&cursor);
        archive_free(archive);
}

Test(archive, a_new_run_begins_a_new_file_and_keeps_the_earlier_one) {
        uint64_t first, last;
        Archive *archive = make(journal, 0);

        append(archive, 1, 100);
        append(archive, 2, 100);
        archive_free(archive);
        archive = make(journal, 0);
        append(archive, 1, 100);
        expect_all_since(archive, 0, 1, 1);
        archive_free(archive);
        cr_assert_eq(count_lines(journal, &first, &last), 1);
        cr_assert_eq(count_lines(journal_1, &first, &last), 2);
}

Test(archive, an_earlier_runs_file_is_never_read_as_this_runs) {
        Archive *archive = make(journal, 0);

        for (uint64_t seq = 1; seq <= 5000; seq++)
                append(archive, seq, 300);
        archive_free(archive);
        archive = make(journal, 0);
        for (uint64_t seq = 100; seq <= 4000; seq++)
                append(archive, seq, 200);
        expect_all_since(archive, 0, 100, 4000);
        archive_free(archive);
}

Test(archive, a_symbolic_link_is_not_followed) {
        char target[96];
        struct stat st;

        snprintf(target, sizeof target, "%s/target", folder);
        Archive *archive = make(journal, 0);
        append(archive, 1, 100);
        cr_assert_eq(archive_file_error(archive), 0);
        cr_assert_eq(unlink(journal), 0);
        cr_assert_eq(symlink(target, journal), 0);
        archive_reopen(archive);
        append(archive, 2, 100);
        cr_assert_eq(archive_file_error(archive), ELOOP);
        cr_assert_lt(lstat(target, &st), 0);
        expect_all_since(archive, 0, 1, 2);
        archive_free(archive);
}

Test(archive, a_file_that_was_moved_away_is_begun_again_at_reopen) {
        char moved[96];
        uint64_t first, last;
        Archive *archive = make(journal, 0);

        snprintf(moved, sizeof moved, "%s/moved", folder);
        append(archive, 1, 100);
        cr_assert_eq(rename(journal, moved), 0);
        append(archive, 2, 100);
        archive_reopen(archive);
        append(archive, 3, 100);
        archive_free(archive);
        cr_assert_eq(count_lines(moved, &first, &last), 2);
        cr_assert_eq(count_lines(journal, &first, &last), 1);
        cr_assert_eq(first, 3);
        unlink(moved);
}

/* ---- The last 256 KiB can be read, whatever happens to the file ---- */

Test(archive, a_file_that_was_removed_is_still_read) {
        Archive *archive = make(journal, 0);

        for (uint64_t seq = 1; seq <= 2000; seq++)
                append(archive, seq, 200);
        cr_assert_eq(unlink(journal), 0);
        expect_all_since(archive, 0, 1, 2000);
        archive_free(archive);
}

Test(archive, a_file_that_was_moved_and_removed_is_still_read_after_reopen) {
        Archive *archive = make(journal, 0);
        char buffer[4096];
        ArchiveCursor cursor;
        uint64_t seq = 1;

        for (; seq <= 1000; seq++)
                append(archive, seq, 200);
        cr_assert_eq(unlink(journal), 0);
        archive_reopen(archive);
        for (; seq <= 1100; seq++)
                append(archive, seq, 200);
        expect_all_since(archive, 0, 1, 1100);
        for (; seq <= 4000; seq++) /* the new file has 256 KiB and more: the old one is let go */
                append(archive, seq, 200);
        archive_cursor_init(&cursor, 0);
        cr_assert_gt(archive_read(archive, &cursor, buffer, sizeof buffer), 0);
        cr_expect_eq(archive_line_seq(buffer, 100), 1001);
        archive_cursor_done(&cursor);
        archive_free(archive);
}

Test(archive, a_generation_that_was_removed_is_still_read_while_the_next_one_is_short) {
        Archive *archive = make(journal, 600 * 1024);
        uint64_t first, last;

        for (uint64_t seq = 1; seq <= 3300; seq++)
                append(archive, seq, 200);
        cr_assert_lt(count_lines(journal, &first, &last), 1000, "one rotation, and a short file");
        cr_assert_eq(unlink(journal_1), 0);
        expect_all_since(archive, 0, 1, 3300);
        archive_free(archive);
}

Test(archive, a_file_that_may_be_short_leaves_the_whole_ring_in_memory) {
        Archive *archive = make(journal, 4096);
        char buffer[4096];
        ArchiveCursor cursor;

        for (uint64_t seq = 1; seq <= 5000; seq++)
                append(archive, seq, 200);
        archive_cursor_init(&cursor, 0);
        ssize_t n = archive_read(archive, &cursor, buffer, sizeof buffer);
        cr_assert_gt(n, 0);
        uint64_t oldest = archive_line_seq(buffer, (size_t)n);
        uint64_t kept = (5001 - oldest) * 219; /* 203 bytes a line, and its head */
        cr_expect(kept <= ARCHIVE_RING_SIZE && kept > ARCHIVE_RING_SIZE - 4096, "kept %llu", (unsigned long long)kept);
        archive_cursor_done(&cursor);
        archive_free(archive);
}

Test(archive, a_disk_that_stays_full_leaves_the_whole_ring_in_memory) {
        if (mount("none", folder, "tmpfs", 0, "size=64k") < 0)
                cr_skip_test("no right to mount a small tmpfs");
        Archive *archive = make(journal, 0);
        uint64_t seq = 1, first, last;
        for (; archive_file_error(archive) == 0; seq++)
                append(archive, seq, 200);
        cr_assert_eq(archive_file_error(archive), ENOSPC);
        count_lines(journal, &first, &last);
        for (; seq <= last + 1100; seq++)
                append(archive, seq, 200);
        expect_all_since(archive, 0, 1, seq - 1);
        archive_free(archive);
        umount2(folder, MNT_DETACH);
}

Test(archive, a_ring_that_grows_keeps_its_lines_and_their_places) {
        ArchiveRing ring;
        char line[300], read[300];
        uint64_t seq = 1, place = 0, found;

        cr_assert_eq(archive_ring_init(&ring, 4096), 0);
        memset(line, 'x', sizeof line);
        for (; seq <= 100; seq++)
                archive_ring_put(&ring, seq, line, 50 + seq % 200);
        uint64_t middle = archive_ring_find(&ring, 95), oldest = ring.oldest_seq;
        cr_assert_eq(archive_ring_grow(&ring, 16384), 0);
        cr_expect_eq(archive_ring_find(&ring, 95), middle);
        for (; seq <= 130; seq++)
                archive_ring_put(&ring, seq, line, 50 + seq % 200);
        cr_expect_eq(ring.oldest_seq, oldest);
        place = ring.tail;
        for (uint64_t expected = oldest; expected <= 130; expected++) {
                long n = archive_ring_get(&ring, &place, read, sizeof read, &found);
                cr_assert_eq(found, expected);
                cr_assert_eq(n, (long)(50 + expected % 200));
                cr_assert_arr_eq(read, line, (size_t)n);
        }
        cr_expect_eq(place, ring.head);
        archive_ring_done(&ring);
}

Test(archive, a_directory_that_cannot_be_written_costs_the_file_only) {
        Archive *archive = make("/proc/self/nothing/journal", 0);

        append(archive, 1, 100);
        cr_assert_eq(archive_file_error(archive), ENOENT);
        expect_all_since(archive, 0, 1, 1);
        archive_free(archive);
}

Test(archive, a_full_disk_heals_without_a_gap_and_without_half_a_line) {
        char filler[96], block[4096];
        uint64_t first, last;

        if (mount("none", folder, "tmpfs", 0, "size=64k") < 0)
                cr_skip_test("no right to mount a small tmpfs");
        snprintf(filler, sizeof filler, "%s/filler", folder);
        memset(block, 'f', sizeof block);
        Archive *archive = make(journal, 0);
        uint64_t seq = 1;
        for (; seq <= 5; seq++)
                append(archive, seq, 333);
        int fd = open(filler, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
        while (write(fd, block, sizeof block) == sizeof block)
                ;
        close(fd);
        for (; seq <= 40; seq++)
                append(archive, seq, 333);
        cr_expect_eq(archive_file_error(archive), ENOSPC);
        cr_expect_gt(count_lines(journal, &first, &last), 4);
        cr_expect_lt(last, 40);
        cr_expect_eq(unlink(filler), 0);
        append(archive, seq, 333);
        cr_expect_eq(archive_file_error(archive), 0);
        cr_expect_eq(count_lines(journal, &first, &last), 41);
        cr_expect_eq(first, 1);
        archive_free(archive);
        umount2(folder, MNT_DETACH);
}

Test(archive, tells_a_tmpfs_from_other_file_systems) {
        cr_assert(archive_is_on_tmpfs("/dev/shm/not-there"));
        cr_assert(archive_is_on_tmpfs(folder));
        cr_assert_not(archive_is_on_tmpfs("/proc/self/stat"));
        cr_assert_not(archive_is_on_tmpfs("/nowhere/at/all"));
}

Test(archive, a_number_is_found_only_where_it_is_a_key) {
        const char first[] = "{\"seq\":17,\"text\":\"x\"}", later[] = "{\"text\":\"\\\"seq\\\":9\",\"seq\":18}";

        cr_assert_eq(archive_line_seq(first, sizeof first - 1), 17);
        cr_assert_eq(archive_line_seq(later, sizeof later - 1), 18);
        cr_assert_eq(archive_line_seq("{}", 2), 0);
}
