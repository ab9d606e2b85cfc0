/* utf8.c - tells valid UTF-8 from the rest. */
#include "base/utf8.h"
#include <stdbool.h>

typedef struct Lead {
        unsigned char from, to;          /* first byte */
        unsigned char second, second_to; /* what may follow it; every later byte is 80..BF */
        unsigned char length;
} Lead;

/* RFC 3629, chapter 4 */
static const Lead leads[] = {
        { 0x00, 0x7F, 0x00, 0x00, 1 }, { 0xC2, 0xDF, 0x80, 0xBF, 2 }, { 0xE0, 0xE0, 0xA0, 0xBF, 3 },
        { 0xE1, 0xEC, 0x80, 0xBF, 3 }, { 0xED, 0xED, 0x80, 0x9F, 3 }, { 0xEE, 0xEF, 0x80, 0xBF, 3 },
        { 0xF0, 0xF0, 0x90, 0xBF, 4 }, { 0xF1, 0xF3, 0x80, 0xBF, 4 }, { 0xF4, 0xF4, 0x80, 0x8F, 4 },
};

static bool follows(const Lead *lead, const unsigned char *bytes, size_t length) {
        if (length < lead->length)
                return false;
        if (lead->length > 1 && (bytes[1] < lead->second || bytes[1] > lead->second_to))
                return false;
        for (size_t i = 2; i < lead->length; i++)
                if (bytes[i] < 0x80 || bytes[i] > 0xBF)
                        return false;
        return true;
}

size_t utf8_character(const char *text, size_t length) {
        const unsigned char *bytes = (const unsigned char *)text;

        if (length == 0)
                return 0;
        for (size_t i = 0; i < sizeof leads / sizeof *leads; i++)
                if (bytes[0] >= leads[i].from && bytes[0] <= leads[i].to)
                        return follows(&leads[i], bytes, length) ? leads[i].length : 0;
        return 0;
}

size_t utf8_cut(const char *text, size_t length, size_t max) {
        if (length <= max)
                return length;
        size_t end = max;
        /* Text that is no UTF-8 is cut anyhow: never more than the three bytes that a character can lack. */
        while (end > 0 && max - end < 3 && ((unsigned char)text[end] & 0xC0) == 0x80)
                end--;
        return end;
}

static bool is_control(const char *text, size_t length) {
        unsigned char c = (unsigned char)text[0];
        if (length == 1)
                return c < 0x20 || c == 0x7F;
        return length == 2 && c == 0xC2 && (unsigned char)text[1] < 0xA0; /* U+0080 to U+009F */
}

void utf8_clean(char *text, size_t length) {
        for (size_t i = 0; i < length;) {
                size_t n = utf8_character(text + i, length - i);
                size_t bad = n == 0 ? 1 : is_control(text + i, n) ? n : 0;
                for (size_t j = 0; j < bad; j++)
                        text[i + j] = '?';
                i += n ? n : 1;
        }
}
