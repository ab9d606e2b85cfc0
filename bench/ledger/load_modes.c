/* load_modes.c - the statements of each mode of the load program: endwell's verbs, and the least a job table can do. */
#include "bench/ledger/load_modes.h"

#include <stddef.h>
#include <string.h>

#define CLAIM         "select c.id, c.gen, c.claim_id from endwell.claim('default', $1, $2) c"
#define CLAIM_AFTER   "select id, gen, claim_id from endwell.claim('default', $1, $2, after_id => $3)"
#define CLAIM_NEXT    "select id, gen, claim_id, tag from endwell.claim_next('default', $1, $2, $3, $4, $5)"
#define COMPLETE      "select endwell.complete($1, $2, $3)"
#define COMPLETE_MANY "select verdict from endwell.complete_many($1, $2, $3)"

static const Mode modes[] = {
        { "floor",
          WORK_DRAIN,
          { "update floor.job set state = 1 where id = (select id from floor.job where state = 0 order by id limit 1"
            " for update skip locked) returning id",
            "" },
          { "update floor.job set state = 2 where id = $1 returning 'ok'", "i" } },
        { "floor-arrays",
          WORK_DRAIN,
          { "update floor.job set state = 1 where id = any(array(select id from floor.job where state = 0 order by id"
            " limit $1::int for update skip locked)) returning id",
            "n" },
          { "update floor.job set state = 2 where id = any($1::bigint[]) returning 'ok'", "I" } },
        { "floor-enqueue", WORK_ENQUEUE, { "insert into floor.job(payload) select unnest($1::json[])", "J" } },
        { "single", WORK_DRAIN, { CLAIM, "wn" }, { COMPLETE, "igc" } },
        { "single-cursor", WORK_DRAIN, { CLAIM_AFTER, "wnl" }, { COMPLETE, "igc" }, .cursor = true },
        { "next", WORK_NEXT, { CLAIM_NEXT, "wnIGC" } },
        { "arrays", WORK_DRAIN, { CLAIM, "wn" }, { COMPLETE_MANY, "IGC" } },
        { "arrays-cursor", WORK_DRAIN, { CLAIM_AFTER, "wnl" }, { COMPLETE_MANY, "IGC" }, .cursor = true },
        { "beat", WORK_BEAT, { CLAIM, "wn" }, { "select endwell.beat($1, $2, $3)", "igc" } },
        { "beat_many", WORK_BEAT, { CLAIM, "wn" }, { "select verdict from endwell.beat_many($1, $2, $3)", "IGC" } },
        { "enqueue_many", WORK_ENQUEUE, { "select endwell.enqueue_many('default', '', $1)", "J" } },
};

const Mode *mode_find(const char *name) {
        for (size_t i = 0; i < sizeof(modes) / sizeof(modes[0]); i++)
                if (strcmp(modes[i].name, name) == 0)
                        return &modes[i];
        return NULL;
}
