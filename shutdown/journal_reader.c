/* journal_reader.c - the table of event.c, backwards; see journal_reader.h. */
#include "shutdown/journal_reader.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"

#include "base/clock.h"

typedef struct Reading {
        EventLine *line;
        size_t lists_length, lists_size;
        int error;
} Reading;

/* Room for every list of the line is made once: the line itself is longer than all of them. */
static const char *join(Reading *reading, const json_t *array) {
        char *start = reading->line->lists + reading->lists_length, *at = start;
        size_t i;
        json_t *item;
        json_array_foreach(array, i, item) {
                const char *word = json_string_value(item);
                if (!word)
                        continue;
                if (at > start)
                        *at++ = ' ';
                at = stpcpy(at, word);
        }
        reading->lists_length += (size_t)(at - start) + 1;
        *at = '\0';
        return start;
}

static void read_field(void *userdata, const EventField *field) {
        Reading *reading = userdata;
        const json_t *value = json_object_get(reading->line->root, field->name);
        void *at = (char *)&reading->line->event + field->offset;
        if (!value || json_is_null(value))
                return;
        switch (field->type) {
        case EVENT_FIELD_TEXT: *(const char **)at = json_string_value(value); break;
        case EVENT_FIELD_LIST: *(const char **)at = join(reading, value); break;
        case EVENT_FIELD_SIGNED: *(int *)at = (int)json_integer_value(value); break;
        case EVENT_FIELD_UNSIGNED: *(unsigned *)at = (unsigned)json_integer_value(value); break;
        case EVENT_FIELD_INT64: *(int64_t *)at = json_integer_value(value); break;
        case EVENT_FIELD_UINT64: *(uint64_t *)at = (uint64_t)json_integer_value(value); break;
        case EVENT_FIELD_BOOL: *(bool *)at = json_is_true(value); break;
        }
}

int event_line_read(const char *text, size_t length, EventLine *ret) {
        EventLine line = { .root = json_loadb(text, length, JSON_REJECT_DUPLICATES, NULL) };
        if (!line.root)
                return -EBADMSG;
        const char *word = json_string_value(json_object_get(line.root, "event"));
        int kind = word ? event_kind_from_string(word) : -EBADMSG;
        if (kind < 0) {
                event_line_done(&line);
                return word ? -EOPNOTSUPP : -EBADMSG;
        }
        line.lists = malloc(length + 16);
        if (!line.lists) {
                event_line_done(&line);
                return -ENOMEM;
        }
        line.event.kind = (EventKind)kind;
        line.event.seq = (uint64_t)json_integer_value(json_object_get(line.root, "seq"));
        line.event.mono_usec = (usec_t)json_integer_value(json_object_get(line.root, "mono_us"));
        const char *time = json_string_value(json_object_get(line.root, "time"));
        if (time)
                (void)clock_parse_wall(time, &line.event.wall_usec); /* else it stays 0, and the order is that of seq */
        line.event.epoch = (unsigned)json_integer_value(json_object_get(line.root, "epoch"));
        Reading reading = { .line = &line };
        event_fields((EventKind)kind, read_field, &reading);
        *ret = line;
        return 0;
}

void event_line_done(EventLine *line) {
        json_decref(line->root);
        free(line->lists);
        *line = (EventLine){ 0 };
}

const char *event_line_sentence(const char *text, size_t length, const json_t *instances,
                                char ret_text[static SENTENCE_MAX], LogLevel *ret_level) {
        EventLine line;
        LogLevel level = LOG_LEVEL_INFO;
        if (event_line_read(text, length, &line) >= 0) {
                if (line.event.service)
                        line.event.instances =
                                (unsigned)json_integer_value(json_object_get(instances, line.event.service));
                level = sentence_level(&line.event);
                sentence_write(&line.event, ret_text);
                event_line_done(&line);
        } else {
                size_t n = utf8_cut(text, length, SENTENCE_MAX - 1);
                memcpy(ret_text, text, n);
                ret_text[n] = '\0';
                utf8_clean(ret_text, n);
        }
        if (ret_level)
                *ret_level = level;
        return ret_text;
}
