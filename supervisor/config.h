/* config.h - a whole configuration as one value: what shall run, in which phases, and how it shall end.
 *
 * Owns every string and array in it. config_load() reports every error at once and leaves *ret untouched when there is
 * one. References between services are indices. Durations in microseconds; USEC_INFINITY is `infinity`. */
#pragma once
#include "base/complaints.h"
#include "base/enumeration.h"
#include "base/log.h"
#include "base/usec.h"
#include "shutdown/budget.h"
#include "shutdown/hooks.h"
#include "supervisor/config_database.h"
#include "supervisor/config_gateway.h"
#include "supervisor/probe.h"
#include "supervisor/rights.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define INSTANCES_MAX     4096  /* of one service */
#define MEMBERS_MAX       60000 /* instances of all services together */
#define EXIT_STATUS_WORDS 8
#define USEC_UNSET        (USEC_INFINITY - 1) /* the key is not given, and its default depends on the moment */

typedef enum Mode { MODE_PRODUCTION, MODE_STAGING, MODE_DEVELOPMENT, _MODE_MAX } Mode;
typedef enum _one_byte_ ServiceType {
        SERVICE_SIMPLE,
        SERVICE_NOTIFY,
        SERVICE_NOTIFY_FD,
        SERVICE_ONESHOT,
        _SERVICE_TYPE_MAX
} ServiceType;
typedef enum _one_byte_ Restart { RESTART_NO, RESTART_ON_FAILURE, RESTART_ALWAYS, _RESTART_MAX } Restart;
typedef enum _one_byte_ KillMode { KILL_MIXED, KILL_CONTROL_GROUP, KILL_PROCESS, _KILL_MODE_MAX } KillMode;
typedef enum _one_byte_ DrainUntil { DRAIN_EXIT, DRAIN_NOTIFY, _DRAIN_UNTIL_MAX } DrainUntil;
typedef enum OutputKind {
        OUTPUT_INHERIT,
        OUTPUT_NULL,
        OUTPUT_FILE,
        OUTPUT_APPEND,
        OUTPUT_PREFIX, /* this and what follows is written by the logger */
        OUTPUT_JSON,
        OUTPUT_LOG,
        _OUTPUT_KIND_MAX
} OutputKind;
typedef enum OnFailure { ON_FAILURE_CONTINUE, ON_FAILURE_ABORT, _ON_FAILURE_MAX } OnFailure;

const char *mode_to_string(Mode mode);
int mode_from_string(const char *text);
const char *kill_mode_to_string(KillMode mode);
const char *service_type_to_string(ServiceType type);

typedef struct Output {
        OutputKind kind;
        char *path; /* of file, append and log; else NULL */
} Output;

#define LOG_MAX_SIZE  (UINT64_C(16) * 1024 * 1024)
#define LOG_MAX_FILES 2

typedef struct Outputs {
        Output standard_output, standard_error;
        uint64_t log_max_size; /* of OUTPUT_LOG; 0: not given */
        unsigned log_max_files;
} Outputs;

static inline bool output_is_written_by_logger(const Output *output) {
        return output->kind >= OUTPUT_PREFIX;
}

/* Exit codes and signals that count as clean besides 0; a NULL pointer to one: none. */
typedef struct ExitSet {
        uint64_t codes[4]; /* bit n of 256: exit code n */
        uint64_t signals;  /* bit n: death by signal n */
} ExitSet;

static inline bool exit_set_has_code(const ExitSet *set, int code) {
        return set && code >= 0 && code < 256 && (set->codes[code / 64] >> (code % 64) & 1);
}

static inline bool exit_set_has_signal(const ExitSet *set, int number) {
        return set && number > 0 && number < 64 && (set->signals >> number & 1);
}

typedef struct Relation { /* a list of service indices */
        uint16_t *items;
        uint16_t n;
} Relation;

