/* keeper_main.c - endwell-keeper: stands between endwell-worker and the command of one slot; it ends with the worker.
 */
#include "base/log.h"
#include "base/take.h"
#include "worker/keeper.h"
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define EXIT_USAGE    64
#define EXIT_SOFTWARE 70

/* Whoever ends a whole group means the worker, and that one decides what becomes of the jobs. */
static void ignore_signals(void) {
        static const int ignored[] = { SIGTERM, SIGINT, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGPIPE, SIGTSTP };
        for (size_t i = 0; i < LENGTH_OF(ignored); i++)
                signal(ignored[i], SIG_IGN);
}

static bool is_packet_socket(int fd) {
        int type;
        socklen_t length = sizeof type;
        return getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &length) == 0 && type == SOCK_SEQPACKET;
}

int main(int argc, char **argv) {
        ignore_signals();
        log_open("endwell-keeper", LOG_FORMAT_AUTO, LOG_LEVEL_WARNING);
        if (argc < 2 || !is_packet_socket(STDIN_FILENO)) {
                log_err("this program is started by endwell worker, with a socket as its standard input");
                return EXIT_USAGE;
        }
        int r = keeper_run(STDIN_FILENO, argv + 1);
        if (r < 0)
                log_err("the keeper of a command failed: %s; the worker starts it again", strerrordesc_np(-r));
        return r < 0 ? EXIT_SOFTWARE : 0;
}
