/* array_text.c - see array_text.h. */
#include "worker/array_text.h"
#include <stdlib.h>
#include <string.h>

#define OF_NULL 5 /* NULL, */

static size_t room(const char *const *elements, size_t n) {
        size_t size = sizeof "{}";
        for (size_t i = 0; i < n; i++)
                size += elements[i] ? 2 * strlen(elements[i]) + 3 : OF_NULL;
        return size;
}

static char *put(char *at, const char *element) {
        if (!element)
                return stpcpy(at, "NULL");
        *at++ = '"';
        for (; *element; element++) {
                if (*element == '"' || *element == '\\')
                        *at++ = '\\';
                *at++ = *element;
        }
        *at++ = '"';
        return at;
}

char *array_text(const char *const *elements, size_t n) {
        char *text = malloc(room(elements, n)), *at = text;
        if (!text)
                return NULL;
        *at++ = '{';
        for (size_t i = 0; i < n; i++) {
                if (i > 0)
                        *at++ = ',';
                at = put(at, elements[i]);
        }
        stpcpy(at, "}");
        return text;
}
