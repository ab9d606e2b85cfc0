/* test_config_accounts.c - users and groups out of files: good lines, broken lines, and who is in which group. */
#include "base/take.h"
#include "supervisor/config_accounts.h"
#include <criterion/criterion.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

static char directory[] = "/tmp/endwell-test-accounts-XXXXXX", passwd[64], group[64];
static Accounts accounts;

static void set_up(void) {
        cr_assert_not_null(mkdtemp(directory));
        snprintf(passwd, sizeof passwd, "%s/passwd", directory);
        snprintf(group, sizeof group, "%s/group", directory);
}

static void tear_down(void) {
        accounts_done(&accounts);
        unlink(passwd);
        unlink(group);
        cr_expect_eq(rmdir(directory), 0);
}

TestSuite(config_accounts, .init = set_up, .fini = tear_down);

static void write_text(const char *path, const char *text) {
        FILE *file = fopen(path, "we");
        cr_assert(file && fputs(text, file) >= 0);
        fclose(file);
}

static void read_text(const char *users, const char *groups) {
        write_text(passwd, users);
        write_text(group, groups);
        cr_assert_eq(accounts_read(&accounts, passwd, group), 0);
}

Test(config_accounts, users_are_found_by_name_and_by_number) {
        read_text("root:x:0:0:root:/root:/bin/bash\napp:x:1000:1001:App,,,:/srv/app:\nlast:x:5:5::/:/bin/sh", "");
        const User *app = accounts_user(&accounts, "app");
        cr_assert_not_null(app);
        cr_expect(app->uid == 1000 && app->gid == 1001);
        cr_expect_str_eq(app->home, "/srv/app");
        cr_expect_str_eq(app->shell, "");
        cr_expect_eq(accounts_user_of(&accounts, 1000), app);
        cr_expect_str_eq(accounts_user_of(&accounts, 5)->name, "last", "without a newline at the end");
        cr_expect_null(accounts_user(&accounts, "App"));
        cr_expect_null(accounts_user(&accounts, ""));
        cr_expect_null(accounts_user_of(&accounts, 7));
        cr_expect_str_eq(accounts_nearest_user(&accounts, "roto"), "root");
        cr_expect_null(accounts_nearest_user(&accounts, "postgres"));
}

Test(config_accounts, broken_lines_have_no_accounts) {
        read_text("\n#c:x:1:1::/:\n+nis:x:2:2::/:\n-no:x:3:3::/:\n:x:4:4::/:\nshort:x:5:5\nlong:x:6:6::/:/bin/sh:7\n"
                  "word:x:seven:7::/:\nminus:x:-8:8::/:\nall:x:4294967295:9::/:\nbig:x:99999999999999999999:1::/:\n"
                  "empty:x:::\n:::::::::::::::::::::::::::\ngood:x:10:10::/:\n",
                  "wheel:x:10\nx:x:a:\nstaff:x:50:a,b\n");
        cr_expect(accounts.n_users == 1 && accounts.n_groups == 1);
        cr_expect_str_eq(accounts.users[0].name, "good");
        cr_expect_str_eq(accounts.groups[0].name, "staff");
}

Test(config_accounts, files_that_are_not_there_have_no_accounts) {
        cr_assert_eq(accounts_read(&accounts, "/no/such/file", "/tmp"), 0);
        cr_expect(accounts.n_users == 0 && accounts.n_groups == 0);
        cr_expect_null(accounts_user(&accounts, "root"));
        cr_expect_null(accounts_nearest_group(&accounts, "root"));
}

Test(config_accounts, groups_of_a_user_are_his_own_first_and_each_once) {
        read_text("", "root:x:0:\napp:x:1000:\nvideo:x:44:app,web\nweb:x:80:webapp,app2,xapp\nssl:x:60:web,app\n"
                      "again:x:44:app\nlone:x:61:,app,\n");
        _cleanup_(freep) gid_t *list = NULL;
        size_t n = 0;
        cr_assert_eq(accounts_add_groups_of(&accounts, "app", 1000, &list, &n), 0);
        static const gid_t wanted[] = { 1000, 44, 60, 61 };
        cr_assert_eq(n, LENGTH_OF(wanted));
        cr_expect_eq(memcmp(list, wanted, sizeof wanted), 0);
        cr_expect_eq(groups_add(&list, &n, 60), 0);
        cr_expect_eq(n, LENGTH_OF(wanted));
        cr_expect_eq(groups_add(&list, &n, 5), 0);
        cr_expect(n == LENGTH_OF(wanted) + 1 && list[n - 1] == 5);
        cr_expect_str_eq(accounts_group_of(&accounts, 44)->name, "video");
        cr_expect_eq(accounts_group(&accounts, "again")->gid, 44);
        cr_expect_str_eq(accounts_nearest_group(&accounts, "vidoe"), "video");
}

Test(config_accounts, a_number_has_only_digits_and_is_not_the_last_one) {
        static const struct {
                const char *text;
                int answer;
                uid_t uid;
        } rows[] = {
                { "0", 0, 0 },        { "0001000", 0, 1000 },       { "4294967294", 0, UINT32_MAX - 1 },
                { "", -EINVAL, 9 },   { "-1", -EINVAL, 9 },         { "+1", -EINVAL, 9 },
                { "1x", -EINVAL, 9 }, { "4294967295", -ERANGE, 9 }, { "99999999999999999999999999", -ERANGE, 9 },
        };
        for (size_t i = 0; i < LENGTH_OF(rows); i++) {
                uid_t uid = 9;
                cr_expect_eq(account_number(rows[i].text, &uid), rows[i].answer, "%s", rows[i].text);
                cr_expect_eq(uid, rows[i].uid, "%s", rows[i].text);
        }
}
