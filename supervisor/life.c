/* life.c - the table of a life; see life.h. */
#include "supervisor/life.h"

#include "base/enumeration.h"

static const char *const state_words[_LIFE_STATE_MAX] = {
        [LIFE_WAITING] = "waiting", [LIFE_PRE_START] = "pre-start", [LIFE_STARTING] = "starting",
        [LIFE_READY] = "ready",     [LIFE_PRE_STOP] = "pre-stop",   [LIFE_STOPPING] = "stopping",
        [LIFE_KILLING] = "killing", [LIFE_CLEARING] = "clearing",   [LIFE_POST_STOP] = "post-stop",
        [LIFE_BACKOFF] = "backoff", [LIFE_DONE] = "done",           [LIFE_FAILED] = "failed",
        [LIFE_LEFT] = "left",       [LIFE_STOPPED] = "stopped",
};
ENUMERATION(life_state, LifeState, state_words)

static const char *const happening_words[_LIFE_HAPPENING_MAX] = {
        [LIFE_TURN] = "turn",
        [LIFE_STOP_WANTED] = "stop-wanted",
        [LIFE_HURRY_WANTED] = "hurry-wanted",
        [LIFE_HALT_WANTED] = "halt-wanted",
        [LIFE_RENEW_WANTED] = "renew-wanted",
        [LIFE_HOOKS_DONE] = "hooks-done",
        [LIFE_HOOKS_FAILED] = "hooks-failed",
        [LIFE_IS_READY] = "is-ready",
        [LIFE_OVERDUE] = "overdue",
        [LIFE_UNHEALTHY] = "unhealthy",
        [LIFE_MAIN_GONE] = "main-gone",
        [LIFE_TREE_GONE] = "tree-gone",
        [LIFE_TIME_UP] = "time-up",
        [LIFE_FORCED] = "forced",
        [LIFE_ABANDONED] = "abandoned",
        [LIFE_RESTARTS] = "restarts",
        [LIFE_RESTS] = "rests",
        [LIFE_FAILS] = "fails",
};
ENUMERATION(life_happening, LifeHappening, happening_words)

static const char *const order_words[_LIFE_ORDER_MAX] = {
        [LIFE_ORDER_NONE] = "none",
        [LIFE_ORDER_RUN_PRE_START] = "run-pre-start",
        [LIFE_ORDER_SPAWN] = "spawn",
        [LIFE_ORDER_GREET] = "greet",
        [LIFE_ORDER_RUN_PRE_STOP] = "run-pre-stop",
        [LIFE_ORDER_ASK] = "ask",
        [LIFE_ORDER_HURRY] = "hurry",
        [LIFE_ORDER_KILL] = "kill",
        [LIFE_ORDER_CLEAR] = "clear",
        [LIFE_ORDER_STOP_HOOKS] = "stop-hooks",
        [LIFE_ORDER_KILL_HOOKS] = "kill-hooks",
        [LIFE_ORDER_RUN_POST_STOP] = "run-post-stop",
        [LIFE_ORDER_SETTLE] = "settle",
        [LIFE_ORDER_SCHEDULE] = "schedule",
        [LIFE_ORDER_REST] = "rest",
};
ENUMERATION(life_order, LifeOrder, order_words)

bool life_is_resting(LifeState state) {
        return state == LIFE_DONE || state == LIFE_FAILED || state == LIFE_LEFT || state == LIFE_STOPPED;
}

bool life_is_down(LifeState state) {
        return life_is_resting(state) || state == LIFE_WAITING;
}

bool life_will_rest(Life now) {
        return now.stop || now.held;
}

bool life_has_main(LifeState state) {
        return state == LIFE_STARTING || state == LIFE_READY || state == LIFE_PRE_STOP || state == LIFE_STOPPING ||
               state == LIFE_KILLING;
}

static LifeStep stay(Life now) {
        return (LifeStep){ .next = now, .order = LIFE_ORDER_NONE };
}

static LifeStep order(Life now, LifeOrder what) {
        return (LifeStep){ .next = now, .order = what };
}

static LifeStep go(Life now, LifeState state, LifeOrder what) {
        now.state = state;
        now.killed = false;
        return (LifeStep){ .next = now, .order = what };
}

