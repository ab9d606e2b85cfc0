/* foreman_outcomes.c - what is to be reported of a job, and what becomes of the report. */
#include "base/clock.h"
#include "base/duration.h"
#include "base/log.h"
#include "worker/foreman_internal.h"
#include "worker/storable.h"
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define REFUSALS_MAX 5 /* of one report */
#define AGAIN_USEC   (200 * USEC_PER_MSEC)

static usec_t span_of(const Post *post) {
        return post->slot.cause == SLOT_CAUSE_STALLED ? post->slot.limits.stall_usec : post->slot.limits.hard_usec;
}

void post_refuse_result(Post *post, const char *why) {
        post->outcome = (Outcome){ .verb = OUTCOME_FAIL };
        snprintf(post->outcome.class, sizeof post->outcome.class, "result refused");
        snprintf(post->outcome.error, sizeof post->outcome.error, "%s", why);
}

static void keep_result(Post *post) {
        size_t length;
        const char *bytes = command_result(post->command, &length);
        if (storable_new(bytes, length, &post->result) < 0)
                post_refuse_result(post, "there was no memory for the result of the command");
}

static void judge(Post *post) {
        const CommandLine *line = post->foreman->line;
        OutcomeEnd end = { .how = post->gone.how,
                           .status = post->gone.status,
                           .cause = post->slot.cause,
                           .stream = line->stream,
                           .result_too_long = !line->stream && command_result_is_too_long(post->command),
                           .result_limit = line->max_result,
                           .span_usec = span_of(post),
                           .tail = command_tail(post->command),
                           .detail = post->broken };
        outcome_of(&end, &line->bury, &post->outcome);
        post->retry_in_usec = -1;
        if (line->stream && post->slot.cause == SLOT_CAUSE_NONE && stream_never_read(post))
                post->outcome.verb = OUTCOME_RELEASE; /* given to one that was dead already: it was never begun */
        if (post->outcome.verb == OUTCOME_COMPLETE)
                keep_result(post);
}

void post_prepare_report(Post *post) {
        if (!post->answered)
                judge(post);
        post->report = ERRAND_WANTED;
        post->report_usec = 0;
}

/* ---- What the ledger made of it ---- */

static void say_settled(const Post *post, DeskWord word) {
        char span[DURATION_TEXT_MAX];
        const Outcome *outcome = &post->outcome;
        const JobKey *key = &post->job.key;

        duration_format(usec_sub(clock_now_usec(), post->began_usec), span);
        if (word == DESK_STALE || word == DESK_GONE)
                log_warning("job %" PRId64 " generation %" PRId64 " was not ours any more; nothing was written",
                            key->id, key->generation);
        else if (outcome->verb == OUTCOME_COMPLETE)
                log_debug("job %" PRId64 " was done after %s", key->id, span);
        else if (outcome->verb == OUTCOME_RELEASE)
                log_notice("job %" PRId64 " was given back after %s", key->id, span);
        else if (word == DESK_DEAD)
                log_err("job %" PRId64 " failed after %s (%s) and is dead: attempt %" PRId64 " of %" PRId64, key->id,
                        span, outcome->class, post->job.attempt, post->job.max_attempts);
        else
                log_warning("job %" PRId64 " failed after %s (%s), attempt %" PRId64 " of %" PRId64 ": %s", key->id,
                            span, outcome->class, post->job.attempt, post->job.max_attempts, desk_word_to_string(word));
}

static void count(Foreman *foreman, const Post *post) {
        if (post->outcome.verb == OUTCOME_COMPLETE)
                foreman->n_done++;
        else if (post->outcome.verb == OUTCOME_FAIL)
                foreman->n_failed++;
}

/* The same again would be refused again: a completion is tried by itself, then its result is taken as the fault; and a
 * failure that cannot be written is left to the lease. True: the job is settled, so to speak. */
static bool give_in(Post *post) {
        post->refusals++;
        if (post->outcome.verb == OUTCOME_COMPLETE && post->alone)
                post_refuse_result(post, "the database refused the result of the command");
        post->alone = true;
        if (post->refusals < REFUSALS_MAX)
                return false;
        log_err("job %" PRId64 ": the database refused %u reports of its end; it is left to its lease",
                post->job.key.id, post->refusals);
        return true;
}

void post_note_settled(Post *post, DeskWord word) {
        usec_t now = clock_now_usec();

        if (post->report != ERRAND_SENT)
                return;
        post->report = ERRAND_WANTED;
        post->report_usec = usec_add(now, AGAIN_USEC);
        if (word == DESK_LOST || (word == DESK_FAILED && !give_in(post)))
                return;
        if (word != DESK_FAILED) {
                say_settled(post, word);
                count(post->foreman, post);
        }
        post_happens(post, SLOT_SETTLED, now);
}
