/* past.c - see past.h. */
#include "supervisor/past.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/take.h"
#include "shutdown/event.h"
#include "shutdown/journal_reader.h"

#define RUNS_MAX 65536          /* a power of two; what is more waits for its lease */
#define WORTH_IT (RUNS_MAX / 8) /* to look through the table for those who are gone */

typedef struct Reading {
        PastRun *table;   /* open addressing by owner; an empty owner is a free place */
        size_t n, n_gone; /* places in use, and those of them whose run is gone */
        bool pid_namespace;
} Reading;

static void reading_done(Reading *reading) {
        free(reading->table);
}

static void closefp(FILE **file) {
        if (*file)
                fclose(*file);
}

static PastRun *place_of(Reading *reading, const char *owner) {
        uint64_t hash = UINT64_C(14695981039346656037);
        for (const char *at = owner; *at; at++)
                hash = (hash ^ (unsigned char)*at) * UINT64_C(1099511628211);
        size_t i = hash % RUNS_MAX;
        while (reading->table[i].owner[0] && strcmp(reading->table[i].owner, owner) != 0)
                i = (i + 1) % RUNS_MAX;
        return &reading->table[i];
}

/* A journal of weeks may have told of more runs than there are places. Who is gone needs none; who came last is the one
 * that may have been cut off. Without memory what is more waits for its lease. */
static void make_room(Reading *reading) {
        Reading fresh = *reading;
        if (reading->n_gone < WORTH_IT)
                return;
        fresh.table = calloc(RUNS_MAX, sizeof *fresh.table);
        if (!fresh.table)
                return;
        fresh.n = fresh.n_gone = 0;
        for (size_t i = 0; i < RUNS_MAX; i++)
                if (reading->table[i].owner[0] && reading->table[i].pid > 0) {
                        *place_of(&fresh, reading->table[i].owner) = reading->table[i];
                        fresh.n++;
                }
        free(reading->table);
        *reading = fresh;
}

/* One file can hold several runs, for the logger appends: only the last one can have been cut off. */
static bool take_edge(Reading *reading, const Event *event) {
        if (event->kind == EVENT_SUPERVISOR_STARTED) {
                reading->pid_namespace = event->pid_namespace;
                return true;
        }
        if (event->kind != EVENT_ENDING_FINISHED)
                return false;
        if (reading->n > 0)
                memset(reading->table, 0, RUNS_MAX * sizeof *reading->table);
        reading->n = reading->n_gone = 0;
        return true;
}

/* A run that is gone keeps its place, marked by pid 0: taking it out would break the search for others. */
static void take(Reading *reading, const Event *event) {
        if (take_edge(reading, event))
                return;
        bool started = event->kind == EVENT_SERVICE_STARTED;
        if ((!started && event->kind != EVENT_SERVICE_GONE) || !event->owner || !event->service ||
            strlen(event->owner) != 36 || strlen(event->service) > 40)
                return;
        PastRun *run = place_of(reading, event->owner);
        if (!run->owner[0] && reading->n >= RUNS_MAX / 2) {
                make_room(reading);
                if (reading->n >= RUNS_MAX / 2)
                        return;
                run = place_of(reading, event->owner);
        }
        reading->n += !run->owner[0];
        strcpy(run->owner, event->owner);
        strcpy(run->service, event->service);
        run->instance = event->instance;
        reading->n_gone += run->pid > 0 && !started;
        run->pid = started ? event->pid : 0;
}

/* One file of the journal; whole lines only: what the kill tore is passed over. */
static int read_lines(Reading *reading, const char *path) {
        _cleanup_(freep) char *line = NULL;
        size_t size = 0;
        ssize_t length;
        int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
        _cleanup_(closefp) FILE *file = fd >= 0 ? fdopen(fd, "r") : NULL;
        if (!file) {
                int error = errno;
                close_fd(fd);
                return error == ENOENT ? 0 : -error;
        }
        while ((length = getline(&line, &size, file)) > 0) {
                EventLine event;
                if (line[length - 1] != '\n' || event_line_read(line, (size_t)length, &event) < 0)
                        continue;
                take(reading, &event.event);
                event_line_done(&event);
        }
        return 0;
}

static int collect(const Reading *reading, Past *ret) {
        Past past = { .pid_namespace = reading->pid_namespace };
        past.runs = calloc(reading->n + 1, sizeof *past.runs);
        if (!past.runs)
                return -ENOMEM;
        for (size_t i = 0; i < RUNS_MAX; i++)
                if (reading->table[i].owner[0] && reading->table[i].pid > 0)
                        past.runs[past.n_runs++] = reading->table[i];
        *ret = past;
        return 0;
}

int past_read(const char *path, Past *ret) {
        char rotated[4096];
        _cleanup_(reading_done) Reading reading = { 0 };
        reading.table = calloc(RUNS_MAX, sizeof *reading.table); /* untouched pages cost nothing */
        if (!reading.table)
                return -ENOMEM;
        /* A long run may have rotated: its older half tells of starts that the newer one does not. */
        if ((size_t)snprintf(rotated, sizeof rotated, "%s.1", path) < sizeof rotated)
                (void)read_lines(&reading, rotated);
        int r = read_lines(&reading, path);
        if (r < 0)
                return r;
        return reading.n == 0 ? (*ret = (Past){ 0 }, 0) : collect(&reading, ret);
}

void past_done(Past *past) {
        free(past->runs);
        *past = (Past){ 0 };
}
