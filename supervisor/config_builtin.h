/* config_builtin.h - the services that endwell adds by itself where a database is configured: the embedded database,
 * the migration of its ledger, the reaper; for config_*.c only.
 *
 * They are ordinary services, behind the written ones in the list, with the same spawn, journal and restart policy.
 * What is different about them is said by ServiceConfig alone (builtin, aside), so that the crew asks for no name.
 * Their place: in the database's phase. The migration starts after every service there that does not itself wait for a
 * built-in one, the reaper after all, so that it is asked first. */
#pragma once
#include "supervisor/config_reading.h"

#define BUILTIN_PREFIX    "endwell-"
#define BUILTINS_MAX      3
#define BUILTIN_HOOKS_MAX 1
#define BUILTIN_NAMES     "endwell-database\0endwell-migrate\0endwell-reaper" /* room for all of them */

/* Once [Database] and [Reaper] are read, before anything looks for a service: names, places and programs. */
void builtin_add_services(Reading *reading);
/* Once the written services are read: who runs them, and what they find in their environment. */
void builtin_finish(Reading *reading);
/* [Service endwell-…] and its like. */
void builtin_refuse_name(Reading *reading, const SettingsSection *section);
bool builtin_is_reserved(const char *name);
