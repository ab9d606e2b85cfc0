/* test_config_environment.c - what a service and its hooks find in their environment, and that no value is ever said.
 */
#include "base/take.h"
#include "tests/support/config_file.h"
#include <criterion/criterion.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static ConfigFile file;
static char text[65536];

static void set_up(void) {
        config_file_open(&file);
}

static void tear_down(void) {
        config_file_close(&file);
}

TestSuite(config_environment, .init = set_up, .fini = tear_down);

/* `lines` of the service web, with each @ for the directory of the test; what follows its first lines. */
static void load(const char *lines) {
        size_t length = (size_t)sprintf(text, "[Service web]\nExecStart=/bin/true\n");
        for (const char *at = lines; *at; at++)
                if (*at == '@')
                        length += (size_t)sprintf(text + length, "%s", file.directory);
                else
                        length += (size_t)sprintf(text + length, "%c", *at);
        config_file_load(&file, text);
}

/* "A=1 B=2" */
static const char *join(char *const *words) {
        static char joined[1024];
        size_t length = 0;
        joined[0] = '\0';
        for (size_t i = 0; words && words[i]; i++)
                length += (size_t)snprintf(joined + length, sizeof joined - length, "%s%s", i ? " " : "", words[i]);
        return joined;
}

static const ServiceConfig *must_load(const char *lines) {
        load(lines);
        cr_assert_eq(file.answer, 0, "%s: %s", lines, file.printed);
        return file.config->services;
}

Test(config_environment, files_win_over_environment_and_later_files_over_earlier_ones) {
        config_file_write(&file, "one", "A=one\nB=one\n# c\nC='one'\n");
        config_file_write(&file, "two", "C=two\nD=two");
        const ServiceConfig *web = must_load("EnvironmentFile=@/one\nEnvironment=A=line E=line\nEnvironmentFile=@/two\n"
                                             "EnvironmentFile=-@/none\n");
        cr_expect_str_eq(join(web->environment), "A=one E=line B=one C=two D=two");
}

Test(config_environment, an_empty_line_takes_back_the_files_before_it) {
        config_file_write(&file, "one", "A=one\n");
        config_file_write(&file, "two", "B=two\n");
        cr_expect_str_eq(
                join(must_load("EnvironmentFile=@/one\nEnvironmentFile=\nEnvironmentFile=@/two\n")->environment),
                "B=two");
        cr_expect_null(must_load("EnvironmentFile=@/not-there\nEnvironmentFile=\n")->environment);
}

Test(config_environment, a_path_with_blanks_is_one_path) {
        config_file_write(&file, "my env", "A=1\n");
        cr_expect_str_eq(join(must_load("EnvironmentFile=@/my env\n")->environment), "A=1");
}

Test(config_environment, an_error_in_a_file_has_its_own_line_and_none_of_its_text) {
        config_file_write(&file, "env", "A=1\ns3cret\n\n9=s3cret\nB=\"s3cret\n");
        load("EnvironmentFile=@/env\n");
        cr_expect_eq(file.answer, -EBADMSG);
        cr_expect_null(strstr(file.printed, "s3cret"), "%s", file.printed);
        static const char *const says[] = { "env:2: is no NAME=VALUE (an EnvironmentFile, named at ",
                                            "env:4: has no name of A-Z", "env:5: a quote \" that begins" };
        for (size_t i = 0; i < LENGTH_OF(says); i++)
                cr_expect_not_null(strstr(file.printed, says[i]), "%s: %s", says[i], file.printed);
        cr_expect_not_null(strstr(file.printed, "conf.ini:3)"), "%s", file.printed);
}

Test(config_environment, a_file_that_cannot_be_read_is_an_error_unless_it_may_be_missing) {
        static const char *const rows[][2] = {
                { "EnvironmentFile=@/none\n", "No such file or directory (if it may be missing, write -/" },
                { "EnvironmentFile=@\n", "Is a directory" },
                { "EnvironmentFile=-@\n", "Is a directory" },
                { "EnvironmentFile=/dev/null\n", "it is not a regular file" },
                { "EnvironmentFile=env\n", "absolute path (one that begins with /)\n" },
                { "EnvironmentFile=-env\n", "behind the -\n" },
                { "EnvironmentFile=-\n", "behind the -\n" },
        };
        for (size_t i = 0; i < LENGTH_OF(rows); i++) {
                load(rows[i][0]);
                cr_expect_eq(file.answer, -EBADMSG, "%s", rows[i][0]);
                cr_expect_not_null(strstr(file.printed, rows[i][1]), "%s: %s", rows[i][0], file.printed);
        }
}

static void write_variables(int n, int width) {
        char path[128];
        snprintf(path, sizeof path, "%s/env", file.directory);
        FILE *out = fopen(path, "we");
        cr_assert_not_null(out);
        for (int i = 0; i < n; i++)
                fprintf(out, "V%d=%0*d\n", i, width, 0);
        fclose(out);
}

