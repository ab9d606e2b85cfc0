/* test_descriptor_store.c - what is stored is there again, once, until its other end is gone or nobody wants it. */
#include "base/take.h"
#include "supervisor/descriptor_store.h"
#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#define MOST 5

static sd_event *event;
static ServiceConfig services[2];
static Config config;
static DescriptorStore *store;

/* Members 0 and 1 may store five, member 2 none. */
static void open_with(uint16_t most, int fd_end) {
        services[0] = (ServiceConfig){ .instances = 2, .descriptor_store_max = most };
        services[1] = (ServiceConfig){ .instances = 1 };
        config = (Config){ .services = services, .n_services = 2, .n_members = 3 };
        if (!event)
                cr_assert(sd_event_new(&event) >= 0);
        cr_assert_eq(descriptor_store_new(&store, event, &config, fd_end), 0);
}

static void open_store(void) {
        open_with(MOST, INT_MAX);
}

static void close_store(void) {
        store = descriptor_store_free(store);
        event = sd_event_unref(event);
}

TestSuite(descriptor_store, .init = open_store, .fini = close_store);

static bool is_open(int fd) {
        return fcntl(fd, F_GETFD) >= 0;
}

static bool add(uint32_t member, const char *name, int fd) {
        return descriptor_store_add(store, member, name, true, &fd, 1);
}

static int copy_of(int fd) {
        int copy = fcntl(fd, F_DUPFD_CLOEXEC, 3);
        cr_assert(copy >= 0);
        return copy;
}

static int new_file(void) {
        int fd = memfd_create("x", MFD_CLOEXEC);
        cr_assert(fd >= 0);
        return fd;
}

static void expect(uint32_t member, const char *const *names) {
        size_t n = 0;
        for (; names[n]; n++) {
                cr_assert(n < descriptor_store_count(store, member));
                cr_assert_str_eq(descriptor_store_get(store, member, n).name, names[n]);
                cr_assert(is_open(descriptor_store_get(store, member, n).fd));
        }
        cr_assert_eq(descriptor_store_count(store, member), n);
}

#define EXPECT(member, ...) expect(member, (const char *const[]){ __VA_ARGS__, NULL })

static void expect_nothing(uint32_t member) {
        cr_assert_eq(descriptor_store_count(store, member), 0);
}

static void turn(void) {
        while (sd_event_run(event, 0) > 0)
                ;
}

Test(descriptor_store, what_came_is_there_again_in_its_order_with_its_name) {
        int fds[] = { new_file(), -1, new_file() };
        cr_assert_not(add(0, "last", new_file()));
        cr_assert_not(descriptor_store_add(store, 0, "", true, fds, 3));
        EXPECT(0, "last", "stored", "stored");
        cr_assert_eq(descriptor_store_get(store, 0, 2).fd, fds[2]);
        expect_nothing(1);
}

Test(descriptor_store, what_finds_no_place_is_closed_and_that_is_told_once) {
        int fds[MOST + 2];
        for (size_t i = 0; i < LENGTH_OF(fds); i++)
                fds[i] = new_file();
        cr_assert(descriptor_store_add(store, 0, "x", true, fds, LENGTH_OF(fds)));
        cr_assert_eq(descriptor_store_count(store, 0), MOST);
        cr_assert(is_open(fds[MOST - 1]) && !is_open(fds[MOST]) && !is_open(fds[MOST + 1]));
        cr_assert_not(add(0, "x", new_file()));
        descriptor_store_drop(store, 0);
        for (size_t i = 0; i < MOST; i++)
                cr_assert_not(add(0, "x", new_file()));
        cr_assert(add(0, "x", new_file()), "after it was empty that is new again");
}

Test(descriptor_store, who_may_store_none_stores_none) {
        int fd = new_file();
        cr_assert(add(2, "x", fd));
        cr_assert_not(is_open(fd));
        expect_nothing(2);
}

Test(descriptor_store, the_same_is_not_kept_twice) {
        int fd = new_file(), copy = copy_of(fd), again = copy_of(fd);
        add(0, "first", fd);
        add(0, "second", copy);
        EXPECT(0, "first");
        cr_assert(is_open(fd) && !is_open(copy));
        add(1, "other", again);
        EXPECT(1, "other");
}

Test(descriptor_store, many_in_any_order_are_kept_once_each) {
        int fds[200], copies[200];
        store = descriptor_store_free(store);
        open_with(1000, INT_MAX);
        for (size_t i = 0; i < LENGTH_OF(fds); i++) {
                fds[i] = new_file();
                copies[LENGTH_OF(fds) - 1 - i] = copy_of(fds[i]);
        }
        descriptor_store_add(store, 0, "x", true, fds, LENGTH_OF(fds));
        descriptor_store_add(store, 0, "x", true, copies, LENGTH_OF(copies));
        cr_assert_eq(descriptor_store_count(store, 0), LENGTH_OF(fds));
        for (size_t i = 0; i < LENGTH_OF(fds); i++) {
                cr_assert_eq(descriptor_store_get(store, 0, i).fd, fds[i]);
                cr_assert_not(is_open(copies[i]));
        }
}

