/* texts_json.h - bytes as JSON and back: paths, arguments and environments are bytes, which JSON's strings are not.
 *
 * Each byte is one character of the string. */
#pragma once
#include <jansson.h>

/* NULL: out of memory. */
json_t *bytes_to_json(const char *text);
json_t *texts_to_json(char *const *texts); /* NULL-terminated, or NULL: an empty array */

/* 0; -EBADMSG: not what is written above; -ENOMEM. free() it; texts_free(). */
int bytes_from_json(const json_t *value, char **ret);
int texts_from_json(const json_t *value, char ***ret);
