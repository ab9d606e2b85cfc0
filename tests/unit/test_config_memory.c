/* test_config_memory.c - loading a configuration when memory ends: at the first allocation, the second, and so on.
 *
 * The linker puts these functions in place of libc's for our own objects (--wrap, in CMakeLists.txt). */
#include "base/take.h"
#include "tests/support/config_file.h"
#include <criterion/criterion.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

static unsigned long until_failure; /* 0: none fails */

static bool fails(void) {
        if (until_failure == 0 || --until_failure > 0)
                return false;
        errno = ENOMEM;
        return true;
}

#define WRAPPED(type, name, parameters, arguments)                                                                     \
        type __real_##name parameters;                                                                                 \
        type __wrap_##name parameters;                                                                                 \
        type __wrap_##name parameters {                                                                                \
                return fails() ? NULL : __real_##name arguments;                                                       \
        }

WRAPPED(void *, malloc, (size_t size), (size))
WRAPPED(void *, calloc, (size_t n, size_t size), (n, size))
WRAPPED(void *, reallocarray, (void *old, size_t n, size_t size), (old, n, size))
WRAPPED(char *, strdup, (const char *text), (text))
WRAPPED(char *, strndup, (const char *text, size_t most), (text, most))

/* Answer of config_load() when the nth allocation fails; *ret_reached says whether there was an nth. */
static int load_failing_at(const char *path, unsigned long n, bool *ret_reached) {
        _cleanup_(complaints_freep) Complaints *complaints = NULL;
        _cleanup_(config_freep) Config *config = NULL;

        cr_assert_eq(complaints_new(&complaints), 0);
        until_failure = n;
        int r = config_load(path, "production", complaints, &config);
        *ret_reached = until_failure == 0;
        until_failure = 0;
        cr_expect_eq(config != NULL, r == 0, "a configuration only with 0");
        return r;
}

Test(config_memory, every_allocation_may_fail_and_the_answer_says_so) {
        bool reached = true;
        unsigned long n, n_refused = 0;

        for (n = 0; reached; n++) {
                int r = load_failing_at(CASES "/config-hostile/16-good-everything.ini", n + 1, &reached);
                cr_expect(r == -ENOMEM || r == 0, "allocation %lu: %d", n, r);
                n_refused += r == -ENOMEM;
        }
        cr_expect_gt(n, 80, "%lu allocations: the wrapping does not work", n);
        /* The last round reached none; and two allocations only keep the place of a file among complaints. */
        cr_expect_geq(n_refused + 3, n, "%lu of %lu were taken for harmless", n - n_refused, n);
}

/* With errors in the file there may be no memory for a complaint: then there is an error all the same. */
Test(config_memory, no_failing_allocation_makes_a_bad_file_good) {
        bool reached = true;

        for (unsigned long n = 1; reached; n++) {
                int r = load_failing_at(CASES "/config-hostile/07-everything-zero.ini", n, &reached);
                cr_expect(r == -ENOMEM || r == -EBADMSG, "allocation %lu: %d", n, r);
        }
}
