/* test_config_permission.c - what endwell may give away, by who it is and what it has; in tables. */
#include "base/take.h"
#include "supervisor/config_capabilities.h"
#include "supervisor/config_permission.h"
#include <criterion/criterion.h>
#include <linux/capability.h>
#include <string.h>

#define CAN(name) CAPABILITY(CAP_##name)
#define NOBODY    ((uid_t)-1)

/* ---- Users ---- */

typedef struct UserRow {
        const char *what;
        uid_t our_uid;
        uint64_t effective;
        uid_t uid;
        gid_t gid;         /* of the user, or named */
        gid_t named_gid;   /* by Group= */
        gid_t named;       /* by SupplementaryGroups=; NOBODY: none */
        const char *lacks; /* NULL: it may */
        bool keeps_uid, keeps_groups;
} UserRow;

/* endwell is of the group 100 and of 4 and 20. */
static const UserRow user_rows[] = {
        { "root may all", 0, UINT64_MAX, 1000, 1000, NOBODY, NOBODY, NULL, false, false },
        { "root as root", 0, UINT64_MAX, 0, 0, NOBODY, NOBODY, NULL, true, false },
        { "only these three", 0, CAN(SETUID) | CAN(SETGID) | CAN(KILL), 1000, 1000, NOBODY, NOBODY, NULL, false,
          false },
        { "none of them", 500, 0, 1000, 1000, NOBODY, NOBODY, "lacks CAP_KILL, CAP_SETGID and CAP_SETUID", false,
          false },
        { "no kill", 0, ~CAN(KILL), 1000, 1000, NOBODY, NOBODY, "lacks CAP_KILL", false, false },
        { "no setuid", 0, ~CAN(SETUID), 1000, 1000, NOBODY, NOBODY, "lacks CAP_SETUID", false, false },
        { "no setgid", 0, ~CAN(SETGID), 1000, 1000, NOBODY, NOBODY, "lacks CAP_SETGID", false, false },
        { "who we are", 500, 0, 500, 100, NOBODY, NOBODY, NULL, true, true },
        { "who we are, in a group that we are not in", 500, 0, 500, 999, NOBODY, NOBODY, NULL, true, true },
        { "who we are, our group named", 500, 0, 500, 100, 100, NOBODY, NULL, true, true },
        { "who we are, another group named", 500, 0, 500, 999, 999, NOBODY, "lacks CAP_SETGID", false, false },
        { "who we are, one of our groups named", 500, 0, 500, 100, NOBODY, 20, NULL, true, true },
        { "who we are, a group that is not ours named", 500, 0, 500, 100, NOBODY, 21, "lacks CAP_SETGID", false,
          false },
        { "who we are, and may set groups", 500, CAN(SETGID), 500, 999, NOBODY, NOBODY, NULL, true, false },
};

Test(config_permission, another_user_needs_three_capabilities_and_who_we_are_none) {
        gid_t ours_groups[] = { 4, 20 };
        for (size_t i = 0; i < LENGTH_OF(user_rows); i++) {
                const UserRow *row = &user_rows[i];
                const Privileges ours = { .uid = row->our_uid,
                                          .gid = 100,
                                          .groups = ours_groups,
                                          .n_groups = 2,
                                          .effective = row->effective };
                gid_t groups[] = { row->gid, row->named };
                Rights rights = RIGHTS_NONE;
                rights.uid = row->uid;
                rights.gid = row->gid;
                rights.groups = groups;
                rights.n_groups = row->named == NOBODY ? 1 : 2;
                rights.sets_groups = true;
                Problem problem = { "" };
                int r = permission_user(&ours, row->named_gid, &row->named, row->named != NOBODY, &rights, &problem);
                cr_expect_eq(r, row->lacks ? -EINVAL : 0, "%s: %s", row->what, problem.text);
                if (row->lacks) {
                        size_t length = strlen(problem.text), n = strlen(row->lacks);
                        cr_expect(length > n && strcmp(problem.text + length - n, row->lacks) == 0, "%s: %s", row->what,
                                  problem.text);
                        continue;
                }
                cr_expect_eq(rights.uid == NOBODY, row->keeps_uid, "%s", row->what);
                cr_expect_eq(rights.sets_groups, !row->keeps_groups, "%s", row->what);
                cr_expect(!row->keeps_groups || rights.gid == NOBODY, "%s", row->what);
        }
}

