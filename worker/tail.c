/* tail.c - see tail.h. */
#include "worker/tail.h"
#include "base/utf8.h"
#include <stdbool.h>
#include <string.h>

void tail_add(Tail *tail, const char *bytes, size_t length) {
        if (length > TAIL_MAX) {
                bytes += length - TAIL_MAX;
                length = TAIL_MAX;
        }
        if (tail->length + length > sizeof tail->bytes) {
                memmove(tail->bytes, tail->bytes + tail->length - TAIL_MAX, TAIL_MAX);
                tail->length = TAIL_MAX;
        }
        memcpy(tail->bytes + tail->length, bytes, length);
        tail->length += length;
}

static bool stays(const char *text) {
        return *text == '\n' || *text == '\t';
}

/* As utf8_clean() has it, but for what gives a text its shape. */
static void clean(char *text, size_t length) {
        for (size_t i = 0; i < length;) {
                size_t n = stays(text + i) ? 1 : utf8_character(text + i, length - i);
                if (n == 0 || (!stays(text + i) && ((unsigned char)text[i] < 0x20 || text[i] == 0x7f))) {
                        text[i] = '?';
                        n = 1;
                }
                i += n;
        }
}

const char *tail_text(Tail *tail, char ret_text[static TAIL_MAX + 1]) {
        size_t length = tail->length < TAIL_MAX ? tail->length : TAIL_MAX;
        const char *from = tail->bytes + tail->length - length;

        while (length > 0 && memchr(" \t\r\n", from[length - 1], 4))
                length--;
        const char *line = tail->length > TAIL_MAX ? memchr(from, '\n', length) : NULL;
        if (line) {
                length -= (size_t)(line + 1 - from);
                from = line + 1;
        }
        memcpy(ret_text, from, length);
        ret_text[length] = '\0';
        clean(ret_text, length);
        return ret_text;
}
