/* table.c - rows and columns of text that a person likes to read. */
#include "ledger/table.h"
#include "base/take.h"
#include "base/utf8.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>

#define GAP      2
#define LAST_MIN 20 /* the last column keeps so much, however narrow the terminal */

void table_init(Table *table, const TableColumn *columns, size_t n_columns) {
        *table = (Table){ .columns = columns, .n_columns = n_columns };
}

static char *copy_clean(const char *text) {
        size_t length = text ? strlen(text) : 0;
        char *copy = strndup(text ? text : "", utf8_cut(text ? text : "", length, TABLE_CELL_MAX));

        if (!copy)
                return NULL;
        for (char *at = copy; *at; at++)
                if (*at == '\n' || *at == '\t' || *at == '\r')
                        *at = ' ';
        utf8_clean(copy, strlen(copy));
        return copy;
}

int table_add(Table *table, const char *const *texts) {
        size_t begin = table->n_rows * table->n_columns;
        char **cells = reallocarray(table->cells, begin + table->n_columns, sizeof *cells);

        if (!cells)
                return -ENOMEM;
        table->cells = cells;
        for (size_t i = 0; i < table->n_columns; i++) {
                cells[begin + i] = copy_clean(texts[i]);
                if (cells[begin + i])
                        continue;
                while (i-- > 0)
                        free(cells[begin + i]);
                return -ENOMEM;
        }
        table->n_rows++;
        return 0;
}

static size_t characters(const char *text) {
        size_t n = 0;

        for (; *text; text++)
                n += ((unsigned char)*text & 0xC0) != 0x80;
        return n;
}

static void measure(const Table *table, size_t width, size_t widths[static TABLE_COLUMNS_MAX]) {
        size_t before = 0, last = table->n_columns - 1;

        for (size_t i = 0; i < table->n_columns; i++) {
                widths[i] = characters(table->columns[i].title);
                for (size_t row = 0; row < table->n_rows; row++) {
                        size_t n = characters(table->cells[row * table->n_columns + i]);
                        widths[i] = n > widths[i] ? n : widths[i];
                }
                before += i < last ? widths[i] + GAP : 0;
        }
        size_t left = width > before + LAST_MIN ? width - before : LAST_MIN;
        if (width > 0 && widths[last] > left)
                widths[last] = left;
}

static void put_padding(FILE *out, size_t n) {
        while (n-- > 0)
                fputc(' ', out);
}

static size_t bytes_of(const char *text, size_t n_characters) {
        const char *at = text;

        for (; *at; at++)
                if (((unsigned char)*at & 0xC0) != 0x80 && n_characters-- == 0)
                        break;
        return (size_t)(at - text);
}

static void put_cell(FILE *out, const char *text, size_t width, bool right, bool last) {
        size_t n = characters(text);

        if (n > width) {
                fprintf(out, "%.*s…", (int)bytes_of(text, width - 1), text);
                return;
        }
        if (right)
                put_padding(out, width - n);
        fputs(text, out);
        if (!right && !last)
                put_padding(out, width - n);
        if (!last)
                put_padding(out, GAP);
}

char *table_format(const Table *table, size_t width, bool bold) {
        size_t widths[TABLE_COLUMNS_MAX], size = 0, last = table->n_columns - 1;
        char *text = NULL;
        FILE *out = open_memstream(&text, &size);

        if (!out)
                return NULL;
        measure(table, width, widths);
        fputs(bold ? "\033[1m" : "", out);
        for (size_t i = 0; i < table->n_columns; i++)
                put_cell(out, table->columns[i].title, widths[i], table->columns[i].is_number, i == last);
        fputs(bold ? "\033[0m\n" : "\n", out);
        for (size_t row = 0; row < table->n_rows; row++) {
                for (size_t i = 0; i < table->n_columns; i++)
                        put_cell(out, table->cells[row * table->n_columns + i], widths[i], table->columns[i].is_number,
                                 i == last);
                fputc('\n', out);
        }
        bool failed = ferror(out);
        if (fclose(out) != 0 || failed) {
                free(text);
                return NULL;
        }
        return text;
}

void table_done(Table *table) {
        for (size_t i = 0; i < table->n_rows * table->n_columns; i++)
                free(table->cells[i]);
        free(table->cells);
        table->cells = NULL;
        table->n_rows = 0;
}
