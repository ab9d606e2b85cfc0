/* config_privileges.c - see config_privileges.h. */
#include "supervisor/config_privileges.h"
#include "base/file.h"
#include "base/take.h"
#include <errno.h>
#include <linux/capability.h>
#include <linux/securebits.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>

#define PROC_FILE_MAX 65536

/* The first number of a file in /proc, or `otherwise`. */
static long read_number(const char *path, long otherwise) {
        _cleanup_(freep) char *text = NULL;
        size_t length;
        char *end;

        if (file_read(path, PROC_FILE_MAX, &text, &length) < 0)
                return otherwise;
        long number = strtol(text, &end, 10);
        return end == text ? otherwise : number;
}

/* capget(2) itself: libcap would be one more library in PID 1. */
static void read_capabilities(Privileges *privileges) {
        struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
        struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3] = { 0 };

        if (syscall(SYS_capget, &header, data) == 0) {
                privileges->effective = data[0].effective | (uint64_t)data[1].effective << 32;
                privileges->permitted = data[0].permitted | (uint64_t)data[1].permitted << 32;
        }
        for (unsigned i = 0; i < 64; i++)
                if (prctl(PR_CAPBSET_READ, i, 0, 0, 0) == 1)
                        privileges->bounding |= UINT64_C(1) << i;
        int bits = prctl(PR_GET_SECUREBITS, 0, 0, 0, 0);
        privileges->ambient_is_locked = bits > 0 && (bits & SECBIT_NO_CAP_AMBIENT_RAISE);
}

static int read_groups(Privileges *privileges) {
        int n = getgroups(0, NULL);

        if (n <= 0)
                return 0;
        privileges->groups = calloc((size_t)n, sizeof *privileges->groups);
        if (!privileges->groups)
                return -ENOMEM;
        n = getgroups(n, privileges->groups);
        privileges->n_groups = n > 0 ? (size_t)n : 0;
        return 0;
}

/* NULL stands for what cannot be read. 0 or -ENOMEM. */
static int read_text(const char *path, char **ret) {
        size_t length;
        int r = file_read(path, PROC_FILE_MAX, ret, &length);

        return r == -ENOMEM ? r : 0;
}

static int read_namespace(Privileges *privileges) {
        _cleanup_(freep) char *setgroups_text = NULL;

        int r = read_text("/proc/self/setgroups", &setgroups_text);
        privileges->groups_are_denied = setgroups_text && strncmp(setgroups_text, "deny", 4) == 0;
        if (r == 0)
                r = read_text("/proc/self/uid_map", &privileges->uid_map);
        return r < 0 ? r : read_text("/proc/self/gid_map", &privileges->gid_map);
}

int privileges_read(Privileges *ret) {
        Privileges privileges = { .uid = geteuid(), .gid = getegid() };
        int r = read_groups(&privileges);

        if (r == 0)
                r = read_namespace(&privileges);
        if (r < 0) {
                privileges_done(&privileges);
                return r;
        }
        read_capabilities(&privileges);
        for (int i = 0; i < RLIM_NLIMITS; i++)
                if (getrlimit(i, &privileges.limits[i]) < 0)
                        privileges.limits[i] = (struct rlimit){ RLIM_INFINITY, RLIM_INFINITY };
        privileges.nice = getpriority(PRIO_PROCESS, 0);
        privileges.oom_score = (int)read_number("/proc/self/oom_score_adj", 0);
        privileges.least_port = (unsigned)read_number("/proc/sys/net/ipv4/ip_unprivileged_port_start", 1024);
        privileges.files_most = (uint64_t)read_number("/proc/sys/fs/nr_open", 1048576);
        *ret = privileges;
        return 0;
}

void privileges_done(Privileges *privileges) {
        free(privileges->groups);
        free(privileges->uid_map);
        free(privileges->gid_map);
        *privileges = (Privileges){ 0 };
}

bool privileges_has(const Privileges *privileges, unsigned capability) {
        return privileges->effective >> capability & 1;
}

bool privileges_has_group(const Privileges *privileges, gid_t gid) {
        for (size_t i = 0; i < privileges->n_groups; i++)
                if (privileges->groups[i] == gid)
                        return true;
        return gid == privileges->gid;
}

/* user_namespaces(7): lines of "first-inside first-outside how-many". */
bool privileges_map_has(const char *map, unsigned id) {
        for (const char *at = map; at && *at; at += *at == '\n') {
                char *end;
                unsigned long first = strtoul(at, &end, 10);
                (void)strtoul(end, &end, 10);
                if (id >= first && id - first < strtoul(end, NULL, 10))
                        return true;
                at += strcspn(at, "\n");
        }
        return !map;
}
