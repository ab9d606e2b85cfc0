/* picture.h - what the journal has told of the run so far: ready or not, started or not, and how the ending goes.
 *
 * Pure: a fold over events. A new run begins a new picture. */
#pragma once
#include "gateway/tidings.h"

typedef struct PicturePhase {
        char name[NAME_LENGTH_MAX + 1];
        bool began, finished;
        usec_t begun_usec; /* monotonic */
        usec_t limit_usec; /* how long it may last */
        usec_t took_usec;
        unsigned members, gone, killed, left;
} PicturePhase;

typedef struct Picture {
        uint64_t seq, epoch;
        bool ready, started; /* the latter: the start was finished once */
        bool ending, acknowledged, finished;
        char reason[TIDINGS_REASON_MAX]; /* of the last change of readiness */
        char cause[NAME_LENGTH_MAX + 1];
        usec_t ending_usec, deadline_usec; /* monotonic; how long it may last */
        int code;                          /* once finished */
        PicturePhase phases[TIDINGS_PHASES_MAX];
        unsigned n_phases; /* in the order of the ending */
} Picture;

void picture_take(Picture *picture, const Tidings *tidings);
