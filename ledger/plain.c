/* plain.c - makes somebody else's text fit for a terminal, and keeps its lines. */
#include "ledger/plain.h"
#include "base/utf8.h"
#include <stdlib.h>
#include <string.h>

static size_t lines_in(const char *text, size_t length) {
        size_t n = 0;

        for (size_t i = 0; i < length; i++)
                n += text[i] == '\n';
        return n;
}

static size_t length_without_end(const char *text) {
        size_t length = strlen(text);

        while (length > 0 && text[length - 1] == '\n')
                length--;
        return length;
}

/* Puts one line, cleaned, and returns behind it. */
static char *put_line(char *out, const char *line, size_t length) {
        memcpy(out, line, length);
        for (size_t i = 0; i < length; i++)
                if (out[i] == '\t' || out[i] == '\r')
                        out[i] = ' ';
        utf8_clean(out, length);
        return out + length;
}

char *plain_text(const char *text, const char *indent) {
        const char *lead = indent ? indent : "";
        size_t left = length_without_end(text), lead_length = strlen(lead);
        char *copy = malloc(left + lines_in(text, left) * lead_length + 1), *out = copy;

        if (!copy)
                return NULL;
        for (;;) {
                const char *end = memchr(text, '\n', left);
                size_t length = end ? (size_t)(end - text) : left;
                out = put_line(out, text, length);
                if (!end)
                        break;
                *out++ = indent ? '\n' : ' ';
                memcpy(out, lead, lead_length);
                out += lead_length;
                text += length + 1;
                left -= length + 1;
        }
        *out = '\0';
        return copy;
}
