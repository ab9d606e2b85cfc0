/* array_text.h - writes arrays as PostgreSQL reads them: {1,2}, {NULL,"{\"a\":1}"}.
 *
 * Pure but for malloc. */
#pragma once
#include <stddef.h>

/* Each quoted, NULL as it is: malloc's, or NULL when memory is out. */
char *array_text(const char *const *elements, size_t n);
