/* effect.c - see effect.h. */
#include "verify/effect.h"
#include "base/enumeration.h"

static const char *const words[_EFFECT_KIND_MAX] = {
        [EFFECT_FILE] = "file",     [EFFECT_DATABASE] = "database", [EFFECT_NETWORK] = "network",
        [EFFECT_SIGNAL] = "signal", [EFFECT_MOUNT] = "mount",
};

ENUMERATION(effect_kind, EffectKind, words)
