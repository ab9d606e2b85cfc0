/* entry.c - one line, with a name before it or as JSON. */
#include "logger/entry.h"
#include "base/clock.h"
#include "base/json.h"
#include "base/utf8.h"
#include <stdio.h>
#include <string.h>

#define PARTIAL_MAX (sizeof ",\"partial\":true")

/* ---- JSON ---- */

/* Bytes that one character takes between quotes. */
static size_t quoted_size(const char *text, size_t n) {
        unsigned char c = (unsigned char)*text;

        if (n == 0)
                return 3; /* U+FFFD */
        if (c == '"' || c == '\\')
                return 2;
        if (c >= 0x20)
                return n;
        return c && strchr("\b\f\n\r\t", c) ? 2 : 6;
}

/* The longest front of the text that takes at most `room` bytes between quotes. */
static size_t fitting(const char *text, size_t length, size_t room) {
        size_t used = 0, i = 0;

        if (length <= room / 6)
                return length;
        while (i < length) {
                size_t n = utf8_character(text + i, length - i);
                used += quoted_size(text + i, n);
                if (used > room)
                        return i;
                i += n ? n : 1;
        }
        return length;
}

static void put_source(Json *json, const Entry *entry) {
        const EntrySource *source = entry->source;
        char time[CLOCK_TEXT_MAX];

        clock_format_wall(entry->wall, time);
        json_open_object(json, NULL);
        json_put_string(json, "time", time);
        json_put_string(json, "service", source->service);
        json_put_unsigned(json, "instance", source->instance);
        if (source->hook[0])
                json_put_string(json, "hook", source->hook);
        if (source->pid > 0)
                json_put_signed(json, "pid", source->pid);
        json_put_string(json, "stream", source->is_stderr ? "stderr" : "stdout");
}

size_t entry_write_json(const Entry *entry, char ret_text[static ENTRY_MAX], size_t *ret_length) {
        Json json;

        json_init(&json, ret_text, ENTRY_MAX);
        put_source(&json, entry);
        size_t room = ENTRY_MAX - json.length - sizeof ",\"line\":\"\"}\n" - PARTIAL_MAX;
        size_t n = fitting(entry->text, entry->length, room);
        json_put_stringn(&json, "line", entry->text, n);
        if (entry->goes_on || n < entry->length)
                json_put_bool(&json, "partial", true);
        size_t length = json_finish(&json);
        ret_text[length] = '\n';
        *ret_length = length + 1;
        return n;
}

/* ---- For people ---- */

/* The same name has the same colour in every run; none is black, white or the red of errors. */
static unsigned colour_of(const EntrySource *source) {
        static const unsigned char colours[] = { 36, 33, 32, 35, 34, 96, 93, 92, 95, 94 };
        unsigned hash = source->instance;

        for (const char *c = source->service; *c; c++)
                hash = hash * 31 + (unsigned char)*c;
        return colours[hash % sizeof colours];
}

static size_t write_name(const Entry *entry, bool colour, char *ret, size_t size) {
        const EntrySource *source = entry->source;
        char number[16] = "", on[16] = "";

        if (source->is_one_of_many)
                snprintf(number, sizeof number, "@%u", source->instance);
        if (colour)
                snprintf(on, sizeof on, "\033[%um", colour_of(source));
        return (size_t)snprintf(ret, size, "%s%s%s%s%s %c%s ", on, source->service, number, source->hook[0] ? " " : "",
                                source->hook, entry->continues ? '+' : '|', colour ? "\033[0m" : "");
}

size_t entry_write_prefix(const Entry *entry, bool colour, char ret_text[static ENTRY_MAX], size_t *ret_length) {
        size_t name = write_name(entry, colour, ret_text, ENTRY_MAX);
        size_t n = utf8_cut(entry->text, entry->length, ENTRY_MAX - name - 1);

        memcpy(ret_text + name, entry->text, n);
        ret_text[name + n] = '\n';
        *ret_length = name + n + 1;
        return n;
}
