/* config_permission.c - see config_permission.h. */
#include "supervisor/config_permission.h"
#include "supervisor/config_capabilities.h"
#include <linux/capability.h>
#include <string.h>

#define LIST_MAX 400

/* "CAP_SETUID, CAP_SETGID and CAP_KILL" */
static const char *list_capabilities(uint64_t set, char ret_text[static LIST_MAX]) {
        size_t length = 0;

        *ret_text = '\0';
        for (unsigned i = 0; capability_name(i) && length < LIST_MAX; i++) {
                if (!(set & CAPABILITY(i)))
                        continue;
                set &= ~CAPABILITY(i);
                length += (size_t)snprintf(ret_text + length, LIST_MAX - length, "%s%s",
                                           !length ? ""
                                           : set   ? ", "
                                                   : " and ",
                                           capability_name(i));
        }
        return ret_text;
}

/* ---- Users and groups ---- */

static bool same_groups(const Privileges *ours, const Rights *rights) {
        for (size_t i = 0; i < rights->n_groups; i++)
                if (!privileges_has_group(ours, rights->groups[i]))
                        return false;
        for (size_t i = 0; i < ours->n_groups; i++) {
                size_t j = 0;
                while (j < rights->n_groups && rights->groups[j] != ours->groups[i])
                        j++;
                if (j == rights->n_groups)
                        return false;
        }
        return true;
}

static bool has_all(const Privileges *ours, gid_t gid, const gid_t *groups, size_t n) {
        if (gid != (gid_t)-1 && gid != ours->gid)
                return false;
        for (size_t i = 0; i < n; i++)
                if (!privileges_has_group(ours, groups[i]))
                        return false;
        return true;
}

static int check_namespace(const Privileges *ours, const Rights *rights, Problem *problem) {
        if (rights->uid != (uid_t)-1 && !privileges_map_has(ours->uid_map, rights->uid))
                return problem_say(problem, "uid %u does not exist in this user namespace (/proc/self/uid_map)",
                                   rights->uid);
        if (rights->gid != (gid_t)-1 && !privileges_map_has(ours->gid_map, rights->gid))
                return problem_say(problem, "gid %u does not exist in this user namespace (/proc/self/gid_map)",
                                   rights->gid);
        for (size_t i = 0; rights->sets_groups && i < rights->n_groups; i++)
                if (!privileges_map_has(ours->gid_map, rights->groups[i]))
                        return problem_say(problem, "gid %u does not exist in this user namespace (/proc/self/gid_map)",
                                           rights->groups[i]);
        if (rights->sets_groups && ours->groups_are_denied)
                return problem_say(problem, "this user namespace denies setgroups(2) (/proc/self/setgroups)");
        return 0;
}

int permission_user(const Privileges *ours, gid_t named_gid, const gid_t *named, size_t n_named, Rights *rights,
                    Problem *problem) {
        uint64_t needed = 0;
        char list[LIST_MAX];

        if (rights->uid == ours->uid)
                rights->uid = (uid_t)-1;
        if (rights->gid == ours->gid)
                rights->gid = (gid_t)-1;
        bool may_stay = rights->uid == (uid_t)-1 && has_all(ours, named_gid, named, n_named);
        bool is_the_same = rights->gid == (gid_t)-1 && same_groups(ours, rights);
        if (is_the_same || (may_stay && !privileges_has(ours, CAP_SETGID))) {
                rights->gid = (gid_t)-1;
                rights->sets_groups = false;
        }
        if (rights->uid != (uid_t)-1)
                needed |= CAPABILITY(CAP_SETUID) | CAPABILITY(CAP_KILL);
        if (rights->gid != (gid_t)-1 || rights->sets_groups)
                needed |= CAPABILITY(CAP_SETGID);
        uint64_t missing = needed & ~ours->effective;
        if (missing)
                return problem_say(problem, "endwell, which runs as uid %u, may not run it so: it lacks %s", ours->uid,
                                   list_capabilities(missing, list));
        return check_namespace(ours, rights, problem);
}

/* ---- Limits ---- */

int permission_limit(const Privileges *ours, const LimitKind *kind, struct rlimit limit, Problem *problem) {
        rlim_t most = ours->limits[kind->resource].rlim_max;
        char wanted[LIMIT_TEXT_MAX], have[LIMIT_TEXT_MAX];

        limit_format(limit.rlim_max, wanted);
        if (limit.rlim_max > most && !privileges_has(ours, CAP_SYS_RESOURCE))
                return problem_say(problem,
                                   "the hard limit %s is above endwell's own, %s, and to raise it endwell lacks "
                                   "CAP_SYS_RESOURCE",
                                   wanted, limit_format(most, have));
        if (kind->resource == RLIMIT_NOFILE && limit.rlim_max > ours->files_most)
                return problem_say(problem, "the hard limit %s is above fs.nr_open, %llu: the kernel refuses it",
                                   wanted, (unsigned long long)ours->files_most);
        return 0;
}

int permission_nice(const Privileges *ours, int nice, const struct rlimit *limit, Problem *problem) {
        rlim_t reach = limit ? limit->rlim_cur : ours->limits[RLIMIT_NICE].rlim_cur;

        if (nice >= ours->nice || (rlim_t)(20 - nice) <= reach || privileges_has(ours, CAP_SYS_NICE))
                return 0;
        return problem_say(problem, "is below endwell's own, %d, and to lower it endwell lacks CAP_SYS_NICE",
                           ours->nice);
}

int permission_oom_score(const Privileges *ours, int score, Problem *problem) {
        if (score >= ours->oom_score || privileges_has(ours, CAP_SYS_RESOURCE))
                return 0;
        return problem_say(problem, "is below endwell's own, %d, and to lower it endwell lacks CAP_SYS_RESOURCE",
                           ours->oom_score);
}

/* ---- Capabilities ---- */

int permission_bounding(const Privileges *ours, uint64_t bounding, Problem *problem) {
        if (!(ours->bounding & ~bounding) || privileges_has(ours, CAP_SETPCAP))
                return 0;
        return problem_say(problem, "to take capabilities away endwell lacks CAP_SETPCAP");
}

int permission_ambient(const Privileges *ours, const Rights *rights, Problem *problem) {
        uint64_t unbound = rights->sets_bounding ? rights->ambient & ~rights->bounding : 0;
        uint64_t missing = rights->ambient & ~ours->permitted;
        char list[LIST_MAX];

        if (missing)
                return problem_say(problem, "endwell cannot give what it has not: it lacks %s",
                                   list_capabilities(missing, list));
        if (unbound)
                return problem_say(problem, "CapabilityBoundingSet takes away %s again",
                                   list_capabilities(unbound, list));
        if (rights->ambient && ours->ambient_is_locked)
                return problem_say(problem, "endwell itself was started so that nobody below it may have ambient "
                                            "capabilities (SECBIT_NO_CAP_AMBIENT_RAISE)");
        return 0;
}

/* ---- Ports ---- */

int permission_port(const Privileges *ours, unsigned port, Problem *problem) {
        if (port == 0 || port >= ours->least_port || privileges_has(ours, CAP_NET_BIND_SERVICE))
                return 0;
        return problem_say(problem,
                           "to listen on the port %u, which is below %u (net.ipv4.ip_unprivileged_port_start), endwell "
                           "lacks CAP_NET_BIND_SERVICE",
                           port, ours->least_port);
}
