/* config_values.c - the readers of single values. */
#include "supervisor/config_values.h"
#include "base/duration.h"
#include "base/enumeration.h"
#include "base/names.h"
#include "base/take.h"
#include "base/words.h"
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define VALUE_SHOWN_MAX      80 /* of a value in a complaint */
#define SENTENCE_MAX         640
#define JOURNAL_SIZE_MIN     4096
#define DESCRIPTOR_STORE_MAX 512
#define WATCHDOG_LEAST_USEC  (100 * USEC_PER_MSEC)

/* ---- Complaints ---- */

typedef enum Show { SHOW_VALUE, SHOW_KEY } Show;

static void complain(Reading *reading, const Setting *setting, bool warn, Show show, const char *format, va_list ap)
        __attribute__((format(printf, 5, 0)));

static void complain(Reading *reading, const Setting *setting, bool warn, Show show, const char *format, va_list ap) {
        char sentence[SENTENCE_MAX];
        const char *equals = show == SHOW_VALUE ? "=" : "", *value = show == SHOW_VALUE ? setting->value : "";

        vsnprintf(sentence, sizeof sentence, format, ap);
        (warn ? complaints_warn : complaints_add)(reading->complaints, setting->file, setting->line, "%s%s%.*s: %s",
                                                  setting->key, equals, VALUE_SHOWN_MAX, value, sentence);
}

void value_refuse(Reading *reading, const Setting *setting, const char *format, ...) {
        va_list ap;
        va_start(ap, format);
        complain(reading, setting, false, SHOW_VALUE, format, ap);
        va_end(ap);
}

void value_refuse_hidden(Reading *reading, const Setting *setting, const char *format, ...) {
        va_list ap;
        va_start(ap, format);
        complain(reading, setting, false, SHOW_KEY, format, ap);
        va_end(ap);
}

void value_warn(Reading *reading, const Setting *setting, const char *format, ...) {
        va_list ap;
        va_start(ap, format);
        complain(reading, setting, true, SHOW_VALUE, format, ap);
        va_end(ap);
}

void value_warn_hidden(Reading *reading, const Setting *setting, const char *format, ...) {
        va_list ap;
        va_start(ap, format);
        complain(reading, setting, true, SHOW_KEY, format, ap);
        va_end(ap);
}

/* ---- Tables ---- */

static const ValueRule *find_rule(const ValueRule *rules, size_t n, const char *key) {
        for (size_t i = 0; i < n; i++)
                if (strcmp(rules[i].key, key) == 0)
                        return &rules[i];
        return NULL;
}

void values_read(Reading *reading, const SettingsSection *section, const ValueRule *rules, size_t n, void *object) {
        for (size_t i = 0; i < section->n_items; i++) {
                const ValueRule *rule = find_rule(rules, n, section->items[i].key);
                if (rule)
                        rule->read(reading, &section->items[i], (char *)object + rule->offset);
        }
}

/* ---- Words ---- */

int value_word(Reading *reading, const Setting *setting, const char *const *words, size_t n) {
        int found = enumeration_find(words, n, setting->value);
        if (found >= 0)
                return found;

        char list[SENTENCE_MAX / 2] = "";
        size_t length = 0;
        for (size_t i = 0; i < n && length < sizeof list; i++)
                length += (size_t)snprintf(list + length, sizeof list - length, "%s%s",
                                           i == 0      ? ""
                                           : i + 1 < n ? ", "
                                                       : " or ",
                                           words[i]);
        value_refuse(reading, setting, "must be %s", list);
        return -1;
}

bool value_words(Reading *reading, const Setting *setting, char ***ret_words, size_t *ret_n) {
        const char *problem = NULL;
        int r = words_split(setting->value, ret_words, ret_n, &problem);

        if (r == -EINVAL)
                value_refuse_hidden(reading, setting, "%s", problem);
        else if (r < 0)
                reading->error = r;
        return r == 0;
}

void value_bool(Reading *reading, const Setting *setting, void *ret_value) {
        static const char *const words[] = { "no", "yes", "false", "true", "off", "on", "0", "1" };

        for (size_t i = 0; i < LENGTH_OF(words); i++)
                if (strcasecmp(words[i], setting->value) == 0) {
                        *(bool *)ret_value = i % 2 == 1;
                        return;
                }
        value_refuse(reading, setting, "must be yes or no (or true, false, on, off, 1, 0)");
}

/* ---- Numbers ---- */

static bool read_span(Reading *reading, const Setting *setting, usec_t *ret) {
        int r = duration_parse(setting->value, ret);
        if (r == -ERANGE || (r == 0 && *ret == USEC_UNSET))
                value_refuse(reading, setting, "is too long a time");
        else if (r < 0)
                value_refuse(reading, setting, "is no span of time (write 500ms, 30s, 5min or \"1h 30min\")");
        else
                return true;
        return false;
}

