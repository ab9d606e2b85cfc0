/* tally.c - see tally.h. */
#include "gateway/tally.h"
#include "base/enumeration.h"
#include "base/take.h"
#include <stdlib.h>
#include <string.h>

static const char *const cause_words[_TALLY_CAUSE_MAX] = {
        [TALLY_CLEAN] = "clean", [TALLY_CRASHED] = "crashed", [TALLY_INTERRUPTED] = "interrupted",
        [TALLY_OOM] = "oom",     [TALLY_TIMEOUT] = "timeout",
};

static const char *const effect_words[_TALLY_EFFECT_MAX] = {
        [TALLY_ENDING_BEGINS] = "ending_begins",
        [TALLY_RECORDED] = "recorded",
        [TALLY_ENDS_FAST] = "ends_fast",
        [TALLY_RELOAD] = "reload",
        [TALLY_DUMP] = "dump",
        [TALLY_REOPEN] = "reopen",
        [TALLY_PASSED_ON] = "passed_on",
        [TALLY_IGNORED] = "ignored",
        [TALLY_OTHER] = "other",
};

ENUMERATION(tally_cause, TallyCause, cause_words)
ENUMERATION(tally_effect, TallyEffect, effect_words)

/* ---- Rows ---- */

static TallyRow *add_row(TallyRows *rows, const char *name) {
        if (rows->n == rows->size) {
                size_t size = rows->size ? rows->size * 2 : 16;
                TallyRow *grown = reallocarray(rows->rows, size, sizeof *grown);
                if (!grown)
                        return NULL;
                rows->rows = grown;
                rows->size = size;
        }
        TallyRow *row = &rows->rows[rows->last = rows->n++];
        *row = (TallyRow){ 0 };
        strcpy(row->name, name);
        return row;
}

static TallyRow *find_row(TallyRows *rows, const char *name) {
        if (rows->last < rows->n && strcmp(rows->rows[rows->last].name, name) == 0)
                return &rows->rows[rows->last];
        for (size_t i = 0; i < rows->n; i++)
                if (strcmp(rows->rows[i].name, name) == 0)
                        return &rows->rows[rows->last = i];
        return NULL;
}

static TallyRow *row_of(TallyRows *rows, const char *name) {
        TallyRow *row = find_row(rows, name);

        if (!row && rows->n >= TALLY_ROWS_MAX) {
                name = "_other"; /* no service is called so: names of the configuration begin otherwise in practice */
                row = find_row(rows, name);
        }
        return row ? row : add_row(rows, name);
}

/* ---- Events ---- */

static void begin_run(Tally *tally, const Tidings *tidings) {
        (void)tidings;
        tally_done(tally);
        *tally = (Tally){ 0 };
}

static void on_started(Tally *tally, const Tidings *tidings) {
        TallyRow *row = row_of(&tally->services, tidings->service);
        if (!row)
                return;
        row->starts++;
        row->restarts += tidings->attempt > 1;
}

static void on_gone(Tally *tally, const Tidings *tidings) {
        TallyRow *row = row_of(&tally->services, tidings->service);
        int cause = tally_cause_from_string(tidings->cause);
        if (row && cause >= 0)
                row->exits[cause]++;
}

static void on_gave_up(Tally *tally, const Tidings *tidings) {
        TallyRow *row = row_of(&tally->services, tidings->service);
        if (row)
                row->gave_up++;
}

/* An orphan of nobody's has no service. */
static void on_killed(Tally *tally, const Tidings *tidings) {
        TallyRow *row = tidings->service[0] ? row_of(&tally->services, tidings->service) : NULL;
        tally->killed++;
        if (row)
                row->killed++;
}

static void on_probe(Tally *tally, const Tidings *tidings) {
        TallyRow *row = tidings->ok ? NULL : row_of(&tally->services, tidings->service);
        if (row)
                row->unready++;
}

static void on_watchdog(Tally *tally, const Tidings *tidings) {
        TallyRow *row = row_of(&tally->services, tidings->service);
        if (row)
                row->watchdog++;
}

static void on_hook(Tally *tally, const Tidings *tidings) {
        TallyRow *row = row_of(&tally->hooks, tidings->hook);
        if (!row)
                return;
        if (tidings->timed_out)
                row->timed_out++;
        else if (tidings->failed)
                row->failed++;
        else
                row->good++;
        row->took_usec += tidings->took_usec;
}

/* Drained: gone without having been killed. */
static void on_phase(Tally *tally, const Tidings *tidings) {
        tally->drained += tidings->gone > tidings->killed ? tidings->gone - tidings->killed : 0;
        tally->left += tidings->left;
}

static void on_signal(Tally *tally, const Tidings *tidings) {
        int effect = tally_effect_from_string(tidings->effect);
        tally->effects[effect < 0 ? TALLY_OTHER : effect]++;
}

static void on_adopted(Tally *tally, const Tidings *tidings) {
        (void)tidings;
        tally->adopted++;
}

static void on_orphan_gone(Tally *tally, const Tidings *tidings) {
        (void)tidings;
        tally->orphans_gone++;
}

static void on_settled(Tally *tally, const Tidings *tidings) {
        tally->released += tidings->released;
        tally->buried += tidings->buried;
}

static void on_lost(Tally *tally, const Tidings *tidings) {
        tally->lines_lost += tidings->n;
}

static void on_dropped(Tally *tally, const Tidings *tidings) {
        (void)tidings;
        tally->clients_dropped++;
}

static const struct Line {
        const char *event;
        void (*take)(Tally *tally, const Tidings *tidings);
} lines[] = {
        { "supervisor_started", begin_run }, { "service_started", on_started }, { "service_gone", on_gone },
        { "service_gave_up", on_gave_up },   { "service_killed", on_killed },   { "probe_changed", on_probe },
        { "watchdog_expired", on_watchdog }, { "hook_finished", on_hook },      { "phase_finished", on_phase },
        { "signal_received", on_signal },    { "orphan_adopted", on_adopted },  { "orphan_gone", on_orphan_gone },
        { "reaper_settled", on_settled },    { "log_dropped", on_lost },        { "client_dropped", on_dropped },
};

void tally_take(Tally *tally, const Tidings *tidings) {
        for (size_t i = 0; i < LENGTH_OF(lines); i++)
                if (strcmp(lines[i].event, tidings->event) == 0)
                        lines[i].take(tally, tidings);
}

void tally_done(Tally *tally) {
        free(tally->services.rows);
        free(tally->hooks.rows);
        tally->services = tally->hooks = (TallyRows){ 0 };
}
