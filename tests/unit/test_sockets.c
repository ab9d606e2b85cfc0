/* test_sockets.c - what is held for services: made once, found again, let go, remade when a service has spoilt it. */
#include "base/take.h"
#include "supervisor/sockets.h"
#include <arpa/inet.h>
#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/un.h>

static char folder[] = "/tmp/endwell-sockets-XXXXXX";
static char path[80], v4[40], v6[40];
static ListenConfig listens[3];
static Rights rights;
static ServiceConfig services[2];
static Config config;
static Sockets *sockets;

static in_port_t free_port(void) {
        _cleanup_(closep) int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        struct sockaddr_in address = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
        cr_assert(bind(fd, (struct sockaddr *)&address, sizeof address) == 0);
        cr_assert(getsockname(fd, (struct sockaddr *)&address, &(socklen_t){ sizeof address }) == 0);
        return ntohs(address.sin_port);
}

/* Service 0 holds a Unix socket and one of TCP, service 1 one of TCP over IPv6 on the same port. */
static void open_sockets(void) {
        in_port_t port = free_port();
        cr_assert(mkdtemp(folder) != NULL);
        snprintf(path, sizeof path, "%s/socket", folder);
        snprintf(v4, sizeof v4, "0.0.0.0:%u", port);
        snprintf(v6, sizeof v6, "[::]:%u", port);
        listens[0] = (ListenConfig){ .by = LISTEN_UNIX, .address = path, .name = (char *)"a", .mode = 0660 };
        listens[1] = (ListenConfig){ .by = LISTEN_TCP, .address = v4, .name = (char *)"b" };
        listens[2] = (ListenConfig){ .by = LISTEN_TCP, .address = v6, .name = (char *)"c" };
        rights = RIGHTS_NONE;
        rights.uid = 65534;
        services[0] = (ServiceConfig){ .listens = listens, .n_listens = 2, .instances = 2, .rights = &rights };
        services[1] = (ServiceConfig){ .listens = listens + 2, .n_listens = 1, .instances = 1 };
        config = (Config){ .services = services, .n_services = 2, .n_members = 3 };
        cr_assert_eq(sockets_new(&sockets, &config), 0);
}

static void close_sockets(void) {
        sockets = sockets_free(sockets);
        (void)unlink(path);
        (void)rmdir(folder);
}

TestSuite(sockets, .init = open_sockets, .fini = close_sockets);

static const Listening *open_service(uint32_t service, bool wanted_done) {
        const Listening *listening;
        bool done;
        cr_assert_eq(sockets_open(sockets, service, &listening, &done), 0);
        cr_assert_eq(done, wanted_done);
        return listening;
}

static const Listening *begin(uint32_t service) {
        const Listening *listening = open_service(service, false);
        size_t which;
        int r = listening_begin(listening, &which);
        cr_assert_eq(r, 0, "%s", strerror(-r));
        return listening;
}

static int connect_to(const ListeningSocket *socket_) {
        _cleanup_(closep) int fd = socket(socket_->address->sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
        return connect(fd, socket_->address, socket_->length) < 0 ? -errno : 0;
}

Test(sockets, they_are_made_once_and_found_again) {
        const Listening *first = begin(0);
        int fds[] = { first->sockets[0].fd, first->sockets[1].fd };
        cr_assert_eq(first->n, 2);
        cr_assert(fds[0] >= 0 && fds[1] >= 0);
        for (int i = 0; i < 2; i++) {
                cr_assert(fcntl(fds[i], F_GETFD) & FD_CLOEXEC);
                cr_assert_not(fcntl(fds[i], F_GETFL) & O_NONBLOCK);
                cr_assert_eq(connect_to(&first->sockets[i]), 0);
        }
        const Listening *again = open_service(0, true);
        cr_assert(again->sockets[0].fd == fds[0] && again->sockets[1].fd == fds[1]);
}

Test(sockets, a_unix_socket_has_the_mode_and_the_owner_of_its_service) {
        struct stat found;
        begin(0);
        cr_assert(stat(path, &found) == 0);
        cr_assert_eq(found.st_mode & 07777, 0660);
        cr_assert_eq(found.st_uid, 65534);
        cr_assert_eq(found.st_gid, 0);
}

Test(sockets, one_service_is_closed_and_the_other_stays) {
        ListeningSocket of_first = begin(0)->sockets[0];
        const Listening *second = begin(1);
        sockets_close(sockets, 0);
        sockets_close(sockets, 0);
        cr_assert_eq(connect_to(&of_first), -ECONNREFUSED);
        cr_assert_eq(connect_to(&second->sockets[0]), 0);
        begin(0); /* its file is still there, and is replaced */
        cr_assert_eq(connect_to(&open_service(0, true)->sockets[0]), 0);
}

Test(sockets, an_ipv6_socket_leaves_ipv4_to_who_has_its_port) {
        begin(0);
        const Listening *second = begin(1);
        int only = 0;
        cr_assert(getsockopt(second->sockets[0].fd, IPPROTO_IPV6, IPV6_V6ONLY, &only, &(socklen_t){ sizeof only }) ==
                  0);
        cr_assert(only);
}

Test(sockets, alone_an_ipv6_socket_is_as_the_system_has_it) {
        _cleanup_(closep) int usual = socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0);
        int wanted = 9, only = 8;
        sockets = sockets_free(sockets);
        services[0].n_listens = 1;
        cr_assert_eq(sockets_new(&sockets, &config), 0);
        const Listening *second = begin(1);
        cr_assert(getsockopt(usual, IPPROTO_IPV6, IPV6_V6ONLY, &wanted, &(socklen_t){ sizeof wanted }) == 0);
        cr_assert(getsockopt(second->sockets[0].fd, IPPROTO_IPV6, IPV6_V6ONLY, &only, &(socklen_t){ sizeof only }) ==
                  0);
        cr_assert_eq(only, wanted);
}

