/* test_termination.c - the line that a platform shows, and files that are not what they seem. */
#include "supervisor/termination.h"
#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char path[64];

static void setup(void) {
        strcpy(path, "/dev/shm/termination-test-XXXXXX");
        int fd = mkstemp(path);
        cr_assert_geq(fd, 0);
        close(fd);
}

static void teardown(void) {
        unlink(path);
}

TestSuite(termination, .init = setup, .fini = teardown, .timeout = 30);

static size_t read_back(char *buffer, size_t size) {
        FILE *file = fopen(path, "re");
        size_t n = fread(buffer, 1, size - 1, file);

        fclose(file);
        buffer[n] = '\0';
        return n;
}

Test(termination, the_line_replaces_what_was_there) {
        char buffer[100];

        cr_assert_eq(termination_write(path, 81, "an old and very long sentence"), 0);
        cr_assert_eq(termination_write(path, 0, "clean"), 0);
        read_back(buffer, sizeof buffer);
        cr_assert_str_eq(buffer, "exit 0: clean\n");
}

Test(termination, it_is_one_line_of_at_most_4096_bytes_and_whole_characters) {
        static char line[9000], buffer[9000];

        for (size_t i = 0; i + 2 < sizeof line - 1; i += 2)
                memcpy(line + i, "ä", 2);
        line[1] = line[0] = '\n';
        cr_assert_eq(termination_write(path, 81, line), 0);
        size_t n = read_back(buffer, sizeof buffer);
        cr_assert_leq(n, 4096);
        cr_assert_gt(n, 4090);
        cr_assert_eq(strchr(buffer, '\n'), buffer + n - 1);
        cr_assert_eq((n - 1 - strlen("exit 81: ")) % 2, 0, "cut inside a character");
}

Test(termination, a_symbolic_link_is_not_followed_and_a_fifo_does_not_block) {
        char link[80];

        snprintf(link, sizeof link, "%s.link", path);
        cr_assert_eq(symlink(path, link), 0);
        cr_assert_eq(termination_write(link, 0, "x"), -ELOOP);
        cr_assert_eq(unlink(link), 0);
        cr_assert_eq(mkfifo(link, 0600), 0);
        cr_assert_eq(termination_write(link, 0, "x"), -ENXIO);
        cr_assert_eq(unlink(link), 0);
}

Test(termination, without_a_path_a_missing_platform_file_is_no_error) {
        struct stat st;

        if (lstat("/dev/termination-log", &st) == 0)
                cr_skip_test("this machine has one");
        cr_assert_eq(termination_write(NULL, 0, "clean"), 0);
        cr_assert_lt(lstat("/dev/termination-log", &st), 0);
}
