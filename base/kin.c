/* kin.c - reads /proc/PID/stat, lists our own children, and finds the owner in an environment. */
#include "base/kin.h"
#include "base/take.h"
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define STAT_MAX      1024 /* the longest line has about 50 numbers of up to 20 digits, of which we need the first 20 */
#define DEPTH_MAX     1024
#define OWNER_KEY     "ENDWELL_OWNER="
#define OWNER_MAX     36
#define ENVIRON_MAX   (2U << 20) /* what exec(2) takes with the usual stack */
#define PATH_TEXT_MAX 48

/* After the last ')' stand the fields from the third on, one blank between them. */
enum { FIELD_STATE = 3, FIELD_PARENT = 4, FIELD_SESSION = 6, FIELD_THREADS = 20, FIELD_START = 22 };

static bool read_unsigned(const char **at, const char *end, unsigned long long *ret) {
        unsigned long long value = 0;
        const char *start = *at;
        while (*at < end && **at >= '0' && **at <= '9')
                value = value * 10 + (unsigned long long)(*(*at)++ - '0');
        *ret = value;
        return *at > start;
}

static void take_field(KinProcess *process, int field, unsigned long long value) {
        if (field == FIELD_PARENT)
                process->parent = (pid_t)value;
        else if (field == FIELD_SESSION)
                process->session = (pid_t)value;
        else if (field == FIELD_THREADS)
                process->threads = (unsigned)value;
        else if (field == FIELD_START)
                process->start_ticks = value;
}

/* Any process may name itself with line breaks and terminal codes, and names go into logs. */
static void copy_comm(char ret_comm[static 16], const char *comm, size_t length) {
        for (size_t i = 0; i < length && i < 15; i++)
                ret_comm[i] = iscntrl((unsigned char)comm[i]) ? '?' : comm[i];
}

int kin_parse_stat(const char *text, size_t length, KinProcess *ret) {
        const char *open = memchr(text, '(', length), *close = memrchr(text, ')', length), *end = text + length;
        KinProcess process = { 0 };
        unsigned long long value;

        if (!open || !close || close < open || end - close < 4 || !read_unsigned(&text, open, &value))
                return -EBADMSG;
        process.pid = (pid_t)value;
        size_t n = (size_t)(close - open - 1);
        copy_comm(process.comm, open + 1, n);
        process.state = close[2];

        const char *at = close + 3;
        for (int field = FIELD_STATE + 1; field <= FIELD_START; field++) {
                if (at >= end || *at++ != ' ')
                        return -EBADMSG;
                if (at < end && *at == '-') /* a terminal's group may be -1, and a priority too */
                        at++;
                if (!read_unsigned(&at, end, &value))
                        return -EBADMSG;
                take_field(&process, field, value);
        }
        *ret = process;
        return 0;
}

bool kin_is_living(const KinProcess *process) {
        if (process->state != 'Z' && process->state != 'X' && process->state != 'x')
                return true;
        return process->threads > 1; /* its first thread ended, and others work on */
}

/* At most `size` bytes of a file in /proc. Their number, or -errno. */
static ssize_t read_some(const char *path, char *buffer, size_t size) {
        _cleanup_(closep) int fd = open(path, O_RDONLY | O_CLOEXEC);
        if (fd < 0)
                return -errno;
        ssize_t n = read(fd, buffer, size);
        return n < 0 ? -errno : n;
}

int kin_read(pid_t pid, KinProcess *ret) {
        char path[PATH_TEXT_MAX], text[STAT_MAX];
        snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
        ssize_t n = read_some(path, text, sizeof text);
        if (n == -ENOENT && access("/proc/self/stat", F_OK) == 0)
                return -ESRCH; /* else it is /proc that is missing */
        if (n < 0)
                return (int)n;
        return kin_parse_stat(text, (size_t)n, ret);
}

int kin_check(void) {
        char text[24];
        ssize_t n = readlink("/proc/self", text, sizeof text - 1);
        if (n < 0)
                return -errno == -ENOENT && access("/proc/1", F_OK) == 0 ? -EXDEV : -errno;
        text[n] = '\0';
        return strtol(text, NULL, 10) == (long)getpid() ? 0 : -EXDEV;
}

