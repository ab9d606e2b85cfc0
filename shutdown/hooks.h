/* hooks.h - says whether a hook may begin: once for (epoch, hook, instance, run), whoever asks and however often.
 *
 * Pure. A slot stands for one hook of one instance (or of one phase). */
#pragma once
#include "base/usec.h"
#include <stdbool.h>

typedef enum HookOn {
        HOOK_PRE_START,
        HOOK_POST_START,
        HOOK_PRE_STOP,
        HOOK_POST_STOP,
        HOOK_BEGIN,
        HOOK_END,
        _HOOK_ON_MAX,
} HookOn;

const char *hook_on_to_string(HookOn on);
int hook_on_from_string(const char *text);

typedef enum HookState {
        HOOK_IDLE,
        HOOK_RUNNING,
        HOOK_FINISHED,
} HookState;

typedef enum HookAnswer {
        HOOK_MAY_BEGIN,
        HOOK_ALREADY_RUNS,
        HOOK_ALREADY_RAN,
} HookAnswer;

typedef struct HookSlot {
        HookState state;
        unsigned epoch, run; /* of the last beginning */
        int status;          /* of the last end: 0 is success */
        unsigned marks;      /* application marks (begin) in mark_epoch */
        unsigned mark_epoch;
        usec_t first_mark_usec;
} HookSlot;

HookAnswer hook_ask(const HookSlot *slot, unsigned epoch, unsigned run);
void hook_begin(HookSlot *slot, unsigned epoch, unsigned run);
void hook_finish(HookSlot *slot, int status);
/* An application said that its own hook began; returns how often that was in this epoch. */
unsigned hook_mark(HookSlot *slot, unsigned epoch, usec_t now);
