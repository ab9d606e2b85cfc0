/* main.c - endwell-gateway: a helper that PID 1 starts where a configuration has a [Gateway]; it ends when PID 1 closes
 * its socket. */
#include "base/beginning.h"
#include "base/log.h"
#include "base/packet.h"
#include "gateway/gateway.h"
#include "gateway/invocation.h"
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <systemd/sd-event.h>
#include <unistd.h>

#define EXIT_USAGE    64
#define EXIT_SOFTWARE 70

static int run(const Invocation *invocation) {
        Gateway *gateway = NULL;
        sd_event *event = NULL;

        int r = sd_event_new(&event);
        if (r >= 0)
                r = gateway_new(&gateway, event, invocation, STDIN_FILENO, beginning_raise_descriptor_limit());
        if (r >= 0)
                r = sd_event_loop(event);
        gateway_free(gateway);
        sd_event_unref(event);
        if (r < 0)
                log_err("the gateway failed: %s; PID 1 starts it again", strerrordesc_np(-r));
        return r < 0 ? EXIT_SOFTWARE : r;
}

int main(int argc, char **argv) {
        char problem[INVOCATION_PROBLEM_MAX];
        Invocation invocation;

        beginning_ignore_signals();
        int r = invocation_parse(argc, argv, &invocation, problem);
        if (r < 0) {
                fprintf(stderr, "endwell-gateway: %s\n", problem);
                return EXIT_USAGE;
        }
        if (r == INVOCATION_HELP) {
                puts("endwell-gateway is started by endwell run where a configuration has a [Gateway], with a socket "
                     "as\n"
                     "its standard input.\n"
                     "  --socket PATH --listen ADDR:PORT [--dashboard yes|no] [--ready-when NAME,NAME…]\n"
                     "  --log-format FORMAT --log-level LEVEL");
                return 0;
        }
        log_open("endwell-gateway", invocation.log_format, invocation.log_level);
        if (!packet_is_socket(STDIN_FILENO)) {
                log_err("standard input is no socket of PID 1; this program is started by endwell run");
                return EXIT_USAGE;
        }
        (void)prctl(PR_SET_NO_NEW_PRIVS, 1L, 0L, 0L, 0L);
        return run(&invocation);
}
