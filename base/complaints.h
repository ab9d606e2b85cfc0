/* complaints.h - collects every error of a configuration, so that all are printed and not the first only.
 *
 * A complaint is `FILE:LINE: message` (or `FILE: message` for line 0). Kept sorted by file in the order of reading,
 * then line. A message is cleaned of control characters and cut at 1 KiB. Memory is bounded: after 1,000 the rest is
 * counted. Allocation failure is remembered, never hidden: count() stays positive and print() says so. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

typedef struct Complaints Complaints;

int complaints_new(Complaints **ret);
Complaints *complaints_free(Complaints *complaints);
void complaints_freep(Complaints **complaints);

/* `file` is copied. A warning is printed like an error with "warning: " before the message and does not count. */
void complaints_add(Complaints *complaints, const char *file, unsigned line, const char *format, ...)
        __attribute__((format(printf, 4, 5)));
void complaints_warn(Complaints *complaints, const char *file, unsigned line, const char *format, ...)
        __attribute__((format(printf, 4, 5)));

/* Fixes the place of `file` in the order before anything is wrong with it. */
void complaints_expect_file(Complaints *complaints, const char *file);

size_t complaints_count(const Complaints *complaints); /* errors only */
size_t complaints_warning_count(const Complaints *complaints);
void complaints_print(const Complaints *complaints, FILE *out);

/* One complaint by index, errors and warnings together, for --json. False when `i` is past the end. */
bool complaints_get(const Complaints *complaints, size_t i, const char **ret_file, unsigned *ret_line,
                    const char **ret_message, bool *ret_is_warning);
