/* control_params.c - reads the parameters of a control request by name and type. */
#include "supervisor/control_params.h"
#include <errno.h>
#include <jansson.h>

static const json_t *find(const json_t *params, const char *key) {
        const json_t *value = json_object_get(params, key);

        return json_is_null(value) ? NULL : value;
}

int control_params_string(const json_t *params, const char *key, const char **ret) {
        const json_t *value = find(params, key);

        if (!value)
                return 0;
        if (!json_is_string(value))
                return -EINVAL;
        *ret = json_string_value(value);
        return 1;
}

int control_params_signed(const json_t *params, const char *key, int64_t *ret) {
        const json_t *value = find(params, key);

        if (!value)
                return 0;
        if (!json_is_integer(value))
                return -EINVAL;
        *ret = json_integer_value(value);
        return 1;
}

int control_params_unsigned(const json_t *params, const char *key, uint64_t *ret) {
        int64_t value = 0;
        int r = control_params_signed(params, key, &value);

        if (r <= 0)
                return r;
        if (value < 0)
                return -EINVAL;
        *ret = (uint64_t)value;
        return 1;
}

int control_params_item(const json_t *params, const char *key, size_t i, const char **ret) {
        const json_t *list = find(params, key), *value = json_array_get(list, i);

        if (list && (!json_is_array(list) || (value && !json_is_string(value))))
                return -EINVAL;
        if (!value)
                return 0;
        *ret = json_string_value(value);
        return 1;
}

int control_params_bool(const json_t *params, const char *key, bool *ret) {
        const json_t *value = find(params, key);

        if (!value)
                return 0;
        if (!json_is_boolean(value))
                return -EINVAL;
        *ret = json_is_true(value);
        return 1;
}
