/* test_beginning.c - no signal to a group ends a helper, and it has all descriptors that it may have. */
#include <criterion/criterion.h>
#include <signal.h>
#include <sys/resource.h>

#include "base/beginning.h"
#include "base/take.h"

Test(beginning, no_signal_to_a_group_ends_a_helper) {
        static const int deaf[] = { SIGTERM, SIGINT, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGPIPE, SIGXFSZ, SIGTSTP };

        beginning_ignore_signals();
        for (size_t i = 0; i < LENGTH_OF(deaf); i++) {
                struct sigaction now;
                cr_assert_eq(sigaction(deaf[i], NULL, &now), 0);
                cr_assert(now.sa_handler == SIG_IGN, "signal %d", deaf[i]);
        }
}

Test(beginning, a_helper_has_all_descriptors_that_it_may_have) {
        struct rlimit limit;
        cr_assert_eq(getrlimit(RLIMIT_NOFILE, &limit), 0);
        limit.rlim_cur = 64;
        cr_assert_eq(setrlimit(RLIMIT_NOFILE, &limit), 0);

        unsigned most = beginning_raise_descriptor_limit();

        cr_assert_eq(getrlimit(RLIMIT_NOFILE, &limit), 0);
        cr_assert_eq(limit.rlim_cur, limit.rlim_max);
        cr_assert_eq(most, limit.rlim_max);
}
