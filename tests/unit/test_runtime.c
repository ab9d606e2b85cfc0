/* test_runtime.c - which directory is taken, and which is not trusted. */
#include "supervisor/runtime.h"
#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

static char folder[64], directory[96];

static void setup(void) {
        strcpy(folder, "/dev/shm/runtime-test-XXXXXX");
        cr_assert(mkdtemp(folder));
        snprintf(directory, sizeof directory, "%s/endwell", folder);
        setenv("XDG_RUNTIME_DIR", folder, 1);
}

static void teardown(void) {
        char command[128];

        snprintf(command, sizeof command, "rm -rf %s", folder);
        cr_assert_eq(system(command), 0);
}

TestSuite(runtime, .init = setup, .fini = teardown, .timeout = 30);

static int open_here(Runtime *ret) {
        pid_t holder = -1;

        return runtime_open(directory, ret, &holder);
}

static void bind_at(const char *name) {
        struct sockaddr_un address = { .sun_family = AF_UNIX };
        int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

        snprintf(address.sun_path, sizeof address.sun_path, "%s/%s", directory, name);
        cr_assert_eq(bind(fd, (struct sockaddr *)&address, sizeof address), 0);
        close(fd);
}

static bool exists(const char *name) {
        char path[160];
        struct stat st;

        snprintf(path, sizeof path, "%s/%s", directory, name);
        return lstat(path, &st) == 0;
}

Test(runtime, the_directory_is_made_with_0711_whatever_the_umask) {
        Runtime runtime;
        struct stat st;

        umask(077);
        cr_assert_eq(open_here(&runtime), 0);
        cr_assert_str_eq(runtime.directory, directory);
        cr_assert_eq(stat(directory, &st), 0);
        cr_assert_eq(st.st_mode & 07777, 0711);
        runtime_close(&runtime);
        cr_assert_eq(runtime.lock_fd, -1);
}

Test(runtime, a_second_instance_is_told_the_pid_of_the_first) {
        Runtime first, second;
        pid_t holder = 0;

        cr_assert_eq(open_here(&first), 0);
        cr_assert_eq(runtime_open(directory, &second, &holder), -EBUSY);
        cr_assert_eq(holder, getpid());
        cr_assert_str_eq(second.directory, directory);
        runtime_close(&first);
        cr_assert_eq(open_here(&second), 0);
        runtime_close(&second);
}

Test(runtime, a_directory_that_others_may_write_is_refused) {
        Runtime runtime;

        cr_assert_eq(mkdir(directory, 0700), 0);
        cr_assert_eq(chmod(directory, 0777), 0);
        cr_assert_eq(open_here(&runtime), -EPERM);
        cr_assert_eq(chmod(directory, 0770), 0);
        cr_assert_eq(open_here(&runtime), -EPERM);
}

Test(runtime, a_directory_of_somebody_else_is_refused) {
        Runtime runtime;

        if (geteuid() != 0)
                cr_skip_test("only root can give a directory away");
        cr_assert_eq(mkdir(directory, 0711), 0);
        cr_assert_eq(chown(directory, 65534, 65534), 0);
        cr_assert_eq(open_here(&runtime), -EPERM);
}

Test(runtime, a_symbolic_link_is_refused_for_the_directory_and_for_the_lock) {
        char real[96], path[160];
        Runtime runtime;

        snprintf(real, sizeof real, "%s/real", folder);
        cr_assert_eq(mkdir(real, 0711), 0);
        cr_assert_eq(symlink(real, directory), 0);
        int r = open_here(&runtime);
        cr_assert(r == -ELOOP || r == -ENOTDIR, "%d", r);
        cr_assert_eq(unlink(directory), 0);
        cr_assert_eq(mkdir(directory, 0711), 0);
        snprintf(path, sizeof path, "%s/lock", directory);
        cr_assert_eq(symlink("/dev/null", path), 0);
        cr_assert_eq(open_here(&runtime), -ELOOP);
}

Test(runtime, a_name_that_is_too_long_for_sockets_is_refused) {
        char name[120];
        Runtime runtime;
        pid_t holder;

        memset(name, 'x', sizeof name - 1);
        name[0] = '/';
        name[sizeof name - 1] = '\0';
        cr_assert_eq(runtime_open(name, &runtime, &holder), -ENAMETOOLONG);
}

