/* duration.c - reads and writes spans of time and sizes, in whole numbers only: no floating point, no rounding. */
#include "base/duration.h"
#include "base/take.h"
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define USEC_PER_MINUTE (60 * USEC_PER_SEC)
#define USEC_PER_HOUR   (60 * USEC_PER_MINUTE)
#define USEC_PER_DAY    (24 * USEC_PER_HOUR)
#define USEC_PER_WEEK   (7 * USEC_PER_DAY)

typedef struct Unit {
        char name[8]; /* the letters and not a pointer to them: nothing for the dynamic linker to write */
        uint64_t factor;
} Unit;

/* The spellings of systemd.time(7) but months and years: nobody waits a month for a process, and they are not exact. */
static const Unit time_units[] = {
        { "us", 1 },
        { "usec", 1 },
        { "\xC2\xB5s", 1 }, /* micro sign */
        { "\xCE\xBCs", 1 }, /* Greek letter mu, which looks the same */
        { "ms", USEC_PER_MSEC },
        { "msec", USEC_PER_MSEC },
        { "s", USEC_PER_SEC },
        { "sec", USEC_PER_SEC },
        { "second", USEC_PER_SEC },
        { "seconds", USEC_PER_SEC },
        { "m", USEC_PER_MINUTE },
        { "min", USEC_PER_MINUTE },
        { "minute", USEC_PER_MINUTE },
        { "minutes", USEC_PER_MINUTE },
        { "h", USEC_PER_HOUR },
        { "hr", USEC_PER_HOUR },
        { "hour", USEC_PER_HOUR },
        { "hours", USEC_PER_HOUR },
        { "d", USEC_PER_DAY },
        { "day", USEC_PER_DAY },
        { "days", USEC_PER_DAY },
        { "w", USEC_PER_WEEK },
        { "week", USEC_PER_WEEK },
        { "weeks", USEC_PER_WEEK },
};

static const Unit size_units[] = {
        { "K", UINT64_C(1) << 10 },
        { "M", UINT64_C(1) << 20 },
        { "G", UINT64_C(1) << 30 },
        { "T", UINT64_C(1) << 40 },
};

static const char *skip_blanks(const char *text) {
        return text + strspn(text, " \t");
}

static bool is_digit(char c) {
        return c >= '0' && c <= '9';
}

/* The digits at *text as a number; *text moves behind them. -EINVAL without a digit. */
static int read_whole(const char **text, uint64_t *ret) {
        uint64_t value = 0;
        const char *at = *text;

        if (!is_digit(*at))
                return -EINVAL;
        for (; is_digit(*at); at++)
                if (__builtin_mul_overflow(value, 10, &value) ||
                    __builtin_add_overflow(value, (uint64_t)(*at - '0'), &value))
                        return -ERANGE;
        *text = at;
        *ret = value;
        return 0;
}

/* The part of `factor` that the digits behind the point say. Taken from the last digit to the first, each step divides
 * an exact sum, so the result is the exact value rounded down, however many digits there are. */
static uint64_t scale_fraction(const char *digits, size_t n, uint64_t factor) {
        uint64_t part = 0;
        while (n-- > 0)
                part = ((uint64_t)(digits[n] - '0') * factor + part) / 10;
        return part;
}

/* Reads the letters of a unit; *text moves behind them. NULL when there are letters but no such unit; `plain` when
 * there are none. */
static const Unit *read_unit(const char **text, const Unit *units, size_t n, const Unit *plain) {
        const char *start = skip_blanks(*text);
        size_t length = strcspn(start, " \t0123456789.");

        if (length == 0)
                return plain;
        for (size_t i = 0; i < n; i++)
                if (strlen(units[i].name) == length && strncmp(units[i].name, start, length) == 0) {
                        *text = start + length;
                        return &units[i];
                }
        return NULL;
}

