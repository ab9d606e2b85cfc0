/* rights.c - gives up, and takes, what a child shall have; see rights.h. */
#include "supervisor/rights.h"
#include "base/take.h"
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define CAPABILITIES_MAX 64   /* what a 64-bit set can hold; the kernel says how many there are */
#define OWN_GROUPS_MAX   1024 /* as many of our own are compared with those that are wanted */

/* By number: the libc's functions would tell every thread of a process that this child is not, and wait for them. */
#ifdef SYS_setresuid32
#define SET_USER   SYS_setresuid32
#define SET_GROUP  SYS_setresgid32
#define SET_GROUPS SYS_setgroups32
#else
#define SET_USER   SYS_setresuid
#define SET_GROUP  SYS_setresgid
#define SET_GROUPS SYS_setgroups
#endif

/* One application of them. */
typedef struct Applying {
        const Rights *rights;
        bool user_changes;
        size_t which; /* ChildFailure.which */
} Applying;

static int set_oom_score(Applying *now) {
        char text[16];
        if (!now->rights->sets_oom_score)
                return 0;
        _cleanup_(closep) int fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
        if (fd < 0)
                return -errno;
        int n = snprintf(text, sizeof text, "%d", now->rights->oom_score);
        return write(fd, text, (size_t)n) < 0 ? -errno : 0;
}

static int set_limits(Applying *now) {
        for (size_t i = 0; i < now->rights->n_limits; i++) {
                const RightsLimit *limit = &now->rights->limits[i];
                if (setrlimit((enum __rlimit_resource)limit->resource, &limit->limit) < 0) {
                        now->which = (size_t)limit->resource + 1;
                        return -errno;
                }
        }
        return 0;
}

static int set_nice(Applying *now) {
        if (!now->rights->sets_nice)
                return 0;
        return setpriority(PRIO_PROCESS, 0, now->rights->nice) < 0 ? -errno : 0;
}

static int set_umask(Applying *now) {
        if (now->rights->umask >= 0)
                umask((mode_t)now->rights->umask);
        return 0;
}

/* Only this loses a capability for good. It needs CAP_SETPCAP, so it goes before the user; what is not there need not
 * be dropped, so a container that took it away already is no trouble. */
static int drop_bounding(Applying *now) {
        if (!now->rights->sets_bounding)
                return 0;
        for (unsigned long number = 0; number < CAPABILITIES_MAX; number++) {
                if (now->rights->bounding >> number & 1)
                        continue;
                int there = prctl(PR_CAPBSET_READ, number, 0L, 0L, 0L);
                if (there < 0)
                        return 0; /* EINVAL: the kernel knows no capability of this number, and none beyond it */
                if (there > 0 && prctl(PR_CAPBSET_DROP, number, 0L, 0L, 0L) < 0)
                        return -errno;
        }
        return 0;
}

static bool is_in(const gid_t *groups, size_t n, gid_t gid) {
        for (size_t i = 0; i < n; i++)
                if (groups[i] == gid)
                        return true;
        return false;
}

/* Whether we are in just these groups already. The main group counts as one of them on either side: whether it is also
 * listed makes no difference to anybody. */
static bool has_groups(const Rights *rights) {
        gid_t own[OWN_GROUPS_MAX], main_group = rights->gid == (gid_t)-1 ? getegid() : rights->gid;
        int n = getgroups(OWN_GROUPS_MAX, own);
        if (n < 0)
                return false; /* more than fit: as good as others */
        for (size_t i = 0; i < rights->n_groups; i++)
                if (rights->groups[i] != main_group && !is_in(own, (size_t)n, rights->groups[i]))
                        return false;
        for (int i = 0; i < n; i++)
                if (own[i] != main_group && !is_in(rights->groups, rights->n_groups, own[i]))
                        return false;
        return true;
}

