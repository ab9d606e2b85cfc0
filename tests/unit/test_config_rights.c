/* test_config_rights.c - users, limits, scheduling and capabilities out of whole files. */
#include "base/take.h"
#include "tests/support/config_file.h"
#include <criterion/criterion.h>
#include <errno.h>
#include <linux/capability.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static ConfigFile file;

static void set_up(void) {
        config_file_open(&file);
}

static void tear_down(void) {
        config_file_close(&file);
}

TestSuite(config_rights, .init = set_up, .fini = tear_down);

#define WEB "[Service web]\nExecStart=/bin/true\n"

static const Rights *must_take(const char *lines) {
        char text[1024];
        snprintf(text, sizeof text, WEB "%s", lines);
        config_file_load(&file, text);
        cr_assert_eq(file.answer, 0, "%s: said %s", lines, file.printed);
        return file.config->services->rights;
}

typedef struct Row {
        const char *lines, *says;
} Row;

static void must_refuse_all(const Row *rows, size_t n) {
        for (size_t i = 0; i < n; i++) {
                char text[1024];
                snprintf(text, sizeof text, WEB "%s", rows[i].lines);
                config_file_load(&file, text);
                cr_expect_eq(file.answer, -EBADMSG, "%s", rows[i].lines);
                cr_expect_not_null(strstr(file.printed, rows[i].says), "%s: %s", rows[i].lines, file.printed);
        }
}

static void needs_root(void) {
        if (geteuid() != 0)
                cr_skip_test("to become another user one must be root");
}

Test(config_rights, who_asks_for_nothing_has_endwells_own) {
        cr_expect_null(must_take(""));
}

/* ---- Users ---- */

/* root, nobody and daemon are in every /etc/passwd. */
Test(config_rights, a_user_brings_his_group_and_his_home) {
        needs_root();
        const Rights *rights = must_take("User=nobody\n");
        cr_expect_str_eq(rights->user, "nobody");
        cr_expect(rights->uid == 65534 && rights->gid != (gid_t)-1 && rights->home && rights->shell);
        cr_assert(rights->sets_groups && rights->n_groups >= 1);
        cr_expect_eq(rights->groups[0], rights->gid);
        cr_expect(rights->umask == -1 && !rights->sets_nice && !rights->sets_oom_score && rights->n_limits == 0);
        cr_expect_str_eq(must_take("User=65534\n")->user, "nobody", "a number is looked up, too");
}

Test(config_rights, a_number_without_an_entry_needs_a_group) {
        needs_root();
        const Rights *rights = must_take("User=1234567\nGroup=7654321\n");
        cr_expect(rights->uid == 1234567 && rights->gid == 7654321 && rights->n_groups == 1);
        cr_expect_str_eq(rights->user, "1234567");
        cr_expect_str_eq(rights->home, "/");
        static const Row rows[] = { { "User=1234567\n", "conf.ini:3: User=1234567: has no entry in /etc/passwd that "
                                                        "would say its group: write Group= too\n" } };
        must_refuse_all(rows, LENGTH_OF(rows));
}

Test(config_rights, groups_add_up_each_once) {
        needs_root();
        const Rights *rights =
                must_take("User=nobody\nGroup=12\nSupplementaryGroups=13 14\nSupplementaryGroups=14 12\n");
        cr_expect(rights->gid == 12 && rights->n_groups == 3);
        cr_expect(rights->groups[0] == 12 && rights->groups[1] == 13 && rights->groups[2] == 14);
        rights = must_take("Group=12\n");
        cr_expect(rights->uid == (uid_t)-1 && rights->gid == 12 && rights->sets_groups && rights->n_groups == 1);
        cr_expect_null(rights->user);
        rights = must_take("SupplementaryGroups=13\n");
        cr_expect(rights->gid == (gid_t)-1 && rights->n_groups == 2 && rights->groups[1] == 13);
        rights = must_take("SupplementaryGroups=13\nSupplementaryGroups=\n");
        cr_expect(!rights || !rights->sets_groups);
}

Test(config_rights, who_we_are_needs_nothing_and_changes_nothing) {
        char line[64];
        snprintf(line, sizeof line, "User=%u\n", geteuid());
        const Rights *rights = must_take(line);
        cr_expect_eq(rights->uid, (uid_t)-1);
        cr_expect_not_null(rights->user, "his name is known to the service all the same");
}

