/* listening.c - children that begin to listen at the same time, on the same sockets, take turns; one that is killed in
 * the midst of it holds up nobody. */
#include "supervisor/listening.h"
#include "base/take.h"
#include "check.h"
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>

#define SOCKETS  64
#define CHILDREN 8
#define ROUNDS   30

static char folder[] = "/tmp/endwell-listening-XXXXXX";
static struct sockaddr_un addresses[SOCKETS];
static ListeningSocket sockets[SOCKETS];
static Listening listening = { .sockets = sockets, .n = SOCKETS, .uid = 65534, .gid = (gid_t)-1 };

/* With files of a run before, so that there is something to ask for, to remove and to make. */
static void make_sockets(void) {
        for (size_t i = 0; i < SOCKETS; i++) {
                addresses[i] = (struct sockaddr_un){ .sun_family = AF_UNIX };
                snprintf(addresses[i].sun_path, sizeof addresses[i].sun_path, "%s/%zu", folder, i);
                int stale = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
                CHECK(bind(stale, (struct sockaddr *)&addresses[i], sizeof addresses[i]) == 0);
                close(stale);
                sockets[i] = (ListeningSocket){ .fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0),
                                                .address = (struct sockaddr *)&addresses[i],
                                                .length = sizeof addresses[i],
                                                .mode = 0600 };
                CHECK(sockets[i].fd >= 0);
        }
}

static void remove_sockets(void) {
        for (size_t i = 0; i < SOCKETS; i++) {
                close(sockets[i].fd);
                CHECK(unlink(addresses[i].sun_path) == 0);
        }
}

/* Begins when the last writer of the gate has closed it. */
static pid_t begin_in_a_child(const int gate[2]) {
        pid_t pid = fork();
        CHECK(pid >= 0);
        if (pid > 0)
                return pid;
        char byte;
        size_t which;
        close(gate[1]);
        CHECK_EQUAL(read(gate[0], &byte, 1), 0);
        CHECK_EQUAL(listening_begin(&listening, &which), 0);
        for (size_t i = 0; i < SOCKETS; i++)
                CHECK(listening_is_done(sockets[i].fd));
        _exit(0);
}

static int end_of(pid_t pid) {
        int status;
        CHECK(waitpid(pid, &status, 0) == pid);
        return status;
}

static void check_that_all_can_be_connected_to(void) {
        for (size_t i = 0; i < SOCKETS; i++) {
                int client = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
                CHECK(connect(client, (struct sockaddr *)&addresses[i], sizeof addresses[i]) == 0);
                close(client);
        }
}

static void children_that_begin_at_once_take_turns(void) {
        for (int round = 0; round < ROUNDS; round++) {
                pid_t children[CHILDREN];
                int gate[2];
                make_sockets();
                CHECK(pipe2(gate, O_CLOEXEC) == 0);
                for (size_t i = 0; i < CHILDREN; i++)
                        children[i] = begin_in_a_child(gate);
                close(gate[0]);
                close(gate[1]);
                for (size_t i = 0; i < CHILDREN; i++)
                        CHECK_EQUAL(end_of(children[i]), 0);
                check_that_all_can_be_connected_to();
                remove_sockets();
        }
}

static void one_that_is_killed_holds_up_nobody(void) {
        for (int round = 0; round < ROUNDS; round++) {
                int gate[2];
                make_sockets();
                CHECK(pipe2(gate, O_CLOEXEC) == 0);
                pid_t killed = begin_in_a_child(gate), other = begin_in_a_child(gate);
                close(gate[0]);
                close(gate[1]);
                for (int i = 0; i < round * 200; i++) /* in another moment each time */
                        __asm__ volatile("");
                CHECK(kill(killed, SIGKILL) == 0);
                end_of(killed);
                CHECK_EQUAL(end_of(other), 0);
                check_that_all_can_be_connected_to();
                remove_sockets();
        }
}

int main(void) {
        static const Case cases[] = {
                CASE(children_that_begin_at_once_take_turns),
                CASE(one_that_is_killed_holds_up_nobody),
        };
        CHECK(mkdtemp(folder));
        listening.lock_fd = memfd_create("lock", MFD_CLOEXEC);
        CHECK(listening.lock_fd >= 0);
        int r = run_cases(cases, LENGTH_OF(cases));
        CHECK(rmdir(folder) == 0);
        return r;
}
