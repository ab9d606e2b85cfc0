/* test_config_privileges.c - what this process is found to be, and the maps of user namespaces. */
#include "base/take.h"
#include "supervisor/config_privileges.h"
#include <criterion/criterion.h>
#include <linux/capability.h>
#include <stdio.h>
#include <string.h>

Test(config_privileges, this_process_is_found_as_the_kernel_tells_it) {
        Privileges ours;
        char line[200];
        unsigned long long effective = 0, bounding = 0;
        FILE *status = fopen("/proc/self/status", "re");

        cr_assert_not_null(status);
        while (fgets(line, sizeof line, status)) {
                sscanf(line, "CapEff: %llx", &effective);
                sscanf(line, "CapBnd: %llx", &bounding);
        }
        fclose(status);
        cr_assert_eq(privileges_read(&ours), 0);
        cr_expect(ours.uid == geteuid() && ours.gid == getegid());
        cr_expect_eq(ours.effective, effective);
        cr_expect_eq(ours.bounding, bounding);
        cr_expect_eq(privileges_has(&ours, CAP_KILL), (effective >> CAP_KILL & 1) != 0);
        cr_expect_eq(ours.n_groups, (size_t)getgroups(0, NULL));
        struct rlimit files;
        cr_assert_eq(getrlimit(RLIMIT_NOFILE, &files), 0);
        cr_expect_eq(ours.limits[RLIMIT_NOFILE].rlim_max, files.rlim_max);
        cr_expect_not_null(ours.uid_map);
        cr_expect(privileges_map_has(ours.uid_map, ours.uid), "%s", ours.uid_map);
        cr_expect_gt(ours.files_most, 1000);
        privileges_done(&ours);
}

Test(config_privileges, a_group_is_ours_when_it_is_the_first_or_one_of_the_others) {
        gid_t groups[] = { 4, 20 };
        const Privileges ours = { .gid = 1000, .groups = groups, .n_groups = 2 };
        cr_expect(privileges_has_group(&ours, 1000) && privileges_has_group(&ours, 20));
        cr_expect_not(privileges_has_group(&ours, 5));
}

Test(config_privileges, a_map_has_the_numbers_inside_its_lines) {
        static const char map[] = "         0     100000      1000\n      2000     200000         1\n4294967290 1 5\n";
        static const struct {
                unsigned id;
                bool has;
        } rows[] = { { 0, true },     { 999, true },     { 1000, false },       { 1999, false },       { 2000, true },
                     { 2001, false }, { 100000, false }, { 4294967294U, true }, { 4294967289U, false } };
        for (size_t i = 0; i < LENGTH_OF(rows); i++)
                cr_expect_eq(privileges_map_has(map, rows[i].id), rows[i].has, "%u", rows[i].id);
        cr_expect(privileges_map_has(NULL, 5), "a map that is not known");
        cr_expect_not(privileges_map_has("", 0), "a namespace without a map");
        cr_expect_not(privileges_map_has("\n\n0\n", 0));
}
