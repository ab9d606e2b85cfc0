/* control_server.c - the real control socket and archive with nothing behind them, for tests of hostile clients.
 *
 * control_server SOCKET [JOURNAL]. Methods: echo {"text"}, large {"bytes"}, grow {"lines","width"}, fail, gateway,
 * stop. Says `ready`, and `dropped PID: REASON` for each client that was dropped, on standard output. */
#include "shutdown/event.h"
#include "supervisor/control.h"
#include "supervisor/control_params.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct Server {
        sd_event *event;
        Archive *archive;
        Control *control;
        uint64_t seq;
} Server;

static void grow(Server *server, uint64_t lines, uint64_t width) {
        char text[EVENT_LINE_MAX], line[EVENT_LINE_MAX];

        if (width > sizeof text - 200)
                width = sizeof text - 200;
        memset(text, 'x', width);
        text[width] = '\0';
        for (; lines > 0; lines--) {
                Event event = { .kind = EVENT_SERVICE_STATUS, .seq = ++server->seq, .service = "s", .text = text };
                archive_append(server->archive, server->seq, line, event_write(&event, line, sizeof line));
                archive_flush(server->archive);
        }
        control_pump(server->control);
}

static int method_echo(void *userdata, const Peer *peer, const json_t *params, Json *result, const char **ret_code,
                       char *ret_message) {
        const char *text = "";

        (void)userdata;
        if (control_params_string(params, "text", &text) < 0) {
                *ret_code = "bad_params";
                snprintf(ret_message, 256, "\"text\" must be a text");
                return -EINVAL;
        }
        json_open_object(result, NULL);
        json_put_string(result, "text", text);
        json_put_signed(result, "pid", peer->pid);
        json_put_unsigned(result, "uid", peer->uid);
        json_close(result);
        return 0;
}

static int method_large(void *userdata, const Peer *peer, const json_t *params, Json *result, const char **ret_code,
                        char *ret_message) {
        uint64_t bytes = 0;

        (void)userdata, (void)peer, (void)ret_code, (void)ret_message;
        if (control_params_unsigned(params, "bytes", &bytes) < 0)
                return -EINVAL;
        json_open_array(result, NULL);
        for (uint64_t i = 0; i < bytes / 10; i++)
                json_put_string(result, NULL, "1234567");
        json_close(result);
        return 0;
}

static int method_grow(void *userdata, const Peer *peer, const json_t *params, Json *result, const char **ret_code,
                       char *ret_message) {
        Server *server = userdata;
        uint64_t lines = 1, width = 100;

        (void)peer, (void)ret_code, (void)ret_message;
        if (control_params_unsigned(params, "lines", &lines) < 0 ||
            control_params_unsigned(params, "width", &width) < 0)
                return -EINVAL;
        grow(server, lines, width);
        json_put_unsigned(result, NULL, server->seq);
        return 0;
}

static int method_fail(void *userdata, const Peer *peer, const json_t *params, Json *result, const char **ret_code,
                       char *ret_message) {
        (void)userdata, (void)peer, (void)params, (void)result;
        *ret_code = "ending";
        snprintf(ret_message, 256, "it is ending \xff already");
        return -EBUSY;
}

static int method_gateway(void *userdata, const Peer *peer, const json_t *params, Json *result, const char **ret_code,
                          char *ret_message) {
        Server *server = userdata;

        (void)peer, (void)params, (void)ret_code, (void)ret_message;
        json_put_bool(result, NULL, control_has_gateway(server->control));
        return 0;
}

static int method_stop(void *userdata, const Peer *peer, const json_t *params, Json *result, const char **ret_code,
                       char *ret_message) {
        Server *server = userdata;

        (void)peer, (void)params, (void)ret_code, (void)ret_message;
        grow(server, 1, 10);
        sd_event_exit(server->event, 0);
        json_put_null(result, NULL);
        return 0;
}

static const ControlMethodEntry methods[] = {
        { "echo", method_echo, 128 * 1024 },
        { "large", method_large, 1024 * 1024 },
        { "grow", method_grow, 64 },
        { "fail", method_fail, 64 },
        { "gateway", method_gateway, 64 },
        { "stop", method_stop, 64 },
        { NULL, NULL, 0 },
};

static void on_dropped(void *userdata, pid_t peer, const char *reason) {
        Server *server = userdata;

        printf("dropped %d: %s\n", (int)peer, reason);
        grow(server, 1, 10);
}

static int serve(Server *server, const char *socket, const char *journal) {
        ArchivePlan archive = { .path = journal, .max_size = 16 << 20 };
        ControlPlan plan = {
                .path = socket, .group = -1, .methods = methods, .userdata = server, .dropped = on_dropped
        };
        int r = sd_event_new(&server->event);

        if (r >= 0)
                r = archive_new(&server->archive, &archive);
        plan.archive = server->archive;
        if (r >= 0)
                r = control_new(&server->control, server->event, &plan);
        if (r < 0)
                return r;
        puts("ready");
        return sd_event_loop(server->event);
}

int main(int argc, char **argv) {
        Server server = { 0 };

        setvbuf(stdout, NULL, _IOLBF, 0);
        if (argc < 2)
                return 64;
        int r = serve(&server, argv[1], argc > 2 ? argv[2] : NULL);
        if (r < 0)
                fprintf(stderr, "control_server: %s\n", strerror(-r));
        server.control = control_free(server.control);
        server.archive = archive_free(server.archive);
        sd_event_unref(server.event);
        return r < 0 ? 70 : 0;
}
