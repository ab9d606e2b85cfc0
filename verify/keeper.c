/* keeper.c - see keeper.h. */
#include "verify/keeper.h"
#include "base/take.h"
#include "verify/frame.h"
#include "verify/loopback.h"
#include "verify/plan_json.h"
#include "verify/texts_json.h"
#include <errno.h>
#include <linux/capability.h>
#include <net/if.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>

/* ---- Beginning ---- */

/* The verifier's handlers and its terminal are not ours. It may have died before we asked to die with it: then the
 * socket is at its end. */
static int begin(int socket) {
        struct pollfd end = { .fd = socket, .events = POLLIN };
        sigset_t none;

        for (int number = 1; number < NSIG; number++)
                (void)signal(number, SIG_DFL);
        sigemptyset(&none);
        sigprocmask(SIG_SETMASK, &none, NULL);
        (void)setsid();
        if (prctl(PR_SET_PDEATHSIG, SIGKILL) < 0 || prctl(PR_SET_CHILD_SUBREAPER, 1) < 0)
                return -errno;
        return poll(&end, 1, 0) > 0 && (end.revents & POLLHUP) ? -ECONNRESET : 0;
}

/* What no namespace holds back: the clock, the kernel's modules, its memory, raw devices. */
static void drop_capabilities(void) {
        static const int reach_out[] = { CAP_SYS_TIME,  CAP_SYS_MODULE, CAP_SYS_RAWIO,   CAP_SYS_BOOT,
                                         CAP_MKNOD,     CAP_SYSLOG,     CAP_WAKE_ALARM,  CAP_AUDIT_CONTROL,
                                         CAP_MAC_ADMIN, CAP_SYS_PACCT,  CAP_MAC_OVERRIDE };

        for (size_t i = 0; i < LENGTH_OF(reach_out); i++)
                (void)prctl(PR_CAPBSET_DROP, reach_out[i], 0, 0, 0);
}

static int raise_loopback(void) {
        _cleanup_(closep) int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
        struct ifreq request = { .ifr_name = "lo", .ifr_flags = IFF_UP | IFF_RUNNING };

        return fd >= 0 && ioctl(fd, SIOCSIFFLAGS, &request) == 0 ? 0 : -errno;
}

static int open_world(const KeeperSetup *setup, Overlay *overlay, int fds[static _KEEPER_FD_MAX], char **ret_why) {
        int r = setup->overlay ? overlay_build(&setup->world, overlay, ret_why) : 0;

        if (r == 0 && setup->overlay) {
                drop_capabilities();
                r = raise_loopback();
        }
        if (r == 0 && setup->sink)
                r = loopback_listen(setup->sink, &fds[KEEPER_FD_SINK]);
        if (r == 0 && setup->relay)
                r = loopback_listen(setup->relay, &fds[KEEPER_FD_RELAY]);
        fds[KEEPER_FD_ROOT] = overlay->root;
        fds[KEEPER_FD_LAYERS] = overlay->layers;
        return r;
}

/* ---- Talk ---- */

/* Descriptors travel packed; which they are stands beside them. */
static int say_ready(int socket, int error, const char *why, const Overlay *overlay, const int *fds) {
        json_t *which = json_array();
        int packed[_KEEPER_FD_MAX];
        size_t n = 0;

        for (int i = 0; error == 0 && i < _KEEPER_FD_MAX; i++)
                if (fds[i] >= 0) {
                        packed[n++] = fds[i];
                        json_array_append_new(which, json_integer(i));
                }
        json_t *said = json_pack("{s:i,s:s*,s:o,s:o,s:o}", "error", error, "why", why, "fds", which, "points",
                                 texts_to_json(overlay->points), "notes", texts_to_json(overlay->notes));
        int r = said ? frame_send(socket, said, packed, n) : -ENOMEM;
        json_decref(said);
        return r;
}

static int answer(int socket, int error, const char *why, json_t *trace) {
        json_t *said = json_pack("{s:i,s:s*,s:o*}", "error", error, "why", why, "trace", trace);
        int r = said ? frame_send(socket, said, NULL, 0) : -ENOMEM;

        json_decref(said);
        return r;
}

static int do_order(int socket, const KeeperSetup *setup, const json_t *order) {
        json_t *value = NULL;
        PlanRead read;
        Trace trace;
        int r = plan_from_json(order, &read);

        if (r < 0)
                return answer(socket, r, "the order could not be read", NULL);
        read.plan.engine = setup->engine;
        read.plan.save = setup->save;
        read.plan.is_database = setup->is_database;
        read.plan.userdata = setup->userdata;
        r = tracer_run(&read.plan, &trace);
        plan_read_done(&read);
        if (r == 0) {
                r = trace_to_json(&trace, &value);
                trace_done(&trace);
        }
        const char *why = r < 0 && setup->save_why ? setup->save_why(setup->userdata) : NULL;
        return answer(socket, r, why, value);
}

_Noreturn void keeper_run(int socket, const KeeperSetup *setup) {
        int fds[_KEEPER_FD_MAX] = { -1, -1, -1, -1 };
        Overlay overlay = { .root = -1, .layers = -1 };
        char *why = NULL;
        json_t *order;
        int r = begin(socket);

        if (r == 0)
                r = open_world(setup, &overlay, fds, &why);
        bool ready = say_ready(socket, r, why ? why : strerrordesc_np(-r), &overlay, fds) == 0 && r == 0;
        for (int i = 0; i < _KEEPER_FD_MAX; i++)
                close_fd(fds[i]); /* a run must not find them */
        while (ready && frame_receive(socket, &order, NULL, 0) == 0) {
                ready = do_order(socket, setup, order) == 0;
                json_decref(order);
        }
        _exit(0);
}
