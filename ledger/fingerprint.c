/* fingerprint.c - what errors of one cause have in common. */
#include "ledger/fingerprint.h"
#include "base/utf8.h"
#include <stdbool.h>
#include <string.h>

#define HEX_LENGTH 8 /* letters and digits a to f: a word from so many on that has a digit is a number */

static bool is_digit(char c) {
        return c >= '0' && c <= '9';
}

static bool is_word(char c) {
        return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (unsigned char)c >= 0x80;
}

/* The length of a quotation that begins here, 0 when it does not end on this line. An apostrophe within a word is none.
 */
static size_t quotation(const char *text, const char *begin, const char *end) {
        if ((*text != '\'' && *text != '"' && *text != '`') || (text > begin && is_word(text[-1])))
                return 0;
        const char *close = memchr(text + 1, *text, (size_t)(end - text - 1));
        return close ? (size_t)(close - text) + 1 : 0;
}

/* The length of a number that begins here: digits with their marks (1.5, 10:20, 2026-12-01), a UUID, a long hash. */
static size_t number(const char *text, const char *begin, const char *end) {
        size_t n = 0, digits = 0, letters = 0;

        if (text > begin && is_word(text[-1]) && !is_digit(*text))
                return 0;
        while (text + n < end && (strchr("0123456789abcdefABCDEFxX", text[n]) || (n > 0 && strchr(".:-_", text[n])))) {
                digits += is_digit(text[n]);
                letters += is_word(text[n]) && !is_digit(text[n]);
                n++;
        }
        while (n > 0 && strchr(".:-_", text[n - 1])) /* the end of a sentence, not of the number */
                n--;
        bool whole_word = text + n == end || !is_word(text[n]);
        if (digits > 0 && whole_word && (letters == 0 || digits + letters >= HEX_LENGTH || text[0] == '0'))
                return n;
        n = 0; /* the digits alone */
        while (text + n < end && is_digit(text[n]))
                n++;
        return n;
}

const char *fingerprint(const char *text, char ret[static FINGERPRINT_MAX]) {
        const char *at = text, *end = text + strcspn(text, "\n");
        size_t length = 0;

        while (at < end && length < FINGERPRINT_MAX - 8) {
                size_t quoted = quotation(at, text, end), counted = quoted ? 0 : number(at, text, end);
                if (quoted) {
                        length = (size_t)(stpcpy(ret + length, "'…'") - ret);
                        at += quoted;
                } else if (counted) {
                        ret[length++] = '#';
                        at += counted;
                } else {
                        if (*at != ' ' || (length > 0 && ret[length - 1] != ' '))
                                ret[length++] = *at;
                        at++;
                }
        }
        length = utf8_cut(ret, length, length);
        utf8_clean(ret, length);
        ret[length] = '\0';
        return ret;
}
