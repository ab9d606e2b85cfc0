/* property.c - see property.h. */
#include "verify/property.h"
#include "base/enumeration.h"

static const char *const property_words[_PROPERTY_MAX] = {
        [PROPERTY_REPEAT] = "repeat", [PROPERTY_ANSWER] = "answer",   [PROPERTY_QUIET] = "quiet",
        [PROPERTY_CRASH] = "crash",   [PROPERTY_OVERLAP] = "overlap", [PROPERTY_LATE] = "late",
        [PROPERTY_EARLY] = "early",   [PROPERTY_COMMUTE] = "commute", [PROPERTY_TERMINATION] = "termination",
        [PROPERTY_SIGNAL] = "signal",
};

static const char *const ruling_words[_RULING_MAX] = {
        [RULING_NONE] = "-",        [RULING_PASS] = "PASS",       [RULING_NOTE] = "NOTE",
        [RULING_LITTER] = "LITTER", [RULING_SKIPPED] = "SKIPPED", [RULING_INCONCLUSIVE] = "INCONCLUSIVE",
        [RULING_FAIL] = "FAIL",
};

ENUMERATION(property, Property, property_words)

const char *ruling_to_string(Ruling ruling) {
        return (size_t)ruling < _RULING_MAX ? ruling_words[ruling] : NULL;
}

Ruling ruling_add(Ruling sum, Ruling ruling) {
        if (ruling == RULING_NOTE || ruling == RULING_LITTER)
                ruling = RULING_PASS;
        return ruling > sum ? ruling : sum;
}

Ruling ruling_sum(const Ruling *rulings, size_t n) {
        Ruling sum = RULING_NONE;

        for (size_t i = 0; i < n; i++)
                sum = ruling_add(sum, rulings[i]);
        return sum;
}

int ruling_exit_code(Ruling sum) {
        switch (sum) {
        case RULING_PASS:
        case RULING_NOTE:
        case RULING_LITTER: return 0;
        case RULING_FAIL: return 1;
        case RULING_SKIPPED: return 77;
        case RULING_NONE:
        case RULING_INCONCLUSIVE:
        case _RULING_MAX: break;
        }
        return 3;
}
