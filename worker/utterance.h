/* utterance.h - reads one line that a stream child wrote: a result, a failure, progress, or an item's beginning or end.
 *
 * Pure. A line is a JSON object with "id" and "generation" of the job it is about, and one of
 *   "result": any JSON                          the job is done
 *   "error": TEXT [, "class": TEXT, "retry_in": SECONDS, "fatal": true]      it failed
 *   "progress": any JSON                        it moves on; kept for the next attempt
 *   "item": KEY, "begin": true [, "force": BOOL]     answered go, done, in_doubt, cancel or stale
 *   "item": KEY, "done": BOOL [, "result": any JSON, "error": TEXT]          answered ok or stale
 * Other members are ignored. */
#pragma once
#include "worker/json_text.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define UTTERANCE_TEXT_MAX    4001 /* what the ledger keeps of a text, and NUL */
#define UTTERANCE_PROBLEM_MAX 128

typedef enum UtteranceKind {
        UTTERANCE_RESULT,
        UTTERANCE_FAILURE,
        UTTERANCE_PROGRESS,
        UTTERANCE_ITEM_BEGIN,
        UTTERANCE_ITEM_END,
} UtteranceKind;

typedef struct Utterance {
        UtteranceKind kind;
        int64_t id, generation;
        JsonText value; /* of a result, of progress, of an item's result (length 0: none); points into the line */
        bool fatal, ok;
        int force;             /* -1: not said */
        int64_t retry_in_usec; /* -1: not said */
        char key[UTTERANCE_TEXT_MAX];
        char error[UTTERANCE_TEXT_MAX]; /* "" : none */
        char class[121];
} Utterance;

/* 0; -EINVAL and a sentence: "it is no JSON object", "it has no id". */
int utterance_parse(const char *line, size_t length, Utterance *ret, char ret_problem[static UTTERANCE_PROBLEM_MAX]);
