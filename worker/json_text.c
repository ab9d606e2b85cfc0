/* json_text.c - see json_text.h. */
#include "worker/json_text.h"
#include "base/utf8.h"
#include <errno.h>
#include <string.h>

typedef struct Scan {
        const char *at, *end;
} Scan;

static void skip_blanks(Scan *scan) {
        while (scan->at < scan->end && memchr(" \t\r\n", *scan->at, 4))
                scan->at++;
}

static bool take(Scan *scan, char c) {
        if (scan->at == scan->end || *scan->at != c)
                return false;
        scan->at++;
        return true;
}

static bool take_word(Scan *scan, const char *word) {
        size_t n = strlen(word);
        if ((size_t)(scan->end - scan->at) < n || memcmp(scan->at, word, n) != 0)
                return false;
        scan->at += n;
        return true;
}

static bool take_digits(Scan *scan) {
        const char *begin = scan->at;
        while (scan->at < scan->end && *scan->at >= '0' && *scan->at <= '9')
                scan->at++;
        return scan->at > begin;
}

static bool take_number(Scan *scan) {
        take(scan, '-');
        if (!take(scan, '0') && !take_digits(scan))
                return false;
        if (take(scan, '.') && !take_digits(scan))
                return false;
        if (take(scan, 'e') || take(scan, 'E')) {
                if (!take(scan, '+'))
                        take(scan, '-');
                return take_digits(scan);
        }
        return true;
}

