/* config_accounts.h - the users and groups of this machine, from /etc/passwd and /etc/group; for config_*.c only.
 *
 * From the files alone: the name service may load modules that talk to a network, and this runs in PID 1. Read once for
 * a whole configuration. Source: passwd(5), group(5). */
#pragma once
#include <stddef.h>
#include <sys/types.h>

typedef struct User {
        const char *name, *home, *shell;
        uid_t uid;
        gid_t gid;
} User;

typedef struct Group {
        const char *name;
        char *members; /* NAME,NAME */
        gid_t gid;
} Group;

typedef struct Accounts {
        char *passwd, *group; /* the files; what is below points into them */
        User *users;
        Group *groups;
        size_t n_users, n_groups;
} Accounts;

/* A file that is not there, or cannot be read, has no accounts in it. 0 or -ENOMEM. */
int accounts_read(Accounts *ret, const char *passwd_path, const char *group_path);
void accounts_done(Accounts *accounts);

/* By name; NULL: there is none. */
const User *accounts_user(const Accounts *accounts, const char *name);
const User *accounts_user_of(const Accounts *accounts, uid_t uid);
const Group *accounts_group(const Accounts *accounts, const char *name);
const Group *accounts_group_of(const Accounts *accounts, gid_t gid);
/* The known name that was probably meant, or NULL; also without memory for the search. */
const char *accounts_nearest_user(const Accounts *accounts, const char *name);
const char *accounts_nearest_group(const Accounts *accounts, const char *name);

/* "1000": 0 and the number; -EINVAL: no digits only; -ERANGE: no uid or gid. */
int account_number(const char *text, uid_t *ret);

/* Adds to the list `gid` and every group that names the user as its member, each once. 0 or -ENOMEM. */
int accounts_add_groups_of(const Accounts *accounts, const char *user, gid_t gid, gid_t **list, size_t *n);
/* Adds one that is not in it yet. 0 or -ENOMEM. */
int groups_add(gid_t **list, size_t *n, gid_t gid);
