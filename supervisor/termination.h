/* termination.h - leaves one line where the container's platform looks for the reason of an end.
 *
 * Kubernetes shows what stands in /dev/termination-log (at most 4096 bytes) as the message of a container that ended.
 * Never blocks, follows no symbolic link, and whatever goes wrong is only an answer. */
#pragma once

#define TERMINATION_MESSAGE_MAX 4096

/* "exit CODE: EXPLANATION", made one line and cut at a whole character. `path` NULL: /dev/termination-log, and nothing
 * is done (0) when that is not there. 0 or -errno. */
int termination_write(const char *path, int code, const char *explanation);