/* Of one service; one allocation together with the items. */
typedef struct Relations {
        Relation after; /* includes what Requires names */
        Relation requires;
        Relation before; /* the reverse of after: who waits for this one */
} Relations;

typedef enum ListenBy { LISTEN_TCP, LISTEN_UNIX, _LISTEN_BY_MAX } ListenBy;

const char *listen_by_to_string(ListenBy by); /* tcp://, unix: */

/* A socket that endwell holds for a service. */
typedef struct ListenConfig {
        ListenBy by;
        char *address; /* tcp: ADDR:PORT, the address in brackets when it is an IPv6 one; unix: PATH */
        char *name;    /* for LISTEN_FDNAMES */
        int mode;      /* of a Unix socket's file */
} ListenConfig;

/* Which of endwell's own variables a service finds. */
typedef struct Inheritance {
        bool passes_some;     /* only those of `pass`, and PATH */
        char **pass, **unset; /* names, NULL-terminated; NULL: none */
} Inheritance;

typedef struct PhaseConfig {
        char name[41];
        const char *file;
        unsigned line;
        bool has_section;    /* else file and line are of Phases= */
        usec_t timeout_usec; /* USEC_INFINITY: not given */
        usec_t delay_usec;
} PhaseConfig;

/* There may be thousands, and PID 1 keeps them for its whole life. So what few services have lies behind a pointer that
 * is NULL for the rest, small numbers take a byte or two, and the fields are ordered by size: 168 bytes, no hole. */
typedef struct ServiceConfig {
        const char *name; /* one of Config.names */
        const char *file;
        char **argv;              /* NULL-terminated; with Shell=yes already /bin/sh -c TEXT */
        char **environment;       /* "K=V", files included, NULL-terminated; NULL when none is given */
        char *working_directory;  /* NULL: endwell's own */
        Outputs *outputs;         /* NULL: both are inherited; see service_output(), service_error() */
        ExitSet *success;         /* NULL: none besides 0 */
        Relations *relations;     /* NULL: none; see service_after(), service_requires(), service_before() */
        ProbeConfig *probes;      /* _PROBE_KIND_MAX of them; NULL: none at all */
        ListenConfig *listens;    /* n_listens of them */
        Rights *rights;           /* what changes, and endwell may give it; NULL: endwell's own */
        Inheritance *inheritance; /* NULL: everything */
        usec_t restart_usec, restart_max_usec, timeout_start_usec;
        usec_t timeout_stop_usec; /* USEC_UNSET: what is left of the phase by the depth of the After chain */
        usec_t watchdog_usec;     /* USEC_INFINITY: off */
        unsigned line;
        unsigned start_limit_burst; /* 0: no limit */
        int notify_fd;              /* of Type=notify-fd:N; else -1 */
        uint16_t phase;             /* index in the order of the ending */
        uint16_t instances;
        uint16_t n_listens, descriptor_store_max;
        uint16_t depth; /* length of the longest chain of `after` from here down, this one included: 1 without After */
        uint8_t kill_signal, drained_signal;
        uint8_t reload_signal; /* 0: none */
        ServiceType type;
        Restart restart;
        KillMode kill_mode;
        DrainUntil drain_until;
        bool essential, tty;
        bool builtin : 1; /* endwell's own: it does not keep the container up once the written ones rest */
        bool by_hand : 1; /* AutoStart=no */
        bool aside : 1;   /* nobody waits for it, neither the start nor readiness */
} ServiceConfig;

static inline const Relation *service_after(const ServiceConfig *service) {
        static const Relation none = { 0 };
        return service->relations ? &service->relations->after : &none;
}

static inline const Relation *service_requires(const ServiceConfig *service) {
        static const Relation none = { 0 };
        return service->relations ? &service->relations->requires : &none;
}

static inline const Relation *service_before(const ServiceConfig *service) {
        static const Relation none = { 0 };
        return service->relations ? &service->relations->before : &none;
}

