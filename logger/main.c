/* main.c - endwell-logger: a helper that PID 1 starts; it ends last of all, when PID 1 closes what connects them. */
#include "base/beginning.h"
#include "base/log.h"
#include "base/packet.h"
#include "logger/hub.h"
#include "logger/options.h"
#include <stdio.h>
#include <string.h>
#include <systemd/sd-event.h>

#define EXIT_USAGE    64
#define EXIT_SOFTWARE 70

static int run(const Options *options) {
        HubPlan plan = { .socket = options->socket_fd,
                         .journal_path = options->journal_path,
                         .journal_max_size = options->journal_max_size,
                         .logs_path = options->logs_path,
                         .group = options->group };
        sd_event *event = NULL;
        Hub *hub = NULL;

        int r = sd_event_new(&event);
        if (r >= 0)
                r = hub_new(&hub, event, &plan);
        if (r >= 0)
                r = sd_event_loop(event);
        hub_free(hub);
        sd_event_unref(event);
        if (r < 0)
                log_err("the logger failed: %s; PID 1 starts it again", strerror(-r));
        return r < 0 ? EXIT_SOFTWARE : r;
}

int main(int argc, char **argv) {
        char problem[256];
        Options options;

        beginning_ignore_signals();
        int r = options_parse(argc, argv, &options, problem);
        if (r < 0) {
                fprintf(stderr, "endwell-logger: %s\n", problem);
                return EXIT_USAGE;
        }
        if (r == OPTIONS_HELP) {
                puts("endwell-logger is started by endwell run, with a socket on a descriptor.\n"
                     "  --socket-fd N --journal PATH --journal-max-size SIZE --logs PATH --group GID\n"
                     "  --log-format FORMAT --log-level LEVEL");
                return 0;
        }
        log_open("endwell-logger", options.log_format, options.log_level);
        if (!packet_is_socket(options.socket_fd)) {
                log_err("descriptor %d is no socket of PID 1; this program is started by endwell run",
                        options.socket_fd);
                return EXIT_USAGE;
        }
        beginning_raise_descriptor_limit();
        return run(&options);
}
