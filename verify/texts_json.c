/* texts_json.c - see texts_json.h. */
#include "verify/texts_json.h"
#include "base/take.h"
#include "verify/texts.h"
#include <errno.h>
#include <string.h>

json_t *bytes_to_json(const char *text) {
        _cleanup_(freep) char *wide = malloc(2 * strlen(text) + 1);
        char *to = wide;

        if (!wide)
                return NULL;
        for (const unsigned char *from = (const unsigned char *)text; *from; from++)
                if (*from < 0x80)
                        *to++ = (char)*from;
                else {
                        *to++ = (char)(0xc0 | *from >> 6);
                        *to++ = (char)(0x80 | (*from & 0x3f));
                }
        *to = 0;
        return json_string(wide);
}

json_t *texts_to_json(char *const *texts) {
        json_t *array = json_array();

        for (; array && texts && *texts; texts++)
                if (json_array_append_new(array, bytes_to_json(*texts)) < 0) {
                        json_decref(array);
                        return NULL;
                }
        return array;
}

int bytes_from_json(const json_t *value, char **ret) {
        const unsigned char *from = (const unsigned char *)json_string_value(value);

        if (!from)
                return -EBADMSG;
        char *text = malloc(strlen((const char *)from) + 1), *to = text;
        if (!text)
                return -ENOMEM;
        for (; *from; from++)
                if (*from < 0x80)
                        *to++ = (char)*from;
                else if ((*from & 0xfc) == 0xc0 && (from[1] & 0xc0) == 0x80) {
                        *to++ = (char)((*from & 3) << 6 | (from[1] & 0x3f));
                        from++;
                } else {
                        free(text);
                        return -EBADMSG;
                }
        *to = 0;
        *ret = text;
        return 0;
}

int texts_from_json(const json_t *value, char ***ret) {
        size_t n = json_array_size(value);
        char **texts = calloc(n + 1, sizeof *texts);

        if (!texts)
                return -ENOMEM;
        for (size_t i = 0; i < n; i++) {
                int r = bytes_from_json(json_array_get(value, i), &texts[i]);
                if (r < 0) {
                        texts_free(texts);
                        return r;
                }
        }
        *ret = texts;
        return 0;
}
