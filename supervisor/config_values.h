/* config_values.h - reads single values: text into a field, or a complaint that says what would have been right.
 *
 * A table of ValueRule names for each key of a section its reader and its field. A reader that complains leaves the
 * field as it was. Complaints show the value, except where it may be a secret (Environment, commands). */
#pragma once
#include "supervisor/config_reading.h"
#include <stddef.h>

typedef void (*ValueReader)(Reading *reading, const Setting *setting, void *ret_value);

typedef struct ValueRule {
        const char *key;
        ValueReader read;
        size_t offset; /* of the field in the object */
} ValueRule;

/* Calls the rule of each item; keys without a rule are somebody else's. */
void values_read(Reading *reading, const SettingsSection *section, const ValueRule *rules, size_t n, void *object);

/* "KEY=VALUE: " and the sentence. */
void value_refuse(Reading *reading, const Setting *setting, const char *format, ...)
        __attribute__((format(printf, 3, 4)));
/* Only "KEY: " and the sentence. */
void value_refuse_hidden(Reading *reading, const Setting *setting, const char *format, ...)
        __attribute__((format(printf, 3, 4)));
void value_warn(Reading *reading, const Setting *setting, const char *format, ...)
        __attribute__((format(printf, 3, 4)));
void value_warn_hidden(Reading *reading, const Setting *setting, const char *format, ...)
        __attribute__((format(printf, 3, 4)));

void value_bool(Reading *reading, const Setting *setting, void *ret_value);  /* bool */
void value_span(Reading *reading, const Setting *setting, void *ret_value);  /* usec_t, 0 allowed */
void value_limit(Reading *reading, const Setting *setting, void *ret_value); /* usec_t, neither 0 nor infinity */
void value_limit_or_infinity(Reading *reading, const Setting *setting, void *ret_value); /* usec_t, not 0 */
void value_size(Reading *reading, const Setting *setting, void *ret_value);              /* uint64_t, at least 4096 */
void value_count(Reading *reading, const Setting *setting, void *ret_value);             /* unsigned, 0 allowed */
void value_instances(Reading *reading, const Setting *setting, void *ret_value);     /* uint16_t, 1 to INSTANCES_MAX */
void value_signal(Reading *reading, const Setting *setting, void *ret_value);        /* uint8_t */
void value_reload_signal(Reading *reading, const Setting *setting, void *ret_value); /* uint8_t, or 0 for none */
void value_watchdog(Reading *reading, const Setting *setting, void *ret_value);      /* usec_t, USEC_INFINITY: off */
void value_store_max(Reading *reading, const Setting *setting, void *ret_value);     /* uint16_t */
void value_path(Reading *reading, const Setting *setting, void *ret_value);          /* char *, absolute */
void value_directory(Reading *reading, const Setting *setting, void *ret_value);     /* char *, exists */
void value_standard_output(Reading *reading, const Setting *setting, void *ret_value); /* Outputs *, made if NULL */
void value_standard_error(Reading *reading, const Setting *setting, void *ret_value);  /* the same */
void value_log_max_size(Reading *reading, const Setting *setting, void *ret_value);    /* the same */
void value_log_max_files(Reading *reading, const Setting *setting, void *ret_value);   /* the same */
void value_group(Reading *reading, const Setting *setting, void *ret_value);           /* int: gid (config_user.c) */
void value_pattern(Reading *reading, const Setting *setting, void *ret_value); /* char *: an ERE that compiles */

void value_mode(Reading *reading, const Setting *setting, void *ret_value);
void value_log_format(Reading *reading, const Setting *setting, void *ret_value);
void value_log_level(Reading *reading, const Setting *setting, void *ret_value);
void value_service_type(Reading *reading, const Setting *setting, void *ret_value);
void value_restart(Reading *reading, const Setting *setting, void *ret_value);
void value_kill_mode(Reading *reading, const Setting *setting, void *ret_value);
void value_drain_until(Reading *reading, const Setting *setting, void *ret_value);
void value_hook_on(Reading *reading, const Setting *setting, void *ret_value);
void value_on_failure(Reading *reading, const Setting *setting, void *ret_value);

/* Digits, with a sign or without. False after a complaint. */
bool value_integer(Reading *reading, const Setting *setting, int least, int most, int *ret);
/* Index of the word, or -1 after a complaint that lists them. */
int value_word(Reading *reading, const Setting *setting, const char *const *words, size_t n);
/* The words of a list or command; free *ret_words. False after a complaint or without memory. */
bool value_words(Reading *reading, const Setting *setting, char ***ret_words, size_t *ret_n);
