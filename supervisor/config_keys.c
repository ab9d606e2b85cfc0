/* config_keys.c - the table of all sections and keys of a configuration. */
#include "supervisor/config_keys.h"

#define SINGLE(key)                                                                                                    \
        { key, SETTINGS_KEY_SINGLE }
#define LIST(key)                                                                                                      \
        { key, SETTINGS_KEY_LIST }
#define LATER(key)                                                                                                     \
        { key, SETTINGS_KEY_LATER }
#define END                                                                                                            \
        { "", SETTINGS_KEY_SINGLE }

static const SettingsKey supervisor_keys[] = {
        SINGLE("Mode"),
        SINGLE("GraceSec"),
        SINGLE("DeadlineSec"),
        LIST("Phases"),
        SINGLE("RuntimeDirectory"),
        SINGLE("JournalFile"),
        SINGLE("JournalMaxSize"),
        SINGLE("LogFormat"),
        SINGLE("LogLevel"),
        SINGLE("TerminationMessagePath"),
        SINGLE("ControlGroup"),
        SINGLE("ExitCodeFrom"),
        END,
};

static const SettingsKey phase_keys[] = {
        SINGLE("TimeoutSec"),
        SINGLE("DelaySec"),
        END,
};

static const SettingsKey service_keys[] = {
        SINGLE("ExecStart"),
        SINGLE("Type"),
        SINGLE("Phase"),
        SINGLE("Instances"),
        LIST("After"),
        LIST("Requires"),
        SINGLE("Essential"),
        SINGLE("Restart"),
        SINGLE("RestartSec"),
        SINGLE("RestartMaxDelaySec"),
        SINGLE("StartLimitBurst"),
        LIST("SuccessExitStatus"),
        SINGLE("TimeoutStartSec"),
        SINGLE("KillSignal"),
        SINGLE("KillMode"),
        SINGLE("TimeoutStopSec"),
        SINGLE("DrainUntil"),
        SINGLE("DrainedSignal"),
        SINGLE("WorkingDirectory"),
        LIST("Environment"),
        SINGLE("StandardOutput"),
        SINGLE("StandardError"),
        SINGLE("LogMaxSize"),
        SINGLE("LogMaxFiles"),
        SINGLE("Shell"),
        SINGLE("User"),
        SINGLE("Group"),
        LIST("SupplementaryGroups"),
        SINGLE("AutoStart"),
        SINGLE("ReadinessProbe"),
        SINGLE("LivenessProbe"),
        SINGLE("StartupProbe"),
        SINGLE("WatchdogSec"),
        LIST("Listen"),
        SINGLE("FileDescriptorStoreMax"),
        SINGLE("ReloadSignal"),
        LIST("EnvironmentFile"),
        LIST("PassEnvironment"),
        LIST("UnsetEnvironment"),
        SINGLE("TTY"),
        SINGLE("UMask"),
        SINGLE("Nice"),
        SINGLE("OOMScoreAdjust"),
        SINGLE("NoNewPrivileges"),
        LIST("CapabilityBoundingSet"),
        LIST("AmbientCapabilities"),
        SINGLE("LimitCPU"),
        SINGLE("LimitFSIZE"),
        SINGLE("LimitDATA"),
        SINGLE("LimitSTACK"),
        SINGLE("LimitCORE"),
        SINGLE("LimitRSS"),
        SINGLE("LimitNOFILE"),
        SINGLE("LimitAS"),
        SINGLE("LimitNPROC"),
        SINGLE("LimitMEMLOCK"),
        SINGLE("LimitLOCKS"),
        SINGLE("LimitSIGPENDING"),
        SINGLE("LimitMSGQUEUE"),
        SINGLE("LimitNICE"),
        SINGLE("LimitRTPRIO"),
        SINGLE("LimitRTTIME"),
        END,
};

static const SettingsKey hook_keys[] = {
        SINGLE("Exec"),
        SINGLE("LogPattern"),
        SINGLE("Service"),
        SINGLE("Phase"),
        SINGLE("On"),
        SINGLE("TimeoutSec"),
        SINGLE("OnFailure"),
        SINGLE("WorkingDirectory"),
        LIST("Environment"),
        SINGLE("User"),
        SINGLE("Http"),
        LATER("Verify"),
        LATER("Setup"),
        LATER("Later"),
        LATER("Early"),
        LATER("State"),
        LATER("Database"),
        LATER("OkExit"),
        LATER("Significant"),
        LATER("Mask"),
        LATER("Ignore"),
        LATER("Litter"),
        END,
};

static const SettingsKey database_keys[] = {
        SINGLE("Url"),
        SINGLE("UrlFile"),
        SINGLE("ListenUrl"),
        SINGLE("Schema"),
        SINGLE("Phase"),
        SINGLE("Embedded"),
        SINGLE("User"),
        SINGLE("Migrate"),
        SINGLE("ConnectTimeoutSec"),
        END,
};

static const SettingsKey reaper_keys[] = {
        SINGLE("Enabled"),      SINGLE("IntervalSec"), SINGLE("BatchSize"),
        SINGLE("RetentionSec"), SINGLE("PruneBatch"),  END,
};

static const SettingsKey gateway_keys[] = {
        SINGLE("Listen"),
        SINGLE("Dashboard"),
        SINGLE("ReadyWhen"),
        END,
};

static const SettingsKey verify_keys[] = {
        LATER("Url"),
        LATER("SlowUrl"),
        LATER("HealthUrl"),
        LATER("Rate"),
        LATER("WarmupSec"),
        LATER("Environment"),
        LATER("Database"),
        LATER("EnvironmentFile"),
        LATER("Queue"),
        LATER("JobPayload"),
        LATER("ExpectActive"),
        LATER("ForbidEnv"),
        LATER("AllowReused"),
        LATER("AllowDatabase"),
        LATER("Ports"),
        LATER("Runs"),
        LATER("Seed"),
        LATER("ReportDirectory"),
        END,
};

const SettingsKind config_kinds[] = {
        [CONFIG_SUPERVISOR] = { .name = "Supervisor", .keys = supervisor_keys },
        [CONFIG_PHASE] = { .name = "Phase", .named = true, .keys = phase_keys },
        [CONFIG_SERVICE] = { .name = "Service", .named = true, .keys = service_keys },
        [CONFIG_HOOK] = { .name = "Hook", .named = true, .keys = hook_keys },
        [CONFIG_DATABASE] = { .name = "Database", .keys = database_keys },
        [CONFIG_REAPER] = { .name = "Reaper", .keys = reaper_keys },
        [CONFIG_GATEWAY] = { .name = "Gateway", .keys = gateway_keys },
        { .name = "Verify", .later = true, .keys = verify_keys },
        { 0 },
};
