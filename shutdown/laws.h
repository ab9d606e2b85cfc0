/* laws.h - judges a run by its journal: which laws of the house it kept, which it broke and where.
 *
 * Pure but for the memory of the judgement. Judged is what a journal alone can show. L8 is not: no journal says what
 * StartLimitBurst was. Where events are missing nothing is said to hold, for what is missing could have broken it. */
#pragma once
#include "shutdown/event.h"
#include <stddef.h>
#include <stdint.h>

typedef enum Law { LAW_1, LAW_2, LAW_3, LAW_4, LAW_5, LAW_6, LAW_7, LAW_9, LAW_10, _LAW_MAX } Law;

const char *law_to_string(Law law); /* "L1" */
int law_from_string(const char *text);
const char *law_sentence(Law law); /* what it demands */

typedef enum LawState {
        LAW_NOT_EXERCISED, /* nothing happened that could have broken it */
        LAW_HELD,
        LAW_BROKEN,
        LAW_UNKNOWN, /* the journal lacks what would show it */
        _LAW_STATE_MAX,
} LawState;

const char *law_state_to_string(LawState state);
int law_state_from_string(const char *text);

#define LAW_BREACHES_MAX 8
#define LAW_TEXT_MAX     200

typedef struct LawFinding {
        LawState state;
        unsigned times;                      /* it was exercised */
        unsigned n_breaches;                 /* all of them */
        uint64_t breaches[LAW_BREACHES_MAX]; /* the first ones: the seq of the event that broke it */
        char text[LAW_TEXT_MAX];             /* the first breach, or why it was not judged; else empty */
} LawFinding;

typedef struct Judgement {
        LawFinding of[_LAW_MAX];
        uint64_t missing;                  /* events that should be there: before the first one, and in gaps */
        uint64_t missing_from, missing_to; /* the first such stretch */
        bool finished;
} Judgement;

/* One run, in order: its events, those of unknown kinds (_EVENT_MAX) among them. 0 or -ENOMEM. */
int laws_judge(const Event *events, size_t n, Judgement *ret);

/* BROKEN if one is; else UNKNOWN if one is; else HELD if one was exercised. */
LawState laws_answer(const Judgement *judgement);
