/* callers.c - clients of an HTTP server that call again and again, and count what becomes of each call.
 *
 * `callers tcp:PORT|unix:PATH N fresh|kept`: N threads, each with a connection of its own for every call, or one for as
 * many calls as the server likes. Says "calling" when all have begun, calls until its standard input ends, then prints
 * {"answered":…,"refused":…,"lost":…,"other":…,"longest_ms":…}. refused: no connection came about; lost: one did, but
 * no whole answer came over it. */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#define CALLERS_MAX 256

typedef struct Counts {
        unsigned long answered, refused, lost, other;
        uint64_t longest_usec;
} Counts;

static union {
        struct sockaddr any;
        struct sockaddr_in port;
        struct sockaddr_un path;
} server;
static socklen_t server_length;
static bool fresh;
static atomic_bool over;
static atomic_int n_calling;
static Counts counts[CALLERS_MAX];

static uint64_t now_usec(void) {
        struct timespec now;
        clock_gettime(CLOCK_MONOTONIC, &now);
        return (uint64_t)now.tv_sec * 1000000 + (uint64_t)now.tv_nsec / 1000;
}

static void rest_a_little(void) {
        nanosleep(&(struct timespec){ .tv_nsec = 1000000 }, NULL);
}

/* -1: counted. */
static int call_up(Counts *count) {
        int fd = socket(server.any.sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
        /* Long enough for everything; who waits longer was forgotten, and is lost. */
        struct timeval patience = { .tv_sec = 20 };
        if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience) < 0)
                abort();
        if (connect(fd, &server.any, server_length) == 0)
                return fd;
        if (errno == ECONNREFUSED || errno == ENOENT)
                count->refused++;
        else if (errno == ECONNRESET)
                count->lost++;
        else {
                count->other++;
                perror("connecting");
        }
        close(fd);
        rest_a_little();
        return -1;
}

/* 1: answered, and the connection may be used again; 0: answered, and not; -1: lost. */
static int ask(int fd) {
        static const char head[] = "GET / HTTP/1.1\r\nHost: held\r\n", close_[] = "Connection: close\r\n";
        char text[1024];
        size_t length = 0;
        int n = snprintf(text, sizeof text, "%s%s\r\n", head, fresh ? close_ : "");
        if (send(fd, text, (size_t)n, MSG_NOSIGNAL) != n)
                return -1;
        for (;;) {
                ssize_t more = recv(fd, text + length, sizeof text - 1 - length, 0);
                if (more <= 0)
                        return -1;
                length += (size_t)more;
                text[length] = '\0';
                if (strstr(text, "\r\n\r\nok\n"))
                        return strstr(text, "Connection: close") ? 0 : 1;
        }
}

static void *call(void *data) {
        Counts *count = data;
        int fd = -1;
        atomic_fetch_add(&n_calling, 1);
        while (!atomic_load(&over)) {
                uint64_t begun = now_usec();
                if (fd < 0)
                        fd = call_up(count);
                if (fd < 0)
                        continue;
                int r = ask(fd);
                count->answered += r >= 0;
                count->lost += r < 0;
                uint64_t took = now_usec() - begun;
                if (r >= 0 && took > count->longest_usec)
                        count->longest_usec = took;
                if (fresh || r <= 0) {
                        close(fd);
                        fd = -1;
                }
        }
        return NULL;
}

static void read_address(const char *text) {
        if (strncmp(text, "tcp:", 4) == 0) {
                server.port = (struct sockaddr_in){ .sin_family = AF_INET,
                                                    .sin_port = htons((uint16_t)atoi(text + 4)),
                                                    .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
                server_length = sizeof server.port;
                return;
        }
        server.path = (struct sockaddr_un){ .sun_family = AF_UNIX };
        snprintf(server.path.sun_path, sizeof server.path.sun_path, "%s", text + strlen("unix:"));
        server_length = sizeof server.path;
}

int main(int argc, char **argv) {
        pthread_t threads[CALLERS_MAX];
        Counts all = { 0 };
        char byte;
        int n = argc == 4 ? atoi(argv[2]) : 0;
        if (n < 1 || n > CALLERS_MAX)
                return 64;
        read_address(argv[1]);
        fresh = strcmp(argv[3], "fresh") == 0;
        for (int i = 0; i < n; i++)
                if (pthread_create(&threads[i], NULL, call, &counts[i]) != 0)
                        return 1;
        while (atomic_load(&n_calling) < n)
                rest_a_little();
        puts("calling");
        fflush(stdout);
        while (read(STDIN_FILENO, &byte, 1) > 0)
                ;
        atomic_store(&over, true);
        for (int i = 0; i < n; i++) {
                pthread_join(threads[i], NULL);
                all.answered += counts[i].answered;
                all.refused += counts[i].refused;
                all.lost += counts[i].lost;
                all.other += counts[i].other;
                all.longest_usec =
                        counts[i].longest_usec > all.longest_usec ? counts[i].longest_usec : all.longest_usec;
        }
        printf("{\"answered\":%lu,\"refused\":%lu,\"lost\":%lu,\"other\":%lu,\"longest_ms\":%lu}\n", all.answered,
               all.refused, all.lost, all.other, (unsigned long)(all.longest_usec / 1000));
        return 0;
}
