/* config_limits.c - see config_limits.h. */
#include "supervisor/config_limits.h"
#include "base/duration.h"
#include "base/take.h"
#include <stdbool.h>
#include <string.h>

#define NICE_LEAST     (-20)
#define NICE_MOST      19
#define SHOWN_MAX      40
#define VALUE_TEXT_MAX 64

const LimitKind limit_kinds[LIMIT_KINDS] = {
        { "LimitCPU", RLIMIT_CPU, LIMIT_SECONDS },         { "LimitFSIZE", RLIMIT_FSIZE, LIMIT_BYTES },
        { "LimitDATA", RLIMIT_DATA, LIMIT_BYTES },         { "LimitSTACK", RLIMIT_STACK, LIMIT_BYTES },
        { "LimitCORE", RLIMIT_CORE, LIMIT_BYTES },         { "LimitRSS", RLIMIT_RSS, LIMIT_BYTES },
        { "LimitNOFILE", RLIMIT_NOFILE, LIMIT_COUNT },     { "LimitAS", RLIMIT_AS, LIMIT_BYTES },
        { "LimitNPROC", RLIMIT_NPROC, LIMIT_COUNT },       { "LimitMEMLOCK", RLIMIT_MEMLOCK, LIMIT_BYTES },
        { "LimitLOCKS", RLIMIT_LOCKS, LIMIT_COUNT },       { "LimitSIGPENDING", RLIMIT_SIGPENDING, LIMIT_COUNT },
        { "LimitMSGQUEUE", RLIMIT_MSGQUEUE, LIMIT_BYTES }, { "LimitNICE", RLIMIT_NICE, LIMIT_NICE },
        { "LimitRTPRIO", RLIMIT_RTPRIO, LIMIT_COUNT },     { "LimitRTTIME", RLIMIT_RTTIME, LIMIT_MICROSECONDS },
};

const LimitKind *limit_kind_of_key(const char *key) {
        for (size_t i = 0; i < LENGTH_OF(limit_kinds); i++)
                if (strcmp(limit_kinds[i].key, key) == 0)
                        return &limit_kinds[i];
        return NULL;
}

const LimitKind *limit_kind_of_resource(int resource) {
        for (size_t i = 0; i < LENGTH_OF(limit_kinds); i++)
                if (limit_kinds[i].resource == resource)
                        return &limit_kinds[i];
        return NULL;
}

/* ---- Values ---- */

/* Digits only; false when there are none, others, or too many for an rlim_t that is not infinity. */
static bool read_digits(const char *text, uint64_t *ret) {
        uint64_t number = 0;
        size_t n = strspn(text, "0123456789");

        for (size_t i = 0; i < n; i++)
                if (__builtin_mul_overflow(number, 10, &number) ||
                    __builtin_add_overflow(number, (uint64_t)(text[i] - '0'), &number))
                        return false;
        *ret = number;
        return n > 0 && !text[n] && number != RLIM_INFINITY;
}

static int read_count(const char *text, rlim_t *ret, Problem *problem) {
        if (read_digits(text, ret))
                return 0;
        return problem_say(problem, "%.*s is no number (or infinity)", SHOWN_MAX, text);
}

static bool scale(uint64_t number, unsigned shift, rlim_t *ret) {
        if (number > (RLIM_INFINITY - 1) >> shift)
                return false;
        *ret = number << shift;
        return true;
}

/* systemd.exec(5): K, M, G, T, P, E to the base of 1024. */
static int read_bytes(const char *text, rlim_t *ret, Problem *problem) {
        static const char units[] = "BKMGTPE";
        size_t length = strlen(text);
        const char *unit = length > 0 ? strchr(units, text[length - 1]) : NULL;
        char digits[VALUE_TEXT_MAX];
        uint64_t number = 0;

        if (length < sizeof digits) {
                memcpy(digits, text, length + 1);
                if (unit)
                        digits[length - 1] = '\0';
                if (read_digits(digits, &number) && scale(number, unit ? 10 * (unsigned)(unit - units) : 0, ret))
                        return 0;
        }
        return problem_say(problem, "%.*s is no size (write 64K, 16M, 1G or infinity)", SHOWN_MAX, text);
}