static int set_groups(Applying *now) {
        const Rights *rights = now->rights;
        if (rights->sets_groups && syscall(SET_GROUPS, rights->n_groups, rights->groups) < 0 &&
            (errno != EPERM || !has_groups(rights)))
                return -errno;
        if (rights->gid != (gid_t)-1 && syscall(SET_GROUP, rights->gid, rights->gid, rights->gid) < 0)
                return -errno;
        return 0;
}

/* What is to be an ambient capability must outlive the change of the user, and the kernel takes all from whoever stops
 * being root unless it was told otherwise before. */
static int set_user(Applying *now) {
        uid_t uid = now->rights->uid;
        if (uid == (uid_t)-1)
                return 0;
        now->user_changes = uid != geteuid();
        if (now->rights->ambient != 0 && prctl(PR_SET_KEEPCAPS, 1L, 0L, 0L, 0L) < 0)
                return -errno;
        return syscall(SET_USER, uid, uid, uid) < 0 ? -errno : 0;
}

/* Whatever endwell has of it itself is not meant for another user, and the kernel takes it away only where root becomes
 * somebody else. Before Linux 4.3 there was no such set. */
static int clear_ambient(void) {
        return prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0L, 0L, 0L) < 0 && errno != EINVAL ? -errno : 0;
}

static int raise_ambient(uint64_t ambient) {
        for (unsigned long number = 0; number < CAPABILITIES_MAX; number++)
                if (ambient >> number & 1 && prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, number, 0L, 0L) < 0)
                        return -errno;
        return 0;
}

/* What is inheritable can come back by an exec in spite of the bounding set, and must be so to be ambient. */
static int set_inheritable(const Rights *rights) {
        struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
        struct __user_cap_data_struct half[_LINUX_CAPABILITY_U32S_3] = { 0 }, before[_LINUX_CAPABILITY_U32S_3];
        if (syscall(SYS_capget, &header, half) < 0)
                return -errno;
        memcpy(before, half, sizeof before);
        for (size_t i = 0; i < LENGTH_OF(half); i++) {
                if (rights->sets_bounding)
                        half[i].inheritable &= (uint32_t)(rights->bounding >> 32 * i);
                half[i].inheritable |= (uint32_t)(rights->ambient >> 32 * i);
        }
        if (memcmp(before, half, sizeof before) == 0)
                return 0;
        return syscall(SYS_capset, &header, half) < 0 ? -errno : 0;
}

static int set_capabilities(Applying *now) {
        const Rights *rights = now->rights;
        int r = rights->ambient != 0 || now->user_changes ? clear_ambient() : 0;
        if (r >= 0 && (rights->sets_bounding || rights->ambient != 0))
                r = set_inheritable(rights);
        return r < 0 ? r : raise_ambient(rights->ambient);
}

static int set_no_new_privileges(Applying *now) {
        if (!now->rights->no_new_privileges)
                return 0;
        return prctl(PR_SET_NO_NEW_PRIVS, 1L, 0L, 0L, 0L) < 0 ? -errno : 0;
}

int rights_apply(const Rights *rights, ChildFailure *ret_failure) {
        static const struct {
                ChildStep step;
                int (*apply)(Applying *now);
        } steps[] = {
                { CHILD_STEP_OOM_SCORE, set_oom_score },
                { CHILD_STEP_LIMITS, set_limits },
                { CHILD_STEP_NICE, set_nice },
                { CHILD_STEP_UMASK, set_umask },
                { CHILD_STEP_CAPABILITIES, drop_bounding },
                { CHILD_STEP_GROUPS, set_groups },
                { CHILD_STEP_USER, set_user },
                { CHILD_STEP_CAPABILITIES, set_capabilities },
                { CHILD_STEP_NO_NEW_PRIVILEGES, set_no_new_privileges },
        };
        Applying now = { .rights = rights };
        for (size_t i = 0; i < LENGTH_OF(steps); i++) {
                int r = steps[i].apply(&now);
                if (r < 0) {
                        *ret_failure = (ChildFailure){ .step = steps[i].step, .error = -r, .which = now.which };
                        return r;
                }
        }
        return 0;
}
