/* test_config_memory.c - loading a configuration when memory ends: at the first allocation, the second, and so on.
 *
 * The linker puts these functions in place of libc's for our own objects (--wrap, in CMakeLists.txt). */
#include "base/take.h"
#include "tests/support/config_file.h"
#include <criterion/criterion.h>
#include <errno.h>
#include <stdio.h>
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
WRAPPED(void *, realloc, (void *old, size_t size), (old, size))
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
        /* The last round reached none; the others keep the place of a file among complaints, and two warnings. */
        cr_expect_geq(n_refused + 12, n, "%lu of %lu were taken for harmless", n - n_refused, n);
}

/* A file with what needs no privilege of all the rest: a user that we are, files, sockets, probes. */
static void write_services(ConfigFile *file) {
        char text[2000];

        config_file_write(file, "env", "A=1\nB='2\n3'\nA=2\n");
        snprintf(text, sizeof text,
                 "[Service web]\nExecStart=/bin/true\nUser=%u\nSupplementaryGroups=%u\nSupplementaryGroups=%u\n"
                 "Listen=tcp://127.0.0.1:8080 name=a unix:%s/x.sock\nListen=tcp://[::1]:8080\n"
                 "ReadinessProbe=http://localhost/\nLivenessProbe=exec:true a b\nStartupProbe=unix:/x failures=3\n"
                 "EnvironmentFile=%s/env\nEnvironment=C=1\nPassEnvironment=A B\nUnsetEnvironment=A\n"
                 "LimitNOFILE=16:32\nLimitCORE=0\nUMask=077\nCapabilityBoundingSet=~\nAmbientCapabilities=\n"
                 "[Service api]\nExecStart=true\nType=notify-fd:3\nTTY=yes\n"
                 "[Hook h]\nService=web\nOn=pre-stop\nHttp=POST http://balancer/x\n"
                 "[Hook i]\nService=web\nOn=post-stop\nExec=true\nUser=%u\n",
                 geteuid(), getegid(), getegid(), file->directory, file->directory, geteuid());
        config_file_write(file, "conf.ini", text);
}

Test(config_memory, every_allocation_for_users_files_sockets_and_probes_may_fail) {
        bool reached = true;
        unsigned long n, n_refused = 0;
        ConfigFile file;

        config_file_open(&file);
        write_services(&file);
        for (n = 0; reached; n++) {
                int r = load_failing_at(file.path, n + 1, &reached);
                cr_expect(r == -ENOMEM || r == 0, "allocation %lu: %d", n, r);
                n_refused += r == -ENOMEM;
        }
        cr_expect_gt(n, 120, "%lu allocations: the wrapping does not work", n);
        /* The last round reached none; the place of a file among complaints, and the warning of the terminal. */
        cr_expect_geq(n_refused + 8, n, "%lu of %lu were taken for harmless", n - n_refused, n);
        config_file_close(&file);
}

/* With errors in the file there may be no memory for a complaint: then there is an error all the same. */
Test(config_memory, no_failing_allocation_makes_a_bad_file_good) {
        bool reached = true;

        for (unsigned long n = 1; reached; n++) {
                int r = load_failing_at(CASES "/config-hostile/07-everything-zero.ini", n, &reached);
                cr_expect(r == -ENOMEM || r == -EBADMSG, "allocation %lu: %d", n, r);
        }
}
