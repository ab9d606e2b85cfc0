/* desk_answers.c - what the ledger answered, told to whoever asked. */
#include "base/clock.h"
#include "base/enumeration.h"
#include "base/log.h"
#include "worker/desk_internal.h"
#include <stdio.h>
#include <string.h>

static const char *const words[_DESK_WORD_MAX] = {
        [DESK_LOST] = "lost",
        [DESK_FAILED] = "failed",
        [DESK_OK] = "ok",
        [DESK_GO] = "go",
        [DESK_RETRY] = "retry",
        [DESK_DEAD] = "dead",
        [DESK_CANCELLED] = "cancelled",
        [DESK_ALREADY] = "already",
        [DESK_STALE] = "stale",
        [DESK_GONE] = "gone",
        [DESK_CANCEL] = "cancel",
        [DESK_BUSY] = "busy",
        [DESK_DONE] = "done",
        [DESK_IN_DOUBT] = "in_doubt",
};

ENUMERATION(desk_word, DeskWord, words)

static const char *const asked[_ASK_KIND_MAX] = {
        [ASK_UP] = "say that the worker is up",
        [ASK_QUEUE] = "make the queue",
        [ASK_LISTEN] = "listen for new jobs",
        [ASK_CLAIM] = "claim jobs",
        [ASK_NEXT] = "complete and claim jobs",
        [ASK_COMPLETE] = "complete jobs",
        [ASK_FAIL] = "fail a job",
        [ASK_RELEASE] = "give a job back",
        [ASK_BEATS] = "renew leases",
        [ASK_BEAT] = "keep the progress of a job",
        [ASK_ITEM_BEGIN] = "begin an item",
        [ASK_ITEM_END] = "end an item",
        [ASK_LOOK] = "look at items",
        [ASK_DRAIN] = "drain the worker",
        [ASK_HELD] = "ask for the jobs that are held",
};

/* What kind of answer it is when it is none. */
static DeskWord word_of_failure(Ask *ask, const PqReply *reply) {
        Desk *desk = ask->desk;

        if (reply->answer == SQL_LOST)
                return DESK_LOST; /* the connection's end is told by itself */
        log_warning("could not %s: %s", asked[ask->kind], reply->why);
        if (reply->answer == SQL_FAILED || reply->answer == SQL_ISOLATION)
                return DESK_FAILED;
        if (reply->answer == SQL_SCHEMA || reply->answer == SQL_REFUSED)
                desk->calls.refused(desk->calls.userdata, reply->why);
        return DESK_LOST;
}

static DeskWord word_at(const PqRows *rows, size_t row, size_t column) {
        const char *text = pq_rows_text(rows, row, column);
        int word = text ? desk_word_from_string(text) : -1;
        return word < 0 ? DESK_FAILED : (DeskWord)word;
}

static JobKey key_at(const PqRows *rows, size_t row, size_t column) {
        const char *claim = pq_rows_text(rows, row, column + 2);
        JobKey key = { .id = pq_rows_int64(rows, row, column), .generation = pq_rows_int64(rows, row, column + 1) };
        snprintf(key.claim, sizeof key.claim, "%s", claim ? claim : "");
        return key;
}

/* ---- Jobs ---- */

static void take_job(Ask *ask, const PqRows *rows, size_t row) {
        Desk *desk = ask->desk;
        int64_t left = pq_rows_int64(rows, row, 10);
        Job job = { .key = key_at(rows, row, 1),
                    .attempt = pq_rows_int64(rows, row, 4),
                    .max_attempts = pq_rows_int64(rows, row, 5),
                    .kind = (char *)pq_rows_text(rows, row, 6),
                    .payload = (char *)pq_rows_text(rows, row, 7),
                    .progress = (char *)pq_rows_text(rows, row, 8),
                    .lease_usec = (usec_t)pq_rows_int64(rows, row, 9) * USEC_PER_MSEC,
                    .left_usec = USEC_INFINITY };

        if (pq_rows_text(rows, row, 10))
                job.left_usec = left > 0 ? (usec_t)left : 0;
        desk->last_id = job.key.id;
        desk->calls.job(desk->calls.userdata, &job, ask->sent_usec);
}

