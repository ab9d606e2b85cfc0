/* runtime.h - finds, makes and locks the runtime directory.
 *
 * The first that can be used of /run/endwell (when a tmpfs), $XDG_RUNTIME_DIR/endwell, /dev/shm/endwell-UID,
 * /tmp/endwell-UID, or the one that the configuration names: 0711, ours, no symlink, locked (flock on DIR/lock, which
 * holds our pid). Source: contracts/config.md. */
#pragma once
#include <sys/types.h>

typedef struct Runtime {
        char directory[100]; /* short enough for the socket paths in it */
        int lock_fd;
} Runtime;

/* 0; -EBUSY: another instance has it, *ret_holder is its pid (0 if unknown) and ret->directory names it; or -errno. */
int runtime_open(const char *configured, Runtime *ret, pid_t *ret_holder);
void runtime_close(Runtime *runtime);

/* Whether runtime_open() could use a directory, as far as that shows without making or changing anything; that another
 * instance runs in it now is no objection. 0 or -errno. */
int runtime_try(const char *configured);

/* Where a client looks by default: the first candidate with a control socket in it. 0 or -ENOENT. */
int runtime_find(char *ret_directory, size_t size);
