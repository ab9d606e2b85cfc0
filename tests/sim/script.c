/* script.c - draws the lives of fake processes. */
#include "tests/sim/script.h"

#include "base/enumeration.h"
#include <errno.h>
#include <signal.h>
#include <sys/wait.h>

static const char *const character_words[_CHARACTER_MAX] = {
        [CHARACTER_STEADY] = "steady",
        [CHARACTER_SLOW] = "slow",
        [CHARACTER_STUBBORN] = "stubborn",
        [CHARACTER_SHORT] = "short",
        [CHARACTER_LATE] = "late",
        [CHARACTER_CRASHY] = "crashy",
        [CHARACTER_FLAPPY] = "flappy",
        [CHARACTER_NEVER_READY] = "never-ready",
        [CHARACTER_LATE_READY] = "late-ready",
        [CHARACTER_WEDGED] = "wedged",
        [CHARACTER_HANGS] = "hangs",
        [CHARACTER_MISSING] = "missing",
        [CHARACTER_DAEMON] = "daemon",
        [CHARACTER_RECYCLER] = "recycler",
        [CHARACTER_EXTENDER] = "extender",
        [CHARACTER_DRAINER] = "drainer",
        [CHARACTER_FLOODER] = "flooder",
        [CHARACTER_SICKLY] = "sickly",
        [CHARACTER_WAVERING] = "wavering",
        [CHARACTER_FICKLE] = "fickle",
};

const char *character_to_string(Character character) {
        return character_words[character];
}

static const char *const mood_words[_MOOD_MAX] = {
        [MOOD_GOOD] = "good",   [MOOD_BAD] = "bad",           [MOOD_SLOW] = "slow",
        [MOOD_NEVER] = "never", [MOOD_FLAPPING] = "flapping", [MOOD_SICKENS] = "sickens",
        [MOOD_DIPS] = "dips",   [MOOD_RECOVERS] = "recovers", [MOOD_UNSEEN] = "unseen",
};

const char *mood_to_string(Mood mood) {
        return mood_words[mood];
}

static Ended exited(int status) {
        return (Ended){ .code = CLD_EXITED, .status = status };
}

static Ended crash(Random *random) {
        if (random_chance(random, 30))
                return (Ended){ .code = CLD_DUMPED, .status = SIGSEGV };
        if (random_chance(random, 20))
                return (Ended){ .code = CLD_KILLED, .status = SIGKILL };
        return exited(1 + (int)random_below(random, 3));
}

static void draw_descendants(Script *script, Random *random) {
        if (!random_chance(random, 35))
                return;
        script->descendants = 1 + random_below(random, 3);
        script->fork_usec = random_usec(random, 0, random_chance(random, 50) ? 10 * USEC_PER_MSEC : 20 * USEC_PER_SEC);
}

static void draw_steady(Script *script, Random *random) {
        *script = (Script){
                .exec_usec = random_usec(random, 0, 5 * USEC_PER_MSEC),
                .ready_usec = random_usec(random, 0, 800 * USEC_PER_MSEC),
                .life_usec = USEC_INFINITY,
                .obey_usec = random_usec(random, 0, random_chance(random, 70) ? 200 * USEC_PER_MSEC : 2 * USEC_PER_SEC),
                .obeyed = random_chance(random, 50) ? exited(0) : (Ended){ .code = CLD_KILLED, .status = SIGTERM },
        };
        if (random_chance(random, 10))
                script->obeyed = exited(random_chance(random, 50) ? 143 : 7);
        draw_descendants(script, random);
}

static void draw_own_end(Script *script, Character character, Random *random) {
        usec_t low = 0, high = 3 * USEC_PER_SEC;
        script->end = character == CHARACTER_SHORT || character == CHARACTER_LATE ? exited(0) : crash(random);
        if (character == CHARACTER_LATE)
                low = 60 * USEC_PER_SEC, high = 180 * USEC_PER_SEC;
        if (character == CHARACTER_FLAPPY)
                low = high = 20 * USEC_PER_SEC;
        script->life_usec = random_usec(random, low, high);
        if (random_chance(random, 30)) /* life is over at the very instant of being ready, or before it */
                script->ready_usec = script->life_usec;
}

