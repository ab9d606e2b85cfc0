/* settings_lines.c - reads one file and takes it apart into logical lines.
 *
 * A logical line is never longer than the physical lines that it is made of, so it is put together where it stands and
 * the whole file needs one buffer. */
#include "base/settings_lines.h"
#include "base/file.h"
#include "base/take.h"
#include "base/utf8.h"
#include <errno.h>
#include <stdbool.h>
#include <string.h>

#define FILE_SIZE_MAX  (16u << 20)
#define VALUE_SIZE_MAX (64u << 10)
#define NAME_SHOWN_MAX 60 /* of a name in a complaint */

#define BLANKS " \t"

/* ---- The file ---- */

static int read_file(const char *path, Complaints *complaints, char **ret_text, size_t *ret_length) {
        int r = file_read(path, FILE_SIZE_MAX, ret_text, ret_length);

        if (r == -EFBIG)
                complaints_add(complaints, path, 0, "is larger than 16 MiB");
        else if (r < 0 && r != -ENOMEM)
                complaints_add(complaints, path, 0, "cannot be read: %s", file_problem(r));
        return r;
}

/* ---- Physical lines ---- */

typedef struct Reader {
        const char *path;
        Complaints *complaints;
        char *at, *end;  /* what is still to be read */
        unsigned number; /* of the line that was read last */
        SettingsLine *items;
        size_t n_items, n_room;
} Reader;

typedef struct Physical {
        char *text; /* ended by NUL, without its newline */
        size_t length;
        bool bad; /* has its complaint */
} Physical;

static const char *what_is_wrong(const char *text, size_t length) {
        for (size_t i = 0; i < length;) {
                unsigned char c = (unsigned char)text[i];
                size_t n = utf8_character(text + i, length - i);
                if (c == '\0')
                        return "a NUL byte in the line";
                if (c == '\r')
                        return "a carriage return in the line (lines end in LF or CR LF)";
                if ((c < ' ' && c != '\t') || c == 0x7F)
                        return "a control character in the line";
                if (n == 0)
                        return "invalid UTF-8 in the line";
                i += n;
        }
        return NULL;
}

/* False at the end of the file. */
static bool next_physical(Reader *reader, Physical *ret) {
        if (reader->at == reader->end)
                return false;
        char *text = reader->at;
        char *newline = memchr(text, '\n', (size_t)(reader->end - text));
        size_t length = newline ? (size_t)(newline - text) : (size_t)(reader->end - text);

        reader->at = newline ? newline + 1 : reader->end;
        reader->number++;
        if (newline && length > 0 && text[length - 1] == '\r')
                length--;
        text[length] = '\0'; /* at the very end this is the byte that read_all() kept back */
        const char *problem = what_is_wrong(text, length);
        if (problem)
                complaints_add(reader->complaints, reader->path, reader->number, "%s", problem);
        *ret = (Physical){ .text = text, .length = length, .bad = problem != NULL };
        return true;
}

/* An even number of backslashes at the end are backslashes, as in systemd.syntax(7): there must be a way to write one.
 */
static bool goes_on(const char *text, size_t length) {
        size_t n = 0;
        while (n < length && text[length - n - 1] == '\\')
                n++;
        return n % 2 == 1;
}

/* Adds to `line` all lines that continue it. The backslash becomes a blank and the indentation is dropped, so what is
 * joined moves to the left, never over what is still to be read. */
static void join_continuation(Reader *reader, Physical *line) {
        unsigned first = reader->number;
        Physical next;

        while (goes_on(line->text, line->length)) {
                line->text[line->length - 1] = ' ';
                if (!next_physical(reader, &next)) {
                        complaints_add(reader->complaints, reader->path, first,
                                       "the line ends in a backslash, but no line follows that could continue it");
                        line->bad = true;
                        return;
                }
                if (!next.bad && next.length > 0 && strchr("#;[", next.text[0])) {
                        complaints_add(reader->complaints, reader->path, reader->number,
                                       "\"%c\" starts a line that continues the one before; indent it if it belongs to "
                                       "the value",
                                       next.text[0]);
                        line->bad = true;
                }
                size_t indentation = next.bad ? 0 : strspn(next.text, BLANKS);
                size_t length = next.length - indentation;
                memmove(line->text + line->length, next.text + indentation, length);
                line->length += length;
                line->text[line->length] = '\0';
                line->bad |= next.bad;
        }
}

/* ---- Logical lines ---- */

