/* test_config_database.c - [Database] and [Reaper] out of whole files: what reaches the Config, which services they
 * bring, whom these wait for, and that no password is ever said. */
#include "base/take.h"
#include "supervisor/plan.h"
#include "tests/support/config_file.h"
#include <criterion/criterion.h>
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

static ConfigFile file;

static void set_up(void) {
        config_file_open(&file);
}

static void tear_down(void) {
        config_file_close(&file);
}

TestSuite(config_database, .init = set_up, .fini = tear_down);

#define WEB      "[Service web]\nPhase=http\nExecStart=/bin/true\n"
#define POOL     "[Service pool]\nPhase=db\nExecStart=/bin/true\n"
#define EMBEDDED "[Database]\nEmbedded=/nonexistent/db\n"

static const Config *must_load(const char *text) {
        config_file_load(&file, text);
        cr_assert_eq(file.answer, 0, "%s: said %s", text, file.printed);
        return file.config;
}

static void must_refuse(const char *text, const char *place, const char *words) {
        char where[128];

        config_file_load(&file, text);
        snprintf(where, sizeof where, "%s:%s: ", file.path, place);
        cr_expect_eq(file.answer, -EBADMSG, "%s: said %s", text, file.printed);
        cr_expect(strstr(file.printed, where) || strstr(file.printed, strrchr(where, '/') + 1), "%s: no %s in %s", text,
                  where, file.printed);
        cr_expect_not_null(strstr(file.printed, words), "%s: said %s", text, file.printed);
        cr_expect_null(strstr(file.printed, "s3cret"), "%s: said %s", text, file.printed);
}

static const ServiceConfig *find(const Config *config, const char *name) {
        for (size_t i = 0; i < config->n_services; i++)
                if (strcmp(config->services[i].name, name) == 0)
                        return &config->services[i];
        return NULL;
}

static bool is_after(const Config *config, const char *name, const char *other) {
        const Relation *after = service_after(find(config, name));
        for (uint16_t i = 0; i < after->n; i++)
                if (strcmp(config->services[after->items[i]].name, other) == 0)
                        return true;
        return false;
}

static bool finds(const ServiceConfig *service, const char *word) {
        for (size_t i = 0; service->environment && service->environment[i]; i++)
                if (strcmp(service->environment[i], word) == 0)
                        return true;
        return false;
}

/* ---- Which there are ---- */

Test(config_database, without_the_section_there_is_none_of_it) {
        const Config *config = must_load(WEB);
        cr_expect_eq(config->database.from, DATABASE_NOWHERE);
        cr_expect_eq(config->n_services, 1);
        cr_expect_null(config->database.word);
}

Test(config_database, the_section_alone_is_a_database_and_brings_a_reaper) {
        const Config *config = must_load(WEB POOL "[Database]\n");
        cr_expect_eq(config->database.from, DATABASE_FROM_ENVIRONMENT);
        cr_assert_eq(config->n_services, 3);
        const ServiceConfig *reaper = find(config, "endwell-reaper");
        cr_assert_not_null(reaper);
        cr_expect_str_eq(config->phases[reaper->phase].name, "db");
        cr_expect(reaper->builtin && reaper->aside && !reaper->essential);
        cr_expect_eq(reaper->start_limit_burst, 0);
        cr_expect(finds(reaper, "ENDWELL_REAPER_INTERVAL_USEC=5000000"));
        cr_expect(finds(reaper, "ENDWELL_DATABASE_SCHEMA=endwell"));
        cr_expect(is_after(config, "endwell-reaper", "pool"));
        cr_expect_null(config->database.word, "a database elsewhere is nobody's by itself");
}

Test(config_database, an_embedded_one_is_migrated_and_told_to_every_service) {
        const Config *config = must_load(WEB POOL EMBEDDED "User=nobody\n");
        const ServiceConfig *database = find(config, "endwell-database"), *migrate = find(config, "endwell-migrate");
        cr_assert(database && migrate);
        cr_expect_eq(database->type, SERVICE_NOTIFY);
        cr_expect_eq(database->kill_signal, SIGINT);
        cr_expect(database->essential && migrate->essential);
        cr_expect_eq(migrate->type, SERVICE_ONESHOT);
        cr_expect_str_eq(database->argv[1], "/nonexistent/db");
        cr_expect(is_after(config, "endwell-migrate", "endwell-database"));
        cr_expect(is_after(config, "endwell-migrate", "pool"));
        cr_expect(is_after(config, "endwell-reaper", "endwell-migrate"));
        cr_expect_eq(service_after(database)->n, 0);
        cr_expect_str_eq(config->database.word,
                         "DATABASE_URL=postgresql:///endwell?host=%2Fnonexistent%2Fdb&user=endwell");
}

