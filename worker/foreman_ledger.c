/* foreman_ledger.c - what the ledger answered, and what follows from it. */
#include "base/clock.h"
#include "base/log.h"
#include "worker/foreman_internal.h"
#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <sys/random.h>

#define REFUSALS_MAX 10                 /* of the ledger as a whole */
#define HELD_USEC    (2 * USEC_PER_SEC) /* between two looks for what we hold without knowing */

static uint32_t chance(void) {
        uint32_t number = 0;
        (void)!getrandom(&number, sizeof number, GRND_NONBLOCK);
        return number;
}

/* ---- The connection ---- */

/* Whoever had a claim in flight when the connection broke may hold jobs without knowing. The server may finish that
 * claim after it has lost us, so it is asked more than once. */
static void plan_held_checks(Foreman *foreman, unsigned n, usec_t wait) {
        foreman->held_checks = n > foreman->held_checks ? n : foreman->held_checks;
        foreman->held_usec = usec_add(clock_now_usec(), wait);
}

static void on_up(void *userdata) {
        Foreman *foreman = userdata;

        if (foreman->down_said)
                log_notice("the ledger answers again");
        foreman->down_said = false;
        foreman->refusals = 0;
        intake_notified(&foreman->intake);
        if (!foreman->ready_said && !foreman->draining) {
                log_notice("took up work on queue %s with %u slots", foreman->line->queue, foreman->n_posts);
                superior_say("READY=1");
        }
        foreman->ready_said = true;
        foreman_wake(foreman);
}

static void on_unready(void *userdata) {
        Foreman *foreman = userdata;
        foreman->begin_usec = usec_add(clock_now_usec(), foreman->line->poll_usec);
        foreman_wake(foreman);
}

static void on_down(void *userdata, const char *why) {
        Foreman *foreman = userdata;

        foreman->begin_usec = USEC_INFINITY;
        if (!foreman->down_said)
                log_warning("lost the ledger: %s; jobs go on, and it is tried again", why);
        foreman->down_said = true;
        foreman_wake(foreman);
}

static void on_refused(void *userdata, const char *why) {
        Foreman *foreman = userdata;

        if (++foreman->refusals != REFUSALS_MAX)
                return;
        log_err("the ledger refused %u requests in a row, the last one because: %s; the worker ends "
                "(has `endwell ledger migrate` run?)",
                foreman->refusals, why);
        foreman_give_up(foreman, EXIT_NO_DATABASE);
}

static void on_notified(void *userdata) {
        Foreman *foreman = userdata;
        intake_notified(&foreman->intake);
        foreman_wake(foreman);
}

/* ---- Jobs ---- */

static void give_back(Foreman *foreman, const JobKey *key, const char *why) {
        if (desk_release(foreman->desk, key, why) >= 0)
                foreman->n_giving_back++;
        else
                plan_held_checks(foreman, 1, 0);
}

static Post *find_free(Foreman *foreman, usec_t now) {
        for (unsigned i = 0; i < foreman->n_posts; i++)
                if (post_is_free(&foreman->posts[i], now))
                        return &foreman->posts[i];
        return NULL;
}

static void on_job(void *userdata, const Job *job, usec_t sent_usec) {
        Foreman *foreman = userdata;

        if (foreman->draining) {
                give_back(foreman, &job->key, "the worker is draining");
                return;
        }
        usec_t now = clock_now_usec();
        Post *post = find_free(foreman, now);
        if (!post || post_give(post, job, sent_usec, now) < 0)
                give_back(foreman, &job->key, "no slot of the worker was free");
}

static void on_claimed(void *userdata, const DeskClaim *claim) {
        Foreman *foreman = userdata;
        usec_t now = clock_now_usec();

        foreman->claiming = false;
        if (claim->word == DESK_OK)
                intake_answered(&foreman->intake, claim->wanted, claim->got, claim->with_cursor, now, chance());
        else
                intake_failed(&foreman->intake, now, chance());
        if (claim->word == DESK_LOST)
                plan_held_checks(foreman, 4, 0);
        foreman_wake(foreman);
}

static void on_settled(void *userdata, const JobKey *key, DeskWord word) {
        Foreman *foreman = userdata;
        Post *post = foreman_find(foreman, key);

        foreman_wake(foreman);
        if (post && post->report == ERRAND_SENT) {
                post_note_settled(post, word);
                return;
        }
        if (foreman->n_giving_back > 0)
                foreman->n_giving_back--;
        if (word == DESK_LOST)
                plan_held_checks(foreman, 2, 0);
        else if (word != DESK_FAILED)
                log_info("job %" PRId64 " was given back unbegun", key->id);
}

