/* control_params.h - reads the parameters of a control request by name and type. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct json_t json_t;

/* Each: 1 and the value; 0 when it was not sent (or is null), *ret untouched; -EINVAL when it is of another type or out
 * of range. `params` may be NULL. A text lives as long as the params. */
int control_params_string(const json_t *params, const char *key, const char **ret);
int control_params_unsigned(const json_t *params, const char *key, uint64_t *ret);
int control_params_signed(const json_t *params, const char *key, int64_t *ret);
int control_params_item(const json_t *params, const char *key, size_t i, const char **ret); /* of a list of texts */
int control_params_bool(const json_t *params, const char *key, bool *ret);
