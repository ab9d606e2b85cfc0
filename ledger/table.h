/* table.h - rows and columns of text that a person likes to read.
 *
 * Pure but for malloc. Numbers stand on the right, the last column takes what is left of the width and is cut there. */
#pragma once
#include <stdbool.h>
#include <stddef.h>

#define TABLE_COLUMNS_MAX 12
#define TABLE_CELL_MAX    400 /* longer text is cut */

typedef struct TableColumn {
        const char *title;
        bool is_number;
} TableColumn;

typedef struct Table {
        const TableColumn *columns;
        size_t n_columns, n_rows;
        char **cells; /* n_rows * n_columns; ours */
} Table;

void table_init(Table *table, const TableColumn *columns, size_t n_columns);
/* n_columns texts, which are copied; NULL is empty. Control characters, newlines too, become blanks. 0 or -ENOMEM. */
int table_add(Table *table, const char *const *texts);
/* The whole table, for free(); `width` 0: as wide as it is. `bold` titles are for a terminal. NULL: out of memory. */
char *table_format(const Table *table, size_t width, bool bold);
void table_done(Table *table);
