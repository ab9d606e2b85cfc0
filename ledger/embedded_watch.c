/* embedded_watch.c - see embedded_watch.h. */
#include "ledger/embedded_watch.h"
#include "base/take.h"
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <systemd/sd-daemon.h>
#include <unistd.h>

#define PERIOD_MSEC 50
#define STATUS_LINE 8 /* of postmaster.pid since PostgreSQL 10: LOCK_FILE_LINE_PM_STATUS */

/* Every program that calls a library names it. */
bool embedded_says_ready(const char *postgres) {
        static const char library[] = "libsystemd.so";
        _cleanup_(closep) int fd = open(postgres, O_RDONLY | O_CLOEXEC);
        struct stat about;

        if (fd < 0 || fstat(fd, &about) < 0 || about.st_size == 0)
                return false;
        void *text = mmap(NULL, (size_t)about.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
        if (text == MAP_FAILED)
                return false;
        bool found = memmem(text, (size_t)about.st_size, library, sizeof library - 1) != NULL;
        (void)munmap(text, (size_t)about.st_size);
        return found;
}

/* The file's first line is the postmaster's pid, its eighth how far it is. */
static bool is_ready(const EmbeddedFolder *folder, pid_t postmaster) {
        char text[2048] = "", *at = text;
        _cleanup_(closep) int fd = openat(folder->fd, "cluster/postmaster.pid", O_RDONLY | O_CLOEXEC);

        if (fd < 0 || read(fd, text, sizeof text - 1) <= 0 || strtol(text, NULL, 10) != postmaster)
                return false;
        for (int line = 1; at && line < STATUS_LINE; line++) {
                at = strchr(at, '\n');
                at = at ? at + 1 : NULL;
        }
        return at && strncmp(at, "ready", 5) == 0;
}

static void watch(const EmbeddedFolder *folder, pid_t postmaster, int pidfd) {
        struct pollfd end = { .fd = pidfd, .events = POLLIN };

        while (poll(&end, 1, PERIOD_MSEC) == 0)
                if (is_ready(folder, postmaster)) {
                        (void)sd_notify(0, "READY=1");
                        return;
                }
}

/* Twice removed: the postmaster would wonder about a child that is none of its backends. */
int embedded_watch(const EmbeddedFolder *folder) {
        pid_t postmaster = getpid();
        _cleanup_(closep) int pidfd = (int)syscall(SYS_pidfd_open, postmaster, 0);

        if (pidfd < 0)
                return -errno;
        pid_t child = fork();
        if (child < 0)
                return -errno;
        if (child == 0) {
                if (fork() == 0)
                        watch(folder, postmaster, pidfd);
                _exit(0);
        }
        while (waitpid(child, NULL, 0) < 0)
                if (errno != EINTR)
                        return -errno;
        return 0;
}
