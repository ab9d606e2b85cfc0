/* status_text.h - the answer to `status` as a table for people.
 *
 * Pure: a value in, text out. Texts of services are cleaned. More than 8 instances of a service that are all alike
 * become one line, unless `all` is asked for. */
#pragma once
#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

typedef struct StatusTextStyle {
        bool all, colour;
} StatusTextStyle;

void status_text_write(const json_t *status, StatusTextStyle style, FILE *out);