Test(config_permission, the_same_groups_in_another_order_need_nothing) {
        gid_t have[] = { 4, 20 }, same[] = { 20, 100, 4 }, fewer[] = { 100, 4 };
        const Privileges ours = { .uid = 500, .gid = 100, .groups = have, .n_groups = 2, .effective = CAN(SETGID) };
        Rights rights = RIGHTS_NONE;
        Problem problem;
        rights.groups = same;
        rights.n_groups = 3;
        rights.sets_groups = true;
        cr_expect_eq(permission_user(&ours, NOBODY, NULL, 0, &rights, &problem), 0);
        cr_expect_not(rights.sets_groups);
        rights.groups = fewer;
        rights.n_groups = 2;
        rights.sets_groups = true;
        cr_expect_eq(permission_user(&ours, NOBODY, NULL, 0, &rights, &problem), 0);
        cr_expect(rights.sets_groups, "to be in fewer groups is a change");
}

Test(config_permission, a_number_must_exist_in_the_user_namespace) {
        static const struct {
                uid_t uid;
                gid_t gid, group;
                bool denied;
                const char *says;
        } rows[] = {
                { 1000, 1000, 1000, false, "uid 1000 does not exist in this user namespace" },
                { 5, 1000, 1000, false, "gid 1000 does not exist in this user namespace" },
                { 5, 5, 1000, false, "gid 1000 does not exist in this user namespace" },
                { 5, 5, 5, true, "denies setgroups(2)" },
                { 5, 5, 5, false, NULL },
        };
        for (size_t i = 0; i < LENGTH_OF(rows); i++) {
                char map[] = "0 100000 10\n";
                const Privileges ours = {
                        .effective = UINT64_MAX, .uid_map = map, .gid_map = map, .groups_are_denied = rows[i].denied
                };
                gid_t groups[] = { rows[i].group };
                Rights rights = RIGHTS_NONE;
                rights.uid = rows[i].uid;
                rights.gid = rows[i].gid;
                rights.groups = groups;
                rights.n_groups = 1;
                rights.sets_groups = true;
                Problem problem = { "" };
                cr_expect_eq(permission_user(&ours, NOBODY, NULL, 0, &rights, &problem), rows[i].says ? -EINVAL : 0);
                cr_expect(!rows[i].says || strstr(problem.text, rows[i].says), "%s", problem.text);
        }
}

/* ---- Limits ---- */

Test(config_permission, a_hard_limit_is_raised_only_with_sys_resource) {
        static const struct {
                const char *key;
                rlim_t have;
                uint64_t effective;
                rlim_t wanted;
                const char *says;
        } rows[] = {
                { "LimitNPROC", 4096, 0, 4096, NULL },
                { "LimitNPROC", 4096, 0, 4097,
                  "4097 is above endwell's own, 4096, and to raise it endwell lacks CAP_SYS" },
                { "LimitNPROC", 4096, 0, RLIM_INFINITY, "infinity is above endwell's own, 4096" },
                { "LimitNPROC", 4096, CAN(SYS_RESOURCE), RLIM_INFINITY, NULL },
                { "LimitNPROC", RLIM_INFINITY, 0, RLIM_INFINITY, NULL },
                { "LimitNOFILE", 4096, CAN(SYS_RESOURCE), 1048576, NULL },
                { "LimitNOFILE", 4096, CAN(SYS_RESOURCE), 1048577, "above fs.nr_open, 1048576" },
        };
        for (size_t i = 0; i < LENGTH_OF(rows); i++) {
                const LimitKind *kind = limit_kind_of_key(rows[i].key);
                Privileges ours = { .effective = rows[i].effective, .files_most = 1048576 };
                ours.limits[kind->resource] = (struct rlimit){ 1, rows[i].have };
                Problem problem = { "" };
                int r = permission_limit(&ours, kind, (struct rlimit){ 1, rows[i].wanted }, &problem);
                cr_expect_eq(r, rows[i].says ? -EINVAL : 0, "row %zu: %s", i, problem.text);
                cr_expect(!rows[i].says || strstr(problem.text, rows[i].says), "%s", problem.text);
        }
}