int kin_list(const char *path, int (*each)(void *userdata, pid_t pid), void *userdata) {
        char buffer[1024];
        pid_t pid = 0; /* the digits so far: a number may end in the next piece */

        _cleanup_(closep) int fd = open(path, O_RDONLY | O_CLOEXEC);
        if (fd < 0)
                return -errno;
        for (;;) {
                ssize_t n = read(fd, buffer, sizeof buffer);
                if (n < 0)
                        return -errno;
                if (n == 0)
                        return pid > 0 ? each(userdata, pid) : 0;
                for (ssize_t i = 0; i < n; i++) {
                        if (buffer[i] >= '0' && buffer[i] <= '9') {
                                pid = pid * 10 + (buffer[i] - '0');
                                continue;
                        }
                        int r = pid > 0 ? each(userdata, pid) : 0;
                        if (r != 0)
                                return r;
                        pid = 0;
                }
        }
}

static void closedirp(DIR **directory) {
        if (*directory)
                closedir(*directory);
}

int kin_each_number(const char *path, int (*each)(void *userdata, pid_t pid), void *userdata) {
        _cleanup_(closedirp) DIR *directory = opendir(path);
        if (!directory)
                return -errno;
        for (;;) {
                errno = 0;
                /* Nobody else reads this stream. */
                const struct dirent *entry = readdir(directory); // NOLINT(concurrency-mt-unsafe)
                if (!entry)
                        return -errno;
                if (!isdigit((unsigned char)entry->d_name[0]))
                        continue;
                int r = each(userdata, (pid_t)strtol(entry->d_name, NULL, 10));
                if (r != 0)
                        return r;
        }
}

typedef struct Scan {
        pid_t parent;
        int (*each)(void *userdata, pid_t pid);
        void *userdata;
} Scan;

static int look_at(void *userdata, pid_t pid) {
        const Scan *scan = userdata;
        KinProcess process;
        if (kin_read(pid, &process) < 0 || process.parent != scan->parent)
                return 0;
        return scan->each(scan->userdata, pid);
}

int kin_children_by_scan(int (*each)(void *userdata, pid_t pid), void *userdata) {
        Scan scan = { .parent = getpid(), .each = each, .userdata = userdata };
        KinProcess self;
        /* An empty /proc, or one of another PID namespace, must not look like "no children". */
        int r = kin_read(scan.parent, &self);
        return r < 0 ? r : kin_each_number("/proc", look_at, &scan);
}

int kin_children(int (*each)(void *userdata, pid_t pid), void *userdata) {
        int r = kin_list("/proc/thread-self/children", each, userdata);
        return r == -ENOENT ? kin_children_by_scan(each, userdata) : r;
}

bool kin_is_below(pid_t pid, pid_t root) {
        KinProcess process;
        for (int depth = 0; depth < DEPTH_MAX && pid > 0; depth++) {
                if (pid == root)
                        return true;
                if (kin_read(pid, &process) < 0)
                        return false;
                pid = process.parent;
        }
        return false;
}

/* The one value that is looked for in a stream of strings that NULs end. */
typedef struct Finder {
        size_t position; /* in the present string */
        bool matches;    /* so far */
        char value[OWNER_MAX + 1];
} Finder;

/* 1: the value is complete. */
static int finder_take(Finder *finder, char c) {
        const size_t key = sizeof OWNER_KEY - 1;
        size_t i = finder->position++;

        if (c == '\0') {
                bool found = finder->matches && i >= key;
                *finder = found ? *finder : (Finder){ .matches = true };
                return found;
        }
        if (!finder->matches)
                return 0;
        if (i < key) {
                finder->matches = c == OWNER_KEY[i];
                return 0;
        }
        if (i - key >= OWNER_MAX)
                return -EBADMSG;
        finder->value[i - key] = c;
        return 0;
}

/* The kernel may have to wait for the memory lock of that process here, unlike for stat: so this is asked last, when
 * neither session nor parent said whose it is. */
int kin_owner(pid_t pid, char ret_owner[static 37]) {
        char path[PATH_TEXT_MAX], buffer[4096];
        Finder finder = { .matches = true };
        snprintf(path, sizeof path, "/proc/%d/environ", (int)pid);
        _cleanup_(closep) int fd = open(path, O_RDONLY | O_CLOEXEC);
        if (fd < 0)
                return errno == ENOENT ? -ESRCH : -errno;
        for (size_t total = 0; total < ENVIRON_MAX;) {
                ssize_t n = read(fd, buffer, sizeof buffer);
                if (n <= 0)
                        return n < 0 ? -errno : -ENOENT;
                for (ssize_t i = 0; i < n; i++) {
                        int r = finder_take(&finder, buffer[i]);
                        if (r < 0)
                                return r;
                        if (r > 0) {
                                memcpy(ret_owner, finder.value, sizeof finder.value);
                                return 0;
                        }
                }
                total += (size_t)n;
        }
        return -ENOENT;
}
