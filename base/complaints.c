/* complaints.c - collects every error of a configuration, sorted and bounded. */
#include "base/complaints.h"
#include "base/arena.h"
#include "base/take.h"
#include "base/utf8.h"
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#define COMPLAINTS_MAX 1000 /* kept; who has more than that reads the first ones anyway */
#define FILES_MAX      COMPLAINTS_MAX
#define MESSAGE_MAX    1024 /* bytes of one message */

typedef struct Complaint {
        size_t file; /* index into files */
        unsigned line;
        bool is_warning;
        const char *message;
} Complaint;

struct Complaints {
        Arena messages;
        char **files; /* in the order of reading */
        size_t n_files;
        Complaint *items; /* sorted by file, line, and then as they came */
        size_t n_items;
        size_t n_errors, n_warnings; /* of all, kept or not */
        size_t n_beyond;             /* over the bound */
        size_t n_forgotten;          /* for want of memory */
};

int complaints_new(Complaints **ret) {
        Complaints *complaints = calloc(1, sizeof *complaints);
        if (!complaints)
                return -ENOMEM;
        *ret = complaints;
        return 0;
}

Complaints *complaints_free(Complaints *complaints) {
        if (!complaints)
                return NULL;
        for (size_t i = 0; i < complaints->n_files; i++)
                free(complaints->files[i]);
        arena_done(&complaints->messages);
        free(complaints->files);
        free(complaints->items);
        free(complaints);
        return NULL;
}

void complaints_freep(Complaints **complaints) {
        *complaints = complaints_free(*complaints);
}

/* The index of `file`, which is remembered when it is new; -ENOMEM. */
static int find_file(Complaints *complaints, const char *file, size_t *ret) {
        for (size_t i = 0; i < complaints->n_files; i++)
                if (strcmp(complaints->files[i], file) == 0) {
                        *ret = i;
                        return 0;
                }
        char **files = reallocarray(complaints->files, complaints->n_files + 1, sizeof *files);
        if (!files)
                return -ENOMEM;
        complaints->files = files;
        files[complaints->n_files] = strdup(file);
        if (!files[complaints->n_files])
                return -ENOMEM;
        *ret = complaints->n_files++;
        return 0;
}

void complaints_expect_file(Complaints *complaints, const char *file) {
        size_t ignored;
        if (complaints->n_files < FILES_MAX)
                (void)find_file(complaints, file, &ignored); /* without memory only the order suffers */
}

static bool comes_after(const Complaint *a, const Complaint *b) {
        return a->file != b->file ? a->file > b->file : a->line > b->line;
}

/* 0 or -ENOMEM. */
static int insert(Complaints *complaints, const Complaint *item) {
        Complaint *items = reallocarray(complaints->items, complaints->n_items + 1, sizeof *items);
        if (!items)
                return -ENOMEM;
        complaints->items = items;
        size_t at = complaints->n_items++;
        for (; at > 0 && comes_after(&items[at - 1], item); at--)
                items[at] = items[at - 1];
        items[at] = *item;
        return 0;
}

static int keep(Complaints *complaints, const char *file, unsigned line, bool is_warning, const char *text) {
        Complaint item = { .line = line, .is_warning = is_warning };
        item.message = arena_strdup(&complaints->messages, text);
        if (!item.message)
                return -ENOMEM;
        int r = find_file(complaints, file, &item.file);
        return r < 0 ? r : insert(complaints, &item);
}

static void add(Complaints *complaints, const char *file, unsigned line, bool is_warning, const char *format,
                va_list ap) __attribute__((format(printf, 5, 0)));

static void add(Complaints *complaints, const char *file, unsigned line, bool is_warning, const char *format,
                va_list ap) {
        char text[MESSAGE_MAX];

        *(is_warning ? &complaints->n_warnings : &complaints->n_errors) += 1;
        if (complaints->n_items >= COMPLAINTS_MAX) {
                complaints->n_beyond++;
                return;
        }
        if (vsnprintf(text, sizeof text, format, ap) >= (int)sizeof text) {
                static const char mark[] = "...";
                strcpy(text + utf8_cut(text, sizeof text - 1, sizeof text - sizeof mark), mark);
        }
        utf8_clean(text, strlen(text)); /* a message may quote a value, and a value may hold anything */
        if (keep(complaints, file, line, is_warning, text) < 0)
                complaints->n_forgotten++;
}

void complaints_add(Complaints *complaints, const char *file, unsigned line, const char *format, ...) {
        va_list ap;
        va_start(ap, format);
        add(complaints, file, line, false, format, ap);
        va_end(ap);
}

void complaints_warn(Complaints *complaints, const char *file, unsigned line, const char *format, ...) {
        va_list ap;
        va_start(ap, format);
        add(complaints, file, line, true, format, ap);
        va_end(ap);
}

size_t complaints_count(const Complaints *complaints) {
        return complaints->n_errors;
}

size_t complaints_warning_count(const Complaints *complaints) {
        return complaints->n_warnings;
}

void complaints_print(const Complaints *complaints, FILE *out) {
        for (size_t i = 0; i < complaints->n_items; i++) {
                const Complaint *item = &complaints->items[i];
                fputs(complaints->files[item->file], out);
                if (item->line > 0)
                        fprintf(out, ":%u", item->line);
                fprintf(out, ": %s%s\n", item->is_warning ? "warning: " : "", item->message);
        }
        if (complaints->n_beyond > 0)
                fprintf(out, "... and %zu more\n", complaints->n_beyond);
        if (complaints->n_forgotten > 0)
                fprintf(out, "... and %zu more, which there was no memory to keep\n", complaints->n_forgotten);
}

bool complaints_get(const Complaints *complaints, size_t i, const char **ret_file, unsigned *ret_line,
                    const char **ret_message, bool *ret_is_warning) {
        if (i >= complaints->n_items)
                return false;
        const Complaint *item = &complaints->items[i];
        *ret_file = complaints->files[item->file];
        *ret_line = item->line;
        *ret_message = item->message;
        *ret_is_warning = item->is_warning;
        return true;
}
