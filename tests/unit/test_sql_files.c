/* test_sql_files.c - the SQL files as the build put them into the program. */
#include "ledger/schema_name.h"
#include "ledger/sql_files.h"
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char *read_file(const char *name) {
        char path[500];
        snprintf(path, sizeof path, "%s/%s", LEDGER, name);
        FILE *file = fopen(path, "r");
        cr_assert(file, "%s", path);
        char *text = NULL;
        size_t size = 0;
        cr_assert_geq(getdelim(&text, &size, '\0', file), 0);
        fclose(file);
        return text;
}

Test(sql_files, each_has_the_very_bytes_of_its_file) {
        size_t n = 0;

        for (const SqlFile *file = sql_files; file->name; file++, n++) {
                char *text = read_file(file->name);
                cr_assert_str_eq(text, file->text, "%s", file->name);
                cr_assert_eq(strlen(file->digest), 64);
                free(text);
        }
        cr_assert_gt(n, 30);
}

Test(sql_files, they_stand_in_the_order_of_order_txt_and_none_is_left_out) {
        char *order = read_file("order.txt");
        const SqlFile *file = sql_files;

        for (char *rest = order, *line; (line = strsep(&rest, "\n"));)
                if (*line && *line != '#') {
                        cr_assert(file->name);
                        cr_assert_str_eq(file->name, line);
                        file++;
                }
        cr_assert_null(file->name);
        free(order);
}

Test(sql_files, only_the_schema_s_files_are_applied_once) {
        cr_assert(sql_file_is_structure(&(SqlFile){ "schema.sql", "", "" }));
        cr_assert(sql_file_is_structure(&(SqlFile){ "schema-2.sql", "", "" }));
        cr_assert_not(sql_file_is_structure(&(SqlFile){ "claim.sql", "", "" }));
        cr_assert_not(sql_file_is_structure(&(SqlFile){ "_schema.sql", "", "" }));
}

Test(sql_files, no_file_names_a_schema_but_by_the_placeholder) {
        for (const SqlFile *file = sql_files; file->name; file++)
                cr_assert_null(strstr(file->text, "endwell."), "%s", file->name);
}

Test(sql_files, a_command_is_found_by_its_whole_name) {
        cr_assert(sql_command("take_out"));
        cr_assert_null(sql_command("take"));
        cr_assert_null(sql_command(""));
}
