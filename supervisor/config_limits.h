/* config_limits.h - reads the resource limits of a service, LimitCPU= to LimitRTTIME=, as systemd spells them; for
 * config_*.c and plan_*.c.
 *
 * Pure. Source: systemd.exec(5), getrlimit(2). */
#pragma once
#include "supervisor/config_problem.h"
#include <stddef.h>
#include <sys/resource.h>

typedef enum LimitUnit {
        LIMIT_COUNT,
        LIMIT_BYTES,
        LIMIT_SECONDS,
        LIMIT_MICROSECONDS,
        LIMIT_NICE, /* 20 less the nice level that may be reached */
} LimitUnit;

typedef struct LimitKind {
        const char *key; /* LimitNOFILE */
        int resource;    /* RLIMIT_NOFILE */
        LimitUnit unit;
} LimitKind;

#define LIMIT_KINDS 16
extern const LimitKind limit_kinds[LIMIT_KINDS];

/* NULL: there is none of that key, or resource. */
const LimitKind *limit_kind_of_key(const char *key);
const LimitKind *limit_kind_of_resource(int resource);

/* "SOFT:HARD", or one value for both. 0 or -EINVAL. */
int limit_parse(const LimitKind *kind, const char *text, struct rlimit *ret, Problem *problem);

#define LIMIT_TEXT_MAX 24
/* "1024" or "infinity". Returns `ret_text`. */
const char *limit_format(rlim_t limit, char ret_text[static LIMIT_TEXT_MAX]);
