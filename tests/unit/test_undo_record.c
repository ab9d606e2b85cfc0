/* test_undo_record.c - lines of an undo log, there and back, and torn ones. */
#include "base/take.h"
#include "verify/undo_record.h"
#include <criterion/criterion.h>
#include <errno.h>
#include <string.h>

static char *line(void) {
        char path[] = "/tmp/a b\n%c\xff", attributes[] = "user.x=61", kept[] = "kept-1", empty[] = "";
        UndoRecord record = { .kind = UNDO_FILE,
                              .mode = 0100644,
                              .uid = 4294967295u,
                              .gid = 7,
                              .device = 1ull << 40,
                              .inode = 99,
                              .size = 12,
                              .offset = 3,
                              .atime = { -1, 999999999 },
                              .mtime = { 1700000000, 5 },
                              .path = path,
                              .target = empty,
                              .attributes = attributes,
                              .kept = kept };
        char *text = undo_record_format(&record);
        cr_assert_not_null(text);
        cr_assert_eq(text[strlen(text) - 1], '\n');
        text[strlen(text) - 1] = 0;
        return text;
}

Test(undo_record, a_record_comes_back_as_it_was) {
        _cleanup_(freep) char *text = line();
        UndoRecord record;

        cr_assert_eq(undo_record_parse(text, &record), 0);
        cr_expect_eq(record.kind, UNDO_FILE);
        cr_expect_eq(record.mode, 0100644);
        cr_expect_eq(record.uid, 4294967295u);
        cr_expect_eq(record.device, 1ull << 40);
        cr_expect_eq(record.offset, 3);
        cr_expect_eq(record.atime.tv_sec, -1);
        cr_expect_eq(record.mtime.tv_nsec, 5);
        cr_expect_str_eq(record.path, "/tmp/a b\n%c\xff");
        cr_expect_str_eq(record.target, "");
        cr_expect_str_eq(record.kept, "kept-1");
        undo_record_done(&record);
}

Test(undo_record, a_line_that_was_torn_anywhere_is_none) {
        _cleanup_(freep) char *text = line();
        UndoRecord record;

        cr_expect_null(strchr(text, '\n'), "a path cannot break a line");
        for (size_t length = 0; length < strlen(text); length++) {
                _cleanup_(freep) char *torn = strndup(text, length);
                cr_expect_eq(undo_record_parse(torn, &record), -EBADMSG, "cut at %zu", length);
        }
}

Test(undo_record, a_line_with_one_other_letter_is_none) {
        _cleanup_(freep) char *text = line();
        UndoRecord record;

        for (size_t i = 0; i < strlen(text); i++) {
                text[i] ^= 1;
                cr_expect_eq(undo_record_parse(text, &record), -EBADMSG, "letter %zu", i);
                text[i] ^= 1;
        }
}