Test(config_database, each_can_be_left_out) {
        const Config *config = must_load(WEB EMBEDDED "User=nobody\nMigrate=no\n[Reaper]\nEnabled=no\n");
        cr_expect_null(find(config, "endwell-migrate"));
        cr_expect_null(find(config, "endwell-reaper"));
        cr_expect_not_null(find(config, "endwell-database"));
        config = must_load(WEB "[Database]\nUrl=postgresql://db\nMigrate=yes\n");
        cr_expect_not_null(find(config, "endwell-migrate"));
        cr_expect_null(find(config, "endwell-database"));
}

Test(config_database, its_phase_is_the_one_that_is_named_else_db_else_the_last) {
        static const char *const cases[][2] = {
                { "[Database]\nPhase=http\n", "http" },
                { "[Database]\n", "db" },
                { "[Database]\n[Supervisor]\nPhases=http db telemetry\n", "db" },
                { "[Database]\n[Supervisor]\nPhases=http data\n", "data" },
        };
        char text[256];

        for (size_t i = 0; i < LENGTH_OF(cases); i++) {
                snprintf(text, sizeof text, WEB "%s", cases[i][0]);
                const Config *config = must_load(text);
                cr_expect_str_eq(config->phases[find(config, "endwell-reaper")->phase].name, cases[i][1], "%s", text);
        }
}

/* ---- Whom they wait for ---- */

Test(config_database, who_waits_for_one_of_them_by_however_long_a_chain_is_not_waited_for) {
        const Config *config =
                must_load(WEB POOL "[Service a]\nPhase=db\nExecStart=/bin/true\nAfter=endwell-migrate\n"
                                   "[Service b]\nPhase=db\nExecStart=/bin/true\nAfter=a\n"
                                   "[Service c]\nPhase=db\nExecStart=/bin/true\nRequires=endwell-reaper\n"
                                   "[Service d]\nPhase=db\nExecStart=/bin/true\nAfter=endwell-database\n" EMBEDDED
                                   "User=nobody\n");
        static const struct {
                const char *name;
                bool by_migration, by_reaper;
        } expected[] = { { "pool", true, true }, { "a", false, true }, { "b", false, true },
                         { "c", false, false },  { "d", true, true },  { "web", false, false } };

        for (size_t i = 0; i < LENGTH_OF(expected); i++) {
                cr_expect_eq(is_after(config, "endwell-migrate", expected[i].name), expected[i].by_migration, "%s",
                             expected[i].name);
                cr_expect_eq(is_after(config, "endwell-reaper", expected[i].name), expected[i].by_reaper, "%s",
                             expected[i].name);
        }
}

Test(config_database, a_cycle_among_written_services_is_still_told) {
        must_refuse(WEB "[Service a]\nPhase=db\nExecStart=/bin/true\nAfter=b\n"
                        "[Service b]\nPhase=db\nExecStart=/bin/true\nAfter=a endwell-reaper\n[Database]\n",
                    "11", "a -> b -> a");
}

/* ---- What is refused ---- */

Test(config_database, what_cannot_be_is_refused_and_no_password_is_shown) {
        static const struct {
                const char *text, *place, *words;
        } cases[] = {
                { "Url=postgresql://a:s3cret@db\nUrlFile=/run/url\n", "6", "in one place only" },
                { "Url=postgresql://a:s3cret@db\nEmbedded=/db\nUser=nobody\n", "4", "in one place only" },
                { "Url=s3cret\n", "5", "not shown" },
                { "Url=mysql://a:s3cret@db\n", "5", "must begin with postgresql://" },
                { "Url=\n", "5", "is empty" },
                { "ListenUrl=s3cret\n", "5", "not shown" },
                { "Url postgresql://a:s3cret@db\n", "5", "" },
                { "Url=postgresql://a:s3cret@db\nUrl=postgresql://a:s3cret@db\n", "6", "" },
                { "UrlFile=secret\n", "5", "absolute" },
                { "Schema=pg_mine\n", "5", "PostgreSQL's own" },
                { "Schema=\n", "5", "1 to 63" },
                { "Schema=a'b\n", "5", "without" },
                { "Phase=dbb\n", "5", "did you mean db?" },
                { "Embedded=db\n", "5", "absolute" },
                { "Embedded=/a,b\n", "5", "without commas" },
                { "Embedded=/dev/null\n", "5", "is no folder" },
                { "Embedded=/db\nUser=root\n", "6", "does not run as root" },
                { "Embedded=/db\nUser=no-such-user-here\n", "6", "no such user" },
                { "Embedded=/db\nUser=nobody\nListenUrl=postgresql://a:s3cret@db\n", "7", "reached directly" },
                { "Migrate=maybe\n", "5", "must be yes or no" },
                { "ConnectTimeoutSec=infinity\n", "5", "must end" },
                { "[Reaper]\nBatchSize=0\n", "6", "" },
                { "[Reaper]\nIntervalSec=0\n", "6", "" },
                { "[Reaper]\nEnabled=perhaps\n", "6", "must be yes or no" },
                { "[Service endwell-web]\nPhase=db\nExecStart=/bin/true\n", "5", "choose another" },
                { "[Hook endwell-hook]\nService=web\nOn=pre-stop\nExec=/bin/true\n", "5", "choose another" },
        };
        char text[512];

        for (size_t i = 0; i < LENGTH_OF(cases); i++) {
                snprintf(text, sizeof text, WEB "[Database]\n%s", cases[i].text);
                must_refuse(text, cases[i].place, cases[i].words);
        }
        must_refuse(WEB "[Reaper]\nEnabled=yes\n", "5", "no [Database]");
}