/* A bare number is seconds, and rounded up to them: the limit counts no less. */
static int read_seconds(const char *text, rlim_t *ret, Problem *problem) {
        usec_t span;

        if (read_digits(text, ret))
                return 0;
        if (duration_parse(text, &span) < 0 || span == USEC_INFINITY)
                return problem_say(problem, "%.*s is no span of time (write 30s, 5min or infinity)", SHOWN_MAX, text);
        *ret = span / USEC_PER_SEC + (span % USEC_PER_SEC > 0);
        return 0;
}

/* A bare number is microseconds. */
static int read_microseconds(const char *text, rlim_t *ret, Problem *problem) {
        usec_t span;

        if (read_digits(text, ret))
                return 0;
        if (duration_parse(text, &span) < 0 || span == USEC_INFINITY)
                return problem_say(problem,
                                   "%.*s is no span of time (a bare number is microseconds; or write 200ms, 1s "
                                   "or infinity)",
                                   SHOWN_MAX, text);
        *ret = span;
        return 0;
}

/* "-5" and "+5" are nice levels; a bare number is what the kernel counts with. */
static int read_nice(const char *text, rlim_t *ret, Problem *problem) {
        uint64_t number = 0;
        bool level = *text == '+' || *text == '-';

        if (!level && read_digits(text, &number) && number <= 20 - NICE_LEAST) {
                *ret = number;
                return 0;
        }
        if (level && read_digits(text + 1, &number) && number <= (*text == '+' ? NICE_MOST : -NICE_LEAST)) {
                *ret = *text == '+' ? 20 - number : 20 + number;
                return 0;
        }
        return problem_say(problem, "%.*s is neither a nice level with its sign (-20 to +19) nor a number from 0 to 40",
                           SHOWN_MAX, text);
}

static int read_value(LimitUnit unit, const char *text, rlim_t *ret, Problem *problem) {
        if (strcmp(text, "infinity") == 0) {
                *ret = RLIM_INFINITY;
                return 0;
        }
        switch (unit) {
        case LIMIT_COUNT: return read_count(text, ret, problem);
        case LIMIT_BYTES: return read_bytes(text, ret, problem);
        case LIMIT_SECONDS: return read_seconds(text, ret, problem);
        case LIMIT_MICROSECONDS: return read_microseconds(text, ret, problem);
        case LIMIT_NICE: return read_nice(text, ret, problem);
        }
        return -EINVAL;
}

int limit_parse(const LimitKind *kind, const char *text, struct rlimit *ret, Problem *problem) {
        const char *colon = strchr(text, ':');
        size_t length = colon ? (size_t)(colon - text) : strlen(text);
        char soft[VALUE_TEXT_MAX];
        struct rlimit limit = { 0 };

        if (length >= sizeof soft)
                return problem_say(problem, "is too long for a limit");
        memcpy(soft, text, length);
        soft[length] = '\0';
        int r = read_value(kind->unit, soft, &limit.rlim_cur, problem);
        limit.rlim_max = limit.rlim_cur;
        if (r == 0 && colon)
                r = read_value(kind->unit, colon + 1, &limit.rlim_max, problem);
        if (r < 0)
                return r;
        if (limit.rlim_cur > limit.rlim_max) /* infinity is the largest number */
                return problem_say(problem, "the soft limit, which stands first, is above the hard one");
        *ret = limit;
        return 0;
}

const char *limit_format(rlim_t limit, char ret_text[static LIMIT_TEXT_MAX]) {
        if (limit == RLIM_INFINITY)
                return strcpy(ret_text, "infinity");
        snprintf(ret_text, LIMIT_TEXT_MAX, "%llu", (unsigned long long)limit);
        return ret_text;
}
