/* scale.h - where an instant stands in the picture: a long wait before the ending is cut, and shown to be cut.
 *
 * Pure. An axis has up to three parts: the start, what was between (a narrow band that is not to scale), and the
 * ending, which gets most of the room. A short run has one part. */
#pragma once
#include "base/usec.h"
#include <stdbool.h>
#include <stddef.h>

typedef struct ScalePart {
        usec_t from, to;
        double left, right;
        usec_t zero; /* its ticks count from there */
        bool cut;    /* not to scale */
} ScalePart;

typedef struct Scale {
        ScalePart parts[3];
        size_t n;
} Scale;

typedef struct ScalePlan {
        usec_t begin, settled, ending, end; /* of the run, its start-up and its ending; ending USEC_INFINITY: none */
        double left, right;
} ScalePlan;

Scale scale_make(const ScalePlan *plan);
/* What lies outside is at the edge. */
double scale_x(const Scale *scale, usec_t instant);

#define SCALE_TICKS_MAX 12
/* Round instants of a part, at least `gap` apart in the picture, as spans from its zero. How many. */
size_t scale_ticks(const ScalePart *part, double gap, usec_t ret_spans[static SCALE_TICKS_MAX]);
