/* json_text.h - finds the parts of a JSON text without changing a byte of them, and tells JSON from what is none.
 *
 * Pure. A payload and a result pass through the worker as they are: a parser that reads numbers and writes them again
 * would change them. Strict by RFC 8259: valid UTF-8, no control character within a string, at most JSON_TEXT_DEPTH
 * levels (a server has a limit of its own, and a row must not break on it). */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define JSON_TEXT_DEPTH 256

typedef struct JsonText { /* borrowed; not ended by NUL */
        const char *text;
        size_t length;
} JsonText;

/* One value and nothing behind it but blanks. */
bool json_text_is_valid(const char *text, size_t length);

typedef struct JsonMember {
        JsonText key;   /* between its quotes, escapes as they stand */
        JsonText value; /* without blanks around it */
} JsonMember;

/* The members of an object, in their order. Their number, at most `most`; -EINVAL: this is no JSON object; -E2BIG:
 * there are more. */
int json_text_members(const char *text, size_t length, JsonMember *ret, size_t most);

/* A string's own text, escapes resolved, with a NUL behind it; a lone half of a surrogate pair and U+0000 become
 * U+FFFD. Its length; -EINVAL: the value is no string; -E2BIG: longer than size - 1. */
int json_text_string(JsonText value, char *ret, size_t size);
/* 0; -EINVAL: no whole number in range. */
int json_text_integer(JsonText value, int64_t *ret);
bool json_text_is(JsonText value, const char *word); /* true, false, null; or a key */
