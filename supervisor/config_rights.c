/* config_rights.c - reads limits, scheduling and capabilities, and puts a Rights together. */
#include "supervisor/config_rights.h"
#include "base/take.h"
#include "supervisor/config_capabilities.h"
#include "supervisor/config_limits.h"
#include "supervisor/config_permission.h"
#include "supervisor/config_values.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* ---- Values: each reader gets the whole Rights ---- */

static void value_umask(Reading *reading, const Setting *setting, void *ret_value) {
        const char *text = setting->value;
        size_t n = strspn(text, "01234567");
        long mask = strtol(text, NULL, 8);

        if (n == 0 || n > 8 || text[n] || mask > 0777)
                value_refuse(reading, setting, "must be an octal number from 0 to 0777");
        else
                ((Rights *)ret_value)->umask = (int)mask;
}

static void value_nice(Reading *reading, const Setting *setting, void *ret_value) {
        Rights *rights = ret_value;

        rights->sets_nice = value_integer(reading, setting, -20, 19, &rights->nice);
}

static void value_oom_score(Reading *reading, const Setting *setting, void *ret_value) {
        Rights *rights = ret_value;

        rights->sets_oom_score = value_integer(reading, setting, -1000, 1000, &rights->oom_score);
}

static void value_no_new_privileges(Reading *reading, const Setting *setting, void *ret_value) {
        value_bool(reading, setting, &((Rights *)ret_value)->no_new_privileges);
}

static void value_limit_of_resource(Reading *reading, const Setting *setting, void *ret_value) {
        const LimitKind *kind = limit_kind_of_key(setting->key);
        Rights *rights = ret_value;
        struct rlimit limit;
        Problem problem;

        if (limit_parse(kind, setting->value, &limit, &problem) < 0) {
                value_refuse(reading, setting, "%s", problem.text);
                return;
        }
        RightsLimit *grown = reallocarray(rights->limits, rights->n_limits + 1, sizeof *grown);
        if (!grown) {
                reading->error = -ENOMEM;
                return;
        }
        rights->limits = grown;
        grown[rights->n_limits++] = (RightsLimit){ .resource = kind->resource, .limit = limit };
}

static void read_capabilities(Reading *reading, const Setting *setting, bool *given, uint64_t *set) {
        Problem problem;
        int r = capabilities_read(setting->value, given, set, &problem);

        if (r == -ENOMEM)
                reading->error = r;
        else if (r < 0)
                value_refuse(reading, setting, "%s", problem.text);
}

static void value_bounding(Reading *reading, const Setting *setting, void *ret_value) {
        Rights *rights = ret_value;

        read_capabilities(reading, setting, &rights->sets_bounding, &rights->bounding);
}

/* As the kernel's ambient set is empty by itself, taking away from it and adding to it begin at nothing. */
static void value_ambient(Reading *reading, const Setting *setting, void *ret_value) {
        Rights *rights = ret_value;
        bool given = rights->ambient != 0;

        read_capabilities(reading, setting, &given, &rights->ambient);
}

static const ValueRule rules[] = {
        { "UMask", value_umask, 0 },
        { "Nice", value_nice, 0 },
        { "OOMScoreAdjust", value_oom_score, 0 },
        { "NoNewPrivileges", value_no_new_privileges, 0 },
        { "CapabilityBoundingSet", value_bounding, 0 },
        { "AmbientCapabilities", value_ambient, 0 },
        { "LimitCPU", value_limit_of_resource, 0 },
        { "LimitFSIZE", value_limit_of_resource, 0 },
        { "LimitDATA", value_limit_of_resource, 0 },
        { "LimitSTACK", value_limit_of_resource, 0 },
        { "LimitCORE", value_limit_of_resource, 0 },
        { "LimitRSS", value_limit_of_resource, 0 },
        { "LimitNOFILE", value_limit_of_resource, 0 },
        { "LimitAS", value_limit_of_resource, 0 },
        { "LimitNPROC", value_limit_of_resource, 0 },
        { "LimitMEMLOCK", value_limit_of_resource, 0 },
        { "LimitLOCKS", value_limit_of_resource, 0 },
        { "LimitSIGPENDING", value_limit_of_resource, 0 },
        { "LimitMSGQUEUE", value_limit_of_resource, 0 },
        { "LimitNICE", value_limit_of_resource, 0 },
        { "LimitRTPRIO", value_limit_of_resource, 0 },
        { "LimitRTTIME", value_limit_of_resource, 0 },
};