Test(config_database, a_path_that_is_too_long_for_a_socket_is_refused) {
        char text[512], path[128];

        memset(path, 'x', sizeof path);
        path[0] = '/';
        path[93] = '\0';
        snprintf(text, sizeof text, WEB "[Database]\nUser=nobody\nEmbedded=%s\n", path);
        must_load(text);
        path[93] = 'x';
        path[94] = '\0';
        snprintf(text, sizeof text, WEB "[Database]\nUser=nobody\nEmbedded=%s\n", path);
        must_refuse(text, "6", "too long by 1");
}

/* ---- What they find, and what is shown ---- */

Test(config_database, a_url_reaches_the_built_in_services_and_nobody_else) {
        static const char url[] = "ENDWELL_DATABASE_URL=postgresql://a:s3cret@db/app?x=1";
        const Config *config =
                must_load(WEB POOL "[Database]\nUrl=postgresql://a:s3cret@db/app?x=1\nMigrate=yes\nSchema=jobs\n");
        cr_expect(finds(find(config, "endwell-reaper"), url));
        cr_expect(finds(find(config, "endwell-migrate"), url));
        cr_expect(finds(find(config, "endwell-migrate"), "ENDWELL_DATABASE_SCHEMA=jobs"));
        cr_expect(!finds(find(config, "web"), url));
        cr_expect_null(config->database.word);
}

Test(config_database, neither_plan_shows_the_password) {
        const Config *config =
                must_load(WEB "[Database]\nUrl=postgresql://a:s3cret@db/app\nListenUrl=host=x password=s3cret\n"
                              "Migrate=yes\n");
        char *text = NULL;
        size_t size = 0;
        FILE *out = open_memstream(&text, &size);

        cr_assert_eq(plan_print(config, out), 0);
        cr_assert_eq(plan_print_json(config, NULL, file.complaints, out), 0);
        fclose(out);
        cr_expect_not_null(strstr(text, "endwell-reaper"));
        cr_expect_not_null(strstr(text, "\"from\":\"url\""), "%s", text);
        cr_expect_null(strstr(text, "s3cret"), "%s", text);
        free(text);
}

Test(config_database, the_reaper_is_told_what_its_section_says) {
        const Config *config =
                must_load(WEB "[Database]\nUrlFile=/run/secrets/url\nConnectTimeoutSec=2\n"
                              "[Reaper]\nIntervalSec=1\nBatchSize=7\nRetentionSec=infinity\nPruneBatch=9\n");
        const ServiceConfig *reaper = find(config, "endwell-reaper");
        static const char *const words[] = {
                "ENDWELL_DATABASE_URL_FILE=/run/secrets/url", "ENDWELL_DATABASE_CONNECT_TIMEOUT_USEC=2000000",
                "ENDWELL_REAPER_INTERVAL_USEC=1000000",       "ENDWELL_REAPER_BATCH=7",
                "ENDWELL_REAPER_RETENTION_USEC=infinity",     "ENDWELL_REAPER_PRUNE_BATCH=9",
        };

        for (size_t i = 0; i < LENGTH_OF(words); i++)
                cr_expect(finds(reaper, words[i]), "%s", words[i]);
}

Test(config_database, who_may_connect_are_root_and_the_users_of_the_services) {
        const Config *config = must_load(WEB "User=nobody\n" EMBEDDED "User=daemon\n");
        const ServiceConfig *database = find(config, "endwell-database");
        bool found = false;

        for (size_t i = 0; database->environment[i]; i++)
                if (strncmp(database->environment[i], "ENDWELL_DATABASE_USERS=", 23) == 0) {
                        found = true;
                        cr_expect_not_null(strstr(database->environment[i], "root"));
                        cr_expect_not_null(strstr(database->environment[i], "nobody"));
                        cr_expect_not_null(strstr(database->environment[i], "daemon"));
                }
        cr_expect(found);
}