Test(config_environment, what_is_too_much_is_refused) {
        write_variables(4097, 1);
        load("EnvironmentFile=@/env\n");
        cr_expect_not_null(strstr(file.printed, "with it there are more than 4096 variables"), "%s", file.printed);
        write_variables(4096, 1);
        must_load("EnvironmentFile=@/env\n");
        char lines[60000] = "Environment=";
        size_t length = strlen(lines);
        for (int i = 0; i < 4097; i++)
                length += (size_t)sprintf(lines + length, " V%d=", i);
        strcpy(lines + length, "\n");
        load(lines);
        cr_expect_not_null(strstr(file.printed, "conf.ini:3: Environment: with it there are more than 4096 variables"),
                           "%s", file.printed);
        write_variables(300, 1000);
        load("EnvironmentFile=@/env\n");
        cr_expect_not_null(strstr(file.printed, "the file is larger than 256 KiB"), "%s", file.printed);
}

Test(config_environment, secrets_in_files_do_not_change_the_digest) {
        config_file_write(&file, "env", "A=one\n");
        must_load("EnvironmentFile=@/env\n");
        char digest[17];
        strcpy(digest, file.config->digest);
        config_file_write(&file, "env", "A=two\n");
        must_load("EnvironmentFile=@/env\n");
        cr_expect_str_eq(file.config->digest, digest);
}

/* ---- Inheritance ---- */

Test(config_environment, without_words_of_it_everything_is_inherited) {
        cr_expect_null(must_load("")->inheritance);
        cr_expect_null(must_load("PassEnvironment=\nUnsetEnvironment=\n")->inheritance);
        cr_expect_null(must_load("PassEnvironment=A\nPassEnvironment=\n")->inheritance);
}

Test(config_environment, names_are_collected_each_once) {
        const Inheritance *inheritance =
                must_load("PassEnvironment=A B\nPassEnvironment=B C_9\nUnsetEnvironment=D\n")->inheritance;
        cr_expect(inheritance->passes_some);
        cr_expect_str_eq(join(inheritance->pass), "A B C_9");
        cr_expect_str_eq(join(inheritance->unset), "D");
        inheritance = must_load("UnsetEnvironment=D\n")->inheritance;
        cr_expect(!inheritance->passes_some && !inheritance->pass);
}

Test(config_environment, what_is_unset_is_unset_whoever_set_it) {
        config_file_write(&file, "env", "A=1\nAB=2\n");
        const ServiceConfig *web = must_load("Environment=B=1 C=1\nEnvironmentFile=@/env\nUnsetEnvironment=A C X\n");
        cr_expect_str_eq(join(web->environment), "B=1 AB=2");
}

Test(config_environment, names_are_checked_and_their_values_never_said) {
        static const char *const rows[][2] = {
                { "PassEnvironment=A-B\n", "conf.ini:3: PassEnvironment: word 1 is no name" },
                { "UnsetEnvironment=A 9\n", "conf.ini:3: UnsetEnvironment: word 2 is no name" },
                { "PassEnvironment=A=s3cret\n",
                  "conf.ini:3: PassEnvironment: word 1 has a value: write only the name, A\n" },
                { "UnsetEnvironment=s3cret/\n", "word 1 is no name" },
                { "PassEnvironment='A\n", "quote" },
        };
        for (size_t i = 0; i < LENGTH_OF(rows); i++) {
                load(rows[i][0]);
                cr_expect_eq(file.answer, -EBADMSG, "%s", rows[i][0]);
                cr_expect_not_null(strstr(file.printed, rows[i][1]), "%s: %s", rows[i][0], file.printed);
                cr_expect_null(strstr(file.printed, "s3cret"), "%s", file.printed);
                const char *once = strstr(file.printed, "conf.ini:3");
                cr_expect_null(strstr(once + 1, "conf.ini:3"), "once only: %s", file.printed);
        }
}

/* ---- Hooks ---- */

Test(config_environment, a_hook_has_what_its_service_has_and_its_own_on_top) {
        config_file_write(&file, "env", "A=file\nB=file\n");
        must_load("EnvironmentFile=@/env\nUnsetEnvironment=B\n[Hook h]\nService=web\nOn=pre-stop\nExec=/bin/true\n"
                  "Environment=B=hook C=hook\n");
        cr_expect_str_eq(join(file.config->hooks[0].environment), "A=file B=hook C=hook");
}

Test(config_environment, a_program_is_looked_for_in_the_path_that_the_child_has) {
        config_file_write(&file, "tool", "#!/bin/sh\n");
        char path[128];
        snprintf(path, sizeof path, "%s/tool", file.directory);
        cr_assert_eq(chmod(path, 0700), 0);
        snprintf(path, sizeof path, "PATH=%s\n", file.directory);
        config_file_write(&file, "env", path);
        must_load("EnvironmentFile=@/env\n[Service other]\nExecStart=tool\nEnvironmentFile=@/env\n");
        cr_expect_str_eq(file.printed, "");
        _cleanup_(freep) char *before = strdup(getenv("PATH"));
        setenv("PATH", file.directory, 1);
        must_load("[Service other]\nExecStart=tool\n");
        cr_expect_str_eq(file.printed, "");
        must_load("[Service other]\nExecStart=tool\nUnsetEnvironment=PATH\n");
        setenv("PATH", before, 1);
        cr_expect_not_null(strstr(file.printed, "the program tool cannot be found"), "%s", file.printed);
}