/* ---- Leases, items ---- */

static void note_beat(Post *post, DeskWord word, usec_t sent_usec, usec_t now) {
        switch ((int)word) {
        case DESK_OK: lease_renewed(&post->lease, sent_usec); return;
        case DESK_CANCEL:
                lease_renewed(&post->lease, sent_usec);
                post_happens(post, SLOT_CANCEL, now);
                return;
        case DESK_STALE:
        case DESK_GONE: post_happens(post, SLOT_STALE, now); return;
        default: lease_postponed(&post->lease, now); return; /* busy, lost */
        }
}

static void on_beaten(void *userdata, const JobKey *key, DeskWord word, usec_t sent_usec) {
        Foreman *foreman = userdata;
        Post *post = foreman_find(foreman, key);

        foreman->beating = false; /* a single beat may say so too early: then one more is sent */
        if (post)
                note_beat(post, word, sent_usec, clock_now_usec());
        foreman_wake(foreman);
}

static void on_item(void *userdata, const JobKey *key, DeskWord word, const char *result) {
        Foreman *foreman = userdata;
        Post *post = foreman_find(foreman, key);
        usec_t now = clock_now_usec();

        if (!post || post->item.errand != ERRAND_SENT)
                return;
        post->item.errand = ERRAND_WANTED;
        foreman_wake(foreman);
        if (word == DESK_LOST)
                return; /* asked again: the same claim gets the same answer */
        if (word == DESK_CANCEL)
                post_happens(post, SLOT_CANCEL, now);
        if (word == DESK_STALE && post->item.begins) {
                post_happens(post, SLOT_STALE, now);
                return;
        }
        /* Of an item's end it may mean the item only: the job's own renewal tells them apart. */
        if (word == DESK_STALE)
                lease_doubted(&post->lease, now);
        stream_answer_item(post, word, result);
}

static void on_looked(void *userdata, const JobKey *key, DeskWord word, usec_t moved_usec) {
        Foreman *foreman = userdata;
        Post *post = foreman_find(foreman, key);

        if (!post || post->look != ERRAND_SENT)
                return;
        post->look = word == DESK_LOST ? ERRAND_WANTED : ERRAND_NONE;
        if (word == DESK_OK && moved_usec > 0)
                post_happens(post, SLOT_PROGRESSED, moved_usec);
        if (word != DESK_LOST)
                post_happens(post, SLOT_SILENT, clock_now_usec());
        foreman_wake(foreman);
}

/* ---- The worker's own ---- */

static void on_drained(void *userdata, DeskWord word) {
        Foreman *foreman = userdata;
        foreman->drain = word == DESK_OK || word == DESK_FAILED ? ERRAND_NONE : ERRAND_WANTED;
        if (word == DESK_OK &&
            foreman->held_checks > 0) { /* no claim can come any more: one look after this is final */
                foreman->held_checks = foreman->held_asked ? 2 : 1;
                foreman->held_usec = 0;
        }
        foreman_wake(foreman);
}

static void on_held(void *userdata, const JobKey *key) {
        Foreman *foreman = userdata;
        if (foreman_find(foreman, key))
                return;
        log_warning("job %" PRId64 " had been claimed without our knowing, for the answer was lost", key->id);
        give_back(foreman, key, "the answer to its claim was lost");
}

static void on_held_end(void *userdata, DeskWord word) {
        Foreman *foreman = userdata;

        foreman->held_asked = false;
        if (word == DESK_OK && foreman->held_checks > 0)
                foreman->held_checks--;
        bool final = foreman->draining && foreman->drain == ERRAND_NONE;
        foreman->held_usec = usec_add(clock_now_usec(), final ? 0 : HELD_USEC);
        foreman_wake(foreman);
}

const DeskCalls foreman_desk_calls = {
        .up = on_up,
        .down = on_down,
        .refused = on_refused,
        .unready = on_unready,
        .notified = on_notified,
        .job = on_job,
        .claimed = on_claimed,
        .settled = on_settled,
        .beaten = on_beaten,
        .item = on_item,
        .looked = on_looked,
        .drained = on_drained,
        .held = on_held,
        .held_end = on_held_end,
};
