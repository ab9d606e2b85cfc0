/* test_config_cases.c - the configuration files of tests/cases against what their tables expect of each. */
#include "base/take.h"
#include "tests/support/config_file.h"
#include <criterion/criterion.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static ConfigFile file;

static void set_up(void) {
        config_file_open(&file);
}

static void tear_down(void) {
        config_file_close(&file);
}

TestSuite(config_cases, .init = set_up, .fini = tear_down);

static bool has_line(const char *name, const char *number) {
        char place[1024];
        snprintf(place, sizeof place, "%s:%s: ", name, number);
        return strstr(file.printed, place) != NULL;
}

/* "3,4,5": all of them; "4|8": any of them; "": none is asked for. */
static bool lines_fit(const char *name, char *lines) {
        bool any = strchr(lines, '|') != NULL, found = false, all = true;

        if (!*lines)
                return true;
        for (char *rest, *number = strtok_r(lines, ",|", &rest); number; number = strtok_r(NULL, ",|", &rest)) {
                bool here = has_line(name, number);
                found = found || here;
                all = all && here;
        }
        return any ? found : all;
}

static void check_case(const char *folder, char *row) {
        char *name = strsep(&row, "\t"), *code = strsep(&row, "\t"), *lines = strsep(&row, "\t"),
             *words = strsep(&row, "\n");
        char path[512];

        cr_assert(name && code && lines && words, "a row of %s is broken", folder);
        snprintf(path, sizeof path, "%s/%s", folder, name);
        config_file_load_path(&file, path, NULL);
        cr_expect_eq(file.answer, strcmp(code, "78") == 0 ? -EBADMSG : 0, "%s: answered %d, said %s", name, file.answer,
                     file.printed);
        cr_expect(lines_fit(path, lines), "%s: other lines: %s", name, file.printed);
        for (char *word = strtok(words, " "); word; word = strtok(NULL, " "))
                cr_expect_not_null(strstr(file.printed, word), "%s: without the word %s: %s", name, word, file.printed);
}

static unsigned check_folder(const char *folder) {
        char path[512], row[1024];
        unsigned n = 0;

        snprintf(path, sizeof path, "%s/expected.tsv", folder);
        FILE *table = fopen(path, "re");
        cr_assert_not_null(table, "%s", path);
        cr_assert_not_null(fgets(row, sizeof row, table), "the heading");
        for (; fgets(row, sizeof row, table); n++)
                check_case(folder, row);
        fclose(table);
        return n;
}

Test(config_cases, the_files_of_the_contract_are_answered_as_their_table_says) {
        unsetenv("ENDWELL_CASE_SURELY_UNSET");
        cr_expect_eq(check_folder(CASES "/config"), 20);
}

Test(config_cases, hostile_files_are_answered_as_their_table_says) {
        cr_expect_eq(check_folder(CASES "/config-hostile"), 17);
}