/* claim_next's first rows are the answers to what was completed, in the order given. */
static void take_claim(Ask *ask, const PqRows *rows, DeskWord failure) {
        Desk *desk = ask->desk;
        DeskClaim claim = { ask->wanted, 0, ask->with_cursor, rows ? DESK_OK : failure, ask->sent_usec };

        for (size_t i = 0; i < ask->n_keys; i++)
                desk->calls.settled(desk->calls.userdata, &ask->keys[i], rows ? word_at(rows, i, 0) : failure);
        for (size_t row = ask->n_keys; row < pq_rows_count(rows); row++, claim.got++)
                take_job(ask, rows, row);
        if (!rows)
                desk->last_id = 0;
        if (ask->wanted > 0)
                desk->calls.claimed(desk->calls.userdata, &claim);
}

static void take_settled(Ask *ask, const PqRows *rows, DeskWord failure) {
        for (size_t i = 0; i < ask->n_keys; i++)
                ask->desk->calls.settled(ask->desk->calls.userdata, &ask->keys[i],
                                         rows ? word_at(rows, i, 0) : failure);
}

static void take_beaten(Ask *ask, const PqRows *rows, DeskWord failure) {
        for (size_t i = 0; i < ask->n_keys; i++)
                ask->desk->calls.beaten(ask->desk->calls.userdata, &ask->keys[i], rows ? word_at(rows, i, 0) : failure,
                                        ask->sent_usec);
}

static void take_look(Ask *ask, const PqRows *rows, DeskWord failure) {
        usec_t moved = 0;

        if (pq_rows_text(rows, 0, 0)) {
                int64_t age = pq_rows_int64(rows, 0, 0);
                moved = usec_sub(clock_now_usec(), age > 0 ? (usec_t)age : 0);
        }
        ask->desk->calls.looked(ask->desk->calls.userdata, &ask->keys[0], rows ? DESK_OK : failure, moved);
}

/* ---- The worker ---- */

static void take_up(Desk *desk, const PqRows *rows) {
        if (!rows) {
                desk->calls.unready(desk->calls.userdata);
                return;
        }
        desk->ready = true;
        desk->calls.up(desk->calls.userdata);
}

static void take_drain(Desk *desk, const PqRows *rows, DeskWord failure) {
        DeskWord word = !rows ? failure : pq_rows_text(rows, 0, 0) ? DESK_OK : DESK_BUSY;
        desk->calls.drained(desk->calls.userdata, word);
}

static void take_held(Desk *desk, const PqRows *rows, DeskWord failure) {
        for (size_t row = 0; row < pq_rows_count(rows); row++) {
                JobKey key = key_at(rows, row, 0);
                desk->calls.held(desk->calls.userdata, &key);
        }
        desk->calls.held_end(desk->calls.userdata, rows ? DESK_OK : failure);
}

void desk_take_answer(Ask *ask, PqReply *reply) {
        const PqRows *rows = reply->answer == SQL_DONE ? reply->rows : NULL;
        DeskWord failure = reply->answer == SQL_DONE ? DESK_FAILED : word_of_failure(ask, reply);
        Desk *desk = ask->desk;

        switch (ask->kind) {
        case ASK_UP: take_up(desk, rows); return;
        case ASK_QUEUE:
        case ASK_LISTEN: return;
        case ASK_CLAIM:
        case ASK_NEXT: take_claim(ask, rows, failure); return;
        case ASK_COMPLETE:
        case ASK_FAIL:
        case ASK_RELEASE: take_settled(ask, rows, failure); return;
        case ASK_BEATS:
        case ASK_BEAT: take_beaten(ask, rows, failure); return;
        case ASK_ITEM_BEGIN:
        case ASK_ITEM_END:
                desk->calls.item(desk->calls.userdata, &ask->keys[0], rows ? word_at(rows, 0, 0) : failure,
                                 pq_rows_text(rows, 0, 1));
                return;
        case ASK_LOOK: take_look(ask, rows, failure); return;
        case ASK_DRAIN: take_drain(desk, rows, failure); return;
        case ASK_HELD: take_held(desk, rows, failure); return;
        case _ASK_KIND_MAX: return;
        }
}
