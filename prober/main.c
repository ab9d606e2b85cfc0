/* main.c - endwell-prober: a helper that PID 1 starts when something needs it; it ends when PID 1 closes its socket. */
#include "base/beginning.h"
#include "base/log.h"
#include "base/packet.h"
#include "prober/arguments.h"
#include "prober/requests.h"
#include <stdio.h>
#include <string.h>
#include <systemd/sd-event.h>
#include <unistd.h>

#define EXIT_USAGE    64
#define EXIT_SOFTWARE 70

static int run(void) {
        Requests *requests = NULL;
        sd_event *event = NULL;

        int r = sd_event_new(&event);
        if (r >= 0)
                r = requests_new(&requests, event, STDIN_FILENO, beginning_raise_descriptor_limit());
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

        beginning_ignore_signals();
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
        if (!packet_is_socket(STDIN_FILENO)) {
                log_err("standard input is no socket of PID 1; this program is started by endwell run");
                return EXIT_USAGE;
        }
        return run();
}
