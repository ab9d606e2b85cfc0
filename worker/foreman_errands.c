/* foreman_errands.c - what is sent to the ledger, and when: reports and claims in one breath, leases all at once. */
#include "base/log.h"
#include "base/take.h"
#include "worker/foreman_internal.h"
#include <errno.h>
#include <string.h>

#define PROGRESS_USEC USEC_PER_SEC /* between two of one job */

static bool is_completion(const Post *post, usec_t now) {
        return post->report == ERRAND_WANTED && post->outcome.verb == OUTCOME_COMPLETE && now >= post->report_usec;
}

/* ---- What belongs to one slot ---- */

/* The last progress goes first: the next attempt begins with it. */
static void send_progress(Post *post, usec_t now) {
        bool last = post->report == ERRAND_WANTED && post->outcome.verb != OUTCOME_COMPLETE;
        bool due = slot_holds_lease(post->slot) && now >= post->progress_usec;

        if (!post->progress || (!last && !due))
                return;
        if (desk_beat(post->foreman->desk, &post->job.key, post->progress) < 0)
                return;
        free(post->progress);
        post->progress = NULL;
        post->progress_usec = usec_add(now, PROGRESS_USEC);
}

static void send_item(Post *post) {
        Item *item = &post->item;
        Desk *desk = post->foreman->desk;
        const JobKey *key = &post->job.key;

        if (item->errand != ERRAND_WANTED || !slot_holds_lease(post->slot))
                return;
        int r = item->begins ? desk_item_begin(desk, key, item->key, item->force)
                             : desk_item_end(desk, key, item->key, item->ok, item->result, item->error);
        if (r >= 0)
                item->errand = ERRAND_SENT;
}

static void send_ending(Post *post, usec_t now) {
        const Outcome *outcome = &post->outcome;
        Desk *desk = post->foreman->desk;

        if (post->report != ERRAND_WANTED || now < post->report_usec || outcome->verb == OUTCOME_COMPLETE)
                return;
        int r = outcome->verb == OUTCOME_FAIL ? desk_fail(desk, &post->job.key, outcome, post->retry_in_usec)
                                              : desk_release(desk, &post->job.key, outcome->error);
        if (r >= 0)
                post->report = ERRAND_SENT;
}

static void send_of_post(Post *post, usec_t now) {
        if (post->look == ERRAND_WANTED && desk_look(post->foreman->desk, &post->job.key) >= 0)
                post->look = ERRAND_SENT;
        send_item(post);
        send_progress(post, now);
        if (post->alone && is_completion(post, now)) {
                const JobKey *key = &post->job.key;
                const char *result = post->result;
                if (desk_complete(post->foreman->desk, &key, &result, 1) >= 0)
                        post->report = ERRAND_SENT;
        }
        send_ending(post, now);
}

/* ---- Completions and claims ---- */

typedef struct Batch {
        const JobKey **keys;
        const char **results;
        Post **posts;
        unsigned n, n_free;
        bool has_results;
} Batch;

static void batch_done(Batch *batch) {
        free(batch->keys);
        free(batch->results);
        free(batch->posts);
}

static int batch_gather(Batch *batch, Foreman *foreman, usec_t now) {
        *batch = (Batch){ .keys = calloc(foreman->n_posts, sizeof *batch->keys),
                          .results = calloc(foreman->n_posts, sizeof *batch->results),
                          .posts = calloc(foreman->n_posts, sizeof *batch->posts) };
        if (!batch->keys || !batch->results || !batch->posts)
                return -ENOMEM;
        for (unsigned i = 0; i < foreman->n_posts; i++) {
                Post *post = &foreman->posts[i];
                batch->n_free += post_is_free(post, now);
                if (post->alone || !is_completion(post, now))
                        continue;
                batch->has_results = batch->has_results || post->result;
                batch->keys[batch->n] = &post->job.key;
                batch->results[batch->n] = post->result;
                batch->posts[batch->n++] = post;
        }
        return 0;
}

/* Slots that will be free by the time the claim is answered: a stream lives on behind its answer, a command is gone. */
static unsigned soon_free(const Foreman *foreman, const Batch *batch) {
        unsigned n = batch->n_free;
        for (unsigned i = 0; i < batch->n; i++)
                n += command_is_up(batch->posts[i]->command) == foreman->line->stream;
        return n;
}

static void note_claim(Foreman *foreman, int r) {
        if (r >= 0)
                foreman->claiming = true;
        else
                log_warning("could not claim jobs: %s; it is tried again", strerrordesc_np(-r));
}

