/* metrics.h - writes what is known as Prometheus has it, in the text format 0.0.4.
 *
 * Source: prometheus.io, exposition formats. Each name has the prefix endwell_, durations are seconds, what only grows
 * ends in _total. */
#pragma once
#include "gateway/picture.h"
#include "gateway/tally.h"
#include <stdio.h>

#define METRICS_TYPE "text/plain; version=0.0.4; charset=utf-8"

typedef struct Known {
        const Picture *picture;
        const Tally *tally;
        const Snapshot *status; /* NULL: not known */
        bool connected;         /* to PID 1, and all of its journal is read */
        size_t followers;       /* of /events */
} Known;

void metrics_write(const Known *known, FILE *out);
/* A label's value: backslash, quote and newline escaped. */
void metrics_write_label(const char *value, FILE *out);