static void draw_stopper(Script *script, Character character, Random *random) {
        if (character == CHARACTER_RECYCLER) {
                script->life_usec = random_usec(random, 0, 40 * USEC_PER_SEC);
                script->end = exited(0);
                script->says_stopping = true;
        }
        if (character == CHARACTER_DRAINER) {
                script->says_drained = true;
                script->obey_usec =
                        random_chance(random, 70) ? random_usec(random, 0, 4 * USEC_PER_SEC) : USEC_INFINITY;
        }
        if (character == CHARACTER_EXTENDER) {
                script->extends = true;
                script->obey_usec =
                        random_chance(random, 50) ? USEC_INFINITY : random_usec(random, 0, 60 * USEC_PER_SEC);
        }
}

static void draw_wedged(Script *script, Random *random) {
        if (random_chance(random, 60))
                script->obey_usec = USEC_INFINITY;
        script->die_usec = random_chance(random, 30) ? USEC_INFINITY : random_usec(random, 0, 3 * USEC_PER_SEC);
}

static void draw_start(Script *script, Character character, Random *random) {
        if (character == CHARACTER_HANGS)
                script->exec_usec = USEC_INFINITY;
        if (character == CHARACTER_MISSING)
                script->exec_error = random_chance(random, 50) ? ENOENT : EACCES;
        if (character == CHARACTER_NEVER_READY)
                script->ready_usec = USEC_INFINITY;
        if (character == CHARACTER_LATE_READY)
                script->ready_usec = random_usec(random, 1 * USEC_PER_SEC, 100 * USEC_PER_SEC);
        if (character == CHARACTER_DAEMON) {
                script->daemon = true;
                script->tells_main_pid = random_chance(random, 60);
                script->descendants = 1;
                script->fork_usec = random_usec(random, 0, 100 * USEC_PER_MSEC);
        }
}

/* Half of the runs are as well as can be; the others have a mood for each of their probes. */
static void draw_health(Script *script, const ServiceConfig *service, Random *random) {
        bool well = random_chance(random, 50);
        for (unsigned kind = 0; service->probes && kind < _PROBE_KIND_MAX; kind++)
                script->moods[kind] = well ? MOOD_GOOD : (Mood)random_below(random, _MOOD_MAX);
        if (service->probes)
                script->turns_usec =
                        random_usec(random, 0, random_chance(random, 50) ? 2 * USEC_PER_SEC : 70 * USEC_PER_SEC);
}

static void draw_half_ill(Script *script, Character character, Random *random) {
        for (unsigned kind = 0; kind < _PROBE_KIND_MAX; kind++)
                script->moods[kind] = MOOD_GOOD;
        script->turns_usec = random_usec(random, 20 * USEC_PER_SEC, 59 * USEC_PER_SEC);
        if (character == CHARACTER_SICKLY) {
                script->moods[PROBE_LIVENESS] = MOOD_SICKENS;
                script->obey_usec = random_usec(random, 0, 40 * USEC_PER_SEC);
                return;
        }
        script->moods[PROBE_READINESS] = MOOD_DIPS;
        script->life_usec = random_usec(random, 60 * USEC_PER_SEC, 120 * USEC_PER_SEC);
        script->end = crash(random);
}

/* In time, late, for a while, never. */
static void draw_signs(Script *script, const ServiceConfig *service, Random *random) {
        usec_t watchdog = service->watchdog_usec;
        if (watchdog == USEC_INFINITY)
                return;
        script->signs = random_chance(random, 85) ? UINT32_MAX : random_below(random, 5);
        if (random_chance(random, 60))
                script->sign_usec = watchdog / 2;
        else if (random_chance(random, 50))
                script->sign_usec = random_usec(random, watchdog / 2, watchdog + watchdog / 2);
        if (random_chance(random, 10)) {
                script->watchdog_usec = random_usec(random, 1, 3 * watchdog);
                script->meddles_usec = random_usec(random, 0, 10 * USEC_PER_SEC);
        }
        if (random_chance(random, 8))
                script->trigger_usec = random_usec(random, 1, 10 * USEC_PER_SEC);
}

