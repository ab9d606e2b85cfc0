/* config_builtin_outfit.c - who runs the built-in services, what they find in their environment, and the hook that
 * makes the folder of an embedded database. */
#include "base/take.h"
#include "supervisor/config_builtin.h"
#include "supervisor/config_capabilities.h"
#include "supervisor/config_rights.h"
#include "supervisor/config_strings.h"
#include "supervisor/config_values.h"
#include <errno.h>
#include <inttypes.h>
#include <linux/capability.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PREPARE_USEC (10 * USEC_PER_SEC)

/* ---- What they find ---- */

/* Of endwell's own variables: what speaks of the machine, and, where the database is not ours, libpq's. The secrets of
 * other services are none of theirs. */
static const char *const common[] = {
        "PATH",     "HOME",         "LANG",         "LC_ALL",        "LC_MESSAGES", "TZ", "LD_LIBRARY_PATH",
        "NO_COLOR", "ASAN_OPTIONS", "LSAN_OPTIONS", "UBSAN_OPTIONS",
};
static const char *const of_libpq[] = {
        "DATABASE_URL",
        "PGHOST",
        "PGHOSTADDR",
        "PGPORT",
        "PGDATABASE",
        "PGUSER",
        "PGPASSWORD",
        "PGPASSFILE",
        "PGSERVICE",
        "PGSERVICEFILE",
        "PGSYSCONFDIR",
        "PGOPTIONS",
        "PGAPPNAME",
        "PGCONNECT_TIMEOUT",
        "PGCLIENTENCODING",
        "PGTARGETSESSIONATTRS",
        "PGLOADBALANCEHOSTS",
        "PGCHANNELBINDING",
        "PGREQUIREAUTH",
        "PGREQUIREPEER",
        "PGREQUIRESSL",
        "PGSSLMODE",
        "PGSSLCERT",
        "PGSSLKEY",
        "PGSSLROOTCERT",
        "PGSSLCRL",
        "PGSSLCRLDIR",
        "PGSSLSNI",
        "PGSSLCOMPRESSION",
        "PGSSLMINPROTOCOLVERSION",
        "PGSSLMAXPROTOCOLVERSION",
        "PGGSSENCMODE",
        "PGGSSLIB",
        "PGKRBSRVNAME",
        "KRB5CCNAME",
        "KRB5_CONFIG",
        "KRB5_CLIENT_KTNAME",
        "OPENSSL_CONF",
        "SSL_CERT_FILE",
        "SSL_CERT_DIR",
};

static void pass(Reading *reading, ServiceConfig *service, bool libpq) {
        const char *names[LENGTH_OF(common) + LENGTH_OF(of_libpq)];
        size_t n = 0;

        for (size_t i = 0; i < LENGTH_OF(common); i++)
                names[n++] = common[i];
        for (size_t i = 0; libpq && i < LENGTH_OF(of_libpq); i++)
                names[n++] = of_libpq[i];
        service->inheritance = calloc(1, sizeof *service->inheritance);
        int r = service->inheritance ? strings_pack((char *const *)names, n, &service->inheritance->pass) : -ENOMEM;
        if (r < 0)
                reading->error = r;
        else
                service->inheritance->passes_some = true;
}

static void add(Reading *reading, Strings *words, const char *format, ...) __attribute__((format(printf, 3, 4)));

static void add(Reading *reading, Strings *words, const char *format, ...) {
        _cleanup_(freep) char *word = NULL;
        va_list ap;

        va_start(ap, format);
        int n = vasprintf(&word, format, ap);
        va_end(ap);
        if (n < 0)
                word = NULL; /* else undefined */
        if (!word || strings_add(words, word) < 0)
                reading->error = -ENOMEM;
}

static void keep(Reading *reading, Strings *words, ServiceConfig *service) {
        int r = words->n > 0 ? strings_pack(words->items, words->n, &service->environment) : 0;
        if (r < 0)
                reading->error = r;
}

static void add_database(Reading *reading, Strings *words) {
        const DatabaseConfig *database = &reading->config->database;

        if (database->url)
                add(reading, words, "ENDWELL_DATABASE_URL=%s", database->url);
        if (database->url_file)
                add(reading, words, "ENDWELL_DATABASE_URL_FILE=%s", database->url_file);
        if (database->listen_url)
                add(reading, words, "ENDWELL_DATABASE_LISTEN_URL=%s", database->listen_url);
        add(reading, words, "ENDWELL_DATABASE_SCHEMA=%s", database->schema ? database->schema : "endwell");
        add(reading, words, "ENDWELL_DATABASE_CONNECT_TIMEOUT_USEC=%" PRIu64, database->connect_timeout_usec);
}

static void add_reaper(Reading *reading, Strings *words) {
        const ReaperConfig *reaper = &reading->config->reaper;

        add(reading, words, "ENDWELL_REAPER_INTERVAL_USEC=%" PRIu64, reaper->interval_usec);
        add(reading, words, "ENDWELL_REAPER_BATCH=%u", reaper->batch);
        if (reaper->retention_usec == USEC_INFINITY)
                add(reading, words, "ENDWELL_REAPER_RETENTION_USEC=infinity");
        else
                add(reading, words, "ENDWELL_REAPER_RETENTION_USEC=%" PRIu64, reaper->retention_usec);
        add(reading, words, "ENDWELL_REAPER_PRUNE_BATCH=%u", reaper->prune_batch);
}

/* ---- Who runs them ---- */

/* Takes from `rights` what none of them needs: a connection is all they make. */
static void take_away(Reading *reading, Rights *rights) {
        rights->no_new_privileges = true;
        if (!privileges_has(reading->privileges, CAP_SETPCAP))
                return; /* then there is nothing to take, or nobody who may */
        rights->sets_bounding = true;
        rights->bounding = 0;
}

