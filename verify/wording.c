/* wording.c - see wording.h. */
#include "verify/wording.h"
#include <stdio.h>
#include <string.h>

#define SHOWN_MAX 160

/* `text` as it can be printed on one line. */
static const char *show(const char *text, char ret[static SHOWN_MAX + 8]) {
        size_t n = 0;

        if (!*text)
                return "(empty)";
        for (; *text && n < SHOWN_MAX - 4; text++) {
                unsigned char c = (unsigned char)*text;
                if (c < 0x20 || c == 0x7f)
                        n += (size_t)sprintf(ret + n, c == '\n' ? "\\n" : "\\x%02x", c);
                else
                        ret[n++] = (char)c;
        }
        while (*text && n > 0 && ((unsigned char)ret[n - 1] & 0xc0) == 0x80)
                n--; /* half a letter */
        strcpy(ret + n, *text ? "…" : "");
        return ret;
}

const char *wording_unit(ItemKind kind) {
        switch (kind) {
        case ITEM_TABLE: return "row";
        case ITEM_REQUESTS: return "request";
        case ITEM_CATALOGUE: return "object";
        case ITEM_FILE:
        case ITEM_BINARY:
        case ITEM_DIRECTORY:
        case ITEM_LINK:
        case ITEM_SPECIAL:
        case ITEM_ABSENT:
        case ITEM_SEQUENCE:
        case _ITEM_KIND_MAX: break;
        }
        return "line";
}

/* A request that came more often, or that is new, is said by itself. */
static bool say_requests(const Item *was, const Item *is, Differences *ret) {
        bool said = false;

        for (size_t i = 0; i < is->n_lines; i++) {
                size_t before = 0, now = 0;
                if (i > 0 && strcmp(is->lines[i], is->lines[i - 1]) == 0)
                        continue;
                for (size_t k = 0; k < was->n_lines; k++)
                        before += strcmp(was->lines[k], is->lines[i]) == 0;
                for (size_t k = 0; k < is->n_lines; k++)
                        now += strcmp(is->lines[k], is->lines[i]) == 0;
                char shown[SHOWN_MAX + 8];
                if (now > before) {
                        if (now == 2)
                                differences_say(ret, "%s: sent twice", show(is->lines[i], shown));
                        else
                                differences_say(ret, "%s: sent %zu times, not %zu", show(is->lines[i], shown), now,
                                                before);
                        said = true;
                }
        }
        return said;
}

/* As people count: what ends with a newline has no empty line behind it. */
static size_t count_lines(const Item *item) {
        bool ended = item->kind == ITEM_FILE && item->n_lines > 0 && !*item->lines[item->n_lines - 1];

        return ended ? item->n_lines - 1 : item->n_lines;
}

void wording_of_items(const Item *was, const Item *is, Differences *ret) {
        const char *unit = wording_unit(was->kind);

        if (was->kind != is->kind) {
                differences_say(ret, "%s: %s became %s", was->key, item_kind_to_string(was->kind),
                                item_kind_to_string(is->kind));
                return;
        }
        if (strcmp(was->attributes, is->attributes) != 0)
                differences_say(ret, "%s: %s became %s", was->key, was->attributes, is->attributes);
        if (was->n_lines == is->n_lines || (was->kind == ITEM_REQUESTS && say_requests(was, is, ret)))
                return;
        size_t before = count_lines(was), after = count_lines(is);
        if (before == after) /* only the last newline is another */
                differences_say(ret, "%s: it %s with a newline", was->key,
                                was->n_lines > is->n_lines ? "no longer ends" : "now ends");
        else
                differences_say(ret, "%s: %zu %s%s became %zu", was->key, before, unit, before == 1 ? "" : "s", after);
}

void wording_of_line(const Item *was, size_t line, const char *is, Differences *ret) {
        char before[SHOWN_MAX + 8], after[SHOWN_MAX + 8];

        if (was->n_lines == 1 && was->kind != ITEM_FILE && was->kind != ITEM_TABLE)
                differences_say(ret, "%s: %s became %s", was->key, show(was->lines[line], before), show(is, after));
        else
                differences_say(ret, "%s %s %zu: %s became %s", was->key, wording_unit(was->kind), line + 1,
                                show(was->lines[line], before), show(is, after));
}

void wording_of_missing(const Item *was, Differences *ret) {
        if (was->kind == ITEM_ABSENT)
                differences_say(ret, "%s: it is there, and should be gone", was->key);
        else
                differences_say(ret, "%s: this %s is missing", was->key, item_kind_to_string(was->kind));
}

static bool may_be_litter(ItemKind kind) {
        return kind == ITEM_FILE || kind == ITEM_BINARY || kind == ITEM_DIRECTORY || kind == ITEM_LINK ||
               kind == ITEM_SPECIAL;
}

void wording_of_extra(const Item *is, Differences *ret) {
        if (may_be_litter(is->kind))
                differences_add_extra(ret, is->key);
        else if (is->kind == ITEM_ABSENT)
                differences_say(ret, "%s: it is gone, and should be there", is->key);
        else if (is->kind == ITEM_REQUESTS && is->n_lines > 0)
                for (size_t i = 0; i < is->n_lines; i++) {
                        char shown[SHOWN_MAX + 8];
                        differences_say(ret, "%s: sent, and should not be", show(is->lines[i], shown));
                }
        else
                differences_say(ret, "%s: it has changed, and should be as it was", is->key);
}

void wording_of_text(const char *what, const char *was, const char *is, Differences *ret) {
        char before[SHOWN_MAX + 8], after[SHOWN_MAX + 8];

        differences_say(ret, "%s: %s became %s", what, show(was, before), show(is, after));
}
