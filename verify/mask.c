/* mask.c - see mask.h. */
#include "verify/mask.h"
#include <ctype.h>
#include <string.h>

typedef struct Token {
        const char *at;
        size_t length;
        bool is_stamp;
} Token;

static bool is_word(char c) {
        return isalnum((unsigned char)c) || c == '_' || c == '.' || (unsigned char)c >= 0x80;
}

static bool is_blank(char c) {
        return c == ' ' || c == '\t';
}

/* The token behind `before`; of length 0 at the end. */
static Token next_token(const Token *before, StampSpan span) {
        Token token = { .at = before->at + before->length };

        token.length = stamp_length(token.at, span);
        token.is_stamp = token.length > 0;
        if (token.is_stamp)
                return token;
        if (is_word(*token.at))
                while (is_word(token.at[token.length]))
                        token.length++;
        else if (is_blank(*token.at))
                while (is_blank(token.at[token.length]))
                        token.length++;
        else
                token.length = *token.at ? 1 : 0;
        return token;
}

static bool is_free_kind(const Token *token) {
        return token->is_stamp || (token->length > 0 && is_word(*token->at));
}

static bool is_same(const Token *a, const Token *b) {
        if (a->is_stamp && b->is_stamp)
                return true;
        if (a->length > 0 && b->length > 0 && is_blank(*a->at) && is_blank(*b->at))
                return true; /* columns move with the width of a number */
        return a->length == b->length && memcmp(a->at, b->at, a->length) == 0;
}

MaskFit mask_fit(const char *one, const char *other, const char *line, StampSpan span) {
        Token a = { .at = one }, b = { .at = other }, c = { .at = line };
        MaskFit fit = MASK_SAME;

        do {
                a = next_token(&a, span);
                b = next_token(&b, span);
                c = next_token(&c, span);
                if (is_same(&a, &b)) {
                        if (!is_same(&a, &c))
                                return MASK_DIFFERS;
                } else if (!is_free_kind(&a) || !is_free_kind(&b) || !is_free_kind(&c)) {
                        return MASK_DIFFERS;
                } else {
                        fit = MASK_FITS;
                }
        } while (a.length > 0);
        return fit;
}

MaskFit mask_of(const char *one, const char *other, StampSpan span) {
        return mask_fit(one, other, other, span);
}

static size_t common_prefix(const char *one, const char *other) {
        size_t n = 0;

        while (one[n] && one[n] == other[n])
                n++;
        return n;
}

static size_t common_suffix(const char *one, const char *other, size_t length, size_t prefix) {
        size_t n = 0;

        while (n < length - prefix && one[length - 1 - n] == other[length - 1 - n])
                n++;
        return n;
}

static bool is_in_one_name(const char *key, size_t begin, size_t end) {
        return !memchr(key + begin, '/', end - begin);
}

static size_t name_begin(const char *key, size_t at) {
        while (at > 0 && key[at - 1] != '/')
                at--;
        return at;
}

static size_t name_length(const char *key, size_t begin) {
        return strcspn(key + begin, "/");
}

bool mask_is_same_name(const char *one, const char *other) {
        size_t length = strlen(one), prefix = common_prefix(one, other);

        if (one[0] != '/' || strlen(other) != length || prefix == length)
                return false;
        size_t suffix = common_suffix(one, other, length, prefix), begin = name_begin(one, prefix);
        size_t name = name_length(one, begin);
        if (!is_in_one_name(one, prefix, length - suffix) || !is_in_one_name(other, prefix, length - suffix))
                return false;
        /* With nothing in common but the length two names are two names, unless they are long as random ones are. */
        return prefix > begin || length - suffix < begin + name || name >= 6;
}

bool mask_admits_name(const char *one, const char *other, const char *key) {
        size_t length = strlen(one), prefix = common_prefix(one, other);
        size_t suffix = common_suffix(one, other, length, prefix);

        return strlen(key) == length && strncmp(key, one, prefix) == 0 &&
               strcmp(key + length - suffix, one + length - suffix) == 0 &&
               is_in_one_name(key, prefix, length - suffix);
}
