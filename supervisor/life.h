/* life.h - the life of one instance, from waiting for its turn to its rest: decides, does nothing itself.
 *
 * Pure: life_step() takes a value and a happening and gives a value and an order. Every happening may arrive in every
 * state; what means nothing there changes nothing. The crew carries the orders out. */
#pragma once
#include "base/enumeration.h"
#include <stdbool.h>

typedef enum _one_byte_ LifeState {
        LIFE_WAITING,   /* for its turn to start */
        LIFE_PRE_START, /* its pre-start hooks run */
        LIFE_STARTING,  /* spawned, not yet ready */
        LIFE_READY,
        LIFE_PRE_STOP,  /* its pre-stop hooks run; it still serves */
        LIFE_STOPPING,  /* asked */
        LIFE_KILLING,   /* the main process was killed and is awaited */
        LIFE_CLEARING,  /* the main process is gone, the rest of its tree is awaited */
        LIFE_POST_STOP, /* its post-stop hooks run */
        LIFE_BACKOFF,   /* waits for its restart */
        LIFE_DONE,      /* rests: it ended as it should */
        LIFE_FAILED,    /* rests: failed for good */
        LIFE_LEFT,      /* rests: something of it outlived SIGKILL and was given up */
        LIFE_STOPPED,   /* rests until a person starts it */
        _LIFE_STATE_MAX,
} LifeState;

typedef enum LifeHappening {
        LIFE_TURN,         /* its turn to start, or its restart is due */
        LIFE_STOP_WANTED,  /* by an ending: for ever */
        LIFE_HURRY_WANTED, /* the same, without its pre-stop hooks */
        LIFE_HALT_WANTED,  /* by a person, or because what it requires failed: until it is renewed */
        LIFE_RENEW_WANTED, /* by a person: its run ends if there is one, and the next begins at its turn; who rests
                              waits for that again, but for LEFT */
        LIFE_HOOKS_DONE,   /* none of its hooks of the present edge runs any more */
        LIFE_HOOKS_FAILED, /* the same, and a pre-start hook said abort */
        LIFE_IS_READY,
        LIFE_OVERDUE,   /* not ready in time: it failed to start */
        LIFE_UNHEALTHY, /* its start-up or liveness probe, or its watchdog, says that it must go; not when it is to stop
                         */
        LIFE_MAIN_GONE, /* the main process was collected, or could not be made */
        LIFE_TREE_GONE, /* no process of it is left, descendants and hooks included */
        LIFE_TIME_UP,   /* the limit of the present state has passed */
        LIFE_FORCED,    /* the phase's limit: kill now */
        LIFE_ABANDONED, /* the deadline, or it outlived SIGKILL by a second */
        LIFE_RESTARTS,  /* after its run, respawn says: again */
        LIFE_RESTS,     /* after its run, respawn says: it is done */
        LIFE_FAILS,     /* after its run, respawn says: for good; or what it requires failed before its turn */
        _LIFE_HAPPENING_MAX,
} LifeHappening;

typedef enum LifeOrder {
        LIFE_ORDER_NONE,
        LIFE_ORDER_RUN_PRE_START,
        LIFE_ORDER_SPAWN,
        LIFE_ORDER_GREET, /* ready: tell it, run the post-start hooks */
        LIFE_ORDER_RUN_PRE_STOP,
        LIFE_ORDER_ASK,
        LIFE_ORDER_HURRY,      /* already asked: one second more */
        LIFE_ORDER_KILL,       /* everything of it, hooks included */
        LIFE_ORDER_CLEAR,      /* the main process is gone: look for the rest */
        LIFE_ORDER_STOP_HOOKS, /* ask the running hooks to end */
        LIFE_ORDER_KILL_HOOKS,
        LIFE_ORDER_RUN_POST_STOP,
        LIFE_ORDER_SETTLE,   /* the run is over: ask respawn */
        LIFE_ORDER_SCHEDULE, /* wait for the restart */
        LIFE_ORDER_REST,     /* it rests: tell those who wait for that */
        _LIFE_ORDER_MAX,
} LifeOrder;

typedef struct Life {
        LifeState state;
        bool stop;   /* it shall not start again, whatever comes */
        bool held;   /* it shall not, until it is renewed */
        bool again;  /* after this run comes the next, whatever its end is like */
        bool killed; /* SIGKILL was sent in the present state */
} Life;

typedef struct LifeStep {
        Life next;
        LifeOrder order;
} LifeStep;

LifeStep life_step(Life now, LifeHappening what);

bool life_is_resting(LifeState state); /* done, failed, left or stopped */
bool life_is_down(LifeState state);    /* it rests, or waits for its turn: nothing of it is there */
bool life_will_rest(Life now);         /* it shall not start again, as things are */
bool life_has_main(LifeState state);   /* a main process may be alive */

const char *life_state_to_string(LifeState state);
int life_state_from_string(const char *text);
const char *life_happening_to_string(LifeHappening happening);
int life_happening_from_string(const char *text);
const char *life_order_to_string(LifeOrder order);
int life_order_from_string(const char *text);
