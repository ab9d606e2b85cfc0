/* test_mounts.c - a mount table as the kernel writes it. */
#include "base/take.h"
#include "verify/mounts.h"
#include <criterion/criterion.h>
#include <errno.h>

static const char TABLE[] = "22 27 0:21 / /proc rw,relatime - proc proc rw\n"
                            "23 27 0:22 / /sys rw,relatime - sysfs sysfs rw\n"
                            "24 27 0:6 / /dev rw,relatime - devtmpfs devtmpfs rw,size=12334432k,mode=755\n"
                            "25 24 0:23 / /dev/shm rw,relatime - tmpfs tmpfs rw\n"
                            "26 24 0:24 / /dev/pts rw,relatime - devpts devpts rw,mode=600\n"
                            "27 1 254:0 / / rw,relatime - ext4 /dev/vda rw,discard\n"
                            "28 27 0:25 / /mnt/two\\040words ro,nosuid shared:1 master:2 - tmpfs x rw\n"
                            "29 26 0:26 / /dev/pts rw,relatime - devpts devpts rw\n"
                            "31 23 0:28 / /sys/fs/cgroup rw,relatime - tmpfs tmpfs rw,mode=755\n"
                            "40 27 0:40 / /run rw - tmpfs none rw\n"
                            "41 27 0:41 / /etc/hosts rw - ext4 none ro\n"
                            "42 40 0:42 / /run/deep rw - tmpfs none rw\n"
                            "43 40 0:43 / /run rw - tmpfs none rw\n";

static Mounts table(void) {
        Mounts mounts;
        cr_assert_eq(mounts_parse(TABLE, &mounts), 0);
        return mounts;
}

static const Mount *by_id(const Mounts *mounts, int id) {
        for (size_t i = 0; i < mounts->n; i++)
                if (mounts->items[i].id == id)
                        return &mounts->items[i];
        cr_assert_fail("no mount %d", id);
        return NULL;
}

Test(mounts, a_table_is_read_with_blanks_in_names_and_optional_fields) {
        Mounts mounts = table();

        cr_assert_eq(mounts.n, 13);
        cr_expect_str_eq(by_id(&mounts, 28)->point, "/mnt/two words");
        cr_expect_str_eq(by_id(&mounts, 28)->type, "tmpfs");
        cr_expect(by_id(&mounts, 28)->read_only);
        cr_expect(by_id(&mounts, 41)->read_only, "its file system is");
        cr_expect_not(by_id(&mounts, 27)->read_only);
        mounts_done(&mounts);
}

Test(mounts, a_path_ends_in_the_mount_that_lies_over_the_others) {
        static const struct {
                const char *path;
                int id;
        } cases[] = { { "/", 27 },          { "/var/x", 27 },           { "/dev", 24 },    { "/dev/pts", 29 },
                      { "/dev/pts/0", 29 }, { "/devil", 27 },           { "/run/x", 43 },  { "/run/deep", 43 },
                      { "/runner", 27 },    { "/sys/fs/cgroup/a", 31 }, { "/sys/fs", 23 }, { "/dev/shm", 25 } };
        Mounts mounts = table();

        for (size_t i = 0; i < LENGTH_OF(cases); i++)
                cr_expect_eq(mounts_at(&mounts, cases[i].path)->id, cases[i].id, "%s", cases[i].path);
        mounts_done(&mounts);
}

Test(mounts, what_lies_under_another_is_not_visible) {
        Mounts mounts = table();

        cr_expect_not(mounts_is_visible(&mounts, by_id(&mounts, 26)));
        cr_expect_not(mounts_is_visible(&mounts, by_id(&mounts, 40)));
        cr_expect_not(mounts_is_visible(&mounts, by_id(&mounts, 42)), "its parent is covered");
        cr_expect(mounts_is_visible(&mounts, by_id(&mounts, 43)));
        cr_expect(mounts_is_visible(&mounts, by_id(&mounts, 27)));
        mounts_done(&mounts);
}

Test(mounts, what_can_be_written_gets_a_layer_and_the_kernels_knobs_do_not) {
        static const struct {
                int id;
                Layer layer;
        } cases[] = { { 27, LAYER_OVERLAY }, { 24, LAYER_OVERLAY }, { 25, LAYER_OVERLAY }, { 22, LAYER_PROC },
                      { 23, LAYER_TREE },    { 28, LAYER_TREE },    { 29, LAYER_PTS },     { 41, LAYER_TREE } };
        Mounts mounts = table();

        for (size_t i = 0; i < LENGTH_OF(cases); i++)
                cr_expect_eq(mount_layer(by_id(&mounts, cases[i].id)), cases[i].layer, "mount %d", cases[i].id);
        mounts_done(&mounts);
}

Test(mounts, a_path_is_below_another_by_whole_components) {
        cr_expect(path_is_below("/run", "/run"));
        cr_expect(path_is_below("/run/x", "/run"));
        cr_expect_not(path_is_below("/runner", "/run"));
        cr_expect(path_is_below("/x", "/"));
}

Test(mounts, paths_sort_so_that_nothing_stands_between_a_folder_and_what_is_in_it) {
        cr_expect_lt(path_compare("/a", "/a/b"), 0);
        cr_expect_lt(path_compare("/a/b", "/a-b"), 0);
        cr_expect_lt(path_compare("/a", "/a-b"), 0);
        cr_expect_eq(path_compare("/a", "/a"), 0);
        cr_expect_gt(path_compare("/b", "/a/c"), 0);
}

Test(mounts, what_is_no_table_is_refused) {
        static const char *const bad[] = { "x", "1 2 3 / /\n", "1 2 0:1 / relative rw - t s rw\n",
                                           "1 2 0:1 / / rw no dash\n" };
        Mounts mounts;

        for (size_t i = 0; i < LENGTH_OF(bad); i++)
                cr_expect_eq(mounts_parse(bad[i], &mounts), -EBADMSG, "%s", bad[i]);
}
