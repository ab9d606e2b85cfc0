/* script.h - what a fake process does with its life, decided when it is born.
 *
 * A Character belongs to a service for a whole schedule; a Script is one run of it. */
#pragma once
#include "supervisor/config.h"
#include "supervisor/crew.h"
#include "tests/sim/random.h"
#include <stdbool.h>

typedef enum Character {
        CHARACTER_STEADY,   /* lives until it is asked, and obeys soon */
        CHARACTER_SLOW,     /* obeys late */
        CHARACTER_STUBBORN, /* ignores every polite signal */
        CHARACTER_SHORT,    /* ends by itself, clean, within a second or so */
        CHARACTER_LATE,     /* ends by itself after one to three minutes */
        CHARACTER_CRASHY,   /* crashes within three seconds */
        CHARACTER_FLAPPY,   /* crashes every 20 s */
        CHARACTER_NEVER_READY,
        CHARACTER_LATE_READY,
        CHARACTER_WEDGED,   /* outlives SIGKILL, for a time or for ever */
        CHARACTER_HANGS,    /* in exec */
        CHARACTER_MISSING,  /* exec fails */
        CHARACTER_DAEMON,   /* double-forks and exits */
        CHARACTER_RECYCLER, /* STOPPING=1, then exit 0 */
        CHARACTER_EXTENDER, /* EXTEND_TIMEOUT_USEC again and again */
        CHARACTER_DRAINER,  /* X_ENDWELL_DRAINED=1, then stays */
        CHARACTER_FLOODER,  /* STATUS= and X_ENDWELL_ACTIVE= in masses */
        CHARACTER_SICKLY,   /* its liveness probe fails after 20 to 60 s, and it takes its time to stop */
        CHARACTER_WAVERING, /* its readiness probe fails for a while, and it crashes after one to two minutes */
        CHARACTER_FICKLE,   /* another one of these at each run */
        _CHARACTER_MAX,
} Character;

#define MOOD_DIP_USEC (12 * USEC_PER_SEC)

/* How the checks of one probe go in one run. */
typedef enum Mood {
        MOOD_GOOD,
        MOOD_BAD,
        MOOD_SLOW,     /* about as long as a check may take */
        MOOD_NEVER,    /* no answer until it is called off */
        MOOD_FLAPPING, /* good or bad, by chance */
        MOOD_SICKENS,  /* good until `turns_usec`, then bad */
        MOOD_RECOVERS, /* bad until `turns_usec`, then good */
        MOOD_DIPS,     /* bad for MOOD_DIP_USEC from `turns_usec` on */
        MOOD_UNSEEN,   /* nobody can look */
        _MOOD_MAX,
} Mood;

/* What a process says; also the detail of ITEM_SAYS. */
typedef enum Saying {
        SAYS_READY,
        SAYS_STATUS,
        SAYS_EXTEND,
        SAYS_STOPPING,
        SAYS_DRAINED,
        SAYS_MAIN_PID,
        SAYS_LINE,     /* on its ready pipe */
        SAYS_WATCHDOG, /* a sign of life */
        SAYS_WATCHDOG_USEC,
        SAYS_TRIGGER,
        SAYS_RELOADING,
} Saying;

typedef struct Script {
        usec_t exec_usec;  /* until exec worked or failed; USEC_INFINITY: it hangs */
        int exec_error;    /* 0: exec works */
        usec_t ready_usec; /* after exec; USEC_INFINITY: never */
        usec_t life_usec;  /* after exec; USEC_INFINITY: until it is told to go */
        Ended end;         /* of its own accord */
        usec_t obey_usec;  /* from the polite signal to the end; USEC_INFINITY: ignores it */
        Ended obeyed;
        usec_t die_usec;      /* from SIGKILL to death; 0 is usual, more is uninterruptible sleep */
        unsigned descendants; /* that it will fork, the first after `fork_usec` */
        usec_t fork_usec;
        bool heir;        /* forks another one when it dies */
        bool anonymous;   /* nobody can tell whose it is once its parent is gone */
        bool own_session; /* a signal to the group does not reach it */
        bool daemon;      /* its first descendant goes on in its place */
        bool tells_main_pid, says_stopping, says_drained, extends;
        Mood moods[_PROBE_KIND_MAX];
        usec_t turns_usec;    /* after exec */
        usec_t sign_usec;     /* between two signs of life; 0: none */
        unsigned signs;       /* of life, then no more */
        usec_t watchdog_usec; /* to which it changes its watchdog at `meddles_usec`; 0: not */
        usec_t trigger_usec;  /* after exec, it pulls its watchdog itself; 0: not */
        usec_t meddles_usec;
        unsigned floods;
        bool is_check;       /* the command of a check */
        unsigned generation; /* of descendants: how many forks away from the first process */
} Script;

const char *character_to_string(Character character);
const char *mood_to_string(Mood mood);
void script_make(Script *ret, Character character, const ServiceConfig *service, Random *random);
void script_make_descendant(Script *ret, const Script *parent, Random *random);
/* The command of a check: takes so long, and ends with this status. */
void script_make_check(Script *ret, usec_t takes_usec, int status, Random *random);
/* `wild`: may fail, hang, and leave descendants. */
void script_make_hook(Script *ret, bool wild, Random *random);
