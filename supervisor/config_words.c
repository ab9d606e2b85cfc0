/* config_words.c - the words of the enums of a configuration, in both directions. */
#include "base/enumeration.h"
#include "base/take.h"
#include "supervisor/config_values.h"
#include <string.h>

static const char *const mode_words[_MODE_MAX] = {
        [MODE_PRODUCTION] = "production",
        [MODE_STAGING] = "staging",
        [MODE_DEVELOPMENT] = "development",
};

static const char *const service_type_words[_SERVICE_TYPE_MAX] = {
        [SERVICE_SIMPLE] = "simple",
        [SERVICE_NOTIFY] = "notify",
        [SERVICE_NOTIFY_FD] = "notify-fd",
        [SERVICE_ONESHOT] = "oneshot",
};

static const char *const restart_words[_RESTART_MAX] = {
        [RESTART_NO] = "no",
        [RESTART_ON_FAILURE] = "on-failure",
        [RESTART_ALWAYS] = "always",
};

static const char *const kill_mode_words[_KILL_MODE_MAX] = {
        [KILL_MIXED] = "mixed",
        [KILL_CONTROL_GROUP] = "control-group",
        [KILL_PROCESS] = "process",
};

static const char *const drain_until_words[_DRAIN_UNTIL_MAX] = {
        [DRAIN_EXIT] = "exit",
        [DRAIN_NOTIFY] = "notify",
};

static const char *const on_failure_words[_ON_FAILURE_MAX] = {
        [ON_FAILURE_CONTINUE] = "continue",
        [ON_FAILURE_ABORT] = "abort",
};

static const char *const log_format_words[_LOG_FORMAT_MAX] = {
        [LOG_FORMAT_AUTO] = "auto",
        [LOG_FORMAT_TEXT] = "text",
        [LOG_FORMAT_JSON] = "json",
        [LOG_FORMAT_JOURNAL] = "journal",
};

static const char *const log_level_words[_LOG_LEVEL_MAX] = {
        [LOG_LEVEL_ERR] = "err",   [LOG_LEVEL_WARNING] = "warning", [LOG_LEVEL_NOTICE] = "notice",
        [LOG_LEVEL_INFO] = "info", [LOG_LEVEL_DEBUG] = "debug",
};

static const char *const listen_by_words[_LISTEN_BY_MAX] = {
        [LISTEN_TCP] = "tcp://",
        [LISTEN_UNIX] = "unix:",
};

const char *mode_to_string(Mode mode) {
        return (unsigned)mode < _MODE_MAX ? mode_words[mode] : NULL;
}

int mode_from_string(const char *text) {
        return enumeration_find(mode_words, _MODE_MAX, text);
}

const char *kill_mode_to_string(KillMode mode) {
        return (unsigned)mode < _KILL_MODE_MAX ? kill_mode_words[mode] : NULL;
}

const char *service_type_to_string(ServiceType type) {
        return (unsigned)type < _SERVICE_TYPE_MAX ? service_type_words[type] : NULL;
}

const char *listen_by_to_string(ListenBy by) {
        return (unsigned)by < _LISTEN_BY_MAX ? listen_by_words[by] : NULL;
}

#define WORD_VALUE(name, Type, words)                                                                                  \
        void value_##name(Reading *reading, const Setting *setting, void *ret_value) {                                 \
                int found = value_word(reading, setting, words, LENGTH_OF(words));                                     \
                if (found >= 0)                                                                                        \
                        *(Type *)ret_value = (Type)found;                                                              \
        }

WORD_VALUE(mode, Mode, mode_words)
WORD_VALUE(restart, Restart, restart_words)
WORD_VALUE(kill_mode, KillMode, kill_mode_words)
WORD_VALUE(drain_until, DrainUntil, drain_until_words)
WORD_VALUE(on_failure, OnFailure, on_failure_words)
WORD_VALUE(log_format, LogFormat, log_format_words)
WORD_VALUE(log_level, LogLevel, log_level_words)

void value_service_type(Reading *reading, const Setting *setting, void *ret_value) {
        static const char *const words[_SERVICE_TYPE_MAX] = {
                [SERVICE_SIMPLE] = "simple",
                [SERVICE_NOTIFY] = "notify",
                [SERVICE_NOTIFY_FD] = "notify-fd:N",
                [SERVICE_ONESHOT] = "oneshot",
        };
        int found = value_word(reading, setting, words, LENGTH_OF(words));

        if (found >= 0)
                *(ServiceType *)ret_value = (ServiceType)found;
}

void value_hook_on(Reading *reading, const Setting *setting, void *ret_value) {
        const char *words[_HOOK_ON_MAX];

        for (int on = 0; on < _HOOK_ON_MAX; on++)
                words[on] = hook_on_to_string((HookOn)on);
        int found = value_word(reading, setting, words, _HOOK_ON_MAX);
        if (found >= 0)
                *(HookOn *)ret_value = (HookOn)found;
}
