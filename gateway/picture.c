/* picture.c - see picture.h. */
#include "gateway/picture.h"
#include <string.h>

static void begin_run(Picture *picture, const Tidings *tidings) {
        *picture = (Picture){ .n_phases = tidings->n_phases };
        for (unsigned i = 0; i < tidings->n_phases; i++)
                strcpy(picture->phases[i].name, tidings->phases[i]);
}

static void change_readiness(Picture *picture, const Tidings *tidings) {
        picture->ready = tidings->ready;
        strcpy(picture->reason, tidings->reason);
}

static void finish_start(Picture *picture, const Tidings *tidings) {
        (void)tidings;
        picture->started = true;
}

static void begin_ending(Picture *picture, const Tidings *tidings) {
        picture->ending = true;
        picture->ready = false; /* whatever is told next, and in whichever order */
        picture->ending_usec = tidings->mono_usec;
        picture->deadline_usec = tidings->deadline_usec;
        strcpy(picture->cause, tidings->cause);
        strcpy(picture->reason, "ending");
}

static void acknowledge(Picture *picture, const Tidings *tidings) {
        (void)tidings;
        picture->acknowledged = true;
}

static void finish_ending(Picture *picture, const Tidings *tidings) {
        picture->finished = true;
        picture->code = tidings->code;
}

/* In development mode there is one phase in the ending, of another name. */
static PicturePhase *find_phase(Picture *picture, const char *name) {
        for (unsigned i = 0; i < picture->n_phases; i++)
                if (strcmp(picture->phases[i].name, name) == 0)
                        return &picture->phases[i];
        if (picture->n_phases == TIDINGS_PHASES_MAX)
                return NULL;
        PicturePhase *phase = &picture->phases[picture->n_phases++];
        strcpy(phase->name, name);
        return phase;
}

static void begin_phase(Picture *picture, const Tidings *tidings) {
        PicturePhase *phase = find_phase(picture, tidings->phase);
        if (!phase)
                return;
        phase->began = true;
        phase->begun_usec = tidings->mono_usec;
        phase->limit_usec = tidings->limit_usec;
        phase->members = tidings->members;
}

static void finish_phase(Picture *picture, const Tidings *tidings) {
        PicturePhase *phase = find_phase(picture, tidings->phase);
        if (!phase)
                return;
        phase->finished = true;
        phase->took_usec = tidings->took_usec;
        phase->gone = tidings->gone;
        phase->killed = tidings->killed;
        phase->left = tidings->left;
}

static const struct Line {
        const char *event;
        void (*take)(Picture *picture, const Tidings *tidings);
} lines[] = {
        { "supervisor_started", begin_run },       { "readiness_changed", change_readiness },
        { "startup_finished", finish_start },      { "ending_started", begin_ending },
        { "readiness_acknowledged", acknowledge }, { "phase_started", begin_phase },
        { "phase_finished", finish_phase },        { "ending_finished", finish_ending },
};

void picture_take(Picture *picture, const Tidings *tidings) {
        for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
                if (strcmp(lines[i].event, tidings->event) == 0)
                        lines[i].take(picture, tidings);
        picture->seq = tidings->seq;
        picture->epoch = tidings->epoch;
}
