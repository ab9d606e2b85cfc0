/* health.h - whether endwell lives, has started, is ready, and why not: the answers to /livez, /startupz and /readyz.
 *
 * Pure. Livez speaks of endwell alone: a service that fails is endwell's to restart, not the orchestrator's. What is
 * not known is not ready. */
#pragma once
#include "gateway/picture.h"
#include <stdio.h>

typedef enum HealthQuestion { HEALTH_LIVE, HEALTH_READY, HEALTH_STARTED, _HEALTH_MAX } HealthQuestion;

const char *health_question_to_string(HealthQuestion question); /* "livez" */

#define HEALTH_SILENCE_USEC (10 * USEC_PER_SEC) /* of endwell, until it is taken for dead */

typedef struct HealthView {
        const Picture *picture;
        const Snapshot *status; /* NULL: not known */
        const char *ready_when; /* names with commas; NULL: all */
        bool connected;         /* and the journal is read up to now */
        usec_t silence_usec;    /* since endwell was heard last */
} HealthView;

/* Whether the answer is yes; the text says why, or why not, in a line, or with `verbose` in one for each reason. */
bool health_answer(const HealthView *view, HealthQuestion question, bool verbose, FILE *out);
