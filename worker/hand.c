/* hand.c - see hand.h. */
#include "worker/hand.h"
#include "base/log.h"
#include "base/packet.h"
#include "base/take.h"
#include "worker/keeper.h"
#include "worker/spawn.h"
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#define PROGRAM "endwell-keeper"

struct Hand {
        sd_event *event;
        sd_event_source *source;
        char *const *argv;
        HandCalls calls;
        int socket;
        pid_t pid;
        bool busy;
};

/* ---- The keeper ---- */

/* Beside this program, in a build tree as in an installation. */
static int find_program(char ret_path[static PATH_MAX]) {
        ssize_t n = readlink("/proc/self/exe", ret_path, PATH_MAX - sizeof PROGRAM);
        if (n < 0)
                return -errno;
        char *slash = memrchr(ret_path, '/', (size_t)n);
        if (!slash)
                return -ENOENT;
        strcpy(slash + 1, PROGRAM);
        return 0;
}

/* Whoever else the keeper left is the worker's own child now, see worker/strays.h. */
static void lose_keeper(Hand *hand) {
        hand->source = sd_event_source_disable_unref(hand->source);
        hand->socket = close_fd(hand->socket);
        if (hand->pid > 0)
                (void)kill(hand->pid, SIGKILL); /* not collected, else hand_note_dead() had been called */
        hand->pid = 0;
}

static void tell_gone(Hand *hand, const HandGone *gone) {
        if (!hand->busy)
                return;
        hand->busy = false;
        hand->calls.gone(hand->calls.userdata, gone);
}

static void take_gone(Hand *hand, const Packet *packet) {
        const char *how = packet_get(packet, "HOW"), *names = packet_get(packet, "NAMES");
        uint64_t status = 0, left = 0;

        (void)packet_get_unsigned(packet, "STATUS", &status);
        (void)packet_get_unsigned(packet, "LEFT", &left);
        HandGone gone = { .how = how && strcmp(how, "exited") == 0 ? OUTCOME_EXITED : OUTCOME_SIGNALLED,
                          .status = (int)status,
                          .left = (unsigned)left,
                          .names = names ? names : "" };
        tell_gone(hand, &gone);
}

static void take(Hand *hand, const Packet *packet) {
        const char *said = packet_get(packet, "SAID");
        uint64_t number = 0;

        if (!said || strcmp(said, "started") == 0)
                return;
        if (strcmp(said, "gone") == 0) {
                take_gone(hand, packet);
        } else if (strcmp(said, "failed") == 0) {
                (void)packet_get_unsigned(packet, "ERROR", &number);
                tell_gone(hand, &(HandGone){ .how = OUTCOME_NOT_BEGUN, .status = (int)number, .names = "" });
        } else if (strcmp(said, "stuck") == 0) {
                (void)packet_get_unsigned(packet, "LEFT", &number);
                hand->calls.stuck(hand->calls.userdata, (unsigned)number);
        }
}

/* False: nothing more to read, now or ever. */
static bool read_message(Hand *hand) {
        char text[KEEPER_WORDS_MAX];
        Packet packet;

        if (hand->socket < 0)
                return false;
        packet_init(&packet, text, sizeof text);
        int r = packet_receive(hand->socket, &packet);
        if (r == PACKET_RECEIVED)
                take(hand, &packet);
        packet_done(&packet);
        if (r == PACKET_RECEIVED || r == -EMSGSIZE || r == -EBADMSG)
                return true;
        if (r == -EAGAIN)
                return false;
        log_warning("a keeper died; the command that it watched was killed with it");
        lose_keeper(hand);
        tell_gone(hand, &(HandGone){ .how = OUTCOME_UNKNOWN, .names = "" });
        return false;
}

static int on_message(sd_event_source *source, int fd, uint32_t revents, void *userdata) {
        (void)source, (void)fd, (void)revents;
        read_message(userdata);
        return 0;
}

void hand_note_dead(Hand *hand, pid_t pid) {
        if (hand->pid != pid)
                return;
        hand->pid = 0; /* it is collected: from now on the number may be another's */
        while (read_message(hand))
                ;
}

static int spawn_keeper(Hand *hand, int socket) {
        char path[PATH_MAX];
        size_t n = 0;

        int r = find_program(path);
        if (r < 0)
                return r;
        while (hand->argv[n])
                n++;
        _cleanup_(freep) char **argv = calloc(n + 2, sizeof *argv);
        if (!argv)
                return -ENOMEM;
        argv[0] = path;
        memcpy(argv + 1, hand->argv, n * sizeof *argv);
        SpawnPlan plan = { .argv = argv, .fds = { socket, -1, -1 } };
        return spawn(&plan, &hand->pid);
}

static int need_keeper(Hand *hand) {
        _cleanup_(closep) int its = -1;
        int ends[2];

        if (hand->pid > 0)
                return 0;
        if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends) < 0)
                return -errno;
        hand->socket = ends[0];
        its = ends[1];
        int r = spawn_keeper(hand, its);
        if (r >= 0)
                r = sd_event_add_io(hand->event, &hand->source, hand->socket, EPOLLIN, on_message, hand);
        if (r < 0)
                lose_keeper(hand);
        return r;
}

/* ---- What the worker wants ---- */

static int send_word(Hand *hand, const char *word, const char *body, const int *fds) {
        char text[64];
        Packet packet;
        packet_init(&packet, text, sizeof text);
        packet_add(&packet, "DO", word);
        packet_set_body(&packet, body);
        for (size_t i = 0; fds && i < 3; i++)
                packet_add_fd(&packet, fds[i]);
        return packet_send(hand->socket, &packet);
}

int hand_start(Hand *hand, const char *words, const int fds[static 3]) {
        int r = need_keeper(hand);
        if (r >= 0)
                r = send_word(hand, "start", words, fds);
        if (r >= 0)
                hand->busy = true;
        return r;
}

/* A keeper that takes no word any more is as good as dead, and is told so: its end is heard like any other. */
static void order(Hand *hand, const char *word) {
        if (hand->busy && hand->pid > 0 && send_word(hand, word, NULL, NULL) < 0)
                (void)kill(hand->pid, SIGKILL);
}

void hand_ask(Hand *hand) {
        order(hand, "ask");
}

void hand_kill(Hand *hand) {
        order(hand, "kill");
}

bool hand_is_busy(const Hand *hand) {
        return hand->busy;
}

pid_t hand_pid(const Hand *hand) {
        return hand->pid;
}

int hand_new(Hand **ret, sd_event *event, char *const *argv, const HandCalls *calls) {
        Hand *hand = calloc(1, sizeof *hand);
        if (!hand)
                return -ENOMEM;
        *hand = (Hand){ .event = sd_event_ref(event), .argv = argv, .calls = *calls, .socket = -1 };
        *ret = hand;
        return 0;
}

Hand *hand_free(Hand *hand) {
        if (!hand)
                return NULL;
        hand->source = sd_event_source_disable_unref(hand->source);
        close_fd(hand->socket);
        sd_event_unref(hand->event);
        free(hand);
        return NULL;
}