Test(config_permission, nice_goes_down_as_far_as_the_limit_or_the_capability_reaches) {
        static const struct {
                int have, wanted;
                rlim_t limit;
                uint64_t effective;
                bool may;
        } rows[] = {
                { 0, 0, 0, 0, true },    { 0, 19, 0, 0, true },    { 0, -1, 0, 0, false },
                { 10, 5, 0, 0, false },  { 10, 5, 15, 0, true },   { 10, 5, 14, 0, false },
                { 0, -20, 40, 0, true }, { 0, -20, 39, 0, false }, { 0, -20, 0, CAN(SYS_NICE), true },
        };
        for (size_t i = 0; i < LENGTH_OF(rows); i++) {
                Privileges ours = { .nice = rows[i].have, .effective = rows[i].effective };
                const struct rlimit limit = { rows[i].limit, rows[i].limit };
                Problem problem = { "" };
                ours.limits[RLIMIT_NICE] = limit;
                cr_expect_eq(permission_nice(&ours, rows[i].wanted, NULL, &problem) == 0, rows[i].may, "row %zu", i);
                ours.limits[RLIMIT_NICE] = (struct rlimit){ 0, 0 };
                cr_expect_eq(permission_nice(&ours, rows[i].wanted, &limit, &problem) == 0, rows[i].may,
                             "row %zu, the service's own limit", i);
                cr_expect(rows[i].may || strstr(problem.text, "CAP_SYS_NICE"));
        }
}

Test(config_permission, the_oom_score_goes_down_only_with_sys_resource) {
        const Privileges poor = { .oom_score = 100 }, rich = { .oom_score = 100, .effective = CAN(SYS_RESOURCE) };
        Problem problem = { "" };
        cr_expect_eq(permission_oom_score(&poor, 100, &problem), 0);
        cr_expect_eq(permission_oom_score(&poor, 1000, &problem), 0);
        cr_expect_eq(permission_oom_score(&rich, -1000, &problem), 0);
        cr_expect_eq(permission_oom_score(&poor, 99, &problem), -EINVAL);
        cr_expect_str_eq(problem.text, "is below endwell's own, 100, and to lower it endwell lacks CAP_SYS_RESOURCE");
}

/* ---- Capabilities ---- */

Test(config_permission, to_take_capabilities_away_needs_setpcap_unless_they_are_gone_already) {
        const Privileges poor = { .bounding = CAN(KILL) }, rich = { .bounding = CAN(KILL), .effective = CAN(SETPCAP) };
        Problem problem = { "" };
        cr_expect_eq(permission_bounding(&poor, CAN(KILL) | CAN(BPF), &problem), 0);
        cr_expect_eq(permission_bounding(&rich, 0, &problem), 0);
        cr_expect_eq(permission_bounding(&poor, CAN(BPF), &problem), -EINVAL);
        cr_expect_not_null(strstr(problem.text, "CAP_SETPCAP"));
}

Test(config_permission, ambient_capabilities_must_be_ours_and_must_not_be_taken_away_again) {
        const Privileges ours = { .permitted = CAN(NET_BIND_SERVICE) | CAN(KILL) };
        const Privileges locked = { .permitted = UINT64_MAX, .ambient_is_locked = true };
        Rights rights = RIGHTS_NONE;
        Problem problem = { "" };
        cr_expect_eq(permission_ambient(&locked, &rights, &problem), 0, "none is asked for");
        rights.ambient = CAN(NET_BIND_SERVICE);
        cr_expect_eq(permission_ambient(&ours, &rights, &problem), 0);
        cr_expect_eq(permission_ambient(&locked, &rights, &problem), -EINVAL);
        cr_expect_not_null(strstr(problem.text, "SECBIT_NO_CAP_AMBIENT_RAISE"));
        rights.sets_bounding = true;
        rights.bounding = CAN(KILL);
        cr_expect_eq(permission_ambient(&ours, &rights, &problem), -EINVAL);
        cr_expect_str_eq(problem.text, "CapabilityBoundingSet takes away CAP_NET_BIND_SERVICE again");
        rights.ambient = CAN(NET_ADMIN) | CAN(NET_RAW) | CAN(KILL);
        cr_expect_eq(permission_ambient(&ours, &rights, &problem), -EINVAL);
        cr_expect_str_eq(problem.text, "endwell cannot give what it has not: it lacks CAP_NET_ADMIN and CAP_NET_RAW");
}

/* ---- Ports ---- */

Test(config_permission, a_low_port_needs_net_bind_service) {
        const Privileges poor = { .least_port = 1024 },
                         rich = { .least_port = 1024, .effective = CAN(NET_BIND_SERVICE) }, open = { .least_port = 80 };
        Problem problem = { "" };
        cr_expect_eq(permission_port(&poor, 1024, &problem), 0);
        cr_expect_eq(permission_port(&poor, 0, &problem), 0, "no TCP socket at all");
        cr_expect_eq(permission_port(&rich, 80, &problem), 0);
        cr_expect_eq(permission_port(&open, 80, &problem), 0);
        cr_expect_eq(permission_port(&open, 79, &problem), -EINVAL);
        cr_expect_eq(permission_port(&poor, 1023, &problem), -EINVAL);
        cr_expect_not_null(strstr(problem.text, "port 1023, which is below 1024"));
}