/* Adds one "NUMBER[.FRACTION] UNIT" to *sum. `text` starts at its first letter and moves behind it. */
static int add_term(const char **text, bool first, usec_t *sum) {
        static const Unit seconds = { "", USEC_PER_SEC };
        const char *at = *text;
        uint64_t whole;
        size_t n_digits = 0;

        int r = read_whole(&at, &whole);
        if (r < 0)
                return r;
        const char *digits = at;
        if (*at == '.') {
                digits = at + 1;
                n_digits = strspn(digits, "0123456789");
                if (n_digits == 0)
                        return -EINVAL;
                at = digits + n_digits;
        }
        const Unit *unit = read_unit(&at, time_units, LENGTH_OF(time_units), &seconds);
        /* A number without a unit stands alone: in "1 30min" the reader would have to guess. */
        if (!unit || (unit == &seconds && (!first || *skip_blanks(at))))
                return -EINVAL;
        uint64_t part = scale_fraction(digits, n_digits, unit->factor);
        if (__builtin_mul_overflow(whole, unit->factor, &whole) || __builtin_add_overflow(whole, part, &whole) ||
            __builtin_add_overflow(*sum, whole, sum))
                return -ERANGE;
        *text = skip_blanks(at);
        return 0;
}

static bool is_infinity(const char *text) {
        static const char word[] = "infinity";
        return strncmp(text, word, sizeof word - 1) == 0 && *skip_blanks(text + sizeof word - 1) == '\0';
}

int duration_parse(const char *text, usec_t *ret) {
        usec_t sum = 0;
        bool first = true;

        text = skip_blanks(text);
        if (is_infinity(text)) {
                *ret = USEC_INFINITY;
                return 0;
        }
        do {
                int r = add_term(&text, first, &sum);
                if (r < 0)
                        return r;
                first = false;
        } while (*text);
        if (sum == USEC_INFINITY) /* a number must not mean "for ever" by accident */
                return -ERANGE;
        *ret = sum;
        return 0;
}

/* "1.5 s": `value` in thousandths of the unit, at most `decimals` of them printed, without zeros at the end. */
static void format_decimal(uint64_t thousandths, unsigned decimals, const char *unit, char *ret_text) {
        unsigned rest = (unsigned)(thousandths % 1000);
        int length = snprintf(ret_text, DURATION_TEXT_MAX, "%" PRIu64 ".%03u", thousandths / 1000, rest);
        size_t end = (size_t)length - (3 - decimals);

        while (ret_text[end - 1] == '0')
                end--;
        if (ret_text[end - 1] == '.')
                end--;
        snprintf(ret_text + end, DURATION_TEXT_MAX - end, " %s", unit);
}

static void format_parts(usec_t span, char *ret_text) {
        static const Unit parts[] = {
                { "d", USEC_PER_DAY },
                { "h", USEC_PER_HOUR },
                { "min", USEC_PER_MINUTE },
                { "s", USEC_PER_SEC },
        };
        size_t length = 0;
        unsigned n = 0;

        for (size_t i = 0; i < LENGTH_OF(parts) && n < 3; i++) {
                uint64_t count = span / parts[i].factor;
                span %= parts[i].factor;
                if (n > 0 || count > 0)
                        n++; /* a zero between two parts counts too: "1 d 5 s" would claim a precision it has not */
                if (count > 0)
                        length += (size_t)snprintf(ret_text + length, DURATION_TEXT_MAX - length, "%s%" PRIu64 " %s",
                                                   length ? " " : "", count, parts[i].name);
        }
}

const char *duration_format(usec_t span, char ret_text[static DURATION_TEXT_MAX]) {
        if (span == USEC_INFINITY)
                strcpy(ret_text, "infinity");
        else if (span == 0)
                strcpy(ret_text, "0 s");
        else if (span < USEC_PER_MSEC)
                snprintf(ret_text, DURATION_TEXT_MAX, "%" PRIu64 " us", span);
        else if (span < USEC_PER_SEC)
                format_decimal(span, span < 10 * USEC_PER_MSEC ? 1 : 0, "ms", ret_text);
        else if (span < USEC_PER_MINUTE)
                format_decimal(span / 1000, 2, "s", ret_text);
        else
                format_parts(span, ret_text);
        return ret_text;
}

int size_parse(const char *text, uint64_t *ret_bytes) {
        static const Unit bytes = { "", 1 };
        uint64_t value;

        text = skip_blanks(text);
        int r = read_whole(&text, &value);
        if (r < 0)
                return r;
        const Unit *unit = read_unit(&text, size_units, LENGTH_OF(size_units), &bytes);
        if (!unit || *skip_blanks(text))
                return -EINVAL;
        if (__builtin_mul_overflow(value, unit->factor, &value))
                return -ERANGE;
        *ret_bytes = value;
        return 0;
}
