/* sequence.c - the table of an ending; see sequence.h. */
#include "shutdown/sequence.h"

#include "base/enumeration.h"

static const char *const step_words[_STEP_MAX] = {
        [STEP_SERVING] = "serving",   [STEP_WITHDRAWING] = "withdrawing", [STEP_ENTERING] = "entering",
        [STEP_STOPPING] = "stopping", [STEP_KILLING] = "killing",         [STEP_CLOSING] = "closing",
        [STEP_ENDED] = "ended",
};
ENUMERATION(step, Step, step_words)

static const char *const happening_words[_HAPPENING_MAX] = {
        [HAPPENING_ENDING_ASKED] = "ending-asked",   [HAPPENING_FAST_ASKED] = "fast-asked",
        [HAPPENING_ACKNOWLEDGED] = "acknowledged",   [HAPPENING_DELAY_OVER] = "delay-over",
        [HAPPENING_HOOKS_DONE] = "hooks-done",       [HAPPENING_GROUP_EMPTY] = "group-empty",
        [HAPPENING_LIMIT_REACHED] = "limit-reached", [HAPPENING_DEADLINE_REACHED] = "deadline-reached",
};
ENUMERATION(happening, Happening, happening_words)

static const char *const order_words[_ORDER_MAX] = {
        [ORDER_NONE] = "none",         [ORDER_WITHDRAW] = "withdraw", [ORDER_ENTER] = "enter", [ORDER_STOP] = "stop",
        [ORDER_STOP_ALL] = "stop-all", [ORDER_HURRY] = "hurry",       [ORDER_KILL] = "kill",   [ORDER_CLOSE] = "close",
        [ORDER_FINISH] = "finish",     [ORDER_ABANDON] = "abandon",
};
ENUMERATION(order, Order, order_words)

Sequence sequence_start(unsigned n_phases, bool development) {
        return (Sequence){ .step = STEP_SERVING, .n_phases = n_phases, .development = development };
}

static SequenceStep stay(Sequence now) {
        return (SequenceStep){ .next = now, .order = ORDER_NONE };
}

static SequenceStep go(Sequence now, Step step, Order order) {
        now.step = step;
        return (SequenceStep){ .next = now, .order = order };
}

static SequenceStep enter(Sequence now, unsigned phase) {
        now.delay_over = now.hooks_done = false;
        if (phase == now.n_phases)
                return go(now, STEP_ENDED, ORDER_FINISH);
        now.phase = phase;
        if (now.fast)
                return go(now, STEP_STOPPING, ORDER_STOP);
        return go(now, STEP_ENTERING, ORDER_ENTER);
}

static SequenceStep enter_first(Sequence now) {
        if (!now.development)
                return enter(now, 0);
        now.phase = now.n_phases - 1;
        return go(now, STEP_STOPPING, ORDER_STOP_ALL);
}

static SequenceStep on_serving(Sequence now, Happening what) {
        if (what == HAPPENING_FAST_ASKED)
                now.fast = true;
        if (what == HAPPENING_FAST_ASKED || what == HAPPENING_ENDING_ASKED)
                return go(now, STEP_WITHDRAWING, ORDER_WITHDRAW);
        return stay(now);
}

static SequenceStep on_withdrawing(Sequence now, Happening what) {
        if (what == HAPPENING_FAST_ASKED)
                now.fast = true; /* a fast ending waits for no acknowledgement */
        if (what == HAPPENING_FAST_ASKED || what == HAPPENING_ACKNOWLEDGED)
                return enter_first(now);
        return stay(now);
}

static SequenceStep on_entering(Sequence now, Happening what) {
        if (what == HAPPENING_LIMIT_REACHED)
                return go(now, STEP_KILLING, ORDER_KILL);
        if (what == HAPPENING_FAST_ASKED) {
                now.fast = true;
                return go(now, STEP_STOPPING, ORDER_STOP);
        }
        /* An empty group has nobody to wait for a load balancer. */
        if (what == HAPPENING_DELAY_OVER || what == HAPPENING_GROUP_EMPTY)
                now.delay_over = true;
        if (what == HAPPENING_HOOKS_DONE)
                now.hooks_done = true;
        return now.delay_over && now.hooks_done ? go(now, STEP_STOPPING, ORDER_STOP) : stay(now);
}

static SequenceStep on_stopping(Sequence now, Happening what) {
        if (what == HAPPENING_GROUP_EMPTY)
                return go(now, STEP_CLOSING, ORDER_CLOSE);
        if (what == HAPPENING_LIMIT_REACHED)
                return go(now, STEP_KILLING, ORDER_KILL);
        if (what != HAPPENING_FAST_ASKED || now.fast)
                return stay(now);
        now.fast = true;
        return go(now, STEP_STOPPING, ORDER_HURRY);
}

static SequenceStep on_killing(Sequence now, Happening what) {
        if (what == HAPPENING_FAST_ASKED)
                now.fast = true;
        return what == HAPPENING_GROUP_EMPTY ? go(now, STEP_CLOSING, ORDER_CLOSE) : stay(now);
}

static SequenceStep on_closing(Sequence now, Happening what) {
        if (what == HAPPENING_HOOKS_DONE)
                return enter(now, now.phase + 1);
        if (what == HAPPENING_LIMIT_REACHED)
                return go(now, STEP_CLOSING, ORDER_KILL); /* the end hooks are what is left */
        if (what != HAPPENING_FAST_ASKED || now.fast)
                return stay(now);
        now.fast = true;
        return go(now, STEP_CLOSING, ORDER_HURRY);
}

SequenceStep sequence_step(Sequence now, Happening what) {
        if (what == HAPPENING_DEADLINE_REACHED && now.step != STEP_SERVING && now.step != STEP_ENDED)
                return go(now, STEP_ENDED, ORDER_ABANDON);

        switch (now.step) {
        case STEP_SERVING: return on_serving(now, what);
        case STEP_WITHDRAWING: return on_withdrawing(now, what);
        case STEP_ENTERING: return on_entering(now, what);
        case STEP_STOPPING: return on_stopping(now, what);
        case STEP_KILLING: return on_killing(now, what);
        case STEP_CLOSING: return on_closing(now, what);
        case STEP_ENDED:
        case _STEP_MAX: break;
        }
        return stay(now);
}