static Rights *least_rights(Reading *reading) {
        if (!reading_privileges(reading))
                return NULL;
        Rights *rights = malloc(sizeof *rights);
        if (!rights) {
                reading->error = -ENOMEM;
                return NULL;
        }
        *rights = RIGHTS_NONE;
        take_away(reading, rights);
        return rights;
}

/* PostgreSQL refuses to be root. */
static Rights *rights_of_database(Reading *reading) {
        static char usual[] = "postgres";
        const SettingsSection *section = reading->database;
        const Setting *user = settings_get(section, "User");
        Setting said = { .key = "User", .value = usual, .file = section->file, .line = section->line };

        if (!reading_privileges(reading))
                return NULL;
        if (!user && reading->privileges->uid != 0)
                return least_rights(reading);
        if (user)
                said = *user;
        SettingsSection alone = *section;
        alone.items = &said;
        alone.n_items = 1;
        size_t n_before = complaints_count(reading->complaints);
        Rights *rights = rights_read(reading, &alone);
        if (rights && complaints_count(reading->complaints) == n_before) {
                uid_t uid = rights->uid == (uid_t)-1 ? reading->privileges->uid : rights->uid;
                if (uid == 0)
                        value_refuse(reading, &said, "PostgreSQL does not run as root: name another user");
                take_away(reading, rights);
        }
        return rights;
}

/* ---- Who may connect ---- */

static bool is_listed(const Strings *users, const char *name) {
        for (size_t i = 0; i < users->n; i++)
                if (strcmp(users->items[i], name) == 0)
                        return true;
        return false;
}

static void let_in(Reading *reading, Strings *users, const char *name) {
        if (!is_listed(users, name))
                add(reading, users, "%s", name);
}

/* The kernel tells the database a number, and it asks for the name. */
static void let_service_in(Reading *reading, Strings *users, const ServiceConfig *service) {
        uid_t uid =
                service->rights && service->rights->uid != (uid_t)-1 ? service->rights->uid : reading->privileges->uid;
        const User *user = accounts_user_of(reading->accounts, uid);

        if (user)
                let_in(reading, users, user->name);
        else if (!service->builtin)
                complaints_warn(reading->complaints, service->file, service->line,
                                "the service %s runs as uid %u, which has no name in /etc/passwd: the embedded "
                                "database will not let it in",
                                service->name, uid);
}

static void add_users(Reading *reading, Strings *words) {
        _cleanup_(strings_clear) Strings users = { 0 };
        _cleanup_(freep) char *list = NULL;
        size_t size = 1;

        if (!reading_accounts(reading))
                return;
        for (size_t i = 0; i < reading->config->n_services && reading->error == 0; i++)
                let_service_in(reading, &users, &reading->config->services[i]);
        let_in(reading, &users, "root"); /* who can read its files anyway */
        for (size_t i = 0; i < users.n; i++)
                size += strlen(users.items[i]) + 1;
        list = malloc(size);
        if (!list) {
                reading->error = -ENOMEM;
                return;
        }
        char *end = list;
        *end = '\0';
        for (size_t i = 0; i < users.n; i++)
                end += sprintf(end, "%s%s", i ? ":" : "", users.items[i]); /* no name has a colon, passwd(5) */
        add(reading, words, "ENDWELL_DATABASE_USERS=%s", list);
}

/* ---- The folder ---- */

/* As root we can make it for the database's user: a fresh volume belongs to root. */
static void add_hook(Reading *reading, const ServiceConfig *service, int index) {
        const DatabaseConfig *database = &reading->config->database;
        const Rights *rights = service->rights;
        char owner[32];

        if (!rights || rights->uid == (uid_t)-1 || reading->privileges->uid != 0)
                return;
        HookConfig *hook = &reading->config->hooks[reading->config->n_hooks];
        *hook = (HookConfig){ .name = "endwell-database-folder",
                              .file = service->file,
                              .line = service->line,
                              .service = index,
                              .phase = -1,
                              .on = HOOK_PRE_START,
                              .timeout_usec = PREPARE_USEC,
                              .on_failure = ON_FAILURE_ABORT };
        reading->hooks[reading->config->n_hooks++] = reading->services[index];
        snprintf(owner, sizeof owner, "%u:%u", rights->uid, rights->gid);
        char *const words[] = { service->argv[0], (char *)"--prepare", owner, database->embedded };
        int r = strings_pack(words, LENGTH_OF(words), &hook->argv);
        if (r < 0)
                reading->error = r;
}

/* ---- Together ---- */

static void dress_database(Reading *reading, ServiceConfig *service, int index) {
        _cleanup_(strings_clear) Strings words = { 0 };

        service->rights = rights_of_database(reading);
        pass(reading, service, false);
        add_users(reading, &words);
        keep(reading, &words, service);
        if (reading->error == 0 && service->argv && service->rights)
                add_hook(reading, service, index);
}

static void dress_client(Reading *reading, ServiceConfig *service) {
        _cleanup_(strings_clear) Strings words = { 0 };

        service->rights = least_rights(reading);
        pass(reading, service, reading->config->database.from != DATABASE_EMBEDDED);
        add_database(reading, &words);
        if (service->aside) /* the reaper */
                add_reaper(reading, &words);
        keep(reading, &words, service);
}

void builtin_finish(Reading *reading) {
        ServiceConfig *services = reading->config->services;

        if (reading->migration_service >= 0)
                dress_client(reading, &services[reading->migration_service]);
        if (reading->reaper_service >= 0)
                dress_client(reading, &services[reading->reaper_service]);
        if (reading->database_service >= 0 && reading->error == 0)
                dress_database(reading, &services[reading->database_service], reading->database_service);
}
