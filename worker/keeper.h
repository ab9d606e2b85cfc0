/* keeper.h - the loop of endwell-keeper: starts one command at a time for the worker, and leaves nothing of it behind.
 *
 * A process of its own between the worker and each command, and a subreaper: so whatever the command leaves behind is
 * below it and nobody else's, and can be killed and named without a doubt. It is small, so that its forks are cheap. It
 * ignores what ends a group; it ends, and kills everything below it, when the worker's end of the socket is closed,
 * however that came about. Messages (base/packet):
 *   DO=start, body of K=V lines for the environment, descriptors 0 to 2    DO=ask: SIGTERM to its group    DO=kill
 *   SAID=started PID=n    SAID=failed ERROR=errno    SAID=stuck: killed, and still there after a while
 *   SAID=gone HOW=exited|killed STATUS=n LEFT=n NAMES=…: of the command and all below it nothing is there any more */
#pragma once

#define KEEPER_WORDS_MAX 4096

/* Until the socket ends: 0; or -errno. */
int keeper_run(int socket, char *const *argv);
