/* config_environment_file.c - see config_environment_file.h. */
#include "supervisor/config_environment_file.h"
#include "base/take.h"
#include "base/utf8.h"
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define LETTERS "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_"
#define DIGITS  "0123456789"

enum { END = -1 };

/* What is read, and the assignment that is being put together: never longer than what it was made of. */
typedef struct Cursor {
        const char *at, *end;
        unsigned line;
        char *out;
        size_t n, n_kept; /* of `out`; without the blanks at its end that nobody quoted */
} Cursor;

/* The next byte, END behind the last. The CR of a line's end is passed over. */
static int next(Cursor *cursor) {
        if (cursor->at < cursor->end && *cursor->at == '\r' && (cursor->at + 1 == cursor->end || cursor->at[1] == '\n'))
                cursor->at++;
        if (cursor->at == cursor->end)
                return END;
        int c = (unsigned char)*cursor->at++;
        cursor->line += c == '\n';
        return c;
}

static void put(Cursor *cursor, int c) {
        cursor->out[cursor->n++] = (char)c;
}

static bool is_blank(int c) {
        return c == ' ' || c == '\t';
}

/* ---- Values ---- */

typedef const char *Sentence; /* NULL: all is well */

static Sentence read_single_quoted(Cursor *cursor) {
        int c;

        while ((c = next(cursor)) != '\'') {
                if (c == END)
                        return "a quote ' that begins in this assignment is not closed";
                put(cursor, c);
        }
        return NULL;
}

/* A backslash takes the meaning of \ " ` and $; before others it is a letter, before the end of a line both go. */
static Sentence read_double_quoted(Cursor *cursor) {
        int c;

        while ((c = next(cursor)) != '"') {
                if (c == '\\') {
                        c = next(cursor);
                        if (c == '\n')
                                continue;
                        if (c != END && !strchr("\"\\`$", c))
                                put(cursor, '\\');
                }
                if (c == END)
                        return "a quote \" that begins in this assignment is not closed";
                put(cursor, c);
        }
        return NULL;
}

static Sentence read_escaped(Cursor *cursor) {
        int c = next(cursor);

        if (c == END)
                return "the file ends in a backslash";
        if (c != '\n')
                put(cursor, c);
        return NULL;
}

/* After the first letter without quotes, a quote is a letter, too. */
static Sentence read_plain(Cursor *cursor) {
        Sentence problem = NULL;
        int c;

        while (!problem && (c = next(cursor)) != END && c != '\n') {
                if (c == '\\')
                        problem = read_escaped(cursor);
                else
                        put(cursor, c);
                if (!is_blank(c))
                        cursor->n_kept = cursor->n;
        }
        cursor->n = cursor->n_kept;
        return problem;
}

static Sentence read_value(Cursor *cursor) {
        Sentence problem = NULL;

        for (;;) {
                int c = next(cursor);
                if (c == END || c == '\n')
                        return NULL;
                if (is_blank(c))
                        continue;
                if (c == '\'')
                        problem = read_single_quoted(cursor);
                else if (c == '"')
                        problem = read_double_quoted(cursor);
                else {
                        cursor->at--;
                        cursor->n_kept = cursor->n;
                        return read_plain(cursor);
                }
                if (problem)
                        return problem;
        }
}

/* ---- Assignments ---- */

static Sentence check_name(const char *name, size_t length) {
        if (length >= 7 && strncmp(name, "export", 6) == 0 && is_blank(name[6]))
                return "begins with export, which only a shell understands: leave it out";
        if (length == 0 || strspn(name, LETTERS DIGITS) < length || strchr(DIGITS, *name))
                return "has no name of A-Z, a-z, 0-9 and _ before the =";
        return NULL;
}

static Sentence check_value(const char *value, size_t length) {
        for (size_t i = 0; i < length;) {
                unsigned char c = (unsigned char)value[i];
                size_t n = utf8_character(value + i, length - i);
                if ((c < ' ' && c != '\t' && c != '\n') || c == 0x7F)
                        return c ? "has a control character in its value" : "has a NUL byte in its value";
                if (n == 0)
                        return "has invalid UTF-8 in its value";
                i += n;
        }
        return NULL;
}

/* The name and the = into `out`. */
static Sentence read_name(Cursor *cursor) {
        const char *start = cursor->at;
        size_t length = 0;

        while (cursor->at < cursor->end && *cursor->at != '\n' && *cursor->at != '=')
                cursor->at++;
        bool assigns = cursor->at < cursor->end && *cursor->at == '=';
        for (const char *at = start; at < cursor->at; at++)
                if (!is_blank(*at))
                        length = (size_t)(at + 1 - start);
        if (!assigns)
                return "is no NAME=VALUE";
        memcpy(cursor->out, start, length);
        cursor->out[length] = '\0';
        Sentence problem =
                memchr(start, '\0', length) ? "has a NUL byte before the =" : check_name(cursor->out, length);
        cursor->n = length;
        put(cursor, *cursor->at++);
        return problem;
}

static int read_assignment(Cursor *cursor, const EnvironmentSink *sink) {
        unsigned line = cursor->line;
        cursor->n = 0;
        Sentence problem = read_name(cursor);
        size_t name_length = cursor->n;

        if (name_length > 0) { /* else there is no value, and the next line stands for itself */
                Sentence of_value = read_value(cursor);
                problem = problem ? problem : of_value;
        }
        if (!problem)
                problem = check_value(cursor->out + name_length, cursor->n - name_length);
        if (!problem && cursor->n > ENVIRONMENT_ASSIGNMENT_MAX)
                problem = "is longer than the kernel takes (128 KiB)";
        if (problem) {
                sink->refuse(sink->userdata, line, problem);
                return 0;
        }
        put(cursor, '\0');
        return sink->assign(sink->userdata, cursor->out);
}

static void skip_comment(Cursor *cursor) {
        int c;

        do
                c = next(cursor);
        while (c != END && c != '\n');
}

int environment_file_parse(const char *text, size_t length, const EnvironmentSink *sink) {
        static const char byte_order_mark[] = "\xEF\xBB\xBF";
        _cleanup_(freep) char *out = malloc(length + 2);
        Cursor cursor = { .at = text, .end = text + length, .line = 1, .out = out };
        int r = 0, c;

        if (!out)
                return -ENOMEM;
        if (length >= 3 && memcmp(text, byte_order_mark, 3) == 0)
                cursor.at += 3;
        while (r == 0 && (c = next(&cursor)) != END) {
                if (is_blank(c) || c == '\n')
                        continue;
                cursor.at--;
                if (c == '#' || c == ';')
                        skip_comment(&cursor);
                else
                        r = read_assignment(&cursor, sink);
        }
        return r;
}