static LifeStep kill_main(Life now) {
        LifeStep step = go(now, LIFE_KILLING, LIFE_ORDER_KILL);
        step.next.killed = true;
        return step;
}

/* Who was told to and has nothing more to do. */
static LifeStep rest(Life now) {
        return go(now, now.held && !now.stop ? LIFE_STOPPED : LIFE_DONE, LIFE_ORDER_REST);
}

static LifeStep wait_again(Life now) {
        now.again = false;
        return go(now, LIFE_WAITING, LIFE_ORDER_NONE);
}

static LifeStep on_waiting(Life now, LifeHappening what) {
        if (what == LIFE_FAILS)
                return go(now, LIFE_FAILED, LIFE_ORDER_REST);
        if (life_will_rest(now) || what == LIFE_FORCED)
                return rest(now);
        return what == LIFE_TURN ? go(now, LIFE_PRE_START, LIFE_ORDER_RUN_PRE_START) : stay(now);
}

static bool is_to_go(Life now, LifeHappening what) {
        return what == LIFE_STOP_WANTED || what == LIFE_HALT_WANTED || (what == LIFE_RENEW_WANTED && !now.stop);
}

static LifeStep on_pre_start(Life now, LifeHappening what) {
        if (what == LIFE_HOOKS_FAILED || (what == LIFE_HOOKS_DONE && (life_will_rest(now) || now.again)))
                return go(now, LIFE_POST_STOP, LIFE_ORDER_RUN_POST_STOP);
        if (what == LIFE_HOOKS_DONE)
                return go(now, LIFE_STARTING, LIFE_ORDER_SPAWN);
        if (is_to_go(now, what))
                return order(now, LIFE_ORDER_STOP_HOOKS);
        if (what == LIFE_HURRY_WANTED || what == LIFE_FORCED || what == LIFE_TIME_UP)
                return order(now, LIFE_ORDER_KILL_HOOKS);
        return stay(now);
}

/* Who is to stop anyway is not killed for its health: an ending has its own order and its own limits. */
static bool falls_ill(Life now, LifeHappening what) {
        return what == LIFE_UNHEALTHY && !life_will_rest(now);
}

static LifeStep on_starting(Life now, LifeHappening what) {
        if (what == LIFE_IS_READY)
                return go(now, LIFE_READY, LIFE_ORDER_GREET);
        if (is_to_go(now, what) || what == LIFE_HURRY_WANTED || what == LIFE_OVERDUE || falls_ill(now, what))
                return go(now, LIFE_STOPPING, LIFE_ORDER_ASK);
        return stay(now);
}

static LifeStep on_ready(Life now, LifeHappening what) {
        if (is_to_go(now, what))
                return go(now, LIFE_PRE_STOP, LIFE_ORDER_RUN_PRE_STOP);
        if (what == LIFE_HURRY_WANTED || falls_ill(now, what))
                return go(now, LIFE_STOPPING, LIFE_ORDER_ASK);
        return stay(now);
}

static LifeStep on_pre_stop(Life now, LifeHappening what) {
        if (what == LIFE_HOOKS_DONE || what == LIFE_HOOKS_FAILED || what == LIFE_HURRY_WANTED)
                return go(now, LIFE_STOPPING, LIFE_ORDER_ASK);
        return what == LIFE_TIME_UP ? kill_main(now) : stay(now);
}

static LifeStep on_stopping(Life now, LifeHappening what) {
        if (what == LIFE_HURRY_WANTED)
                return order(now, LIFE_ORDER_HURRY);
        return what == LIFE_TIME_UP ? kill_main(now) : stay(now);
}

static LifeStep on_killing(Life now, LifeHappening what) {
        return what == LIFE_TIME_UP ? go(now, LIFE_LEFT, LIFE_ORDER_REST) : stay(now);
}

static LifeStep on_clearing(Life now, LifeHappening what) {
        if (what == LIFE_TREE_GONE)
                return go(now, LIFE_POST_STOP, LIFE_ORDER_RUN_POST_STOP);
        if (what == LIFE_HURRY_WANTED && !now.killed)
                return order(now, LIFE_ORDER_HURRY);
        if (what == LIFE_TIME_UP && now.killed)
                return go(now, LIFE_LEFT, LIFE_ORDER_REST);
        if ((what == LIFE_TIME_UP || what == LIFE_FORCED) && !now.killed) {
                now.killed = true;
                return order(now, LIFE_ORDER_KILL);
        }
        return stay(now);
}

