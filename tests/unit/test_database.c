/* test_database.c - where the ledger's database is, by the environment and by a configuration. */
#include "base/take.h"
#include "ledger/database.h"
#include <criterion/criterion.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char folder[] = "/tmp/endwell-test-database.XXXXXX";
static char path[sizeof folder + 20];

static void set_up(void) {
        unsetenv("ENDWELL_DATABASE_URL");
        unsetenv("ENDWELL_DATABASE_URL_FILE");
        unsetenv("ENDWELL_DATABASE_SCHEMA");
        unsetenv("ENDWELL_DATABASE_CONNECT_TIMEOUT_USEC");
        unsetenv("DATABASE_URL");
        cr_assert(mkdtemp(folder));
        snprintf(path, sizeof path, "%s/file", folder);
}

static void tear_down(void) {
        unlink(path);
        rmdir(folder);
}

static void put(const char *text) {
        FILE *file = fopen(path, "w");
        cr_assert(file);
        fputs(text, file);
        fclose(file);
}

TestSuite(database, .init = set_up, .fini = tear_down);

Test(database, with_nothing_it_is_where_libpq_looks) {
        _cleanup_(database_done) Database database = { 0 };
        char problem[DATABASE_PROBLEM_MAX];

        cr_assert_eq(database_from_environment(&database, problem), 0);
        cr_assert_null(database.url);
        cr_assert_str_eq(database.schema, "endwell");
        cr_assert_eq(database.connect_timeout_usec, 5 * USEC_PER_SEC);
        cr_assert_str_eq(database.origin, "libpq's own PG* variables");
}

Test(database, what_endwell_gave_stands_above_the_application_s_own) {
        _cleanup_(database_done) Database database = { 0 };
        char problem[DATABASE_PROBLEM_MAX];

        setenv("DATABASE_URL", "postgresql://app@other/one", 1);
        setenv("ENDWELL_DATABASE_URL", "postgresql://app@db/jobs", 1);
        setenv("ENDWELL_DATABASE_SCHEMA", "my \"jobs\"", 1);
        setenv("ENDWELL_DATABASE_CONNECT_TIMEOUT_USEC", "1500000", 1);
        cr_assert_eq(database_from_environment(&database, problem), 0);
        cr_assert_str_eq(database.url, "postgresql://app@db/jobs");
        cr_assert_str_eq(database.schema, "my \"jobs\"");
        cr_assert_eq(database.connect_timeout_usec, 1500 * USEC_PER_MSEC);
        cr_assert_str_eq(database.origin, "$ENDWELL_DATABASE_URL");
}

Test(database, a_file_of_a_secret_stands_above_the_application_s_own_too) {
        _cleanup_(database_done) Database database = { 0 };
        char problem[DATABASE_PROBLEM_MAX];

        put("postgresql://app:s3cret@db/jobs\n");
        setenv("DATABASE_URL", "postgresql://app@other/one", 1);
        setenv("ENDWELL_DATABASE_URL_FILE", path, 1);
        cr_assert_eq(database_from_environment(&database, problem), 0);
        cr_assert_str_eq(database.url, "postgresql://app:s3cret@db/jobs");
}

Test(database, what_cannot_be_used_is_refused_without_a_word_of_the_url) {
        static const char *const urls[] = { "s3cret",
                                            "postgresql://app:s3%zzcret@db",
                                            "postgresql://app:s3cret@[::1/x",
                                            "postgresql:/app:s3cret@db",
                                            "postgresql://app:a@s3cret@db/x",
                                            "postgresql://app:s3cret/x@db/x",
                                            "mysql://root:s3cret@db" };

        for (size_t i = 0; i < sizeof urls / sizeof *urls; i++) {
                _cleanup_(database_done) Database database = { 0 };
                char problem[DATABASE_PROBLEM_MAX] = "";
                setenv("DATABASE_URL", urls[i], 1);
                cr_assert_eq(database_from_environment(&database, problem), -EINVAL, "%s", urls[i]);
                cr_assert_null(strstr(problem, "cret"), "%s", problem);
                cr_assert(strstr(problem, "$DATABASE_URL"), "%s", problem);
        }
}

