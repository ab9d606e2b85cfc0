/* moment.h - reads when a job shall run: a span from now, or an instant with its zone.
 *
 * Pure. `+30s`, `+1h 30min` are spans, counted by the database's clock. `2026-12-01T10:00:00Z`, `2026-12-01
 * 10:00+01:00` are instants: without a zone they would mean something else on the server than here, so that one is
 * wanted. */
#pragma once
#include "base/usec.h"
#include <stdbool.h>

#define MOMENT_TEXT_MAX 64

typedef struct Moment {
        bool is_span;
        usec_t span_usec;              /* of a span */
        char instant[MOMENT_TEXT_MAX]; /* of an instant, as PostgreSQL reads it */
} Moment;

/* 0; or -EINVAL and what is wrong, to stand behind the text. */
int moment_parse(const char *text, Moment *ret, const char **ret_problem);
