/* clock.c - asks the kernel what time it is.
 *
 * The calendar is computed here: gmtime_r() may read the time zone file at its first call, and PID 1 must not wait for
 * a file system just to print a line. */
#include "base/clock.h"
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#define DAYS_PER_ERA 146097u /* 400 years: the calendar repeats itself */

static usec_t read_clock(clockid_t clock) {
        struct timespec now;
        /* Cannot fail: both clocks exist on every Linux and the pointer is good. */
        clock_gettime(clock, &now);
        return (usec_t)now.tv_sec * USEC_PER_SEC + (usec_t)now.tv_nsec / 1000;
}

usec_t clock_now_usec(void) {
        return read_clock(CLOCK_MONOTONIC);
}

usec_t clock_wall_usec(void) {
        return read_clock(CLOCK_REALTIME);
}

typedef struct Date {
        uint64_t year;
        unsigned month, day;
} Date;

/* Years are counted from March, so that the leap day is the last day of its year and needs no special case. */
static Date date_from_days(uint64_t days_since_1970) {
        uint64_t days = days_since_1970 + 719468; /* since 0000-03-01 */
        uint64_t era = days / DAYS_PER_ERA;
        unsigned day_of_era = (unsigned)(days % DAYS_PER_ERA);
        unsigned leap_days = day_of_era / 1460 - day_of_era / 36524 + day_of_era / (DAYS_PER_ERA - 1);
        unsigned year_of_era = (day_of_era - leap_days) / 365;
        unsigned day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
        unsigned month = (5 * day_of_year + 2) / 153; /* 0 is March; 153 days in each five months */
        Date date = {
                .year = era * 400 + year_of_era + (month >= 10),
                .month = month < 10 ? month + 3 : month - 9,
                .day = day_of_year - (153 * month + 2) / 5 + 1,
        };
        return date;
}

void clock_format_wall(usec_t wall, char ret_text[static CLOCK_TEXT_MAX]) {
        uint64_t seconds = wall / USEC_PER_SEC;
        unsigned of_day = (unsigned)(seconds % 86400);
        Date date = date_from_days(seconds / 86400);
        char text[64]; /* what the compiler thinks it may take; the farthest usec_t, in the year 586524, takes 30 */

        snprintf(text, sizeof text, "%04" PRIu64 "-%02u-%02uT%02u:%02u:%02u.%06uZ", date.year, date.month, date.day,
                 of_day / 3600, of_day / 60 % 60, of_day % 60, (unsigned)(wall % USEC_PER_SEC));
        memcpy(ret_text, text, CLOCK_TEXT_MAX);
}

/* The reverse of date_from_days(). */
static uint64_t days_from_date(Date date) {
        uint64_t year = date.month > 2 ? date.year : date.year - 1;
        unsigned year_of_era = (unsigned)(year % 400);
        unsigned month = date.month > 2 ? date.month - 3 : date.month + 9;
        unsigned day_of_year = (153 * month + 2) / 5 + date.day - 1;
        unsigned day_of_era = 365 * year_of_era + year_of_era / 4 - year_of_era / 100 + day_of_year;
        return year / 400 * DAYS_PER_ERA + day_of_era - 719468;
}

static bool has_form_of_time(const char *text) {
        const char *form = "0000-00-00T00:00:00.000000Z";
        for (; *form; form++, text++)
                if (*form == '0' ? *text < '0' || *text > '9' : *text != *form)
                        return false;
        return !*text;
}

static unsigned number_of(const char *digits, unsigned n) {
        unsigned number = 0;
        while (n-- > 0)
                number = 10 * number + (unsigned)(*digits++ - '0');
        return number;
}

int clock_parse_wall(const char *text, usec_t *ret) {
        if (!has_form_of_time(text))
                return -EINVAL;
        Date date = { .year = number_of(text, 4), .month = number_of(text + 5, 2), .day = number_of(text + 8, 2) };
        unsigned hour = number_of(text + 11, 2), minute = number_of(text + 14, 2), second = number_of(text + 17, 2);
        if (date.year < 1970 || date.month < 1 || date.month > 12 || date.day < 1 || hour > 23 || minute > 59 ||
            second > 59)
                return -EINVAL;
        uint64_t days = days_from_date(date);
        if (date_from_days(days).day != date.day) /* the 31st of a month that has 30 days */
                return -EINVAL;
        *ret = (days * 86400 + hour * 3600 + minute * 60 + second) * USEC_PER_SEC + number_of(text + 20, 6);
        return 0;
}
