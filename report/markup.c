/* markup.c - see markup.h. */
#include "report/markup.h"

#include <string.h>

#include "base/utf8.h"

#define REPLACEMENT "\xef\xbf\xbd"

static const char *entity_of(char letter) {
        switch (letter) {
        case '&': return "&amp;";
        case '<': return "&lt;";
        case '>': return "&gt;";
        case '"': return "&quot;";
        case '\'': return "&#39;";
        default: return NULL;
        }
}

/* Bytes of the character at the front, and whether XML 1.0 (2.2, Char) has it; a byte that is none is one. */
static size_t step(const char *text, size_t length, int *ret_valid) {
        size_t n = utf8_character(text, length);
        unsigned char first = (unsigned char)text[0];
        *ret_valid = n > 0 && (first >= 0x20 || first == '\t' || first == '\n') && first != 0x7f &&
                     !(n == 3 && (memcmp(text, "\xef\xbf\xbe", 3) == 0 || memcmp(text, "\xef\xbf\xbf", 3) == 0)) &&
                     !(n == 2 && first == 0xc2 && (unsigned char)text[1] < 0xa0);
        return n > 0 ? n : 1;
}

static size_t put(FILE *out, const char *text, size_t length) {
        int valid;
        size_t n = step(text, length, &valid);
        const char *entity = entity_of(text[0]);
        if (!valid)
                fputs(REPLACEMENT, out);
        else if (entity)
                fputs(entity, out);
        else
                fwrite(text, 1, n, out);
        return n;
}

void markup_text(FILE *out, const char *text) {
        for (size_t length = text ? strlen(text) : 0; length > 0;) {
                size_t n = put(out, text, length);
                text += n;
                length -= n;
        }
}

size_t markup_characters(const char *text) {
        size_t characters = 0;
        int valid;
        for (size_t length = text ? strlen(text) : 0; length > 0; characters++) {
                size_t n = step(text, length, &valid);
                text += n;
                length -= n;
        }
        return characters;
}

void markup_fit(FILE *out, const char *text, size_t most) {
        if (markup_characters(text) <= most) {
                markup_text(out, text);
                return;
        }
        size_t length = strlen(text);
        for (size_t i = 0; i + 1 < most; i++) {
                size_t n = put(out, text, length);
                text += n;
                length -= n;
        }
        fputs("…", out);
}