static inline const Output *service_output(const ServiceConfig *service) {
        static const Output inherited = { 0 };
        return service->outputs ? &service->outputs->standard_output : &inherited;
}

static inline const Output *service_error(const ServiceConfig *service) {
        static const Output inherited = { 0 };
        return service->outputs ? &service->outputs->standard_error : &inherited;
}

typedef struct HookConfig {
        char name[41];
        const char *file;
        unsigned line;
        char **argv;             /* NULL when it is an Http or a LogPattern hook */
        char *http_method, *url; /* of an Http hook; else NULL */
        Rights *rights;          /* its own or the service's; NULL: endwell's own. Not owned when it is the service's */
        char *log_pattern;       /* POSIX extended regular expression, already proven to compile */
        char **environment;      /* the service's and its own, already together; NULL when there is none */
        char *working_directory; /* its own, else the service's; NULL: endwell's own */
        int service;             /* index, or -1 */
        int phase;               /* index, or -1 */
        HookOn on;
        usec_t timeout_usec;
        OnFailure on_failure;
} HookConfig;

/* Where a value stands, for what is said of it later; line 0: nowhere, it is the default. */
typedef struct ConfigPlace {
        const char *file;
        unsigned line;
} ConfigPlace;

typedef struct Config {
        char *path;      /* NULL in single-command mode */
        char digest[17]; /* of everything that was read: FNV-1a 64, hexadecimal */
        Mode mode;
        usec_t grace_usec, deadline_usec;
        char *runtime_directory; /* NULL: chosen at start */
        char *journal_file;      /* NULL: in the runtime directory */
        uint64_t journal_max_size;
        LogFormat log_format;
        LogLevel log_level;
        char *termination_message_path; /* NULL: /dev/termination-log if it exists */
        int control_group;              /* gid, or -1 */
        int exit_code_from;             /* service index, or -1 */
        PhaseConfig phases[PHASES_MAX];
        unsigned n_phases;
        ServiceConfig *services;
        size_t n_services;
        char *names; /* of all services, one behind the other */
        HookConfig *hooks;
        size_t n_hooks;
        size_t n_members; /* instances of all services */
        DatabaseConfig database;
        ReaperConfig reaper;
        GatewayConfig gateway;
        Budget budget;
        ConfigPlace grace_place, deadline_place, runtime_place;
        char **files; /* names that the `file` members point to */
        size_t n_files;

        /* Single-command mode (`endwell run -- COMMAND`). */
        bool single;
        bool ask_group;      /* -g */
        bool say_orphans;    /* -w */
        uint8_t rewrite[65]; /* signal -> signal that is passed on; 0 drops it; identity by default */
        uint8_t remap[32];   /* bit set: this exit code becomes 0 */
} Config;

/* `path` NULL: $ENDWELL_CONFIG, else /etc/endwell.ini. `mode` NULL: $ENDWELL_MODE, else the file's. 0; -EBADMSG when
 * there are complaints (all of them were added); -ENOMEM. */
int config_load(const char *path, const char *mode, Complaints *complaints, Config **ret);
/* The same, and for better advice reads the scripts that it names, which PID 1 has no time for. */
int config_examine(const char *path, const char *mode, Complaints *complaints, Config **ret);
/* Only [Supervisor] RuntimeDirectory, NULL where it is not named; the rest may be as wrong as it likes, and nothing
 * that it names is looked at. `complaints` are new. Answers as config_load(). */
int config_read_runtime_directory(const char *path, Complaints *complaints, char **ret);
Config *config_free(Config *config);
void config_freep(Config **config);

/* One essential service that runs `argv` (copied): phase `command`, Restart=no, everything else as the defaults are. */
int config_for_command(char *const *argv, Config **ret);
/* Gives that configuration another grace, with the deadline and the budget that follow from it. */
void config_set_grace(Config *config, usec_t grace_usec);
