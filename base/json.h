/* json.h - writes JSON into memory that the caller owns; never allocates, never fails half-way.
 *
 * PID 1 must be able to say what happened when memory is gone. Text is cleaned to valid UTF-8 (each bad byte becomes
 * U+FFFD) and escaped by RFC 8259. When the buffer is full the writer stops at a token and remembers it
 * (json_overflowed()), and json_finish() still closes what is open: room for that is kept back from the start, so the
 * result is always one well-formed value. Nesting at most JSON_DEPTH_MAX. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define JSON_DEPTH_MAX 16

typedef struct Json {
        char *text;
        size_t size;   /* of the buffer */
        size_t length; /* used so far */
        bool overflowed;
        bool comma; /* the next token needs one before it */
        unsigned depth;
        char closers[JSON_DEPTH_MAX];
} Json;

void json_init(Json *json, char *buffer, size_t size); /* size >= 64 */
void json_open_object(Json *json, const char *key);    /* key NULL inside an array or at the top */
void json_open_array(Json *json, const char *key);
void json_close(Json *json);
void json_put_string(Json *json, const char *key, const char *value); /* NULL value writes null */
void json_put_stringn(Json *json, const char *key, const char *value, size_t length);
void json_put_unsigned(Json *json, const char *key, uint64_t value);
void json_put_signed(Json *json, const char *key, int64_t value);
void json_put_bool(Json *json, const char *key, bool value);
void json_put_null(Json *json, const char *key);
bool json_overflowed(const Json *json);
/* Closes everything that is open, ends the text with NUL, returns its length. */
size_t json_finish(Json *json);
