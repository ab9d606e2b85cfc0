/* strays.c - see strays.h. */
#include "verify/strays.h"
#include "base/clock.h"
#include "base/take.h"
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/syscall.h>
#include <unistd.h>

#define ENVIRONMENT_MAX (256 * 1024)
#define PATIENCE_USEC   (10 * USEC_PER_SEC)
#define ONE_MSEC        2000
#define AGAIN_MSEC      5

static bool has_variable(pid_t pid, const char *variable) {
        _cleanup_(freep) char *text = malloc(ENVIRONMENT_MAX + 1);
        char path[64];

        snprintf(path, sizeof path, "/proc/%d/environ", (int)pid);
        _cleanup_(closep) int fd = open(path, O_RDONLY | O_CLOEXEC);
        ssize_t n = text && fd >= 0 ? read(fd, text, ENVIRONMENT_MAX) : -1;
        if (n <= 0)
                return false;
        text[n] = 0;
        for (char *at = text; at < text + n; at += strlen(at) + 1)
                if (strcmp(at, variable) == 0)
                        return true;
        return false;
}

/* Through a descriptor, so that a number that was given away again is not hit. */
static bool end_one(pid_t pid, const char *variable) {
        _cleanup_(closep) int fd = pidfd_open(pid, 0);
        struct pollfd end = { .fd = fd, .events = POLLIN };

        if (fd < 0 || !has_variable(pid, variable))
                return false;
        (void)pidfd_send_signal(fd, SIGKILL, NULL, 0);
        (void)poll(&end, 1, ONE_MSEC);
        return true;
}

static int sweep(const char *variable) {
        DIR *folder = opendir("/proc");
        struct dirent *entry;
        int n = 0;

        if (!folder)
                return -errno;
        while ((entry = readdir(folder))) {
                pid_t pid = isdigit((unsigned char)entry->d_name[0]) ? (pid_t)strtol(entry->d_name, NULL, 10) : 0;
                if (pid > 0 && pid != getpid() && end_one(pid, variable))
                        n++;
        }
        closedir(folder);
        return n;
}

/* A process that is just being made shows no environment yet: so it is looked again, until twice in a row there is
 * none. */
int strays_end(const char *name) {
        _cleanup_(freep) char *variable = NULL;
        usec_t until = usec_add(clock_now_usec(), PATIENCE_USEC);
        int n = 0;

        if (asprintf(&variable, STRAYS_VARIABLE "=%s", name) < 0)
                return -ENOMEM;
        for (unsigned none = 0; none < 2 && n >= 0; none = n == 0 ? none + 1 : 0) {
                if (clock_now_usec() > until)
                        return -ETIMEDOUT;
                if (none > 0)
                        (void)poll(NULL, 0, AGAIN_MSEC);
                n = sweep(variable);
        }
        return n;
}