Test(config_rights, unknown_users_and_groups_are_told_the_nearest) {
        static const Row rows[] = {
                { "User=no-such-user-here\n",
                  "conf.ini:3: User=no-such-user-here: there is no such user in /etc/passwd\n" },
                { "User=nobdoy\n", "there is no such user in /etc/passwd, did you mean nobody?\n" },
                { "User=\n", "there is no such user" },
                { "User=-1\n", "there is no such user" },
                { "User=4294967295\n", "too large for a user's number" },
                { "Group=deamon\n", "there is no group deamon in /etc/group, did you mean daemon?\n" },
                { "Group=4294967295\n", "too large for a group's number" },
                { "SupplementaryGroups=daemon no-such-group\n", "there is no group no-such-group in /etc/group\n" },
                { "SupplementaryGroups='daemon\n", "quote" },
        };
        must_refuse_all(rows, LENGTH_OF(rows));
}

Test(config_rights, what_the_user_may_not_execute_or_enter_is_warned_of) {
        needs_root();
        char text[1024], path[128], says[600];
        snprintf(path, sizeof path, "%s/closed", file.directory);
        cr_assert_eq(chmod(file.directory, 0755), 0);
        cr_assert_eq(mkdir(path, 0700), 0);
        config_file_write(&file, "closed/tool", "#!/bin/sh\n");
        config_file_write(&file, "tool", "#!/bin/sh\n");
        snprintf(path, sizeof path, "%s/closed/tool", file.directory);
        cr_assert_eq(chmod(path, 0755), 0);
        snprintf(path, sizeof path, "%s/tool", file.directory);
        cr_assert_eq(chmod(path, 0700), 0);
        snprintf(text, sizeof text,
                 "[Service web]\nUser=nobody\nExecStart=%s/tool\nLivenessProbe=exec:%s/closed/tool\n"
                 "WorkingDirectory=%s/closed\n[Hook h]\nService=web\nOn=pre-stop\nUser=root\nExec=%s/tool\n",
                 file.directory, file.directory, file.directory, file.directory);
        config_file_load(&file, text);
        snprintf(says, sizeof says,
                 "conf.ini:3: warning: ExecStart: the user nobody may not execute %s/tool\n"
                 "conf.ini:4: warning: LivenessProbe: the user nobody may not enter %s/closed\n"
                 "conf.ini:5: warning: WorkingDirectory: the user nobody may not enter %s/closed\n",
                 file.directory, file.directory, file.directory);
        cr_expect_str_eq(file.printed, says, "%s", file.printed);
        cr_assert_eq(chmod(path, 0750), 0);
        cr_assert_eq(chown(path, 0, 12), 0);
        snprintf(text, sizeof text, "[Service web]\nUser=nobody\nSupplementaryGroups=12\nExecStart=%s/tool\n",
                 file.directory);
        config_file_load(&file, text);
        cr_expect_str_eq(file.printed, "", "%s", file.printed);
        snprintf(text, sizeof text, "[Service web]\nUser=nobody\nExecStart=tool\nEnvironment=PATH=%s\n",
                 file.directory);
        config_file_load(&file, text);
        cr_expect_not_null(strstr(file.printed, "may not execute"), "%s", file.printed);
}

/* ---- The rest ---- */

Test(config_rights, masks_and_scheduling) {
        const Rights *rights = must_take("UMask=0027\nNice=5\nOOMScoreAdjust=+1000\nNoNewPrivileges=yes\n");
        cr_expect(rights->umask == 027 && rights->sets_nice && rights->nice == 5);
        cr_expect(rights->sets_oom_score && rights->oom_score == 1000 && rights->no_new_privileges);
        cr_expect_eq(must_take("UMask=0\n")->umask, 0);
        cr_expect_eq(must_take("UMask=777\n")->umask, 0777);
        static const Row rows[] = {
                { "UMask=0888\n", "UMask=0888: must be an octal number from 0 to 0777" },
                { "UMask=01000\n", "octal" },
                { "UMask=\n", "octal" },
                { "UMask=u=rwx\n", "octal" },
                { "UMask=777777777777777777777777777\n", "octal" },
                { "Nice=20\n", "Nice=20: must be a number from -20 to 19" },
                { "Nice=-21\n", "from -20 to 19" },
                { "Nice=\n", "from -20 to 19" },
                { "Nice=1.5\n", "from -20 to 19" },
                { "Nice=99999999999999999999999\n", "from -20 to 19" },
                { "OOMScoreAdjust=-1001\n", "from -1000 to 1000" },
                { "OOMScoreAdjust=1001\n", "from -1000 to 1000" },
                { "OOMScoreAdjust=--5\n", "from -1000 to 1000" },
                { "NoNewPrivileges=perhaps\n", "must be yes or no" },
        };
        must_refuse_all(rows, LENGTH_OF(rows));
}