static int hex_digit(char c) {
        if (c >= '0' && c <= '9')
                return c - '0';
        c |= 0x20;
        return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static int take_hex(Scan *scan) {
        int value = 0;
        for (int i = 0; i < 4; i++) {
                int digit = scan->at < scan->end ? hex_digit(*scan->at) : -1;
                if (digit < 0)
                        return -EINVAL;
                value = value * 16 + digit;
                scan->at++;
        }
        return value;
}

static bool take_escape(Scan *scan) {
        if (scan->at == scan->end)
                return false;
        char c = *scan->at++;
        return c == 'u' ? take_hex(scan) >= 0 : memchr("\"\\/bfnrt", c, 8) != NULL;
}

static bool take_string(Scan *scan) {
        if (!take(scan, '"'))
                return false;
        while (scan->at < scan->end) {
                unsigned char c = (unsigned char)*scan->at;
                if (c == '"') {
                        scan->at++;
                        return true;
                }
                if (c < 0x20)
                        return false;
                if (c == '\\') {
                        scan->at++;
                        if (!take_escape(scan))
                                return false;
                        continue;
                }
                size_t n = c < 0x80 ? 1 : utf8_character(scan->at, (size_t)(scan->end - scan->at));
                if (n == 0)
                        return false;
                scan->at += n;
        }
        return false;
}

static bool take_key(Scan *scan) {
        skip_blanks(scan);
        if (!take_string(scan))
                return false;
        skip_blanks(scan);
        return take(scan, ':');
}

static bool take_scalar(Scan *scan) {
        switch (scan->at < scan->end ? *scan->at : '\0') {
        case '"': return take_string(scan);
        case 't': return take_word(scan, "true");
        case 'f': return take_word(scan, "false");
        case 'n': return take_word(scan, "null");
        default: return take_number(scan);
        }
}

/* Behind a value: closes what ends here, and goes to the next value. False: this is no JSON. */
static bool take_end(Scan *scan, const char closers[static JSON_TEXT_DEPTH], size_t *depth) {
        while (*depth > 0) {
                skip_blanks(scan);
                if (take(scan, ','))
                        return closers[*depth - 1] == ']' || take_key(scan);
                if (!take(scan, closers[*depth - 1]))
                        return false;
                --*depth;
        }
        return true;
}

/* An opening bracket at the front: goes in. An empty one is a value that is over, told by *ret_over. */
static bool take_opening(Scan *scan, char closers[static JSON_TEXT_DEPTH], size_t *depth, bool *ret_over) {
        char closer = take(scan, '{') ? '}' : take(scan, '[') ? ']' : '\0';
        *ret_over = closer == '\0';
        if (closer == '\0')
                return take_scalar(scan);
        skip_blanks(scan);
        if (take(scan, closer)) {
                *ret_over = true;
                return true;
        }
        if (*depth == JSON_TEXT_DEPTH)
                return false;
        closers[(*depth)++] = closer;
        return closer == ']' || take_key(scan);
}

static bool take_value(Scan *scan) {
        char closers[JSON_TEXT_DEPTH];
        size_t depth = 0;

        do {
                bool over;
                skip_blanks(scan);
                if (!take_opening(scan, closers, &depth, &over) || (over && !take_end(scan, closers, &depth)))
                        return false;
                if (over && depth == 0)
                        return true;
        } while (true);
}

bool json_text_is_valid(const char *text, size_t length) {
        Scan scan = { text, text + length };
        if (!take_value(&scan))
                return false;
        skip_blanks(&scan);
        return scan.at == scan.end;
}

static bool take_member(Scan *scan, JsonMember *ret) {
        skip_blanks(scan);
        const char *key = scan->at;
        if (!take_string(scan))
                return false;
        ret->key = (JsonText){ key + 1, (size_t)(scan->at - key) - 2 };
        skip_blanks(scan);
        if (!take(scan, ':'))
                return false;
        skip_blanks(scan);
        const char *value = scan->at;
        if (!take_value(scan))
                return false;
        ret->value = (JsonText){ value, (size_t)(scan->at - value) };
        skip_blanks(scan);
        return true;
}

int json_text_members(const char *text, size_t length, JsonMember *ret, size_t most) {
        Scan scan = { text, text + length };
        size_t n = 0;

        if (!json_text_is_valid(text, length))
                return -EINVAL;
        skip_blanks(&scan);
        if (!take(&scan, '{'))
                return -EINVAL;
        skip_blanks(&scan);
        if (take(&scan, '}'))
                return 0;
        do {
                JsonMember member;
                if (!take_member(&scan, &member))
                        return -EINVAL;
                if (n == most)
                        return -E2BIG;
                ret[n++] = member;
        } while (take(&scan, ','));
        return (int)n;
}

/* ---- Strings ---- */

static size_t write_utf8(unsigned code, char ret[static 4]) {
        if (code == 0 || (code >= 0xd800 && code < 0xe000))
                code = 0xfffd;
        if (code < 0x80) {
                ret[0] = (char)code;
                return 1;
        }
        size_t n = code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
        for (size_t i = n - 1; i > 0; i--, code >>= 6)
                ret[i] = (char)(0x80 | (code & 0x3f));
        ret[0] = (char)((n == 2 ? 0xc0 : n == 3 ? 0xe0 : 0xf0) | code);
        return n;
}

static size_t read_unicode(Scan *scan, char ret[static 4]) {
        unsigned code = (unsigned)take_hex(scan);
        Scan ahead = *scan;
        if (code >= 0xd800 && code < 0xdc00 && take_word(&ahead, "\\u")) {
                unsigned low = (unsigned)take_hex(&ahead);
                if (low >= 0xdc00 && low < 0xe000) {
                        *scan = ahead;
                        code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
                }
        }
        return write_utf8(code, ret);
}

static size_t read_escape(Scan *scan, char ret[static 4]) {
        static const char names[] = "bfnrt", meanings[] = "\b\f\n\r\t";
        char c = *scan->at++;
        if (c == 'u')
                return read_unicode(scan, ret);
        const char *name = strchr(names, c);
        ret[0] = name ? meanings[name - names] : c;
        return 1;
}

int json_text_string(JsonText value, char *ret, size_t size) {
        Scan scan = { value.text, value.text + value.length };
        size_t used = 0;

        if (!take_string(&scan) || scan.at != scan.end)
                return -EINVAL;
        scan = (Scan){ value.text + 1, value.text + value.length - 1 };
        while (scan.at < scan.end) {
                char letters[4];
                size_t n = 1;
                letters[0] = *scan.at++;
                if (letters[0] == '\\')
                        n = read_escape(&scan, letters);
                if (used + n >= size)
                        return -E2BIG;
                memcpy(ret + used, letters, n);
                used += n;
        }
        ret[used] = '\0';
        return (int)used;
}

int json_text_integer(JsonText value, int64_t *ret) {
        bool negative = value.length > 0 && value.text[0] == '-';
        uint64_t number = 0, most = (uint64_t)INT64_MAX + negative;

        if (value.length == negative)
                return -EINVAL;
        for (size_t i = negative; i < value.length; i++) {
                if (value.text[i] < '0' || value.text[i] > '9')
                        return -EINVAL;
                unsigned digit = (unsigned)(value.text[i] - '0');
                if (number > (most - digit) / 10)
                        return -EINVAL;
                number = number * 10 + digit;
        }
        *ret = negative ? (int64_t)(0 - number) : (int64_t)number;
        return 0;
}

bool json_text_is(JsonText value, const char *word) {
        return value.length == strlen(word) && memcmp(value.text, word, value.length) == 0;
}
