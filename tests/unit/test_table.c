/* test_table.c - rows and columns of text. */
#include "base/take.h"
#include "ledger/table.h"
#include <criterion/criterion.h>
#include <string.h>

static const TableColumn columns[] = { { "ID", true }, { "NAME", false }, { "ERROR", false } };

static char *table_of(size_t width, bool bold) {
        Table table;

        table_init(&table, columns, 3);
        cr_assert_eq(table_add(&table, (const char *const[]){ "1", "Jörg", "short" }), 0);
        cr_assert_eq(table_add(&table,
                               (const char *const[]){ "1000", NULL, "a longer text\nof two lines that goes on" }),
                     0);
        char *text = table_format(&table, width, bold);
        table_done(&table);
        cr_assert(text);
        return text;
}

Test(table, numbers_stand_right_and_characters_count_not_bytes) {
        _cleanup_(freep) char *text = table_of(0, false);

        cr_assert_str_eq(text, "  ID  NAME  ERROR\n"
                               "   1  Jörg  short\n"
                               "1000        a longer text of two lines that goes on\n");
}

Test(table, the_last_column_is_cut_to_the_width_and_marked) {
        _cleanup_(freep) char *text = table_of(34, false);

        cr_assert_str_eq(text, "  ID  NAME  ERROR\n"
                               "   1  Jörg  short\n"
                               "1000        a longer text of two …\n");
}

Test(table, a_narrow_terminal_leaves_the_last_column_legible) {
        _cleanup_(freep) char *text = table_of(5, false);

        cr_assert(strstr(text, "a longer text of tw…"));
}

Test(table, titles_are_bold_only_when_asked) {
        _cleanup_(freep) char *text = table_of(0, true);

        cr_assert(strncmp(text, "\033[1m  ID", 8) == 0);
        cr_assert(strstr(text, "ERROR\033[0m\n"));
}

Test(table, control_characters_cannot_move_the_cursor) {
        Table table;

        table_init(&table, columns, 3);
        cr_assert_eq(table_add(&table, (const char *const[]){ "1", "a\033[2Jb", "c\rd\te" }), 0);
        _cleanup_(freep) char *text = table_format(&table, 0, false);
        table_done(&table);
        cr_assert_null(strchr(text, '\033'));
        cr_assert(strstr(text, "a?[2Jb"));
        cr_assert(strstr(text, "c d e"));
}

Test(table, no_rows_are_titles_only) {
        Table table;

        table_init(&table, columns, 3);
        _cleanup_(freep) char *text = table_format(&table, 0, false);
        table_done(&table);
        cr_assert_str_eq(text, "ID  NAME  ERROR\n");
}
