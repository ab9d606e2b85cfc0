/* hooks.c - once is once; see hooks.h. */
#include "shutdown/hooks.h"

#include "base/enumeration.h"

static const char *const hook_on_words[_HOOK_ON_MAX] = {
        [HOOK_PRE_START] = "pre-start", [HOOK_POST_START] = "post-start", [HOOK_PRE_STOP] = "pre-stop",
        [HOOK_POST_STOP] = "post-stop", [HOOK_BEGIN] = "begin",           [HOOK_END] = "end",
};
ENUMERATION(hook_on, HookOn, hook_on_words)

HookAnswer hook_ask(const HookSlot *slot, unsigned epoch, unsigned run) {
        if (slot->state == HOOK_IDLE || slot->epoch != epoch || slot->run != run)
                return slot->state == HOOK_RUNNING ? HOOK_ALREADY_RUNS : HOOK_MAY_BEGIN;
        return slot->state == HOOK_RUNNING ? HOOK_ALREADY_RUNS : HOOK_ALREADY_RAN;
}

void hook_begin(HookSlot *slot, unsigned epoch, unsigned run) {
        slot->state = HOOK_RUNNING;
        slot->epoch = epoch;
        slot->run = run;
}

void hook_finish(HookSlot *slot, int status) {
        slot->state = HOOK_FINISHED;
        slot->status = status;
}

unsigned hook_mark(HookSlot *slot, unsigned epoch, usec_t now) {
        if (slot->mark_epoch != epoch || slot->marks == 0) {
                slot->mark_epoch = epoch;
                slot->marks = 0;
                slot->first_mark_usec = now;
        }
        return ++slot->marks;
}