Test(sockets, a_reset_makes_them_blocking_again) {
        const Listening *first = begin(0);
        cr_assert(fcntl(first->sockets[1].fd, F_SETFL, O_RDWR | O_NONBLOCK) == 0);
        cr_assert(fcntl(open_service(0, true)->sockets[1].fd, F_GETFL) & O_NONBLOCK, "opening leaves that alone");
        sockets_reset(sockets, 0);
        cr_assert_not(fcntl(first->sockets[1].fd, F_GETFL) & O_NONBLOCK);
        sockets_reset(sockets, 1); /* not open at all */
}

Test(sockets, a_reset_lets_those_in_whom_a_service_has_kept_out) {
        struct sock_filter nothing = BPF_STMT(BPF_RET | BPF_K, 0);
        struct sock_fprog program = { .len = 1, .filter = &nothing };
        const ListeningSocket *held = &begin(0)->sockets[1];
        cr_assert(setsockopt(held->fd, SOL_SOCKET, SO_ATTACH_FILTER, &program, sizeof program) == 0);
        _cleanup_(closep) int client = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
        cr_assert(connect(client, held->address, held->length) < 0 && errno == EINPROGRESS);
        struct pollfd connected = { .fd = client, .events = POLLOUT };
        cr_assert_eq(poll(&connected, 1, 100), 0, "nobody comes in");
        sockets_reset(sockets, 0);
        cr_assert_eq(poll(&connected, 1, 20000), 1, "the kernel asks again");
        cr_assert(connected.revents & POLLOUT && !(connected.revents & POLLERR));
}

Test(sockets, what_a_service_has_shut_down_listens_again_in_the_next_run) {
        const Listening *first = begin(0);
        cr_assert(shutdown(first->sockets[0].fd, SHUT_RDWR) == 0 && shutdown(first->sockets[1].fd, SHUT_RDWR) == 0);
        cr_assert_eq(connect_to(&first->sockets[0]), -ECONNREFUSED);
        cr_assert_eq(connect_to(&first->sockets[1]), -ECONNREFUSED);
        first = begin(0);
        cr_assert_eq(connect_to(&first->sockets[0]), 0);
        cr_assert_eq(connect_to(&first->sockets[1]), 0);
}

/* Its last copy is ours, and it would wait for half a minute. */
Test(sockets, what_a_service_has_made_a_lingering_connection_of_is_closed_at_once, .timeout = 10) {
        _cleanup_(closep) int server = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        struct sockaddr_in address = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
        char text[65536] = { 0 };
        cr_assert(bind(server, (struct sockaddr *)&address, sizeof address) == 0 && listen(server, 1) == 0);
        cr_assert(getsockname(server, (struct sockaddr *)&address, &(socklen_t){ sizeof address }) == 0);
        int held = begin(0)->sockets[1].fd;
        cr_assert(shutdown(held, SHUT_RDWR) == 0);
        cr_assert(connect(held, (struct sockaddr *)&address, sizeof address) == 0);
        cr_assert(fcntl(held, F_SETFL, O_RDWR | O_NONBLOCK) == 0);
        while (send(held, text, sizeof text, MSG_NOSIGNAL) > 0)
                ;
        cr_assert(setsockopt(held, SOL_SOCKET, SO_LINGER, &(struct linger){ 1, 30 }, sizeof(struct linger)) == 0);
        cr_assert(fcntl(held, F_SETFL, O_RDWR) == 0);
        sockets_close(sockets, 0);
}

Test(sockets, the_step_that_failed_names_the_address) {
        char wanted[120];
        snprintf(wanted, sizeof wanted, "listen unix:%s", path);
        cr_assert_str_eq(sockets_step(sockets, 0, 0), wanted);
        snprintf(wanted, sizeof wanted, "listen tcp://%s", v6);
        cr_assert_str_eq(sockets_step(sockets, 1, 0), wanted);
        cr_assert_str_eq(sockets_step(sockets, 1, 77), "listen");
}

Test(sockets, without_descriptors_what_is_there_stays) {
        struct rlimit few = { 0, 100 };
        const Listening *listening = begin(1);
        bool done;
        cr_assert(setrlimit(RLIMIT_NOFILE, &few) == 0);
        cr_assert_eq(sockets_open(sockets, 0, &listening, &done), -EMFILE);
        cr_assert_eq(connect_to(&open_service(1, true)->sockets[0]), -EBADF, "we have no descriptor to ask with");
        few.rlim_cur = 100;
        cr_assert(setrlimit(RLIMIT_NOFILE, &few) == 0);
        cr_assert_eq(connect_to(&open_service(1, true)->sockets[0]), 0);
        begin(0);
}

Test(sockets, an_address_that_is_none_is_refused) {
        static const char *const bad[] = { "", "8080", ":8080", "[]:80", "[::1:80", "localhost:80", "1.2.3:80" };
        for (size_t i = 0; i < LENGTH_OF(bad); i++) {
                Sockets *none = NULL;
                listens[1].address = (char *)bad[i];
                cr_expect_eq(sockets_new(&none, &config), -EINVAL, "%s", bad[i]);
                cr_expect_null(none);
        }
}
