/* property.h - the ten laws that a hook is held to, the verdicts, and how verdicts add up.
 *
 * Pure. Values only. */
#pragma once
#include <stdbool.h>
#include <stddef.h>

typedef enum Property {
        PROPERTY_REPEAT,
        PROPERTY_ANSWER,
        PROPERTY_QUIET,
        PROPERTY_CRASH,
        PROPERTY_OVERLAP,
        PROPERTY_LATE,
        PROPERTY_EARLY,
        PROPERTY_COMMUTE, /* of a pair; never in the verdict of either hook */
        PROPERTY_TERMINATION,
        PROPERTY_SIGNAL,
        _PROPERTY_MAX
} Property;

const char *property_to_string(Property property);
int property_from_string(const char *text);

typedef enum Ruling {              /* the later one beats the earlier ones */
                      RULING_NONE, /* not asked for, or not declared: there is nothing to say */
                      RULING_PASS,
                      RULING_NOTE,   /* passes, and something is worth knowing */
                      RULING_LITTER, /* passes, with a warning: randomly named files are left after a crash */
                      RULING_SKIPPED,
                      RULING_INCONCLUSIVE,
                      RULING_FAIL,
                      _RULING_MAX
} Ruling;

const char *ruling_to_string(Ruling ruling);

/* FAIL beats INCONCLUSIVE beats SKIPPED beats PASS; a note and litter are a PASS of the hook. */
Ruling ruling_add(Ruling sum, Ruling ruling);
/* 0, 1, 3, 77. A sum of nothing has proved nothing: 3. */
int ruling_exit_code(Ruling sum);
/* Everything was skipped is another thing than something was: only then the sum of all hooks is SKIPPED. */
Ruling ruling_sum(const Ruling *rulings, size_t n);
