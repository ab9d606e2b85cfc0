/* stamp.c - see stamp.h. */
#include "verify/stamp.h"
#include <ctype.h>
#include <stdbool.h>

#define ZONE_STEP_SEC 900
#define ZONE_MAX_SEC  (14 * 3600)
#define DAY_SEC       86400

static size_t digits_at(const char *text) {
        size_t n = 0;

        while (isdigit((unsigned char)text[n]))
                n++;
        return n;
}

static size_t fraction_at(const char *text) {
        size_t n = text[0] == '.' || text[0] == ',' ? digits_at(text + 1) : 0;

        return n > 0 ? n + 1 : 0;
}

static int number(const char *text, size_t n) {
        int value = 0;

        for (size_t i = 0; i < n; i++)
                value = value * 10 + (text[i] - '0');
        return value;
}

static bool is_in(int64_t moment, StampSpan span) {
        return moment >= span.since_sec && moment <= span.until_sec;
}

static bool is_in_some_zone(int64_t moment, StampSpan span) {
        for (int64_t zone = -ZONE_MAX_SEC; zone <= ZONE_MAX_SEC; zone += ZONE_STEP_SEC)
                if (is_in(moment + zone, span))
                        return true;
        return false;
}

/* Days since 1970 of the proleptic Gregorian calendar, with years that begin in March so that February is the last. */
static int64_t days_of(int year, int month, int day) {
        int64_t y = month <= 2 ? year - 1 : year;
        int64_t m = month <= 2 ? month + 9 : month - 3;

        return 365 * y + y / 4 - y / 100 + y / 400 + (153 * m + 2) / 5 + day - 1 - 719468;
}

static bool time_at(const char *text, int64_t *ret_sec) {
        if (digits_at(text) != 2 || text[2] != ':' || digits_at(text + 3) != 2 || text[5] != ':' ||
            digits_at(text + 6) != 2)
                return false;
        *ret_sec = number(text, 2) * 3600 + number(text + 3, 2) * 60 + number(text + 6, 2);
        return true;
}

static size_t date_and_time(const char *text, StampSpan span) {
        int64_t seconds;

        if (digits_at(text) != 4 || text[4] != '-' || digits_at(text + 5) != 2 || text[7] != '-' ||
            digits_at(text + 8) != 2 || (text[10] != 'T' && text[10] != ' ') || !time_at(text + 11, &seconds))
                return 0;
        seconds += days_of(number(text, 4), number(text + 5, 2), number(text + 8, 2)) * DAY_SEC;
        return is_in_some_zone(seconds, span) ? 19 + fraction_at(text + 19) : 0;
}

static size_t time_of_day(const char *text, StampSpan span) {
        int64_t seconds;

        if (!time_at(text, &seconds))
                return 0;
        for (int64_t day = span.since_sec / DAY_SEC - 1; day <= span.until_sec / DAY_SEC + 1; day++)
                if (is_in_some_zone(day * DAY_SEC + seconds, span))
                        return 8 + fraction_at(text + 8);
        return 0;
}

static size_t epoch(const char *text, StampSpan span) {
        size_t n = digits_at(text);
        int64_t seconds = 0;

        if (n != 10 && n != 13 && n != 16 && n != 19)
                return 0;
        for (size_t i = 0; i < 10; i++)
                seconds = seconds * 10 + (text[i] - '0');
        return is_in(seconds, span) ? n + (n == 10 ? fraction_at(text + n) : 0) : 0;
}

size_t stamp_length(const char *text, StampSpan span) {
        size_t n;

        if (span.until_sec == 0 || !isdigit((unsigned char)text[0]))
                return 0;
        n = date_and_time(text, span);
        n = n > 0 ? n : time_of_day(text, span);
        return n > 0 ? n : epoch(text, span);
}
