/* config_accounts.c - see config_accounts.h. */
#include "supervisor/config_accounts.h"
#include "base/file.h"
#include "base/names.h"
#include "base/take.h"
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define FILE_SIZE_MAX (16u << 20)
#define FIELDS_MAX    7

/* ---- Lines ---- */

int account_number(const char *text, uid_t *ret) {
        size_t n = strspn(text, "0123456789");
        uint64_t number = 0;

        if (n == 0 || text[n])
                return -EINVAL;
        for (size_t i = 0; i < n && number <= UINT32_MAX; i++)
                number = number * 10 + (uint64_t)(text[i] - '0');
        if (number >= UINT32_MAX) /* the last one means "leave it" to setresuid(2) */
                return -ERANGE;
        *ret = (uid_t)number;
        return 0;
}

/* Ends the fields with NUL where they stand; how many there are. */
static size_t split_fields(char *line, char *fields[static FIELDS_MAX]) {
        size_t n = 0;

        while (line && n < FIELDS_MAX)
                fields[n++] = strsep(&line, ":");
        return line ? FIELDS_MAX + 1 : n;
}

/* Lines that begin with + or - are of the old name service. */
static bool is_entry(char *const *fields, size_t n, size_t n_wanted) {
        return n == n_wanted && *fields[0] && !strchr("#+-", *fields[0]);
}

static size_t count_lines(const char *text) {
        size_t n = 1;

        for (; *text; text++)
                n += *text == '\n';
        return n;
}

/* One that cannot be read has no accounts: whoever names one of them is told so. */
static int read_lines(const char *path, char **ret_text, size_t *ret_n) {
        size_t length;
        int r = file_read(path, FILE_SIZE_MAX, ret_text, &length);

        if (r < 0 && r != -ENOMEM)
                r = (*ret_text = strdup("")) ? 0 : -ENOMEM;
        if (r == 0)
                *ret_n = count_lines(*ret_text);
        return r;
}

/* ---- The files ---- */

static int read_users(Accounts *accounts, const char *path) {
        char *fields[FIELDS_MAX], *rest, *line;
        size_t n_lines = 0;
        int r = read_lines(path, &accounts->passwd, &n_lines);

        if (r < 0)
                return r;
        accounts->users = calloc(n_lines, sizeof *accounts->users);
        if (!accounts->users)
                return -ENOMEM;
        for (rest = accounts->passwd; (line = strsep(&rest, "\n"));) {
                User user = { 0 };
                if (!is_entry(fields, split_fields(line, fields), 7) || account_number(fields[2], &user.uid) < 0 ||
                    account_number(fields[3], &user.gid) < 0)
                        continue;
                user.name = fields[0];
                user.home = fields[5];
                user.shell = fields[6];
                accounts->users[accounts->n_users++] = user;
        }
        return 0;
}

static int read_groups(Accounts *accounts, const char *path) {
        char *fields[FIELDS_MAX], *rest, *line;
        size_t n_lines = 0;
        int r = read_lines(path, &accounts->group, &n_lines);

        if (r < 0)
                return r;
        accounts->groups = calloc(n_lines, sizeof *accounts->groups);
        if (!accounts->groups)
                return -ENOMEM;
        for (rest = accounts->group; (line = strsep(&rest, "\n"));) {
                Group group = { 0 };
                if (!is_entry(fields, split_fields(line, fields), 4) || account_number(fields[2], &group.gid) < 0)
                        continue;
                group.name = fields[0];
                group.members = fields[3];
                accounts->groups[accounts->n_groups++] = group;
        }
        return 0;
}

int accounts_read(Accounts *ret, const char *passwd_path, const char *group_path) {
        Accounts accounts = { 0 };
        int r = read_users(&accounts, passwd_path);

        if (r == 0)
                r = read_groups(&accounts, group_path);
        if (r < 0)
                accounts_done(&accounts);
        else
                *ret = accounts;
        return r;
}

void accounts_done(Accounts *accounts) {
        free(accounts->passwd);
        free(accounts->group);
        free(accounts->users);
        free(accounts->groups);
        *accounts = (Accounts){ 0 };
}

/* ---- Finding ---- */

const User *accounts_user(const Accounts *accounts, const char *name) {
        for (size_t i = 0; i < accounts->n_users; i++)
                if (strcmp(accounts->users[i].name, name) == 0)
                        return &accounts->users[i];
        return NULL;
}

const User *accounts_user_of(const Accounts *accounts, uid_t uid) {
        for (size_t i = 0; i < accounts->n_users; i++)
                if (accounts->users[i].uid == uid)
                        return &accounts->users[i];
        return NULL;
}

const Group *accounts_group(const Accounts *accounts, const char *name) {
        for (size_t i = 0; i < accounts->n_groups; i++)
                if (strcmp(accounts->groups[i].name, name) == 0)
                        return &accounts->groups[i];
        return NULL;
}

const Group *accounts_group_of(const Accounts *accounts, gid_t gid) {
        for (size_t i = 0; i < accounts->n_groups; i++)
                if (accounts->groups[i].gid == gid)
                        return &accounts->groups[i];
        return NULL;
}

const char *accounts_nearest_user(const Accounts *accounts, const char *name) {
        _cleanup_(freep) const char **known = malloc((accounts->n_users + 1) * sizeof *known);

        for (size_t i = 0; known && i < accounts->n_users; i++)
                known[i] = accounts->users[i].name;
        return known ? name_nearest(name, known, accounts->n_users) : NULL;
}

const char *accounts_nearest_group(const Accounts *accounts, const char *name) {
        _cleanup_(freep) const char **known = malloc((accounts->n_groups + 1) * sizeof *known);

        for (size_t i = 0; known && i < accounts->n_groups; i++)
                known[i] = accounts->groups[i].name;
        return known ? name_nearest(name, known, accounts->n_groups) : NULL;
}

/* ---- Groups of a user ---- */

int groups_add(gid_t **list, size_t *n, gid_t gid) {
        for (size_t i = 0; i < *n; i++)
                if ((*list)[i] == gid)
                        return 0;
        gid_t *grown = reallocarray(*list, *n + 1, sizeof *grown);
        if (!grown)
                return -ENOMEM;
        *list = grown;
        grown[(*n)++] = gid;
        return 0;
}

static bool has_member(const char *members, const char *user) {
        size_t length = strlen(user);

        for (const char *at = members; *at; at += strcspn(at, ","), at += *at == ',')
                if (strncmp(at, user, length) == 0 && (at[length] == ',' || !at[length]))
                        return true;
        return false;
}

int accounts_add_groups_of(const Accounts *accounts, const char *user, gid_t gid, gid_t **list, size_t *n) {
        int r = groups_add(list, n, gid);

        for (size_t i = 0; r == 0 && i < accounts->n_groups; i++)
                if (has_member(accounts->groups[i].members, user))
                        r = groups_add(list, n, accounts->groups[i].gid);
        return r;
}