Test(runtime, sockets_of_a_dead_run_are_unlinked_and_other_files_stay) {
        char path[160];
        Runtime runtime;

        cr_assert_eq(mkdir(directory, 0711), 0);
        snprintf(path, sizeof path, "%s/notify", directory);
        cr_assert_eq(mkdir(path, 0711), 0);
        bind_at("control.sock");
        bind_at("notify/web@1");
        snprintf(path, sizeof path, "%s/journal.jsonl", directory);
        close(open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0644));
        cr_assert_eq(open_here(&runtime), 0);
        cr_assert_not(exists("control.sock"));
        cr_assert_not(exists("notify/web@1"));
        cr_assert(exists("journal.jsonl"));
        cr_assert(exists("lock"));
        runtime_close(&runtime);
}

Test(runtime, sockets_of_a_living_run_are_left_alone) {
        Runtime first, second;

        cr_assert_eq(open_here(&first), 0);
        bind_at("control.sock");
        cr_assert_eq(open_here(&second), -EBUSY);
        cr_assert(exists("control.sock"));
        runtime_close(&first);
}

Test(runtime, a_client_finds_the_directory_with_a_control_socket_that_is_ours) {
        char found[128] = "";

        cr_assert_eq(mkdir(directory, 0711), 0);
        bind_at("control.sock");
        int r = runtime_find(found, sizeof found);
        cr_assert_eq(r, 0);
        if (strcmp(found, "/run/endwell") != 0) /* one that runs on this machine comes first */
                cr_assert_str_eq(found, directory);
        if (geteuid() == 0) {
                cr_assert_eq(chown(directory, 65534, 65534), 0);
                r = runtime_find(found, sizeof found);
                cr_assert(r == -ENOENT || strcmp(found, directory) != 0, "found %s", found);
        }
}

Test(runtime, the_session_directory_is_used_where_run_is_no_tmpfs) {
        Runtime runtime = { .lock_fd = -1 };
        pid_t holder;

        int r = runtime_open(NULL, &runtime, &holder);
        cr_assert(r == 0 || r == -EBUSY);
        if (strcmp(runtime.directory, "/run/endwell") != 0)
                cr_assert_str_eq(runtime.directory, directory);
        runtime_close(&runtime);
}

/* ---- Only a try ---- */

/* The trial says what the opening will say, and leaves everything as it was. */
static void must_agree(const char *what) {
        struct stat before, after;
        int had = lstat(directory, &before), tried = runtime_try(directory);
        int has = lstat(directory, &after);
        Runtime runtime;

        cr_expect(had == has && (had < 0 || (before.st_mode == after.st_mode && before.st_ino == after.st_ino)),
                  "%s: the trial changed something", what);
        cr_expect(had < 0 || !S_ISDIR(before.st_mode) || before.st_mtim.tv_nsec == after.st_mtim.tv_nsec, "%s", what);
        int opened = open_here(&runtime);
        cr_expect_eq(tried, opened, "%s: tried %d, opened %d", what, tried, opened);
        if (opened == 0)
                runtime_close(&runtime);
}

Test(runtime, a_trial_says_what_the_opening_will_say_and_leaves_nothing) {
        must_agree("it is not there");
        must_agree("it is there");
        cr_assert_eq(chmod(directory, 0777), 0);
        must_agree("others may write");
        cr_assert_eq(chmod(directory, 0500), 0);
        must_agree("a mode that is mended");
        cr_assert_eq(chown(directory, 65534, 65534), 0);
        must_agree("somebody else's");
        teardown();
        must_agree("its folder is not there");
        setup();
        cr_assert_eq(symlink(folder, directory), 0);
        must_agree("a symbolic link");
        cr_assert_eq(unlink(directory), 0);
        close(open(directory, O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
        must_agree("a file");
}

Test(runtime, that_another_instance_runs_is_no_objection_to_a_plan) {
        Runtime runtime;
        cr_assert_eq(open_here(&runtime), 0);
        cr_expect_eq(runtime_try(directory), 0);
        runtime_close(&runtime);
}

Test(runtime, a_trial_of_the_defaults_finds_one) {
        cr_expect_eq(runtime_try(NULL), 0);
        cr_expect_eq(runtime_try("/a-name-that-is-far-too-long-for-the-sockets-that-would-be-made-in-it/"
                                 "because-sun-path-has-108-bytes"),
                     -ENAMETOOLONG);
}
