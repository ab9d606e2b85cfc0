/* keeper_link.c - see keeper_link.h. */
#include "verify/keeper_link.h"
#include "base/take.h"
#include "verify/frame.h"
#include "verify/plan_json.h"
#include "verify/texts_json.h"
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

struct KeeperLink {
        pid_t pid;
        int socket;
        int fds[_KEEPER_FD_MAX];
        Overlay overlay;
};

static void linkp(KeeperLink **link) {
        *link = keeper_link_free(*link);
}

static int take_texts(const json_t *array, char ***ret, size_t *ret_n) {
        int r = texts_from_json(array, ret);

        if (r == 0)
                *ret_n = json_array_size(array);
        return r;
}

static int hear_ready(KeeperLink *link, char **ret_why) {
        int fds[_KEEPER_FD_MAX];
        json_t *said;
        int r = frame_receive(link->socket, &said, fds, _KEEPER_FD_MAX);

        if (r < 0)
                return r;
        const json_t *which = json_object_get(said, "fds");
        for (size_t i = 0; i < json_array_size(which); i++)
                link->fds[json_integer_value(json_array_get(which, i))] = fds[i];
        link->overlay.root = TAKE_FD(link->fds[KEEPER_FD_ROOT]);
        link->overlay.layers = TAKE_FD(link->fds[KEEPER_FD_LAYERS]);
        r = (int)json_integer_value(json_object_get(said, "error"));
        const char *why = json_string_value(json_object_get(said, "why"));
        if (r < 0 && ret_why && why)
                *ret_why = strdup(why);
        if (r == 0)
                r = take_texts(json_object_get(said, "points"), &link->overlay.points, &link->overlay.n_points);
        if (r == 0)
                r = take_texts(json_object_get(said, "notes"), &link->overlay.notes, &link->overlay.n_notes);
        json_decref(said);
        return r;
}

/* All namespaces at once: the keeper is the first process of its own, and nothing of ours is moved. */
static pid_t clone_keeper(bool overlay) {
        unsigned long flags = SIGCHLD;

        if (overlay)
                flags |= CLONE_NEWPID | CLONE_NEWNS | CLONE_NEWNET | CLONE_NEWIPC | CLONE_NEWUTS;
        return (pid_t)syscall(SYS_clone, flags, NULL, NULL, NULL, NULL);
}

int keeper_link_new(KeeperLink **ret, const KeeperSetup *setup, char **ret_why) {
        _cleanup_(linkp) KeeperLink *link = calloc(1, sizeof *link);
        int sockets[2];

        if (!link)
                return -ENOMEM;
        *link = (KeeperLink){ .socket = -1, .fds = { -1, -1, -1, -1 }, .overlay = { .root = -1, .layers = -1 } };
        if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets) < 0)
                return -errno;
        link->socket = sockets[0];
        link->pid = clone_keeper(setup->overlay);
        if (link->pid == 0) {
                close_fd(sockets[0]);
                keeper_run(sockets[1], setup);
        }
        int r = link->pid < 0 ? -errno : 0;
        close_fd(sockets[1]);
        if (r < 0 && ret_why && asprintf(ret_why, "making namespaces failed: %s", strerrordesc_np(-r)) < 0)
                *ret_why = NULL;
        if (r == 0)
                r = hear_ready(link, ret_why);
        if (r < 0)
                return r;
        *ret = TAKE(link);
        return 0;
}

KeeperLink *keeper_link_free(KeeperLink *link) {
        if (!link)
                return NULL;
        if (link->pid > 0) {
                (void)kill(link->pid, SIGKILL);
                while (waitpid(link->pid, NULL, 0) < 0 && errno == EINTR)
                        ;
        }
        for (int i = 0; i < _KEEPER_FD_MAX; i++)
                close_fd(link->fds[i]);
        close_fd(link->socket);
        overlay_done(&link->overlay);
        free(link);
        return NULL;
}

const Overlay *keeper_link_overlay(const KeeperLink *link) {
        return &link->overlay;
}

int keeper_link_take_fd(KeeperLink *link, int which) {
        return TAKE_FD(link->fds[which]);
}

int keeper_link_descriptor(const KeeperLink *link) {
        return link->socket;
}

int keeper_link_order(KeeperLink *link, const TracerPlan *plan) {
        json_t *order;
        int r = plan_to_json(plan, &order);

        if (r < 0)
                return r;
        r = frame_send(link->socket, order, NULL, 0);
        json_decref(order);
        return r;
}

int keeper_link_answer(KeeperLink *link, Trace *ret, char **ret_why) {
        json_t *said;
        int r = frame_receive(link->socket, &said, NULL, 0);

        if (r < 0)
                return r;
        r = (int)json_integer_value(json_object_get(said, "error"));
        const char *why = json_string_value(json_object_get(said, "why"));
        *ret_why = r < 0 && why ? strdup(why) : NULL;
        if (r == 0)
                r = trace_from_json(json_object_get(said, "trace"), ret);
        json_decref(said);
        return r;
}