static void send_batch(Foreman *foreman, const Batch *batch, usec_t now) {
        unsigned wanted = foreman->draining ? 0 : intake_wants(&foreman->intake, soon_free(foreman, batch), now);
        int r = 0;

        if (batch->n > 0 && wanted > 0 && !batch->has_results) {
                r = desk_claim_next(foreman->desk, wanted, batch->keys, batch->n);
                note_claim(foreman, r);
                wanted = 0;
        } else if (batch->n > 0) {
                r = desk_complete(foreman->desk, batch->keys, batch->results, batch->n);
        }
        for (unsigned i = 0; r >= 0 && i < batch->n; i++)
                batch->posts[i]->report = ERRAND_SENT;
        if (r >= 0 && wanted > 0)
                note_claim(foreman, desk_claim(foreman->desk, wanted, intake_has_cursor(&foreman->intake, now)));
}

/* While a claim is in flight what is finished gathers, and goes with the next one. */
static void send_completions(Foreman *foreman, usec_t now) {
        _cleanup_(batch_done) Batch batch = { 0 };

        if (foreman->claiming)
                return;
        if (batch_gather(&batch, foreman, now) < 0)
                log_warning("out of memory; completions are sent later");
        else
                send_batch(foreman, &batch, now);
}

/* ---- Leases ---- */

static bool some_lease_is_due(const Foreman *foreman, usec_t now) {
        for (unsigned i = 0; i < foreman->n_posts; i++)
                if (slot_holds_lease(foreman->posts[i].slot) && now >= foreman->posts[i].lease.due_usec)
                        return true;
        return false;
}

static void send_beats(Foreman *foreman, usec_t now) {
        unsigned n = 0;

        if (foreman->beating || !some_lease_is_due(foreman, now))
                return;
        _cleanup_(freep) const JobKey **keys = calloc(foreman->n_posts, sizeof *keys);
        for (unsigned i = 0; keys && i < foreman->n_posts; i++) {
                const Post *post = &foreman->posts[i];
                if (slot_holds_lease(post->slot) && lease_is_near(&post->lease, now))
                        keys[n++] = &post->job.key;
        }
        foreman->beating = n > 0 && desk_beat_many(foreman->desk, keys, n) >= 0;
}

/* A lease that could not be renewed may be somebody else's: who asked for it stops there. */
static void stop_unsure(Foreman *foreman, usec_t now) {
        if (!foreman->line->strict_lease)
                return;
        for (unsigned i = 0; i < foreman->n_posts; i++) {
                Post *post = &foreman->posts[i];
                if (slot_holds_lease(post->slot) && now >= post->lease.sure_usec)
                        post_happens(post, SLOT_STALE, now);
        }
}

/* ---- All of it ---- */

static void send_held(Foreman *foreman, usec_t now) {
        if (foreman->held_checks == 0 || foreman->held_asked || now < foreman->held_usec)
                return;
        foreman->held_asked = desk_held(foreman->desk) >= 0;
}

void foreman_send(Foreman *foreman, usec_t now) {
        stop_unsure(foreman, now);
        if (now >= foreman->begin_usec) {
                foreman->begin_usec = USEC_INFINITY;
                desk_begin(foreman->desk);
        }
        if (!desk_is_up(foreman->desk))
                return;
        for (unsigned i = 0; i < foreman->n_posts; i++)
                send_of_post(&foreman->posts[i], now);
        send_completions(foreman, now);
        send_beats(foreman, now);
        send_held(foreman, now);
        if (foreman->drain == ERRAND_WANTED && desk_drain(foreman->desk) >= 0)
                foreman->drain = ERRAND_SENT;
}

static usec_t errand_of_post(const Post *post, usec_t now) {
        usec_t next = USEC_INFINITY;
        if (slot_holds_lease(post->slot) && !post->foreman->beating)
                next = post->lease.due_usec;
        if (slot_holds_lease(post->slot) && post->progress)
                next = usec_min(next, post->progress_usec);
        if (post->report == ERRAND_WANTED && post->report_usec > now)
                next = usec_min(next, post->report_usec);
        return next;
}

static usec_t unsure_usec(const Foreman *foreman) {
        usec_t next = USEC_INFINITY;
        for (unsigned i = 0; foreman->line->strict_lease && i < foreman->n_posts; i++)
                if (slot_holds_lease(foreman->posts[i].slot))
                        next = usec_min(next, foreman->posts[i].lease.sure_usec);
        return next;
}

usec_t foreman_errands_usec(const Foreman *foreman, usec_t now) {
        usec_t next = unsure_usec(foreman);
        unsigned n_free = 0;

        if (!desk_is_up(foreman->desk))
                return usec_min(next, foreman->begin_usec); /* its coming up is heard */
        for (unsigned i = 0; i < foreman->n_posts; i++) {
                n_free += post_is_free(&foreman->posts[i], now);
                next = usec_min(next, errand_of_post(&foreman->posts[i], now));
        }
        if (!foreman->claiming && !foreman->draining)
                next = usec_min(next, intake_next_usec(&foreman->intake, n_free));
        if (foreman->held_checks > 0 && !foreman->held_asked)
                next = usec_min(next, foreman->held_usec);
        return next;
}