Test(database, a_schema_or_a_time_that_cannot_be_is_refused) {
        _cleanup_(database_done) Database database = { 0 };
        char problem[DATABASE_PROBLEM_MAX];

        setenv("ENDWELL_DATABASE_SCHEMA", "pg_jobs", 1);
        cr_assert_eq(database_from_environment(&database, problem), -EINVAL);
        unsetenv("ENDWELL_DATABASE_SCHEMA");
        static const char *const bad[] = { "0", "-1", "5s", "99999999999999999999999" };
        for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
                setenv("ENDWELL_DATABASE_CONNECT_TIMEOUT_USEC", bad[i], 1);
                cr_assert_eq(database_from_environment(&database, problem), -EINVAL, "%s", bad[i]);
        }
}

/* 0 and the database, or the complaints as they would be printed. */
static int read_configuration(const char *text, Database *ret, char ret_said[static 2000]) {
        _cleanup_(complaints_freep) Complaints *complaints = NULL;

        put(text);
        cr_assert_eq(complaints_new(&complaints), 0);
        int r = database_from_file(path, complaints, ret);
        FILE *out = fmemopen(ret_said, 2000, "w");
        complaints_print(complaints, out);
        fclose(out);
        return r;
}

Test(database, of_a_configuration_only_its_own_section_is_judged) {
        _cleanup_(database_done) Database database = { 0 };
        char said[2000] = "";

        setenv("DATABASE_URL", "postgresql://app@other/one", 1);
        cr_assert_eq(
                read_configuration("[Service web]\nNoSuchKey=1\nExecStart=${UNSET}\n[Nonsense]\nA=b\n"
                                   "[Database]\nUrl=postgresql://app@db/jobs\nSchema=work\nConnectTimeoutSec=1500ms\n"
                                   "Phase=none\nMigrate=maybe\n",
                                   &database, said),
                0, "%s", said);
        cr_assert_str_eq(database.url, "postgresql://app@db/jobs");
        cr_assert_str_eq(database.schema, "work");
        cr_assert_eq(database.connect_timeout_usec, 1500 * USEC_PER_MSEC);
        cr_assert(strstr(database.origin, "[Database] of "));
}

Test(database, without_the_section_the_environment_counts) {
        _cleanup_(database_done) Database database = { 0 };
        char said[2000] = "";

        setenv("DATABASE_URL", "postgresql://app@other/one", 1);
        cr_assert_eq(read_configuration("[Service web]\nExecStart=x\n", &database, said), 0, "%s", said);
        cr_assert_str_eq(database.url, "postgresql://app@other/one");
}

Test(database, an_embedded_one_is_on_the_socket_in_its_folder) {
        _cleanup_(database_done) Database database = { 0 };
        char said[2000] = "";

        cr_assert_eq(read_configuration("[Database]\nEmbedded=/var/lib/my app\n", &database, said), 0, "%s", said);
        cr_assert(strstr(database.url, "/var/lib/my app"));
}

Test(database, each_error_of_the_section_has_its_line_and_no_secret) {
        _cleanup_(database_done) Database database = { 0 };
        char said[2000] = "";

        cr_assert_eq(read_configuration("[Database]\nUrl=postgresql://a:s3cret/x@db/x\nSchema=pg_x\nShema=x\n"
                                        "ConnectTimeoutSec=soon\nUrlFile=/nonexistent\n",
                                        &database, said),
                     -EBADMSG);
        static const char *const lines[] = { "file:2: ", "file:3: ", "file:4: ", "file:5: ", "file:6: " };
        cr_assert(strstr(said, "file:4: unknown key Shema"), "%s", said);
        cr_assert_null(strstr(said, "s3cret"), "%s", said);
        /* An unknown key stops before values are judged: they are said next time. */
        (void)lines;
}
