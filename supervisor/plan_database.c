/* plan_database.c - shows where the ledger's database is and what the reaper does there, and nothing that is secret. */
#include "supervisor/plan.h"
#include "supervisor/plan_service.h"
#include "supervisor/span.h"

static void print_place(const DatabaseConfig *database, FILE *out) {
        switch (database->from) {
        case DATABASE_FROM_ENVIRONMENT: fputs("where $DATABASE_URL or libpq's own variables say", out); break;
        case DATABASE_FROM_URL: fputs("where Url says (not shown)", out); break;
        case DATABASE_FROM_FILE: fprintf(out, "where the file %s says", database->url_file); break;
        case DATABASE_EMBEDDED:
                fprintf(out, "embedded in %s; services find it by DATABASE_URL=%s", database->embedded, database->url);
                break;
        case DATABASE_NOWHERE:
        case _DATABASE_FROM_MAX: break;
        }
}

void plan_print_database(const Config *config, FILE *out) {
        const DatabaseConfig *database = &config->database;
        const ReaperConfig *reaper = &config->reaper;

        if (database->from == DATABASE_NOWHERE)
                return;
        fputs("\ndatabase:\n  ", out);
        print_place(database, out);
        fprintf(out, "\n  schema %s, %s, a connection is waited for %s\n",
                database->schema ? database->schema : "endwell",
                database_migrates(database) ? "migrated at each start" : "migrated by hand (endwell ledger migrate)",
                SPAN(database->connect_timeout_usec));
        if (!database_has_reaper(database, reaper)) {
                fputs("  no reaper\n", out);
                return;
        }
        fprintf(out, "  reaper: every %s, at most %u jobs at once; finished jobs ", SPAN(reaper->interval_usec),
                reaper->batch);
        if (reaper->retention_usec == USEC_INFINITY)
                fputs("are kept\n", out);
        else
                fprintf(out, "are kept for %s, then removed %u at once\n", SPAN(reaper->retention_usec),
                        reaper->prune_batch);
}

static void put_reaper(Json *json, const Config *config) {
        const ReaperConfig *reaper = &config->reaper;

        if (!database_has_reaper(&config->database, reaper)) {
                json_put_null(json, "reaper");
                return;
        }
        json_open_object(json, "reaper");
        plan_put_span(json, "interval_us", reaper->interval_usec);
        json_put_unsigned(json, "batch_size", reaper->batch);
        plan_put_span(json, "retention_us", reaper->retention_usec);
        json_put_unsigned(json, "prune_batch", reaper->prune_batch);
        json_close(json);
}

void plan_put_database(Json *json, const Config *config) {
        const DatabaseConfig *database = &config->database;

        if (database->from == DATABASE_NOWHERE) {
                json_put_null(json, "database");
                json_put_null(json, "reaper");
                return;
        }
        json_open_object(json, "database");
        json_put_string(json, "from", database_from_to_string(database->from));
        json_put_string(json, "url_file", database->url_file);
        json_put_string(json, "embedded", database->embedded);
        json_put_string(json, "url", database->from == DATABASE_EMBEDDED ? database->url : NULL);
        json_put_string(json, "schema", database->schema ? database->schema : "endwell");
        json_put_string(json, "phase", config->phases[database->phase].name);
        json_put_bool(json, "migrate", database_migrates(database));
        plan_put_span(json, "connect_timeout_us", database->connect_timeout_usec);
        json_close(json);
        put_reaper(json, config);
}
