/* plain.c - makes somebody else's text fit for a terminal, and keeps its lines. */
#include "ledger/plain.h"
#include "base/utf8.h"
#include <stdlib.h>
#include <string.h>

static size_t lines_in(const char *text) {
        size_t n = 0;

        for (; *text; text++)
                n += *text == '\n';
        return n;
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
        size_t break_length = indent ? strlen(indent) + 1 : 1;
        char *copy = malloc(strlen(text) + lines_in(text) * break_length + 1), *out = copy;

        if (!copy)
                return NULL;
        for (;;) {
                size_t length = strcspn(text, "\n");
                out = put_line(out, text, length);
                text += length;
                if (!*text)
                        break;
                *out++ = indent ? '\n' : ' ';
                memcpy(out, indent ? indent : "", break_length - 1);
                out += break_length - 1;
                text++;
        }
        *out = '\0';
        return copy;
}
