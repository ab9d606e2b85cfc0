/* json.c - writes JSON into memory that the caller owns.
 *
 * Each token is written for real and taken back when it did not fit, so there is no second calculation of lengths that
 * could differ from the first. */
#include "base/json.h"
#include "base/utf8.h"
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* Bytes that a token may still use: all but the brackets that are open and the NUL. */
static size_t room(const Json *json) {
        return json->size - json->length - json->depth - 1;
}

/* False when it does not fit. */
static bool append(Json *json, const char *bytes, size_t n) {
        if (n > room(json))
                return false;
        memcpy(json->text + json->length, bytes, n);
        json->length += n;
        return true;
}

static bool append_character(Json *json, const char *bytes, size_t n) {
        static const char names[] = "\"\\\b\f\n\r\t", letters[] = "\"\\bfnrt";
        unsigned char c = (unsigned char)*bytes;
        const char *named = c ? strchr(names, c) : NULL;
        char escape[7];

        if (named) {
                char pair[] = { '\\', letters[named - names] };
                return append(json, pair, sizeof pair);
        }
        if (c >= 0x20)
                return append(json, bytes, n);
        snprintf(escape, sizeof escape, "\\u%04x", c);
        return append(json, escape, 6);
}

/* How many characters at the beginning stand for themselves; nearly all of what we write does. */
static size_t plain_run(const char *text, size_t length) {
        size_t n = 0;
        while (n < length && text[n] >= ' ' && text[n] <= '~' && text[n] != '"' && text[n] != '\\')
                n++;
        return n;
}

static bool append_quoted(Json *json, const char *text, size_t length) {
        if (!append(json, "\"", 1))
                return false;
        for (size_t i = 0; i < length;) {
                size_t plain = plain_run(text + i, length - i);
                if (plain > 0) {
                        if (!append(json, text + i, plain))
                                return false;
                        i += plain;
                        continue;
                }
                size_t n = utf8_character(text + i, length - i);
                bool fits = n ? append_character(json, text + i, n) : append(json, "\xEF\xBF\xBD", 3);
                if (!fits)
                        return false;
                i += n ? n : 1;
        }
        return append(json, "\"", 1);
}

/* The comma and the key, where they belong. A key in an array is dropped and a missing one in an object is empty: a
 * mistake of the caller must not cost the whole text. */
static bool append_before(Json *json, const char *key) {
        if (json->comma && !append(json, ",", 1))
                return false;
        if (json->depth == 0 || json->closers[json->depth - 1] == ']')
                return true;
        if (!key)
                key = "";
        return append_quoted(json, key, strlen(key)) && append(json, ":", 1);
}

/* False when nothing may be written any more: a token was left out, or the one value at the top is there. */
static bool may_write(Json *json) {
        if (json->depth == 0 && json->length > 0)
                json->overflowed = true;
        return !json->overflowed;
}

/* Ends a token: it stands whole, or it never was. */
static void settle(Json *json, size_t start, bool fits) {
        if (fits) {
                json->comma = true;
                return;
        }
        json->length = start;
        json->overflowed = true;
}

static void put(Json *json, const char *key, const char *bytes) {
        size_t start = json->length;
        if (may_write(json))
                settle(json, start, append_before(json, key) && append(json, bytes, strlen(bytes)));
}

static void open_level(Json *json, const char *key, const char *opener, char closer) {
        size_t start = json->length;

        if (!may_write(json))
                return;
        /* Room for two: the bracket, and the one that will close it. */
        bool fits =
                json->depth < JSON_DEPTH_MAX && append_before(json, key) && room(json) >= 2 && append(json, opener, 1);
        settle(json, start, fits);
        if (!fits)
                return;
        json->closers[json->depth++] = closer;
        json->comma = false;
}

static void close_level(Json *json) {
        json->text[json->length++] = json->closers[--json->depth];
        json->comma = true;
}

void json_init(Json *json, char *buffer, size_t size) {
        *json = (Json){ .text = buffer, .size = size };
}

void json_open_object(Json *json, const char *key) {
        open_level(json, key, "{", '}');
}

void json_open_array(Json *json, const char *key) {
        open_level(json, key, "[", ']');
}

/* After a token was left out it is unknown which level a close belongs to; json_finish() closes them all. */
void json_close(Json *json) {
        if (!json->overflowed && json->depth > 0)
                close_level(json);
}

void json_put_string(Json *json, const char *key, const char *value) {
        if (value)
                json_put_stringn(json, key, value, strlen(value));
        else
                json_put_null(json, key);
}

void json_put_stringn(Json *json, const char *key, const char *value, size_t length) {
        size_t start = json->length;
        if (may_write(json))
                settle(json, start, append_before(json, key) && append_quoted(json, value, length));
}

void json_put_unsigned(Json *json, const char *key, uint64_t value) {
        char number[24];
        snprintf(number, sizeof number, "%" PRIu64, value);
        put(json, key, number);
}

void json_put_signed(Json *json, const char *key, int64_t value) {
        char number[24];
        snprintf(number, sizeof number, "%" PRId64, value);
        put(json, key, number);
}

void json_put_bool(Json *json, const char *key, bool value) {
        put(json, key, value ? "true" : "false");
}

void json_put_null(Json *json, const char *key) {
        put(json, key, "null");
}

bool json_overflowed(const Json *json) {
        return json->overflowed;
}

size_t json_finish(Json *json) {
        while (json->depth > 0)
                close_level(json);
        if (json->length == 0) { /* the only value did not fit; `size` has room for this one */
                memcpy(json->text, "null", 4);
                json->length = 4;
        }
        json->text[json->length] = '\0';
        return json->length;
}
