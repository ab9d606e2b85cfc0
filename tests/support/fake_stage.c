/* fake_stage.c - see fake_stage.h. */
#include "tests/support/fake_stage.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/duration.h"

static void note(char *text, size_t size, const char *format, ...) __attribute__((format(printf, 3, 4)));

static void note(char *text, size_t size, const char *format, ...) {
        size_t used = strlen(text);
        if (used > 0 && used + 1 < size) {
                text[used++] = ' ';
                text[used] = '\0';
        }
        va_list arguments;
        va_start(arguments, format);
        vsnprintf(text + used, size - used, format, arguments);
        va_end(arguments);
}

static void look(FakeStage *fake) {
        unsigned phase = fake->conductor.sequence.phase, alive = 0;
        for (unsigned i = 0; i < FAKE_PHASES; i++)
                alive += fake->conductor.sequence.development || i <= phase ? fake->alive[i] : 0;
        if (alive == 0)
                conductor_tell(&fake->conductor, HAPPENING_GROUP_EMPTY);
}

static usec_t on_now(void *self) {
        return ((FakeStage *)self)->now;
}

static void on_record(void *self, Event *event) {
        FakeStage *fake = self;
        char text[DURATION_TEXT_MAX];
        if (event->kind == EVENT_PHASE_STARTED)
                note(fake->events, sizeof fake->events, "%s+%u<%s", event->phase, event->members,
                     duration_format(event->limit_usec, text));
        else
                note(fake->events, sizeof fake->events, "%s-%u/%u/%u", event->phase, event->gone, event->killed,
                     event->left);
}

static bool on_withdraw(void *self, bool fast) {
        FakeStage *fake = self;
        note(fake->diary, sizeof fake->diary, fast ? "withdraw-fast" : "withdraw");
        return fake->gateway;
}

static void on_enter(void *self, unsigned phase) {
        FakeStage *fake = self;
        note(fake->diary, sizeof fake->diary, "enter:%u", phase);
        if (!fake->hooks_linger)
                conductor_tell(&fake->conductor, HAPPENING_HOOKS_DONE);
        look(fake);
}

static void on_stop(void *self, unsigned phase, bool everything) {
        FakeStage *fake = self;
        note(fake->diary, sizeof fake->diary, everything ? "stop-all:%u" : "stop:%u", phase);
        look(fake);
}

static void on_hurry(void *self) {
        FakeStage *fake = self;
        note(fake->diary, sizeof fake->diary, "hurry");
}

static void on_kill(void *self) {
        FakeStage *fake = self;
        unsigned phase = fake->conductor.sequence.phase;
        fake->killed[phase] += fake->alive[phase];
        note(fake->diary, sizeof fake->diary, "kill");
}

static void on_close(void *self, unsigned phase) {
        FakeStage *fake = self;
        note(fake->diary, sizeof fake->diary, "close:%u", phase);
        if (!fake->hooks_linger)
                conductor_tell(&fake->conductor, HAPPENING_HOOKS_DONE);
        if (fake->tells_stale)
                conductor_tell(&fake->conductor, HAPPENING_GROUP_EMPTY);
}

static void on_abandon(void *self) {
        FakeStage *fake = self;
        for (unsigned i = 0; i < FAKE_PHASES; i++) {
                fake->left[i] = fake->alive[i];
                fake->alive[i] = 0;
        }
        note(fake->diary, sizeof fake->diary, "abandon");
}

static void on_finish(void *self) {
        FakeStage *fake = self;
        note(fake->diary, sizeof fake->diary, "finish");
}

static PhaseTally on_tally(void *self, unsigned phase) {
        const FakeStage *fake = self;
        PhaseTally tally = { 0 };
        for (unsigned i = 0; i < FAKE_PHASES; i++)
                if (fake->conductor.sequence.development || i == phase) {
                        tally.members += fake->members[i];
                        tally.gone += fake->members[i] - fake->alive[i] - fake->left[i];
                        tally.killed += fake->killed[i];
                        tally.left += fake->left[i];
                }
        return tally;
}

static const ConductorStage stage = {
        .now = on_now,
        .record = on_record,
        .withdraw = on_withdraw,
        .enter = on_enter,
        .stop = on_stop,
        .hurry = on_hurry,
        .kill = on_kill,
        .close = on_close,
        .abandon = on_abandon,
        .finish = on_finish,
        .tally = on_tally,
};

void fake_stage_init(FakeStage *fake, const usec_t delay_usec[static FAKE_PHASES], bool development) {
        static const char *const names[] = { "http", "workers", "db" };
        *fake = (FakeStage){ .now = 100 * USEC_PER_SEC, .members = { 3, 2, 1 }, .alive = { 3, 2, 1 } };
        Budget budget = {
                .deadline_usec = 26 * USEC_PER_SEC,
                .reserve_usec = 1 * USEC_PER_SEC,
                .n_phases = FAKE_PHASES,
                .delay_usec = { delay_usec[0], delay_usec[1], delay_usec[2] },
                .timeout_usec = { 10 * USEC_PER_SEC, 10 * USEC_PER_SEC, 3 * USEC_PER_SEC },
        };
        conductor_init(&fake->conductor, &budget, names, development, &stage, fake);
}

void fake_stage_empty(FakeStage *fake, unsigned phase) {
        fake->alive[phase] = 0;
        look(fake);
}

void fake_stage_advance(FakeStage *fake) {
        fake->now = conductor_next_usec(&fake->conductor);
        conductor_tick(&fake->conductor);
}
