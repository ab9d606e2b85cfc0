/* config_permission.h - says of each right that a configuration gives away whether endwell itself may give it; for
 * config_*.c only.
 *
 * Pure: a question over values. Each answers 0, or -EINVAL and a problem that names what is missing. */
#pragma once
#include "supervisor/config_limits.h"
#include "supervisor/config_privileges.h"
#include "supervisor/config_problem.h"

/* Another user, other groups. Who asks for what endwell is already needs nothing: then it stays as it is, and *rights
 * says so. `named_gid` ((gid_t)-1: none) and the `n_named` are the groups that were asked for by name; those that only
 * come with the user may be missing where endwell is that user. */
int permission_user(const Privileges *ours, gid_t named_gid, const gid_t *named, size_t n_named, Rights *rights,
                    Problem *problem);
int permission_limit(const Privileges *ours, const LimitKind *kind, struct rlimit limit, Problem *problem);
/* `limit`: LimitNICE of the same service; NULL: endwell's own. */
int permission_nice(const Privileges *ours, int nice, const struct rlimit *limit, Problem *problem);
int permission_oom_score(const Privileges *ours, int score, Problem *problem);
int permission_bounding(const Privileges *ours, uint64_t bounding, Problem *problem);
int permission_ambient(const Privileges *ours, const Rights *rights, Problem *problem);
int permission_port(const Privileges *ours, unsigned port, Problem *problem);