Test(config_rights, limits_stand_in_the_order_of_the_file) {
        const Rights *rights = must_take("LimitNOFILE=16:32\nLimitCORE=0\nLimitCPU=1h\n");
        cr_assert_eq(rights->n_limits, 3);
        cr_expect(rights->limits[0].resource == RLIMIT_NOFILE && rights->limits[0].limit.rlim_cur == 16);
        cr_expect(rights->limits[1].resource == RLIMIT_CORE && rights->limits[1].limit.rlim_max == 0);
        cr_expect(rights->limits[2].resource == RLIMIT_CPU && rights->limits[2].limit.rlim_max == 3600);
        static const Row rows[] = {
                { "LimitNOFILE=32:16\n", "LimitNOFILE=32:16: the soft limit, which stands first, is above" },
                { "LimitNOFILE=16\nLimitNOFILE=32\n", "conf.ini:4: duplicate key LimitNOFILE" },
                { "LimitNOFIEL=16\n", "did you mean LimitNOFILE?" },
        };
        must_refuse_all(rows, LENGTH_OF(rows));
}

Test(config_rights, capabilities_of_several_lines_add_up) {
        const Rights *rights = must_take("CapabilityBoundingSet=CAP_KILL\nCapabilityBoundingSet=CAP_CHOWN CAP_BPF\n"
                                         "CapabilityBoundingSet=~CAP_BPF\n");
        cr_expect(rights->sets_bounding && rights->bounding == (1U << CAP_KILL | 1U << CAP_CHOWN));
        cr_expect_eq(must_take("CapabilityBoundingSet=\n")->bounding, 0);
        cr_expect_not(must_take("UMask=0\n")->sets_bounding);
        static const Row rows[] = {
                { "CapabilityBoundingSet=CAP_KIL\n", "CAP_KIL is no capability, did you mean CAP_KILL?" },
                { "AmbientCapabilities=~CAP_KIL\n", "did you mean CAP_KILL?" },
        };
        must_refuse_all(rows, LENGTH_OF(rows));
}

Test(config_rights, ambient_capabilities_begin_at_none) {
        needs_root();
        cr_expect_eq(must_take("User=nobody\nAmbientCapabilities=CAP_NET_BIND_SERVICE\nAmbientCapabilities=CAP_KILL\n")
                             ->ambient,
                     1U << CAP_NET_BIND_SERVICE | 1U << CAP_KILL);
        cr_expect_eq(must_take("User=nobody\nAmbientCapabilities=CAP_KILL\nAmbientCapabilities=\n")->ambient, 0);
        static const Row rows[] = {
                { "User=nobody\nCapabilityBoundingSet=~CAP_KILL\nAmbientCapabilities=CAP_KILL\n",
                  "conf.ini:5: AmbientCapabilities=CAP_KILL: CapabilityBoundingSet takes away CAP_KILL again\n" },
        };
        must_refuse_all(rows, LENGTH_OF(rows));
}

Test(config_rights, ambient_capabilities_of_root_are_warned_of) {
        needs_root();
        must_take("AmbientCapabilities=CAP_KILL\n");
        cr_expect_str_eq(file.printed,
                         "conf.ini:3: warning: AmbientCapabilities=CAP_KILL: root has every capability of "
                         "the bounding set anyway: this is for another User\n");
}

/* ---- Hooks ---- */

#define HOOK "[Hook h]\nService=web\nOn=pre-stop\nExec=/bin/true\n"

Test(config_rights, a_hook_has_the_rights_of_its_service_unless_it_has_a_user) {
        needs_root();
        const Rights *rights = must_take("User=nobody\nUMask=077\nLimitNOFILE=16\n" HOOK);
        cr_expect_eq(file.config->hooks[0].rights, rights);
        rights = must_take("User=nobody\nUMask=077\nLimitNOFILE=16\n" HOOK "User=root\n");
        const Rights *own = file.config->hooks[0].rights;
        cr_assert(own && own != rights);
        cr_expect_str_eq(own->user, "root");
        cr_expect(own->umask == -1 && own->n_limits == 0);
        cr_expect_null(must_take("[Hook h]\nPhase=http\nOn=end\nExec=/bin/true\n"));
        cr_expect_null(file.config->hooks[0].rights);
        must_take("[Hook h]\nPhase=http\nOn=end\nExec=/bin/true\nUser=nobody\n");
        cr_expect_str_eq(file.config->hooks[0].rights->user, "nobody");
}

Test(config_rights, a_hook_of_an_unknown_user_is_refused) {
        static const Row rows[] = { { HOOK "User=nobdoy\n", "conf.ini:7: User=nobdoy: there is no such user" } };
        must_refuse_all(rows, LENGTH_OF(rows));
}
