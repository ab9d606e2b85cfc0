/* test_file.c - files that can be read, and paths that name something else. */
#include "base/file.h"
#include "base/take.h"
#include <criterion/criterion.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

static char directory[] = "/tmp/endwell-test-file-XXXXXX", path[64];

static void set_up(void) {
        cr_assert_not_null(mkdtemp(directory));
        snprintf(path, sizeof path, "%s/text", directory);
}

static void tear_down(void) {
        unlink(path);
        cr_expect_eq(rmdir(directory), 0);
}

TestSuite(file, .init = set_up, .fini = tear_down);

static void write_bytes(const char *bytes, size_t length) {
        FILE *file = fopen(path, "we");
        cr_assert_not_null(file);
        cr_assert_eq(fwrite(bytes, 1, length, file), length);
        fclose(file);
}

Test(file, every_byte_arrives_with_a_nul_behind_it) {
        _cleanup_(freep) char *text = NULL;
        size_t length;
        write_bytes("a\0b\n", 4);
        cr_assert_eq(file_read(path, 4, &text, &length), 0);
        cr_expect_eq(length, 4);
        cr_expect_eq(memcmp(text, "a\0b\n", 5), 0);
}

Test(file, one_byte_more_than_asked_for_is_too_many) {
        char *text = NULL;
        size_t length = 77;
        write_bytes("12345", 5);
        cr_expect_eq(file_read(path, 4, &text, &length), -EFBIG);
        cr_expect(!text && length == 77, "untouched on failure");
}

Test(file, a_long_one_is_read_whole) {
        _cleanup_(freep) char *bytes = malloc(100000), *text = NULL;
        size_t length;
        memset(bytes, 'x', 100000);
        write_bytes(bytes, 100000);
        cr_assert_eq(file_read(path, 100000, &text, &length), 0);
        cr_expect(length == 100000 && memcmp(text, bytes, length) == 0);
}

Test(file, a_file_of_proc_says_no_size_and_is_read) {
        _cleanup_(freep) char *text = NULL;
        size_t length;
        cr_expect_eq(file_read("/proc/self/stat", 4096, &text, &length), 0);
        cr_expect_gt(length, 20);
}

Test(file, what_is_no_regular_file_is_refused_and_never_waited_for) {
        char *text = NULL;
        size_t length;
        cr_assert_eq(mkfifo(path, 0600), 0);
        cr_expect_eq(file_read(path, 100, &text, &length), -EINVAL);
        cr_expect_str_eq(file_problem(-EINVAL), "it is not a regular file");
        cr_expect_eq(file_read("/dev/null", 100, &text, &length), -EINVAL);
        cr_expect_eq(file_read("/tmp", 100, &text, &length), -EISDIR);
        cr_expect_eq(file_read("/no/such/file", 100, &text, &length), -ENOENT);
        cr_expect_str_eq(file_problem(-ENOENT), "No such file or directory");
}
