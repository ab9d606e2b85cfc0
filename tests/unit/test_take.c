/* test_take.c - what is owned is freed once, and what was taken is not. */
#include "base/take.h"
#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>

static bool is_open(int fd) {
        return fcntl(fd, F_GETFD) >= 0;
}

Test(take, a_descriptor_is_closed_at_the_end_of_its_scope) {
        int number;
        {
                _cleanup_(closep) int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
                number = fd;
                cr_assert(is_open(number));
        }
        cr_assert_not(is_open(number));
}

Test(take, what_was_taken_is_not_closed) {
        int kept = -1;
        {
                _cleanup_(closep) int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
                kept = TAKE_FD(fd);
                cr_assert_eq(fd, -1);
        }
        cr_assert(is_open(kept));
        close_fd(kept);
}

Test(take, closing_answers_minus_one_and_keeps_errno) {
        int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
        errno = ENOTTY;
        cr_assert_eq(close_fd(fd), -1);
        cr_assert_eq(close_fd(fd), -1, "closing a stale number must not crash");
        cr_assert_eq(close_fd(-1), -1);
        cr_assert_eq(errno, ENOTTY);
}

Test(take, a_pointer_is_moved_and_not_copied) {
        char *text = strdup("x"), *before = text;
        _cleanup_(freep) char *taken = TAKE(text);
        cr_assert_null(text);
        cr_assert_eq(taken, before);
}
