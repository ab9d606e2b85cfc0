/* history.c - see history.h. */
#include "report/history.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/take.h"

typedef struct Text {
        char *bytes;
        size_t length;
} Text;

static void text_done(Text *text) {
        free(text->bytes);
}

/* A pipe has no length: in pieces, until its end. */
static int read_stream(FILE *in, Text *ret) {
        _cleanup_(text_done) Text text = { 0 };
        for (size_t size = 0;;) {
                if (text.length == size) {
                        size = size ? size * 2 : 64 * 1024;
                        char *bytes = size <= HISTORY_MOST ? realloc(text.bytes, size + 1) : NULL;
                        if (!bytes)
                                return size > HISTORY_MOST ? -EFBIG : -ENOMEM;
                        text.bytes = bytes;
                }
                size_t n = fread(text.bytes + text.length, 1, size - text.length, in);
                text.length += n;
                if (n == 0)
                        break;
        }
        if (ferror(in))
                return -EIO;
        text.bytes[text.length] = '\0';
        *ret = text;
        text.bytes = NULL;
        return 0;
}

static int read_text(const char *path, Text *ret) {
        return strcmp(path, "-") == 0 ? read_stream(stdin, ret)
                                      : file_read(path, HISTORY_MOST, &ret->bytes, &ret->length);
}

/* As event_write() spells it; a quotation within a text has its quotes escaped. */
static bool begins_run(const char *line, size_t length) {
        static const char word[] = "\"event\":\"supervisor_started\"";
        return memmem(line, length, word, sizeof word - 1);
}

static uint64_t seq_of(const char *line, size_t length) {
        static const char word[] = "{\"seq\":";
        return length > sizeof word && memcmp(line, word, sizeof word - 1) == 0
                       ? strtoull(line + sizeof word - 1, NULL, 10)
                       : 0;
}

/* The next line of a text, without its newline; false at the end. A last line without a newline is one, too: whoever
 * cut it may have cut nothing else. */
static bool next_line(const Text *text, size_t *at, const char **ret_line, size_t *ret_length) {
        if (*at >= text->length)
                return false;
        const char *line = text->bytes + *at;
        const char *end = memchr(line, '\n', text->length - *at);
        *ret_line = line;
        *ret_length = end ? (size_t)(end - line) : text->length - *at;
        *at += *ret_length + 1;
        return true;
}

/* Where each run begins: before the first beginning there may be the end of a run whose beginning is elsewhere. */
static unsigned count_runs(const Text *text, unsigned wanted, size_t *ret_from, size_t *ret_to) {
        const char *line;
        size_t length, at = 0, before = 0;
        unsigned n = 0;
        while (next_line(text, &at, &line, &length)) {
                if (length > 0 && (n == 0 || begins_run(line, length))) {
                        if (n > 0 && n == wanted)
                                *ret_to = before;
                        n++;
                        if (wanted == 0 || n == wanted) {
                                *ret_from = before;
                                *ret_to = text->length;
                        }
                }
                before = at;
        }
        return n;
}

static int make_room(History *history) {
        if (history->n & (history->n - 1) || (history->n > 0 && history->n < 64))
                return 0;
        size_t size = history->n ? history->n * 2 : 64;
        Event *events = reallocarray(history->events, size, sizeof *events);
        if (!events)
                return -ENOMEM;
        history->events = events;
        EventLine *lines = reallocarray(history->lines, size, sizeof *lines);
        if (!lines)
                return -ENOMEM;
        history->lines = lines;
        return 0;
}

static int take_line(History *history, const char *line, size_t length) {
        int r = make_room(history);
        if (r < 0)
                return r;
        EventLine *into = &history->lines[history->n];
        *into = (EventLine){ 0 };
        r = event_line_read(line, length, into);
        if (r == -ENOMEM)
                return r;
        if (r == -EOPNOTSUPP) /* it has its number, and else nothing that we could read */
                into->event = (Event){ .kind = _EVENT_MAX, .seq = seq_of(line, length) };
        else if (r < 0) {
                history->n_bad++;
                return 0;
        }
        Event *event = &history->events[history->n];
        *event = into->event;
        if (event->kind == _EVENT_MAX && history->n > 0)
                event->mono_usec = history->events[history->n - 1].mono_usec;
        history->n++;
        return 0;
}

static int take_lines(History *history, const Text *text, size_t from, size_t to) {
        const Text part = { text->bytes, to };
        const char *line;
        size_t length;
        int r = 0;
        while (r == 0 && next_line(&part, &from, &line, &length))
                if (length > 0)
                        r = take_line(history, line, length);
        return r;
}

/* The beginning of a run whose file was rotated: the last run of FILE.1, if its lines go on where FILE begins. */
static int take_rotated(History *history, const char *path, uint64_t first_seq) {
        _cleanup_(freep) char *old_path = NULL;
        _cleanup_(text_done) Text text = { 0 };
        size_t from = 0, to = 0;
        if (first_seq <= 1 || strcmp(path, "-") == 0)
                return 0;
        if (asprintf(&old_path, "%s.1", path) < 0) {
                old_path = NULL;
                return -ENOMEM;
        }
        int r = read_text(old_path, &text);
        if (r < 0)
                return r == -ENOMEM ? r : 0; /* then they are missing, and that will be said */
        if (count_runs(&text, 0, &from, &to) == 0)
                return 0;
        r = take_lines(history, &text, from, to);
        if (r == 0 && history->n > 0 && history->events[history->n - 1].seq + 1 == first_seq)
                return 0;
        while (history->n > 0)
                event_line_done(&history->lines[--history->n]);
        history->n_bad = 0;
        return r;
}

int history_read(const char *path, unsigned run, History *ret) {
        _cleanup_(text_done) Text text = { 0 };
        _cleanup_(history_done) History history = { 0 };
        size_t from = 0, to = 0;

        int r = read_text(path, &text);
        if (r < 0)
                return r;
        history.n_runs = ret->n_runs = count_runs(&text, run, &from, &to);
        if (history.n_runs == 0)
                return -ENODATA;
        if (run > history.n_runs)
                return -ESRCH;
        history.run = run > 0 ? run : history.n_runs;
        history.torn = to == text.length && text.bytes[text.length - 1] != '\n';
        if (from == 0)
                r = take_rotated(&history, path, seq_of(text.bytes, text.length));
        if (r == 0)
                r = take_lines(&history, &text, from, to);
        if (r < 0)
                return r;
        if (history.n == 0)
                return -ENODATA;
        *ret = history;
        history = (History){ 0 };
        return 0;
}

void history_done(History *history) {
        for (size_t i = 0; i < history->n; i++)
                event_line_done(&history->lines[i]);
        free(history->lines);
        free(history->events);
        *history = (History){ 0 };
}
