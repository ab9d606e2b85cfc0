/* storable.c - see storable.h. */
#include "worker/storable.h"
#include "worker/json_text.h"
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define OPENING "{\"base64\":\""
#define CLOSING "\"}"

static bool is_blank(const char *bytes, size_t length) {
        for (size_t i = 0; i < length; i++)
                if (!memchr(" \t\r\n", bytes[i], 4))
                        return false;
        return true;
}

static char *write_base64(const unsigned char *bytes, size_t length, char *at) {
        static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
        for (size_t i = 0; i < length; i += 3) {
                size_t n = length - i < 3 ? length - i : 3;
                unsigned group = (unsigned)bytes[i] << 16 | (n > 1 ? (unsigned)bytes[i + 1] << 8 : 0) |
                                 (n > 2 ? bytes[i + 2] : 0u);
                *at++ = letters[group >> 18];
                *at++ = letters[group >> 12 & 63];
                *at++ = n > 1 ? letters[group >> 6 & 63] : '=';
                *at++ = n > 2 ? letters[group & 63] : '=';
        }
        return at;
}

static char *encode(const char *bytes, size_t length) {
        char *text = malloc(sizeof OPENING + (length + 2) / 3 * 4 + sizeof CLOSING);
        if (!text)
                return NULL;
        char *at = write_base64((const unsigned char *)bytes, length, stpcpy(text, OPENING));
        stpcpy(at, CLOSING);
        return text;
}

static char *copy(const char *bytes, size_t length) {
        char *text = malloc(length + 1);
        if (!text)
                return NULL;
        memcpy(text, bytes, length);
        text[length] = '\0';
        return text;
}

int storable_new(const char *bytes, size_t length, char **ret) {
        if (is_blank(bytes, length)) {
                *ret = NULL;
                return 0;
        }
        char *text = json_text_is_valid(bytes, length) ? copy(bytes, length) : encode(bytes, length);
        if (!text)
                return -ENOMEM;
        *ret = text;
        return 0;
}