void value_span(Reading *reading, const Setting *setting, void *ret_value) {
        usec_t span = 0;
        if (!read_span(reading, setting, &span))
                return;
        if (span == USEC_INFINITY)
                value_refuse(reading, setting, "must end: infinity is not allowed here");
        else
                *(usec_t *)ret_value = span;
}

void value_limit(Reading *reading, const Setting *setting, void *ret_value) {
        usec_t span = 0;
        if (!read_span(reading, setting, &span))
                return;
        if (span == USEC_INFINITY)
                value_refuse(reading, setting, "must end: infinity is not allowed here");
        else if (span == 0)
                value_refuse(reading, setting, "must be more than 0");
        else
                *(usec_t *)ret_value = span;
}

void value_limit_or_infinity(Reading *reading, const Setting *setting, void *ret_value) {
        usec_t span = 0;
        if (!read_span(reading, setting, &span))
                return;
        if (span == 0)
                value_refuse(reading, setting, "must be more than 0 (write infinity for no limit)");
        else
                *(usec_t *)ret_value = span;
}

void value_size(Reading *reading, const Setting *setting, void *ret_value) {
        uint64_t size = 0;
        int r = size_parse(setting->value, &size);

        if (r < 0)
                value_refuse(reading, setting, "is no size (write 64K, 16M or 1G)");
        else if (size < JOURNAL_SIZE_MIN)
                value_refuse(reading, setting, "must be at least 4K");
        else
                *(uint64_t *)ret_value = size;
}

/* Only digits; false after a complaint. */
static bool read_number(Reading *reading, const Setting *setting, unsigned least, unsigned most, unsigned *ret) {
        const char *text = setting->value;
        unsigned long number = 0;
        size_t n = strspn(text, "0123456789");

        for (size_t i = 0; i < n && number <= most; i++)
                number = number * 10 + (unsigned long)(text[i] - '0');
        if (n == 0 || text[n] || number < least || number > most) {
                value_refuse(reading, setting, "must be a number from %u to %u", least, most);
                return false;
        }
        *ret = (unsigned)number;
        return true;
}

void value_count(Reading *reading, const Setting *setting, void *ret_value) {
        unsigned number;
        if (read_number(reading, setting, 0, 1000000, &number))
                *(unsigned *)ret_value = number;
}

void value_instances(Reading *reading, const Setting *setting, void *ret_value) {
        unsigned number;
        if (read_number(reading, setting, 1, INSTANCES_MAX, &number))
                *(uint16_t *)ret_value = (uint16_t)number;
}

bool value_integer(Reading *reading, const Setting *setting, int least, int most, int *ret) {
        const char *digits = setting->value + (*setting->value == '-' || *setting->value == '+');
        size_t n = strspn(digits, "0123456789");
        long number = n < 9 ? strtol(setting->value, NULL, 10) : LONG_MAX;

        if (n == 0 || digits[n] || number < least || number > most) {
                value_refuse(reading, setting, "must be a number from %d to %d", least, most);
                return false;
        }
        *ret = (int)number;
        return true;
}

void value_signal(Reading *reading, const Setting *setting, void *ret_value) {
        int number = signal_from_string(setting->value);

        if (number < 0)
                value_refuse(reading, setting, "is no signal (write SIGTERM, QUIT, SIGRTMIN+3 or a number)");
        else if (number == SIGSTOP || number == SIGTSTP || number == SIGTTIN || number == SIGTTOU)
                value_refuse(reading, setting, "only suspends a program and never ends it");
        else
                *(uint8_t *)ret_value = (uint8_t)number; /* at most SIGRTMAX, 64 */
}

void value_reload_signal(Reading *reading, const Setting *setting, void *ret_value) {
        int number = signal_from_string(setting->value);

        if (strcmp(setting->value, "none") == 0)
                *(uint8_t *)ret_value = 0;
        else if (number == SIGKILL)
                value_refuse(reading, setting, "ends every program: no reload");
        else
                value_signal(reading, setting, ret_value);
}

void value_watchdog(Reading *reading, const Setting *setting, void *ret_value) {
        usec_t span = 0;

        if (strcmp(setting->value, "off") != 0 && !read_span(reading, setting, &span))
                return;
        if (span > 0 && span < WATCHDOG_LEAST_USEC)
                value_refuse(reading, setting, "must be at least 100ms, or off");
        else
                *(usec_t *)ret_value = span > 0 ? span : USEC_INFINITY; /* 0 is off, as systemd has it */
}

void value_store_max(Reading *reading, const Setting *setting, void *ret_value) {
        unsigned number;
        if (read_number(reading, setting, 0, DESCRIPTOR_STORE_MAX, &number))
                *(uint16_t *)ret_value = (uint16_t)number;
}