static int put(Reader *reader, SettingsLineKind kind, unsigned number, const char *name, const char *value) {
        if (reader->n_items == reader->n_room) {
                size_t n_room = reader->n_room ? reader->n_room * 2 : 64;
                SettingsLine *items = reallocarray(reader->items, n_room, sizeof *items);
                if (!items)
                        return -ENOMEM;
                reader->items = items;
                reader->n_room = n_room;
        }
        reader->items[reader->n_items++] =
                (SettingsLine){ .kind = kind, .number = number, .name = name, .value = value };
        return 0;
}

/* Cuts the blanks off both ends, in place. */
static char *trim(char *text) {
        text += strspn(text, BLANKS);
        size_t length = strlen(text);
        while (length > 0 && strchr(BLANKS, text[length - 1]))
                length--;
        text[length] = '\0';
        return text;
}

static const char *take_section_apart(char *text, const char **ret_name, const char **ret_value) {
        char *end = strchr(text, ']');
        if (!end)
                return "the section is not closed by \"]\"";
        if (end[1 + strspn(end + 1, BLANKS)])
                return "text after the \"]\" of a section";
        *end = '\0';
        char *name = trim(text + 1);
        if (!*name)
                return "a section without a name: \"[]\"";
        char *value = name + strcspn(name, BLANKS);
        if (*value)
                *value++ = '\0';
        *ret_name = name;
        *ret_value = trim(value);
        return NULL;
}

static int put_section(Reader *reader, const Physical *line) {
        const char *name = "", *value = "", *problem = NULL;

        if (!line->bad)
                problem = take_section_apart(line->text, &name, &value);
        if (problem)
                complaints_add(reader->complaints, reader->path, reader->number, "%s", problem);
        SettingsLineKind kind = problem || line->bad ? SETTINGS_LINE_BAD_SECTION : SETTINGS_LINE_SECTION;
        return put(reader, kind, reader->number, name, value);
}

/* The text of a bad line is never shown: it may be the rest of a secret that was broken over two lines. */
static int put_key(Reader *reader, Physical *line) {
        unsigned number = reader->number;

        join_continuation(reader, line);
        if (line->bad)
                return 0;
        char *equals = strchr(line->text, '=');
        if (!equals) {
                complaints_add(reader->complaints, reader->path, number, "no \"=\" in the line: expected KEY=VALUE");
                return 0;
        }
        *equals = '\0';
        char *name = trim(line->text), *value = trim(equals + 1);
        if (!*name) {
                complaints_add(reader->complaints, reader->path, number, "no key before the \"=\"");
                return 0;
        }
        if (strlen(value) > VALUE_SIZE_MAX) {
                complaints_add(reader->complaints, reader->path, number,
                               "the value of %.*s is longer than 64 KiB (it has %zu bytes)", NAME_SHOWN_MAX, name,
                               strlen(value));
                return 0;
        }
        return put(reader, SETTINGS_LINE_KEY, number, name, value);
}

static bool is_ignored(const Physical *line) {
        return line->text[0] == '#' || line->text[0] == ';' || line->text[strspn(line->text, BLANKS)] == '\0';
}

static int put_line(Reader *reader, Physical *line) {
        if (line->text[0] == '[')
                return put_section(reader, line);
        if (!line->bad && is_ignored(line))
                return 0;
        if (!line->bad && strchr(BLANKS, line->text[0])) {
                complaints_add(reader->complaints, reader->path, reader->number,
                               "the line is indented, but the one before does not end in a backslash");
                line->bad = true;
        }
        return put_key(reader, line); /* a bad line too: it may continue */
}

int settings_lines_read(const char *path, Complaints *complaints, SettingsLines *ret) {
        static const char byte_order_mark[] = "\xEF\xBB\xBF";
        _cleanup_(freep) char *text = NULL;
        size_t length = 0;

        int r = read_file(path, complaints, &text, &length);
        if (r < 0)
                return r;
        Reader reader = { .path = path, .complaints = complaints, .at = text, .end = text + length };
        if (strncmp(text, byte_order_mark, 3) == 0)
                reader.at += 3;
        for (Physical line; r == 0 && next_physical(&reader, &line);)
                r = put_line(&reader, &line);
        if (r < 0) {
                free(reader.items);
                return r;
        }
        *ret = (SettingsLines){ .text = TAKE(text), .items = reader.items, .n_items = reader.n_items };
        return 0;
}

void settings_lines_done(SettingsLines *lines) {
        free(lines->text);
        free(lines->items);
        *lines = (SettingsLines){ 0 };
}
