/* test_cgroup_place.c - where a control group is, by what /proc says in the arrangements that containers have. */
#include <criterion/criterion.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/take.h"
#include "supervisor/cgroup_place.h"

static const char hybrid[] = "9:name=systemd:/\n"
                             "4:memory:/box/9b4a\n"
                             "2:cpu,cpuacct:/box\n"
                             "0::/box/v2\n";

static const char *path_of(const char *text, const char *controller) {
        static char path[PATH_MAX];
        int r = cgroup_place_parse_path(text, controller, path, sizeof path);
        return r == 0 ? path : strerrorname_np(-r);
}

Test(cgroup_place, a_process_is_in_one_group_of_each_hierarchy) {
        cr_expect_str_eq(path_of(hybrid, NULL), "/box/v2");
        cr_expect_str_eq(path_of(hybrid, "memory"), "/box/9b4a");
        cr_expect_str_eq(path_of(hybrid, "cpu"), "/box");
        cr_expect_str_eq(path_of(hybrid, "cpuacct"), "/box");
        cr_expect_str_eq(path_of(hybrid, "name=systemd"), "/");
        cr_expect_str_eq(path_of(hybrid, "mem"), "ENOENT");
        cr_expect_str_eq(path_of(hybrid, "pids"), "ENOENT");
}

Test(cgroup_place, the_text_may_be_anything) {
        cr_expect_str_eq(path_of("", NULL), "ENOENT");
        cr_expect_str_eq(path_of("0::", NULL), "ENOENT");
        cr_expect_str_eq(path_of("0:", NULL), "ENOENT");
        cr_expect_str_eq(path_of("\n\n::::\n", NULL), "ENOENT");
        cr_expect_str_eq(path_of("0::/last", NULL), "/last");
        cr_expect_str_eq(path_of("0::/with:colon\n", NULL), "/with:colon");
        cr_expect_str_eq(path_of("4:memory:no\n0::/x\n", NULL), "/x");
}

Test(cgroup_place, a_path_that_does_not_fit_is_an_error_and_not_another_path) {
        char path[8];
        cr_expect_eq(cgroup_place_parse_path("0::/123456\n", NULL, path, sizeof path), 0);
        cr_expect_str_eq(path, "/123456");
        cr_expect_eq(cgroup_place_parse_path("0::/1234567\n", NULL, path, sizeof path), -ENAMETOOLONG);
}

#define V2(root, point) "38 31 0:38 " root " " point " rw,relatime - cgroup2 cgroup2 rw\n"
#define V1(root, point) "35 31 0:32 " root " " point " rw,relatime shared:5 master:1 - cgroup cgroup rw,memory\n"

Test(cgroup_place, a_mount_shows_a_group_or_does_not) {
        const struct {
                const char *line, *controller, *path, *directory; /* NULL: it does not */
        } table[] = {
                { V2("/", "/sys/fs/cgroup"), NULL, "/", "/sys/fs/cgroup" },
                { V2("/", "/sys/fs/cgroup/unified"), NULL, "/", "/sys/fs/cgroup/unified" },
                { V2("/", "/sys/fs/cgroup"), NULL, "/box/a", "/sys/fs/cgroup/box/a" },
                /* Docker without a namespace for it: only the container's own part is mounted. */
                { V2("/docker/ab", "/sys/fs/cgroup"), NULL, "/docker/ab", "/sys/fs/cgroup" },
                { V2("/docker/ab", "/sys/fs/cgroup"), NULL, "/docker/ab/sub", "/sys/fs/cgroup/sub" },
                { V2("/docker/ab", "/sys/fs/cgroup"), NULL, "/docker/abc", NULL },
                { V2("/docker/ab", "/sys/fs/cgroup"), NULL, "/docker", NULL },
                /* We are above, or beside, the root of our namespace. */
                { V2("/", "/sys/fs/cgroup"), NULL, "/../other", NULL },
                { V2("/..", "/sys/fs/cgroup"), NULL, "/", NULL },
                { V2("/", "/mnt/a\\040b\\134c"), NULL, "/x", "/mnt/a b\\c/x" },
                { V1("/", "/sys/fs/cgroup/memory"), "memory", "/box", "/sys/fs/cgroup/memory/box" },
                { V1("/", "/sys/fs/cgroup/memory"), "pids", "/box", NULL },
                { V1("/", "/sys/fs/cgroup/memory"), NULL, "/box", NULL },
                { V2("/", "/sys/fs/cgroup"), "memory", "/box", NULL },
                { "36 35 98:0 / /mnt rw,noatime - ext3 /dev/root rw,errors=continue\n", NULL, "/", NULL },
                { "36 35 98:0 / /mnt rw,noatime\n", NULL, "/", NULL },
                { "36 35\n", NULL, "/", NULL },
                { "", NULL, "/", NULL },
        };
        for (size_t i = 0; i < LENGTH_OF(table); i++) {
                char directory[PATH_MAX] = "";
                int r = cgroup_place_parse_mount(table[i].line, table[i].controller, table[i].path, directory,
                                                 sizeof directory);
                cr_expect_eq(r, table[i].directory ? 0 : -ENOENT, "%zu: %d", i, r);
                if (table[i].directory)
                        cr_expect_str_eq(directory, table[i].directory);
        }
}

Test(cgroup_place, a_directory_that_does_not_fit_is_an_error) {
        char directory[16];
        cr_expect_eq(cgroup_place_parse_mount(V2("/", "/sys/fs/cgroup"), NULL, "/", directory, sizeof directory), 0);
        cr_expect_eq(cgroup_place_parse_mount(V2("/", "/sys/fs/cgroup"), NULL, "/a", directory, sizeof directory),
                     -ENAMETOOLONG);
}

/* Of this machine nothing is known but that what is found must be true. */
Test(cgroup_place, what_is_found_has_us_in_it) {
        CgroupPlace place;
        char path[PATH_MAX + 16], line[32];
        bool found = false;
        int r = cgroup_place_find(NULL, &place);
        if (r < 0)
                cr_skip_test("no hierarchy of version 2 shows our group here: %s", strerrordesc_np(-r));
        snprintf(path, sizeof path, "%s/cgroup.procs", place.directory);
        FILE *file = fopen(path, "re");
        cr_assert(file);
        while (fgets(line, sizeof line, file))
                found |= strtol(line, NULL, 10) == (long)getpid();
        fclose(file);
        cr_expect(found);
        cr_expect_eq(cgroup_place_path(0, NULL, path, sizeof path), 0);
        cr_expect_str_eq(path, place.path);
        cr_expect_eq(cgroup_place_path(1 << 30, NULL, path, sizeof path), -ESRCH);
}
