/* config_privileges.h - what this process itself may do, so that a configuration can be held against it; for config_*.c
 * only. */
#pragma once
#include "supervisor/rights.h"
#include <stdbool.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/types.h>

typedef struct Privileges {
        uid_t uid;
        gid_t gid;
        gid_t *groups; /* supplementary ones */
        size_t n_groups;
        uint64_t effective, permitted, bounding; /* capabilities */
        bool ambient_is_locked;                  /* SECBIT_NO_CAP_AMBIENT_RAISE */
        bool groups_are_denied;                  /* /proc/self/setgroups of a user namespace */
        char *uid_map, *gid_map;                 /* of that namespace, user_namespaces(7); NULL: not known */
        struct rlimit limits[RLIM_NLIMITS];
        int nice, oom_score;
        unsigned least_port; /* the first one that needs no CAP_NET_BIND_SERVICE */
        uint64_t files_most; /* fs.nr_open: no hard LimitNOFILE above it, whoever asks */
} Privileges;

/* 0 or -ENOMEM: what cannot be found out is taken as the kernel has it by default. */
int privileges_read(Privileges *ret);
void privileges_done(Privileges *privileges);

bool privileges_has(const Privileges *privileges, unsigned capability); /* effective */
bool privileges_has_group(const Privileges *privileges, gid_t gid);
/* Whether the user namespace has the number: `map` is uid_map or gid_map; NULL: it has all. */
bool privileges_map_has(const char *map, unsigned id);
