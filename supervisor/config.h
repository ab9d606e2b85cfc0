/* config.h - a whole configuration as one value: what shall run, in which phases, and how it shall end.
 *
 * Owns every string and array in it. config_load() reports every error at once and leaves *ret untouched when there is
 * one. References between services are indices. Durations in microseconds; USEC_INFINITY is `infinity`. */
#pragma once
#include "base/complaints.h"
#include "base/log.h"
#include "base/usec.h"
#include "shutdown/budget.h"
#include "shutdown/hooks.h"
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
typedef enum ServiceType {
        SERVICE_SIMPLE,
        SERVICE_NOTIFY,
        SERVICE_NOTIFY_FD,
        SERVICE_ONESHOT,
        _SERVICE_TYPE_MAX
} ServiceType;
typedef enum Restart { RESTART_NO, RESTART_ON_FAILURE, RESTART_ALWAYS, _RESTART_MAX } Restart;
typedef enum KillMode { KILL_MIXED, KILL_CONTROL_GROUP, KILL_PROCESS, _KILL_MODE_MAX } KillMode;
typedef enum DrainUntil { DRAIN_EXIT, DRAIN_NOTIFY, _DRAIN_UNTIL_MAX } DrainUntil;
typedef enum OutputKind { OUTPUT_INHERIT, OUTPUT_NULL, OUTPUT_FILE, OUTPUT_APPEND, _OUTPUT_KIND_MAX } OutputKind;
typedef enum OnFailure { ON_FAILURE_CONTINUE, ON_FAILURE_ABORT, _ON_FAILURE_MAX } OnFailure;

const char *mode_to_string(Mode mode);
int mode_from_string(const char *text);
const char *kill_mode_to_string(KillMode mode);
const char *service_type_to_string(ServiceType type);

typedef struct Output {
        OutputKind kind;
        char *path; /* of file and append; else NULL */
} Output;

/* Exit codes and signals that count as clean besides 0. */
typedef struct ExitSet {
        uint64_t codes[4]; /* bit n of 256: exit code n */
        uint64_t signals;  /* bit n: death by signal n */
} ExitSet;

static inline bool exit_set_has_code(const ExitSet *set, int code) {
        return code >= 0 && code < 256 && (set->codes[code / 64] >> (code % 64) & 1);
}

static inline bool exit_set_has_signal(const ExitSet *set, int number) {
        return number > 0 && number < 64 && (set->signals >> number & 1);
}

typedef struct Relation { /* a list of service indices */
        uint16_t *items;
        uint16_t n;
} Relation;

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
        usec_t timeout_usec; /* USEC_INFINITY: not given */
        usec_t delay_usec;
} PhaseConfig;

typedef struct ServiceConfig {
        char name[41];
        const char *file;
        unsigned line;
        char **argv;             /* NULL-terminated; with Shell=yes already /bin/sh -c TEXT */
        char **environment;      /* "K=V", NULL-terminated; NULL when none is given */
        char *working_directory; /* NULL: endwell's own */
        Output standard_output, standard_error;
        uint16_t phase; /* index in the order of the ending */
        uint16_t instances;
        ServiceType type;
        Restart restart;
        KillMode kill_mode;
        DrainUntil drain_until;
        bool essential;
        int kill_signal, drained_signal;
        unsigned start_limit_burst; /* 0: no limit */
        usec_t restart_usec, restart_max_usec, timeout_start_usec;
        usec_t timeout_stop_usec; /* USEC_UNSET: what is left of the phase by the depth of the After chain */
        ExitSet success;
        Relation after; /* includes what Requires names */
        Relation requires;
        Relation before;          /* the reverse of after: who waits for this one */
        ProbeConfig *probes;      /* _PROBE_KIND_MAX of them; NULL: none at all */
        usec_t watchdog_usec;     /* USEC_INFINITY: off */
        ListenConfig *listens;    /* n_listens of them */
        Rights *rights;           /* NULL: endwell's own */
        Inheritance *inheritance; /* NULL: everything */
        uint16_t n_listens, descriptor_store_max;
        int notify_fd;     /* of Type=notify-fd:N; else -1 */
        int reload_signal; /* 0: none */
        bool tty;
        uint16_t depth; /* length of the longest chain of `after` from here down, this one included: 1 without After */
} ServiceConfig;

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
        HookConfig *hooks;
        size_t n_hooks;
        size_t n_members; /* instances of all services */
        Budget budget;
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
Config *config_free(Config *config);
void config_freep(Config **config);

/* One essential service that runs `argv` (copied): phase `command`, Restart=no, everything else as the defaults are. */
int config_for_command(char *const *argv, Config **ret);
/* Gives that configuration another grace, with the deadline and the budget that follow from it. */
void config_set_grace(Config *config, usec_t grace_usec);