Test(descriptor_store, a_name_is_forgotten_and_the_others_stay) {
        int fds[] = { new_file(), new_file(), new_file(), new_file() };
        add(0, "keep", fds[0]);
        add(0, "go", fds[1]);
        add(0, "keep", fds[2]);
        add(0, "go", fds[3]);
        descriptor_store_remove(store, 0, "go");
        descriptor_store_remove(store, 0, "nobody");
        EXPECT(0, "keep", "keep");
        cr_assert(is_open(fds[0]) && !is_open(fds[1]) && is_open(fds[2]) && !is_open(fds[3]));
        add(0, "new", copy_of(fds[2])); /* it is still known which they are */
        EXPECT(0, "keep", "keep");
        add(0, "new", new_file());
        EXPECT(0, "keep", "keep", "new");
}

Test(descriptor_store, what_is_dropped_is_closed) {
        int mine = new_file(), others = new_file();
        add(0, "x", mine);
        add(1, "x", others);
        descriptor_store_drop(store, 0);
        expect_nothing(0);
        cr_assert(!is_open(mine) && is_open(others));
        EXPECT(1, "x");
}

Test(descriptor_store, what_is_hung_up_is_forgotten_unless_that_was_refused) {
        int pairs[3][2];
        for (size_t i = 0; i < LENGTH_OF(pairs); i++)
                cr_assert(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pairs[i]) == 0);
        add(0, "watched", pairs[0][0]);
        descriptor_store_add(store, 0, "unwatched", false, &pairs[1][0], 1);
        add(1, "watched", pairs[2][0]);
        turn();
        EXPECT(0, "watched", "unwatched");
        for (size_t i = 0; i < LENGTH_OF(pairs); i++)
                close(pairs[i][1]);
        turn();
        EXPECT(0, "unwatched");
        expect_nothing(1);
        cr_assert(!is_open(pairs[0][0]) && is_open(pairs[1][0]) && !is_open(pairs[2][0]));
}

Test(descriptor_store, what_can_be_read_is_not_forgotten) {
        int pair[2];
        cr_assert(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) == 0);
        cr_assert_eq(write(pair[1], "x", 1), 1);
        add(0, "x", pair[0]);
        add(0, "y", eventfd(1, EFD_CLOEXEC));
        cr_assert_eq(sd_event_run(event, 0), 0, "and nobody is woken by it");
        EXPECT(0, "x", "y");
        close(pair[1]);
}

Test(descriptor_store, a_copy_elsewhere_does_not_keep_a_forgotten_one_watched) {
        int pair[2];
        cr_assert(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) == 0);
        int copy = copy_of(pair[0]);
        add(0, "x", pair[0]);
        descriptor_store_drop(store, 0);
        close(pair[1]);
        cr_assert_eq(sd_event_run(event, 0), 0);
        close(copy);
}

Test(descriptor_store, the_last_descriptors_are_not_taken) {
        int near = new_file(), far = fcntl(near, F_DUPFD_CLOEXEC, 200);
        store = descriptor_store_free(store);
        open_with(MOST, 200);
        int other = new_file();
        add(0, "near", near);
        cr_assert(dup2(other, far) == far);
        close(other);
        cr_assert(add(0, "far", far));
        EXPECT(0, "near");
        cr_assert_not(is_open(far));
}

Test(descriptor_store, names_stay_shorter_than_an_environment_can_be) {
        char name[256];
        memset(name, 'n', sizeof name - 1);
        name[sizeof name - 1] = '\0';
        store = descriptor_store_free(store);
        open_with(1000, INT_MAX);
        size_t n = 0;
        while (n < 1000 && !add(0, name, new_file()))
                n++;
        cr_assert_eq(n, 65536 / 256);
        descriptor_store_remove(store, 0, name);
        cr_assert(!add(0, name, new_file()), "there is room again");
}

/* As a container's seccomp profile has it, without CAP_SYS_PTRACE. */
static void forbid_kcmp(void) {
        struct sock_filter filter[] = {
                BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
                BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_kcmp, 0, 1),
                BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
                BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
        };
        struct sock_fprog program = { .len = LENGTH_OF(filter), .filter = filter };
        cr_assert(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0);
        cr_assert(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0);
        cr_assert(syscall(SYS_kcmp, getpid(), getpid(), 0, 0, 0) < 0 && errno == EPERM);
        store = descriptor_store_free(store);
        open_with(MOST, INT_MAX);
}

Test(descriptor_store, without_kcmp_sockets_and_the_ends_of_pipes_are_known_all_the_same) {
        int pair[2], ends[2];
        forbid_kcmp();
        cr_assert(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) == 0 && pipe2(ends, O_CLOEXEC) == 0);
        add(0, "socket", pair[0]);
        add(0, "socket again", copy_of(pair[0]));
        add(0, "peer", pair[1]);
        add(0, "reading", ends[0]);
        add(0, "writing", ends[1]);
        add(0, "writing again", copy_of(ends[1]));
        EXPECT(0, "socket", "peer", "reading", "writing");
}

Test(descriptor_store, without_kcmp_another_file_counts_as_often_as_it_comes) {
        forbid_kcmp();
        int fd = new_file();
        add(0, "x", fd);
        add(0, "y", copy_of(fd));
        EXPECT(0, "x", "y");
        descriptor_store_remove(store, 0, "x");
        EXPECT(0, "y");
}
