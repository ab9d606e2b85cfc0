/* beginning.c - how a helper process begins. */
#include "base/beginning.h"
#include "base/take.h"
#include <limits.h>
#include <signal.h>
#include <sys/resource.h>

void beginning_ignore_signals(void) {
        static const int ignored[] = { SIGTERM, SIGINT, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGPIPE, SIGXFSZ, SIGTSTP };
        for (size_t i = 0; i < LENGTH_OF(ignored); i++)
                signal(ignored[i], SIG_IGN);
}

unsigned beginning_raise_descriptor_limit(void) {
        struct rlimit limit;
        if (getrlimit(RLIMIT_NOFILE, &limit) < 0)
                return 0;
        rlim_t given = limit.rlim_cur;
        limit.rlim_cur = limit.rlim_max;
        rlim_t most = setrlimit(RLIMIT_NOFILE, &limit) < 0 ? given : limit.rlim_max;
        return most > INT_MAX ? INT_MAX : (unsigned)most;
}
