/* moment.c - reads when a job shall run. */
#include "ledger/moment.h"
#include "base/duration.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>

static const char usage[] = "is neither a span like +30s nor an instant like 2026-12-01T10:00:00Z";

static int refuse(const char *problem, const char **ret_problem) {
        *ret_problem = problem;
        return -EINVAL;
}

/* The text's front has this shape: 0 stands for a digit, t for the T or the blank before the time. */
static bool has_shape(const char *text, const char *shape) {
        for (; *shape; shape++, text++) {
                bool fits = *shape == '0'   ? *text >= '0' && *text <= '9'
                            : *shape == 't' ? *text == 'T' || *text == 't' || *text == ' '
                                            : *text == *shape;
                if (!fits)
                        return false;
        }
        return true;
}

static const char *skip_seconds(const char *text) {
        if (!has_shape(text, ":00"))
                return text;
        text += 3;
        if (*text == '.' && has_shape(text + 1, "0"))
                text += 1 + strspn(text + 1, "0123456789");
        return text;
}

static bool is_zone(const char *text) {
        if (strcmp(text, "Z") == 0 || strcmp(text, "z") == 0)
                return true;
        if (*text != '+' && *text != '-')
                return false;
        return (has_shape(text + 1, "00:00") && !text[6]) || (has_shape(text + 1, "0000") && !text[5]) ||
               (has_shape(text + 1, "00") && !text[3]);
}

static int parse_span(const char *text, Moment *ret, const char **ret_problem) {
        usec_t span;

        if (duration_parse(text, &span) < 0 || span == USEC_INFINITY)
                return refuse(usage, ret_problem);
        *ret = (Moment){ .is_span = true, .span_usec = span };
        return 0;
}

int moment_parse(const char *text, Moment *ret, const char **ret_problem) {
        static const char date_and_time[] = "0000-00-00t00:00";

        if (*text == '+')
                return parse_span(text + 1, ret, ret_problem);
        if (!has_shape(text, date_and_time) || strlen(text) >= MOMENT_TEXT_MAX)
                return refuse(usage, ret_problem);
        const char *zone = skip_seconds(text + strlen(date_and_time));
        if (!*zone)
                return refuse("has no zone: put Z behind it for UTC, or +01:00", ret_problem);
        if (!is_zone(zone))
                return refuse(usage, ret_problem);
        *ret = (Moment){ .is_span = false };
        strcpy(ret->instant, text);
        return 0;
}
