/* config_reading.h - what the readers of a configuration's sections share while they read; for config_*.c only.
 *
 * Every error becomes a complaint and reading goes on, so that one run finds all. Only lack of memory ends it, and is
 * remembered in `error`: the readers need not pass it on. */
#pragma once
#include "base/complaints.h"
#include "base/settings.h"
#include "supervisor/config.h"
#include "supervisor/config_accounts.h"
#include "supervisor/config_privileges.h"

#define CONFIG_NOWHERE UINT16_MAX /* a phase that could not be resolved (complained about) */

/* A socket of the configuration and the line that it comes from. */
typedef struct HeldSocket {
        const Setting *setting;
        uint16_t service, index; /* in services, and in its listens */
} HeldSocket;

typedef struct Reading {
        Config *config;
        const Settings *settings;
        Complaints *complaints;
        size_t n_before;                                    /* errors that the caller had already */
        const SettingsSection *supervisor;                  /* NULL: not in the file */
        const SettingsSection **phases;                     /* PHASES_MAX, NULL where a phase has no section */
        const SettingsSection **services;                   /* beside config->services */
        const SettingsSection **hooks;                      /* beside config->hooks */
        const SettingsSection *database, *reaper, *gateway; /* NULL: not in the file */
        SettingsSection *builtins;                          /* empty ones, for the services that nobody wrote */
        size_t n_written, n_hooks_written; /* services and hooks that somebody did write: they come first */
        int database_service, reaper_service, migration_service; /* indices of built-in ones; -1 */
        char *names_end;                                         /* where the next name of a service goes */
        uint16_t *by_name;                                       /* services, sorted */
        unsigned n_suggested;
        bool thorough;       /* files that the configuration names may be read for advice */
        HeldSocket *sockets; /* all of them */
        size_t n_sockets;
        Accounts *accounts; /* read when they are first asked for */
        Privileges *privileges;
        int error; /* 0 or -ENOMEM */
} Reading;

int reading_init(Reading *reading, Config *config, const Settings *settings, Complaints *complaints);
void reading_done(Reading *reading);
bool reading_has_errors(const Reading *reading);

void reading_sort_names(Reading *reading); /* after services were added */
/* Indices, or -1 after a complaint at `setting` that names the nearest one. */
int reading_find_service(Reading *reading, const Setting *setting, const char *name);
int reading_find_phase(Reading *reading, const Setting *setting, const char *name);
/* ", did you mean NAME?" or "". */
const char *reading_suggest_phase(const Reading *reading, const char *name, char *buffer, size_t size);
/* The names of all phases with blanks between them. */
const char *reading_list_phases(const Reading *reading, char *buffer, size_t size);
/* Whether one more search for a nearest name is worth its time. */
bool reading_may_suggest(Reading *reading);
/* As above, without a complaint. */
int reading_service_index(const Reading *reading, const char *name);
int reading_phase_index(const Reading *reading, const char *name);

/* NULL without memory. */
const Accounts *reading_accounts(Reading *reading);
const Privileges *reading_privileges(Reading *reading);
/* In this order: later ones use what earlier ones found. */
void config_read_supervisor(Reading *reading, const char *mode);
void config_read_phases(Reading *reading);
void config_read_database(Reading *reading); /* and [Reaper]; adds the built-in services */
void config_read_services(Reading *reading);
void config_read_gateway(Reading *reading);
void config_read_hooks(Reading *reading);
void config_read_relations(Reading *reading); /* After, Requires */
void config_read_budget(Reading *reading);
void config_check_programs(Reading *reading);               /* only warns */
void config_advise_service(Reading *reading, size_t index); /* only warns */

int config_new(Config **ret); /* with the defaults of [Supervisor], without phases and services */
void config_service_defaults(ServiceConfig *service);
/* FNV-1a 64 of the files' bytes. 0 or -errno, and then *ret_path is the file. */
int config_digest_files(char *const *paths, size_t n, char ret_digest[static 17], const char **ret_path);
