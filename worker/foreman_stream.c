/* foreman_stream.c - what a stream says, line by line, and what it is told. */
#include "base/clock.h"
#include "base/json.h"
#include "base/log.h"
#include "base/take.h"
#include "base/utf8.h"
#include "worker/foreman_internal.h"
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define STRANGERS_SAID 3   /* lines about other jobs that are said in the log */
#define STRANGERS_MAX  100 /* that many, and it is no stream that can be trusted */
#define ANSWER_MAX     256

/* ---- What it is told ---- */

int stream_give(Post *post) {
        _cleanup_(freep) char *line = NULL;
        size_t length;

        command_forget_tail(post->command);
        int r = job_line(&post->job, &line, &length);
        if (r >= 0)
                r = command_write(post->command, line, length);
        post->line_length = r == -EPIPE ? SIZE_MAX : length;
        return r == -EPIPE ? 0 : r; /* it is dead: heard in a moment */
}

bool stream_never_read(const Post *post) {
        return post->slot.state != SLOT_EMPTY && !post->answered &&
               (post->line_length == SIZE_MAX || command_unread(post->command) >= post->line_length);
}

static void tell(Post *post, const char *item, const char *answer, const char *result) {
        size_t size = ANSWER_MAX + (item ? 6 * strlen(item) : 0), length = result ? strlen(result) : 0;
        _cleanup_(freep) char *text = malloc(size + length + sizeof ",\"result\":}\n");
        Json json;

        if (!text)
                return;
        json_init(&json, text, size);
        json_open_object(&json, NULL);
        json_put_signed(&json, "id", post->job.key.id);
        json_put_signed(&json, "generation", post->job.key.generation);
        if (item) {
                json_put_string(&json, "item", item);
                json_put_string(&json, "answer", answer);
        } else {
                json_put_bool(&json, "cancel", true);
        }
        char *at = text + json_finish(&json) - 1;
        if (result) {
                at = stpcpy(at, ",\"result\":");
                for (; *result; result++) /* a line break can only stand between two tokens */
                        *at++ = *result == '\n' || *result == '\r' ? ' ' : *result;
        }
        at = stpcpy(at, "}\n");
        (void)command_write(post->command, text, (size_t)(at - text));
}

void stream_tell_cancel(Post *post) {
        tell(post, NULL, NULL, NULL);
}

void item_done(Item *item) {
        free(item->key);
        free(item->result);
        free(item->error);
        *item = (Item){ 0 };
}

void stream_answer_item(Post *post, DeskWord word, const char *result) {
        Item item = post->item;

        post->item = (Item){ 0 };
        tell(post, item.key, desk_word_to_string(word), item.begins && word == DESK_DONE ? result : NULL);
        item_done(&item);
        command_pause(post->command, false);
}

/* ---- What it says ---- */

static char *copy(JsonText text) {
        return text.length > 0 ? strndup(text.text, text.length) : NULL;
}

static void take_result(Post *post, const Utterance *said) {
        post->outcome = (Outcome){ .verb = OUTCOME_COMPLETE };
        if (said->value.length > post->foreman->line->max_result)
                post_refuse_result(post, "the stream's result is longer than a result may be");
        else if (!json_text_is(said->value, "null")) /* which is no result, so that it needs no room and no statement */
                post->result = copy(said->value);
}

static void take_failure(Post *post, const Utterance *said) {
        Outcome *outcome = &post->outcome;

        *outcome = (Outcome){ .verb = OUTCOME_FAIL, .fatal = said->fatal };
        snprintf(outcome->error, sizeof outcome->error, "%s", said->error);
        if (said->class[0])
                snprintf(outcome->class, sizeof outcome->class, "%.*s",
                         (int)utf8_cut(said->class, strlen(said->class), sizeof outcome->class - 1), said->class);
        else
                outcome_fingerprint(said->error, outcome->class);
        if (!outcome->class[0])
                strcpy(outcome->class, "error");
        post->retry_in_usec = said->retry_in_usec;
}

static void take_progress(Post *post, const Utterance *said) {
        char *text = copy(said->value);
        if (text) {
                free(post->progress);
                post->progress = text;
        }
}

/* Its next line waits for the answer: items are counted one after the other, and a flood of them waits in its pipe. */
static void take_item(Post *post, const Utterance *said) {
        item_done(&post->item);
        post->item = (Item){ .errand = ERRAND_WANTED,
                             .begins = said->kind == UTTERANCE_ITEM_BEGIN,
                             .ok = said->ok,
                             .force = said->force,
                             .key = strdup(said->key),
                             .result = copy(said->value),
                             .error = said->error[0] ? strdup(said->error) : NULL };
        if (!post->item.key) {
                stream_break(post, "there was no memory for its item");
                return;
        }
        command_pause(post->command, true);
}

static void take(Post *post, const Utterance *said) {
        usec_t now = clock_now_usec();

        post_happens(post, SLOT_PROGRESSED, now);
        switch (said->kind) {
        case UTTERANCE_PROGRESS: take_progress(post, said); return;
        case UTTERANCE_ITEM_BEGIN:
        case UTTERANCE_ITEM_END: take_item(post, said); return;
        case UTTERANCE_RESULT:
                post->retry_in_usec = -1;
                take_result(post, said);
                break;
        case UTTERANCE_FAILURE: take_failure(post, said); break;
        }
        post->answered = true;
        post->deaths = 0;
        post->unproven = false;
        post_happens(post, SLOT_ANSWERED, now);
}

static bool is_about_present(const Post *post, const Utterance *said) {
        return (post->slot.state == SLOT_RUNNING || post->slot.state == SLOT_ASKED) && said->id == post->job.key.id &&
               said->generation == post->job.key.generation;
}

/* Late, or of an old generation, or made up: it says nothing about the present job, so it costs that one nothing. */
static void note_stranger(Post *post, const Utterance *said) {
        post->strangers++;
        if (post->strangers <= STRANGERS_SAID)
                log_warning("slot %u: the stream spoke of job %" PRId64 " generation %" PRId64
                            ", which it does not hold; the line was passed over",
                            post->number, said->id, said->generation);
        if (post->strangers == STRANGERS_MAX)
                stream_break(post, "it keeps speaking of jobs that it does not hold");
}

void stream_break(Post *post, const char *problem) {
        log_warning("slot %u: the stream broke its protocol: %s; it is killed and started again", post->number,
                    problem);
        snprintf(post->broken, sizeof post->broken, "%s", problem);
        command_distrust(post->command);
        if (post->slot.state == SLOT_RUNNING || post->slot.state == SLOT_ASKED)
                post_happens(post, SLOT_BROKE, clock_now_usec());
        else
                command_kill(post->command);
}

void stream_take_line(Post *post, const char *line, size_t length) {
        Utterance *said = post->foreman->utterance;
        char problem[UTTERANCE_PROBLEM_MAX];

        if (post->slot.state == SLOT_KILLED)
                return;
        if (utterance_parse(line, length, said, problem) < 0)
                stream_break(post, problem);
        else if (is_about_present(post, said))
                take(post, said);
        else
                note_stranger(post, said);
}
