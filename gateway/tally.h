/* tally.h - counts what the journal tells, for the metrics: a row a service, a hook, a cause, an effect.
 *
 * Bounded whatever happens: rows are names of the configuration, and beyond TALLY_ROWS_MAX of them what comes is
 * counted in a row of the name "_other". A new run begins new counts. */
#pragma once
#include "gateway/tidings.h"

#define TALLY_ROWS_MAX 1024

typedef enum TallyCause {
        TALLY_CLEAN,
        TALLY_CRASHED,
        TALLY_INTERRUPTED,
        TALLY_OOM,
        TALLY_TIMEOUT,
        _TALLY_CAUSE_MAX
} TallyCause;

typedef enum TallyEffect {
        TALLY_ENDING_BEGINS,
        TALLY_RECORDED,
        TALLY_ENDS_FAST,
        TALLY_RELOAD,
        TALLY_DUMP,
        TALLY_REOPEN,
        TALLY_PASSED_ON,
        TALLY_IGNORED,
        TALLY_OTHER,
        _TALLY_EFFECT_MAX
} TallyEffect;

const char *tally_cause_to_string(TallyCause cause);
int tally_cause_from_string(const char *text);
const char *tally_effect_to_string(TallyEffect effect);
int tally_effect_from_string(const char *text);

typedef struct TallyRow {
        char name[NAME_LENGTH_MAX + 1];
        uint64_t starts, restarts, gave_up, killed, unready, watchdog; /* of a service */
        uint64_t exits[_TALLY_CAUSE_MAX];
        uint64_t good, failed, timed_out; /* of a hook */
        usec_t took_usec;
} TallyRow;

typedef struct TallyRows {
        TallyRow *rows;
        size_t n, size, last; /* `last`: found last, for events come in swarms */
} TallyRows;

typedef struct Tally {
        TallyRows services, hooks;
        uint64_t effects[_TALLY_EFFECT_MAX];
        uint64_t adopted, orphans_gone, drained, killed, left, released, buried, lines_lost, clients_dropped;
} Tally;

void tally_take(Tally *tally, const Tidings *tidings); /* without memory for a new row what it told is not counted */
void tally_done(Tally *tally);
