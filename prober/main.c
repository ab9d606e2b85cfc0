/* main.c - endwell-prober: a helper that PID 1 starts when something needs it; it ends when PID 1 closes its socket. */
#include "base/log.h"
#include "base/take.h"
#include "prober/arguments.h"
#include "prober/requests.h"
#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <systemd/sd-event.h>

#define EXIT_USAGE    64
#define EXIT_SOFTWARE 70

/* An orchestrator, a terminal or a person may signal everything at once; what ends us is the end of our socket. */
static void ignore_signals(void) {
        static const int ignored[] = { SIGTERM, SIGINT, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGPIPE, SIGTSTP };
        for (size_t i = 0; i < LENGTH_OF(ignored); i++)
                signal(ignored[i], SIG_IGN);
}

/* As many as we may have: that is how many checks can run at once. A failure leaves what there is. */
static unsigned raise_descriptor_limit(void) {
        struct rlimit limit;
        if (getrlimit(RLIMIT_NOFILE, &limit) < 0)
                return 0;
        rlim_t given = limit.rlim_cur;
        limit.rlim_cur = limit.rlim_max;
        rlim_t most = setrlimit(RLIMIT_NOFILE, &limit) < 0 ? given : limit.rlim_max;
        return most > INT_MAX ? INT_MAX : (unsigned)most;
}

static bool is_packet_socket(int fd) {
        int type;
        socklen_t length = sizeof type;
        return getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &length) == 0 && type == SOCK_SEQPACKET;
}

static int run(void) {
        Requests *requests = NULL;
        sd_event *event = NULL;

        int r = sd_event_new(&event);
        if (r >= 0)
                r = requests_new(&requests, event, STDIN_FILENO, raise_descriptor_limit());
        if (r >= 0)
                r = sd_event_loop(event);
        requests_free(requests);
        sd_event_unref(event);
        if (r < 0)
                log_err("the prober failed: %s; PID 1 starts it again", strerror(-r));
        return r < 0 ? EXIT_SOFTWARE : r;
}

int main(int argc, char **argv) {
        char problem[ARGUMENTS_PROBLEM_MAX];
        Arguments arguments;

        ignore_signals();
        int r = arguments_parse(argc, argv, &arguments, problem);
        if (r < 0) {
                fprintf(stderr, "endwell-prober: %s\n", problem);
                return EXIT_USAGE;
        }
        if (r == ARGUMENTS_HELP) {
                puts("endwell-prober is started by endwell run, with a socket as its standard input.\n"
                     "  --log-format FORMAT --log-level LEVEL");
                return 0;
        }
        log_open("endwell-prober", arguments.log_format, arguments.log_level);
        if (!is_packet_socket(STDIN_FILENO)) {
                log_err("standard input is no socket of PID 1; this program is started by endwell run");
                return EXIT_USAGE;
        }
        return run();
}
