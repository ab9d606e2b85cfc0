/* oom.c - see oom.h. */
#include "supervisor/oom.h"
#include "base/clock.h"
#include "base/take.h"
#include "supervisor/cgroup_place.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define TEXT_MAX   1024
#define PAUSE_USEC USEC_PER_SEC

/* A line is a word, a blank and a number. */
int oom_parse(const char *text, uint64_t *ret) {
        static const char word[] = "oom_kill ";
        for (const char *line = text; *line;) {
                if (strncmp(line, word, sizeof word - 1) == 0) {
                        char *end;
                        unsigned long long number = strtoull(line + sizeof word - 1, &end, 10);
                        if (end == line + sizeof word - 1 || (*end != '\n' && *end))
                                return -EBADMSG;
                        *ret = number;
                        return 0;
                }
                line += strcspn(line, "\n");
                line += *line == '\n';
        }
        return -EBADMSG; /* before Linux 4.13 (version 2), 4.19 (version 1) nobody counted */
}

static int read_counter(int fd, uint64_t *ret) {
        char text[TEXT_MAX];
        ssize_t n = pread(fd, text, sizeof text - 1, 0);
        if (n < 0)
                return -errno;
        text[n] = '\0';
        return oom_parse(text, ret);
}

static uint64_t count(const Oom *oom) {
        uint64_t sum = 0, number;
        for (int i = 0; i < OOM_COUNTERS; i++)
                if (oom->fds[i] >= 0 && read_counter(oom->fds[i], &number) == 0)
                        sum += number;
        return sum;
}

static int open_counter(const char *controller, const char *name) {
        CgroupPlace place;
        char path[PATH_MAX + 32];
        if (cgroup_place_find(controller, &place) < 0)
                return -1;
        snprintf(path, sizeof path, "%s/%s", place.directory, name);
        return open(path, O_RDONLY | O_CLOEXEC);
}

void oom_open(Oom *oom) {
        *oom = OOM_NONE;
        oom->fds[0] = open_counter(NULL, "memory.events");
        if (oom->fds[0] < 0)
                oom->fds[1] = open_counter("memory", "memory.oom_control");
        oom->counted = count(oom);
}

void oom_close(Oom *oom) {
        for (int i = 0; i < OOM_COUNTERS; i++)
                oom->fds[i] = close_fd(oom->fds[i]);
}

/* A group that is gone, or was counted anew, counts lower: that says nothing. */
static void look(Oom *oom) {
        uint64_t now = count(oom);
        if (now > oom->counted)
                oom->unexplained += now - oom->counted;
        oom->counted = now;
        oom->looked_usec = clock_now_usec();
}

void oom_begin(Oom *oom) {
        if (clock_now_usec() < usec_add(oom->looked_usec, PAUSE_USEC))
                return;
        look(oom);
        oom->unexplained = 0;
}

bool oom_explains(Oom *oom) {
        look(oom);
        if (oom->unexplained == 0)
                return false;
        oom->unexplained--;
        return true;
}
