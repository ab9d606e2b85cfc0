/* actor_log.c - writes what happened to an actor, and what it found when it started. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "actor.h"

#define LINE_MAX_BYTES 65536

extern char **environ;

static int log_fd = -1;
static char log_name[64] = "actor";
static int log_instance;

void actor_log_name(const char *name) {
        snprintf(log_name, sizeof log_name, "%s", name ? name : "actor");
}

/* Far above the numbers that a leaked descriptor would have, so that a report can tell the two apart. */
void actor_log_to(const char *path) {
        int fd = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0666);
        if (fd < 0)
                actor_die(path);
        log_fd = fcntl(fd, F_DUPFD_CLOEXEC, 900);
        close(fd);
}

void actor_log_open(void) {
        const char *path = getenv("ACTOR_LOG"), *service = getenv("ENDWELL_SERVICE");
        const char *instance = getenv("ENDWELL_INSTANCE");
        if (service)
                actor_log_name(service);
        if (instance)
                log_instance = atoi(instance);
        if (path)
                actor_log_to(path);
}

static void write_line(const char *event, const char *fields) {
        static char line[LINE_MAX_BYTES + 256];
        int n = snprintf(line, sizeof line,
                         "{\"t\":%llu,\"pid\":%d,\"name\":\"%s\",\"instance\":%d,\"event\":\"%s\"%s}\n",
                         (unsigned long long)actor_now_usec(), (int)getpid(), log_name, log_instance, event, fields);
        if (log_fd >= 0 && n > 0 && write(log_fd, line, (size_t)n) != n)
                actor_die("writing the log");
}

void actor_log(const char *event, const char *format, ...) {
        char fields[1024];
        va_list arguments;
        va_start(arguments, format);
        vsnprintf(fields, sizeof fields, format, arguments);
        va_end(arguments);
        write_line(event, fields);
}

static size_t append_text(char *to, size_t size, size_t at, const char *text) {
        for (; *text && at + 8 < size; text++) {
                unsigned char letter = (unsigned char)*text;
                if (letter == '"' || letter == '\\')
                        to[at++] = '\\';
                if (letter < ' ')
                        at += (size_t)snprintf(to + at, size - at, "\\u%04x", letter);
                else
                        to[at++] = (char)letter;
        }
        to[at] = '\0';
        return at;
}

static size_t append_pair(char *to, size_t size, size_t at, const char *key, const char *value) {
        at = append_text(to, size, at, "");
        at += (size_t)snprintf(to + at, size - at, "%s\"", to[at - 1] == '{' ? "" : ",");
        at = append_text(to, size, at, key);
        at += (size_t)snprintf(to + at, size - at, "\":\"");
        at = append_text(to, size, at, value);
        return at + (size_t)snprintf(to + at, size - at, "\"");
}

static size_t append_environment(char *to, size_t size, size_t at) {
        at += (size_t)snprintf(to + at, size - at, ",\"environment\":{");
        for (char **entry = environ; *entry && at + 512 < size; entry++) {
                char name[256];
                const char *equals = strchr(*entry, '=');
                if (!equals || (size_t)(equals - *entry) >= sizeof name)
                        continue;
                snprintf(name, sizeof name, "%.*s", (int)(equals - *entry), *entry);
                at = append_pair(to, size, at, name, equals + 1);
        }
        return at + (size_t)snprintf(to + at, size - at, "}");
}

static size_t append_descriptors(char *to, size_t size, size_t at) {
        DIR *folder = opendir("/proc/self/fd");
        at += (size_t)snprintf(to + at, size - at, ",\"descriptors\":{");
        for (struct dirent *entry; folder && (entry = readdir(folder)) && at + 1024 < size;) {
                char target[512];
                int fd = atoi(entry->d_name);
                ssize_t n = readlinkat(dirfd(folder), entry->d_name, target, sizeof target - 1);
                if (n < 0 || fd == dirfd(folder) || fd == log_fd)
                        continue;
                target[n] = '\0';
                at = append_pair(to, size, at, entry->d_name, target);
        }
        if (folder)
                closedir(folder);
        return at + (size_t)snprintf(to + at, size - at, "}");
}

/* The lines of /proc/self/status that tell about signals, as they are. */
static size_t append_signals(char *to, size_t size, size_t at) {
        char line[512];
        FILE *status = fopen("/proc/self/status", "re");
        while (status && fgets(line, sizeof line, status)) {
                char name[16], value[64];
                if (sscanf(line, "%15[A-Za-z]: %63s", name, value) == 2 && strncmp(name, "Sig", 3) == 0)
                        at += (size_t)snprintf(to + at, size - at, ",\"%s\":\"%s\"", name, value);
        }
        if (status)
                fclose(status);
        return at;
}

void actor_log_state(void) {
        static char fields[LINE_MAX_BYTES];
        struct rlimit files = { 0, 0 };
        char directory[512] = "";
        size_t at = 0;
        getrlimit(RLIMIT_NOFILE, &files);
        if (!getcwd(directory, sizeof directory))
                actor_die("getcwd");
        at += (size_t)snprintf(fields, sizeof fields,
                               ",\"parent\":%d,\"session\":%d,\"group\":%d,\"foreground\":%d,\"soft_files\":%llu",
                               (int)getppid(), (int)getsid(0), (int)getpgrp(), (int)tcgetpgrp(STDIN_FILENO),
                               (unsigned long long)files.rlim_cur);
        at += (size_t)snprintf(fields + at, sizeof fields - at, ",\"directory\":\"");
        at = append_text(fields, sizeof fields, at, directory);
        at += (size_t)snprintf(fields + at, sizeof fields - at, "\"");
        at = append_signals(fields, sizeof fields, at);
        at = append_descriptors(fields, sizeof fields, at);
        at = append_environment(fields, sizeof fields, at);
        write_line("report", fields);
}