static LifeStep on_post_stop(Life now, LifeHappening what) {
        if (what == LIFE_HOOKS_DONE || what == LIFE_HOOKS_FAILED)
                return order(now, LIFE_ORDER_SETTLE);
        if (what == LIFE_HURRY_WANTED)
                return order(now, LIFE_ORDER_HURRY);
        if (what == LIFE_FORCED || what == LIFE_TIME_UP)
                return order(now, LIFE_ORDER_KILL_HOOKS);
        if (what == LIFE_RESTS || (what == LIFE_RESTARTS && life_will_rest(now)))
                return rest(now);
        if (what == LIFE_RESTARTS)
                return now.again ? wait_again(now) : go(now, LIFE_BACKOFF, LIFE_ORDER_SCHEDULE);
        return what == LIFE_FAILS ? go(now, LIFE_FAILED, LIFE_ORDER_REST) : stay(now);
}

static LifeStep on_backoff(Life now, LifeHappening what) {
        if (what == LIFE_FAILS)
                return go(now, LIFE_FAILED, LIFE_ORDER_REST);
        if (life_will_rest(now) || what == LIFE_FORCED)
                return rest(now);
        if (now.again)
                return wait_again(now);
        return what == LIFE_TURN ? go(now, LIFE_PRE_START, LIFE_ORDER_RUN_PRE_START) : stay(now);
}

/* A person starts it: who rests for ever does not wait, and what cannot be killed would have company. */
static LifeStep on_resting(Life now, LifeHappening what) {
        if (what != LIFE_RENEW_WANTED || now.stop || now.state == LIFE_LEFT)
                return stay(now);
        now.held = false;
        return wait_again(now);
}

/* What is wanted is remembered, also where it cannot be had at once. */
static Life want(Life now, LifeHappening what) {
        now.stop |= what == LIFE_STOP_WANTED || what == LIFE_HURRY_WANTED;
        if (now.stop || (what != LIFE_HALT_WANTED && what != LIFE_RENEW_WANTED))
                return now;
        now.held = what == LIFE_HALT_WANTED;
        now.again = !now.held && now.state != LIFE_WAITING;
        return now;
}

/* What means the same in every state with a living main process. */
static bool with_main(Life now, LifeHappening what, LifeStep *ret) {
        if (!life_has_main(now.state))
                return false;
        if (what == LIFE_MAIN_GONE)
                *ret = go(now, LIFE_CLEARING, LIFE_ORDER_CLEAR);
        else if (what == LIFE_FORCED && now.state != LIFE_KILLING)
                *ret = kill_main(now);
        else
                return false;
        return true;
}

LifeStep life_step(Life now, LifeHappening what) {
        LifeStep step;
        if (life_is_resting(now.state))
                return on_resting(now, what);
        now = want(now, what);
        if (what == LIFE_ABANDONED)
                return go(now, now.state == LIFE_WAITING || now.state == LIFE_BACKOFF ? LIFE_DONE : LIFE_LEFT,
                          LIFE_ORDER_REST);
        if (with_main(now, what, &step))
                return step;

        switch (now.state) {
        case LIFE_WAITING: return on_waiting(now, what);
        case LIFE_PRE_START: return on_pre_start(now, what);
        case LIFE_STARTING: return on_starting(now, what);
        case LIFE_READY: return on_ready(now, what);
        case LIFE_PRE_STOP: return on_pre_stop(now, what);
        case LIFE_STOPPING: return on_stopping(now, what);
        case LIFE_KILLING: return on_killing(now, what);
        case LIFE_CLEARING: return on_clearing(now, what);
        case LIFE_POST_STOP: return on_post_stop(now, what);
        case LIFE_BACKOFF: return on_backoff(now, what);
        case LIFE_DONE:
        case LIFE_FAILED:
        case LIFE_LEFT:
        case LIFE_STOPPED:
        case _LIFE_STATE_MAX: break;
        }
        return stay(now);
}
