/* config_rights.h - reads users, limits and capabilities into a Rights, and holds them against what endwell itself may
 * give; for config_*.c only. */
#pragma once
#include "supervisor/config_reading.h"
#include "supervisor/rights.h"

/* Of a [Service] or a [Hook], which has User only. NULL when it says nothing, or after complaints. */
Rights *rights_read(Reading *reading, const SettingsSection *section);
Rights *rights_free(Rights *rights);

/* User, Group, SupplementaryGroups; a part of it. */
void rights_read_user(Reading *reading, const SettingsSection *section, Rights *rights);
