/* config_keys.h - the sections and keys that a configuration may have, those of later versions included.
 *
 * Only names: what a value means is told by the readers of each section. */
#pragma once
#include "base/settings.h"

/* For settings_read(); ended by a NULL name. */
extern const SettingsKind config_kinds[];

typedef enum ConfigKind {
        CONFIG_SUPERVISOR,
        CONFIG_PHASE,
        CONFIG_SERVICE,
        CONFIG_HOOK,
        CONFIG_DATABASE,
        CONFIG_REAPER,
        CONFIG_GATEWAY,
} ConfigKind;

static inline bool section_is(const SettingsSection *section, ConfigKind kind) {
        return section->kind == &config_kinds[kind];
}
