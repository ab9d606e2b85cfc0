/* any_event.c - see any_event.h. */
#include "tests/support/any_event.h"

#include <string.h>

#include "base/take.h"

static uint64_t next(AnyEvent *any) { /* SplitMix64 */
        uint64_t z = any->state += UINT64_C(0x9e3779b97f4a7c15);
        z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
        z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
        return z ^ z >> 31;
}

static char *room(AnyEvent *any, size_t size) {
        char *at = any->memory + any->used;
        any->used += size;
        return at;
}

/* Letters that JSON must escape, and characters of two, three and four bytes. */
static const char *const pieces[] = { "a",    "Z",    "0", "_", "\"", "\\", "\n", "\t",
                                      "\x01", "\x7f", "/", "{", "ä",  "€",  "𝄞" };

static const char *any_text(AnyEvent *any, bool with_blanks) {
        size_t length = next(any) % 24, used = 0;
        char *text = room(any, 24 * 4 + 2);
        for (size_t i = 0; i < length; i++) {
                const char *piece = pieces[next(any) % LENGTH_OF(pieces)];
                memcpy(text + used, piece, strlen(piece));
                used += strlen(piece);
                if (with_blanks && next(any) % 4 == 0)
                        text[used++] = ' ';
        }
        text[used] = '\0';
        return text;
}

static const char *any_list(AnyEvent *any) {
        size_t n = next(any) % 5, used = 0;
        char *text = room(any, 5 * 100);
        for (size_t i = 0; i < n; i++) {
                const char *word = any_text(any, false);
                if (!*word)
                        continue;
                if (used > 0)
                        text[used++] = ' ';
                memcpy(text + used, word, strlen(word));
                used += strlen(word);
        }
        text[used] = '\0';
        return text;
}

/* Half of the numbers are small, as they mostly are; the rest has the ends among them. */
static uint64_t any_number(AnyEvent *any, uint64_t max) {
        switch (next(any) % 8) {
        case 0: return max;
        case 1: return max - 1;
        case 2: return 0;
        case 3: return next(any) % max;
        default: return next(any) % 1000;
        }
}

static int64_t any_signed(AnyEvent *any, uint64_t max) {
        int64_t number = (int64_t)any_number(any, max);
        return next(any) % 2 ? number : -number - 1;
}

static void fill(void *userdata, const EventField *field) {
        AnyEvent *any = userdata;
        void *at = (char *)&any->event + field->offset;
        switch (field->type) {
        case EVENT_FIELD_TEXT: *(const char **)at = next(any) % 8 ? any_text(any, true) : NULL; break;
        case EVENT_FIELD_LIST: *(const char **)at = next(any) % 8 ? any_list(any) : NULL; break;
        case EVENT_FIELD_SIGNED: *(int *)at = (int)any_signed(any, INT32_MAX); break;
        case EVENT_FIELD_UNSIGNED: *(unsigned *)at = (unsigned)any_number(any, UINT32_MAX); break;
        case EVENT_FIELD_INT64: *(int64_t *)at = any_signed(any, INT64_MAX); break;
        case EVENT_FIELD_UINT64: *(uint64_t *)at = any_number(any, INT64_MAX); break;
        case EVENT_FIELD_BOOL: *(bool *)at = next(any) % 2; break;
        }
}

void any_event_fill(AnyEvent *any, EventKind kind, uint64_t seed) {
        any->state = seed;
        any->used = 0;
        any->event = (Event){ .kind = kind };
        any->event.seq = any_number(any, INT64_MAX);
        any->event.mono_usec = any_number(any, INT64_MAX);
        any->event.wall_usec = next(any) % UINT64_C(253402300800000000); /* the year 9999 */
        any->event.epoch = (unsigned)any_number(any, UINT32_MAX);
        event_fields(kind, fill, any);
}

typedef struct Texts {
        Event *event;
        const char *text;
} Texts;

static void set_text(void *userdata, const EventField *field) {
        Texts *texts = userdata;
        if (field->type == EVENT_FIELD_TEXT || field->type == EVENT_FIELD_LIST)
                *(const char **)((char *)texts->event + field->offset) = texts->text;
}

void any_event_set_texts(AnyEvent *any, EventKind kind, const char *text) {
        event_fields(kind, set_text, &(Texts){ .event = &any->event, .text = text });
}

typedef struct Comparison {
        const char *a, *b;
        const char *different;
} Comparison;

static bool texts_equal(const char *a, const char *b) {
        return a && b ? strcmp(a, b) == 0 : a == b;
}

static const char *or_empty(const char *text) {
        return text ? text : "";
}

static void compare(void *userdata, const EventField *field) {
        Comparison *c = userdata;
        const char *a = c->a + field->offset, *b = c->b + field->offset;
        bool equal = false;
        switch (field->type) {
        case EVENT_FIELD_TEXT: equal = texts_equal(*(const char *const *)a, *(const char *const *)b); break;
        case EVENT_FIELD_LIST:
                equal = strcmp(or_empty(*(const char *const *)a), or_empty(*(const char *const *)b)) == 0;
                break;
        case EVENT_FIELD_SIGNED:
        case EVENT_FIELD_UNSIGNED: equal = memcmp(a, b, sizeof(int)) == 0; break;
        case EVENT_FIELD_INT64:
        case EVENT_FIELD_UINT64: equal = memcmp(a, b, sizeof(int64_t)) == 0; break;
        case EVENT_FIELD_BOOL: equal = *(const bool *)a == *(const bool *)b; break;
        }
        if (!equal)
                c->different = field->name;
}

const char *any_event_difference(const Event *a, const Event *b) {
        if (a->kind != b->kind)
                return "event";
        if (a->seq != b->seq)
                return "seq";
        if (a->mono_usec != b->mono_usec)
                return "mono_us";
        if (a->wall_usec != b->wall_usec)
                return "time";
        if (a->epoch != b->epoch)
                return "epoch";
        Comparison comparison = { .a = (const char *)a, .b = (const char *)b };
        event_fields(a->kind, compare, &comparison);
        return comparison.different;
}
