/* keeper_main.c - endwell-keeper: stands between endwell-worker and the command of one slot; it ends with the worker.
 */
#include "base/beginning.h"
#include "base/log.h"
#include "base/packet.h"
#include "worker/keeper.h"
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define EXIT_USAGE    64
#define EXIT_SOFTWARE 70

int main(int argc, char **argv) {
        beginning_ignore_signals();
        log_open("endwell-keeper", LOG_FORMAT_AUTO, LOG_LEVEL_WARNING);
        if (argc < 2 || !packet_is_socket(STDIN_FILENO)) {
                log_err("this program is started by endwell worker, with a socket as its standard input");
                return EXIT_USAGE;
        }
        int r = keeper_run(STDIN_FILENO, argv + 1);
        if (r < 0)
                log_err("the keeper of a command failed: %s; the worker starts it again", strerrordesc_np(-r));
        return r < 0 ? EXIT_SOFTWARE : 0;
}
