/* config_user.c - reads User, Group and SupplementaryGroups: names or numbers, looked up now and never again. */
#include "base/take.h"
#include "supervisor/config_accounts.h"
#include "supervisor/config_permission.h"
#include "supervisor/config_rights.h"
#include "supervisor/config_values.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define NAME_SHOWN_MAX 40
#define GROUPS_MOST    65536 /* NGROUPS_MAX of Linux */

#define HINT_MAX 80

/* ", did you mean NAME?" or "". */
static const char *suggest(Reading *reading, const char *name,
                           const char *(*find)(const Accounts *accounts, const char *name),
                           char ret_text[static HINT_MAX]) {
        const char *nearest = reading_may_suggest(reading) ? find(reading->accounts, name) : NULL;

        *ret_text = '\0';
        if (nearest)
                snprintf(ret_text, HINT_MAX, ", did you mean %.40s?", nearest);
        return ret_text;
}

/* ---- Groups ---- */

/* The gid, or false after a complaint. */
static bool find_group(Reading *reading, const Setting *setting, const char *word, gid_t *ret) {
        const Accounts *accounts = reading_accounts(reading);
        char hint[HINT_MAX];

        if (!accounts)
                return false;
        const Group *group = accounts_group(accounts, word);
        int r = group ? 0 : account_number(word, ret);
        if (group)
                *ret = group->gid;
        else if (r == -ERANGE)
                value_refuse(reading, setting, "%.*s is too large for a group's number", NAME_SHOWN_MAX, word);
        else if (r < 0)
                value_refuse(reading, setting, "there is no group %.*s in /etc/group%s", NAME_SHOWN_MAX, word,
                             suggest(reading, word, accounts_nearest_group, hint));
        return r == 0;
}

void value_group(Reading *reading, const Setting *setting, void *ret_value) {
        gid_t gid;

        if (!find_group(reading, setting, setting->value, &gid))
                return;
        if (gid > INT32_MAX)
                value_refuse(reading, setting, "is too large for a group's number");
        else
                *(int *)ret_value = (int)gid;
}

/* What stands in the lines of SupplementaryGroups. */
typedef struct Named {
        gid_t *groups;
        size_t n;
} Named;

static void named_done(Named *named) {
        free(named->groups);
}

static void read_line_of_groups(Reading *reading, const Setting *setting, Named *named) {
        _cleanup_(freep) char **words = NULL;
        size_t n = 0;
        gid_t gid;

        if (!value_words(reading, setting, &words, &n))
                return;
        if (n == 0)
                named->n = 0;
        for (size_t i = 0; i < n && reading->error == 0; i++)
                if (find_group(reading, setting, words[i], &gid) && groups_add(&named->groups, &named->n, gid) < 0)
                        reading->error = -ENOMEM;
}

static void read_groups(Reading *reading, const SettingsSection *section, Named *named) {
        for (size_t i = 0; i < section->n_items && reading->error == 0; i++)
                if (strcmp(section->items[i].key, "SupplementaryGroups") == 0)
                        read_line_of_groups(reading, &section->items[i], named);
}

/* ---- The user ---- */

static void set_text(Reading *reading, char **field, const char *text) {
        *field = strdup(text);
        if (!*field)
                reading->error = -ENOMEM;
}

static void take_entry(Reading *reading, const User *user, Rights *rights) {
        rights->uid = user->uid;
        if (rights->gid == (gid_t)-1)
                rights->gid = user->gid;
        set_text(reading, &rights->user, user->name);
        set_text(reading, &rights->home, *user->home ? user->home : "/");
        set_text(reading, &rights->shell, *user->shell ? user->shell : "/bin/sh"); /* passwd(5) */
        if (accounts_add_groups_of(reading->accounts, user->name, rights->gid, &rights->groups, &rights->n_groups) < 0)
                reading->error = -ENOMEM;
}

/* A number without an entry has no group of its own: to leave it endwell's would leave it root's. */
static void take_number(Reading *reading, const Setting *setting, uid_t uid, Rights *rights) {
        if (rights->gid == (gid_t)-1 && uid == reading->privileges->uid)
                rights->gid = reading->privileges->gid;
        if (rights->gid == (gid_t)-1) {
                value_refuse(reading, setting,
                             "has no entry in /etc/passwd that would say its group: write Group= too");
                return;
        }
        rights->uid = uid;
        set_text(reading, &rights->user, setting->value);
        set_text(reading, &rights->home, "/");
        if (groups_add(&rights->groups, &rights->n_groups, rights->gid) < 0)
                reading->error = -ENOMEM;
}

static void read_name(Reading *reading, const Setting *setting, Rights *rights) {
        const Accounts *accounts = reading->accounts;
        const User *user = accounts_user(accounts, setting->value);
        char hint[HINT_MAX];
        uid_t uid;

        int r = user ? 0 : account_number(setting->value, &uid);
        if (!user && r == 0)
                user = accounts_user_of(accounts, uid);
        if (user)
                take_entry(reading, user, rights);
        else if (r == 0)
                take_number(reading, setting, uid, rights);
        else if (r == -ERANGE)
                value_refuse(reading, setting, "is too large for a user's number");
        else
                value_refuse(reading, setting, "there is no such user in /etc/passwd%s",
                             suggest(reading, setting->value, accounts_nearest_user, hint));
}

/* ---- Together ---- */

static const Setting *first_line(const SettingsSection *section) {
        const Setting *line = settings_get(section, "User");

        if (!line)
                line = settings_get(section, "Group");
        return line ? line : settings_last(section, "SupplementaryGroups");
}

static void add_named(Reading *reading, const Setting *line, const Named *named, Rights *rights) {
        if (!rights->groups && rights->gid == (gid_t)-1 && named->n == 0)
                return; /* SupplementaryGroups took everything back */
        gid_t own = rights->gid == (gid_t)-1 ? reading->privileges->gid : rights->gid;
        int r = groups_add(&rights->groups, &rights->n_groups, own);
        for (size_t i = 0; r == 0 && i < named->n; i++)
                r = groups_add(&rights->groups, &rights->n_groups, named->groups[i]);
        if (r < 0)
                reading->error = r;
        else if (rights->n_groups > GROUPS_MOST)
                value_refuse(reading, line, "is in more than %d groups", GROUPS_MOST);
        else
                rights->sets_groups = true;
}

void rights_read_user(Reading *reading, const SettingsSection *section, Rights *rights) {
        const Setting *user = settings_get(section, "User"), *group = settings_get(section, "Group");
        const Setting *line = first_line(section);
        _cleanup_(named_done) Named named = { 0 };
        size_t n_before = complaints_count(reading->complaints);
        Problem problem;

        if (!line || !reading_accounts(reading))
                return;
        if (group)
                (void)find_group(reading, group, group->value, &rights->gid);
        gid_t named_gid = rights->gid;
        if (user)
                read_name(reading, user, rights);
        read_groups(reading, section, &named);
        if (reading->error < 0 || complaints_count(reading->complaints) > n_before)
                return;
        add_named(reading, line, &named, rights);
        if (reading->error == 0 &&
            permission_user(reading->privileges, named_gid, named.groups, named.n, rights, &problem) < 0)
                value_refuse(reading, line, "%s", problem.text);
}