/* ---- What endwell may not give ---- */

static const struct rlimit *find_limit(const Rights *rights, int resource) {
        for (size_t i = 0; i < rights->n_limits; i++)
                if (rights->limits[i].resource == resource)
                        return &rights->limits[i].limit;
        return NULL;
}

static void refuse_if(Reading *reading, const SettingsSection *section, const char *key, int answer,
                      const Problem *problem) {
        if (answer < 0)
                value_refuse(reading, settings_last(section, key), "%s", problem->text);
}

static void check(Reading *reading, const SettingsSection *section, const Privileges *ours, const Rights *rights) {
        Problem problem;
        int r;

        for (size_t i = 0; i < rights->n_limits; i++) {
                const LimitKind *kind = limit_kind_of_resource(rights->limits[i].resource);
                r = permission_limit(ours, kind, rights->limits[i].limit, &problem);
                refuse_if(reading, section, kind->key, r, &problem);
        }
        if (rights->sets_nice) {
                r = permission_nice(ours, rights->nice, find_limit(rights, RLIMIT_NICE), &problem);
                refuse_if(reading, section, "Nice", r, &problem);
        }
        if (rights->sets_oom_score) {
                r = permission_oom_score(ours, rights->oom_score, &problem);
                refuse_if(reading, section, "OOMScoreAdjust", r, &problem);
        }
        if (rights->sets_bounding) {
                r = permission_bounding(ours, rights->bounding, &problem);
                refuse_if(reading, section, "CapabilityBoundingSet", r, &problem);
        }
        r = permission_ambient(ours, rights, &problem);
        refuse_if(reading, section, "AmbientCapabilities", r, &problem);
        if (rights->ambient && rights->uid == (uid_t)-1 && ours->uid == 0)
                value_warn(reading, settings_last(section, "AmbientCapabilities"),
                           "root has every capability of the bounding set anyway: this is for another User");
}

/* ---- The whole ---- */

static void done(Rights *rights) {
        free(rights->user);
        free(rights->home);
        free(rights->shell);
        free(rights->groups);
        free(rights->limits);
}

Rights *rights_free(Rights *rights) {
        if (rights) {
                done(rights);
                free(rights);
        }
        return NULL;
}

static bool says_something(const SettingsSection *section) {
        static const char *const users[] = { "User", "Group", "SupplementaryGroups" };

        for (size_t i = 0; i < LENGTH_OF(users); i++)
                if (settings_get(section, users[i]))
                        return true;
        for (size_t i = 0; i < LENGTH_OF(rules); i++)
                if (settings_get(section, rules[i].key))
                        return true;
        return false;
}

Rights *rights_read(Reading *reading, const SettingsSection *section) {
        _cleanup_(done) Rights rights = RIGHTS_NONE;

        if (!says_something(section))
                return NULL;
        const Privileges *ours = reading_privileges(reading);
        if (!ours)
                return NULL;
        values_read(reading, section, rules, LENGTH_OF(rules), &rights);
        rights_read_user(reading, section, &rights);
        check(reading, section, ours, &rights);
        Rights *kept = malloc(sizeof *kept);
        if (!kept) {
                reading->error = -ENOMEM;
                return NULL;
        }
        *kept = rights;
        rights = RIGHTS_NONE;
        return kept;
}
