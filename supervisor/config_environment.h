/* config_environment.h - reads what a service or a hook finds in its environment: Environment, EnvironmentFile,
 * PassEnvironment, UnsetEnvironment; for config_*.c only. */
#pragma once
#include "supervisor/config_reading.h"

/* Packed K=V: `inherited` (may be NULL), then the Environment lines of the section, then what its files say, the last
 * one of each name; without the names in `unset` (may be NULL). NULL when there are none. */
char **environment_read(Reading *reading, const SettingsSection *section, char *const *inherited, char *const *unset);

/* NULL: everything is inherited. */
Inheritance *inheritance_read(Reading *reading, const SettingsSection *section);
Inheritance *inheritance_free(Inheritance *inheritance);
