/* config_database.h - where the job ledger's database is, and what the reaper may take: [Database] and [Reaper] as
 * values.
 *
 * The URLs may hold a password: they go to built-in processes by their environment and are shown nowhere. What PID 1
 * itself knows of a database ends here: it talks to none. */
#pragma once
#include "base/usec.h"
#include <stdbool.h>
#include <stdint.h>

typedef enum DatabaseFrom {
        DATABASE_NOWHERE,          /* no [Database]: there is no reaper, and everything else works */
        DATABASE_FROM_ENVIRONMENT, /* $DATABASE_URL, else libpq's own */
        DATABASE_FROM_URL,
        DATABASE_FROM_FILE,
        DATABASE_EMBEDDED,
        _DATABASE_FROM_MAX,
} DatabaseFrom;

const char *database_from_to_string(DatabaseFrom from);

typedef enum Chosen { CHOSEN_AUTO, CHOSEN_NO, CHOSEN_YES } Chosen;

typedef struct DatabaseConfig {
        DatabaseFrom from;
        char *url;        /* secret; of an embedded database ours, and then none */
        char *url_file;   /* a path */
        char *listen_url; /* secret */
        char *schema;     /* NULL: endwell */
        char *embedded;   /* the folder; NULL: none */
        char *word;       /* "DATABASE_URL=…" for every service of an embedded database; NULL: none */
        usec_t connect_timeout_usec;
        Chosen migrate;
        uint16_t phase;
} DatabaseConfig;

typedef struct ReaperConfig {
        Chosen enabled;
        unsigned batch, prune_batch;
        usec_t interval_usec, retention_usec; /* the second: USEC_INFINITY keeps what is finished */
} ReaperConfig;

#define DATABASE_DEFAULTS ((DatabaseConfig){ .connect_timeout_usec = 5 * USEC_PER_SEC })
#define REAPER_DEFAULTS                                                                                                \
        ((ReaperConfig){ .batch = 500,                                                                                 \
                         .prune_batch = 5000,                                                                          \
                         .interval_usec = 5 * USEC_PER_SEC,                                                            \
                         .retention_usec = 7 * 24 * 3600 * USEC_PER_SEC })

static inline bool database_migrates(const DatabaseConfig *database) {
        return database->migrate == CHOSEN_AUTO ? database->from == DATABASE_EMBEDDED : database->migrate == CHOSEN_YES;
}

static inline bool database_has_reaper(const DatabaseConfig *database, const ReaperConfig *reaper) {
        return database->from != DATABASE_NOWHERE && reaper->enabled != CHOSEN_NO;
}

void database_done(DatabaseConfig *database);