void script_make_check(Script *ret, usec_t takes_usec, int status, Random *random) {
        Script script = {
                .ready_usec = USEC_INFINITY,
                .life_usec = takes_usec,
                .end = exited(status),
                .is_check = true,
        };
        if (random_chance(random, 5)) {
                script.descendants = 1;
                script.fork_usec = 0;
        }
        if (random_chance(random, 5))
                script.die_usec = random_chance(random, 30) ? USEC_INFINITY : random_usec(random, 0, 3 * USEC_PER_SEC);
        *ret = script;
}

void script_make(Script *ret, Character character, const ServiceConfig *service, Random *random) {
        if (character == CHARACTER_FICKLE)
                character = random_below(random, CHARACTER_FICKLE);
        Script script;
        draw_steady(&script, random);
        draw_start(&script, character, random);
        draw_stopper(&script, character, random);
        if (character == CHARACTER_SLOW)
                script.obey_usec = random_usec(random, 0, 30 * USEC_PER_SEC);
        if (character == CHARACTER_STUBBORN)
                script.obey_usec = USEC_INFINITY;
        if (character == CHARACTER_WEDGED)
                draw_wedged(&script, random);
        if (character == CHARACTER_SHORT || character == CHARACTER_LATE || character == CHARACTER_CRASHY ||
            character == CHARACTER_FLAPPY)
                draw_own_end(&script, character, random);
        if (character == CHARACTER_FLOODER)
                script.floods = 5 + random_below(random, 20);
        draw_health(&script, service, random);
        draw_signs(&script, service, random);
        if (character == CHARACTER_SICKLY || character == CHARACTER_WAVERING)
                draw_half_ill(&script, character, random);
        if (service->type == SERVICE_ONESHOT && script.life_usec == USEC_INFINITY && random_chance(random, 85)) {
                script.life_usec = random_usec(random, 0, 2 * USEC_PER_SEC);
                script.end = exited(random_chance(random, 85) ? 0 : 1);
        }
        *ret = script;
}

void script_make_descendant(Script *ret, const Script *parent, Random *random) {
        Script script = {
                .life_usec = random_chance(random, 30) ? random_usec(random, 0, 20 * USEC_PER_SEC) : USEC_INFINITY,
                .end = exited(0),
                .ready_usec = USEC_INFINITY,
                .obey_usec = random_usec(random, 0, random_chance(random, 60) ? 100 * USEC_PER_MSEC : 2 * USEC_PER_SEC),
                .obeyed = { .code = CLD_KILLED, .status = SIGTERM },
                .anonymous =
                        random_chance(random, 20) || parent->anonymous, /* who cannot be told, cannot tell of others */
                .own_session = random_chance(random, 50),
                .generation = parent->generation + 1,
        };
        if (random_chance(random, 25))
                script.obey_usec = USEC_INFINITY;
        if (random_chance(random, 4))
                script.die_usec = random_chance(random, 40) ? USEC_INFINITY : random_usec(random, 0, 3 * USEC_PER_SEC);
        script.heir = script.generation < 4 && random_chance(random, 15);
        if (script.generation < 3 && random_chance(random, 15)) {
                script.descendants = 1;
                script.fork_usec = random_usec(random, 0, 1 * USEC_PER_SEC);
        }
        *ret = script;
}

void script_make_hook(Script *ret, bool wild, Random *random) {
        Script script = {
                .exec_usec = 0,
                .ready_usec = USEC_INFINITY,
                .life_usec = random_usec(random, 0, random_chance(random, 80) ? 100 * USEC_PER_MSEC : 3 * USEC_PER_SEC),
                .end = exited(0),
                .obey_usec = 0,
                .obeyed = { .code = CLD_KILLED, .status = SIGTERM },
        };
        if (wild && random_chance(random, 25))
                script.end = crash(random);
        if (wild && random_chance(random, 15))
                script.life_usec = USEC_INFINITY;
        if (wild && random_chance(random, 8))
                script.exec_error = ENOENT;
        if (wild && random_chance(random, 15)) {
                script.descendants = 1;
                script.fork_usec = 0;
        }
        if (wild && random_chance(random, 3))
                script.die_usec = random_chance(random, 50) ? USEC_INFINITY : random_usec(random, 0, 3 * USEC_PER_SEC);
        *ret = script;
}
