/* client.c - the verbs' side of the control socket. */
#include "supervisor/client.h"
#include "base/complaints.h"
#include "base/take.h"
#include "shutdown/journal_reader.h"
#include "shutdown/verdict.h"
#include "supervisor/config.h"
#include "supervisor/runtime.h"
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>

#define LINE_MAX_BYTES (16 * 1024 * 1024) /* no answer is so long; what sends more is no endwell */
#define ANSWER_MSEC    (30 * 1000)

struct Client {
        const char *verb;
        char path[sizeof((struct sockaddr_un *)NULL)->sun_path];
        int fd;
        char *in;
        size_t length, size, consumed; /* `consumed`: of the line given out last */
        json_t *instances;             /* of each service; NULL: not asked yet */
};

static int fail(const Client *client, const char *what, int error) {
        fprintf(stderr, "endwell %s: %s %s: %s\n", client->verb, what, client->path, strerrordesc_np(error));
        return EXIT_NOT_RUNNING;
}

static int set_path(Client *client, const char *directory, const char *name) {
        int n = snprintf(client->path, sizeof client->path, "%s%s", directory, name);

        if (n < (int)sizeof client->path)
                return 0;
        fprintf(stderr, "endwell %s: %s%s is too long for the name of a socket\n", client->verb, directory, name);
        return EXIT_NOT_RUNNING;
}

static int path_by_default(Client *client) {
        char directory[sizeof client->path];

        if (runtime_find(directory, sizeof directory) == 0)
                return set_path(client, directory, "/control.sock");
        fprintf(stderr,
                "endwell %s: no endwell of this user runs here: there is no control socket in /run/endwell, "
                "$XDG_RUNTIME_DIR/endwell, /dev/shm/endwell-UID or /tmp/endwell-UID; --socket PATH or -c FILE names "
                "another place\n",
                client->verb);
        return EXIT_NOT_RUNNING;
}

static int path_by_config(Client *client, const char *file) {
        _cleanup_(complaints_freep) Complaints *complaints = NULL;
        _cleanup_(freep) char *directory = NULL;
        int r = complaints_new(&complaints);

        if (r >= 0)
                r = config_read_runtime_directory(file, complaints, &directory);
        if (r < 0) {
                if (complaints)
                        complaints_print(complaints, stderr);
                fprintf(stderr, "endwell %s: %s does not tell where its endwell runs: %s\n", client->verb, file,
                        r == -EBADMSG ? "it has errors" : strerrordesc_np(-r));
                return EXIT_CONFIGURATION;
        }
        return directory ? set_path(client, directory, "/control.sock") : path_by_default(client);
}

static int find_path(Client *client, const ClientPlace *place) {
        const char *inherited = getenv("ENDWELL_SOCKET");

        if (place->socket)
                return set_path(client, place->socket, "");
        if (inherited && inherited[0])
                return set_path(client, inherited, "");
        return place->config ? path_by_config(client, place->config) : path_by_default(client);
}

int client_find(const ClientPlace *place, char ret_path[static CLIENT_PATH_MAX]) {
        Client client = { .verb = place->verb };
        int code = find_path(&client, place);

        if (code == 0)
                memcpy(ret_path, client.path, sizeof client.path);
        return code;
}

static int connect_to(Client *client) {
        struct sockaddr_un address = { .sun_family = AF_UNIX };

        memcpy(address.sun_path, client->path, sizeof address.sun_path);
        client->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
        if (client->fd < 0)
                return fail(client, "could not make a socket for", errno);
        if (connect(client->fd, (struct sockaddr *)&address, sizeof address) == 0)
                return 0;
        if (errno == ENOENT || errno == ECONNREFUSED) {
                fprintf(stderr, "endwell %s: no endwell runs at %s: %s\n", client->verb, client->path,
                        errno == ENOENT ? "there is no such socket" : "nobody listens there any more");
                return EXIT_NOT_RUNNING;
        }
        return fail(client, "could not connect to", errno);
}

static int make_room(Client *client) {
        size_t size = client->size ? client->size * 2 : 4096;

        if (client->length + 1 < client->size)
                return 0;
        char *in = size <= LINE_MAX_BYTES ? realloc(client->in, size) : NULL;
        if (!in)
                return fail(client, "too long an answer from", ENOMEM);
        client->in = in;
        client->size = size;
        return 0;
}

int client_open(const ClientPlace *place, Client **ret) {
        _cleanup_(client_freep) Client *client = calloc(1, sizeof *client);

        if (!client) {
                fprintf(stderr, "endwell %s: there is no memory left\n", place->verb);
                return EXIT_NOT_RUNNING;
        }
        client->verb = place->verb;
        client->fd = -1;
        int code = find_path(client, place);
        if (code == 0)
                code = connect_to(client);
        if (code == 0)
                code = make_room(client);
        if (code == 0)
                *ret = TAKE(client);
        return code;
}

Client *client_free(Client *client) {
        if (!client)
                return NULL;
        close_fd(client->fd);
        free(client->in);
        json_decref(client->instances);
        free(client);
        return NULL;
}

void client_freep(Client **client) {
        client_free(*client);
}

static int send_all(Client *client, const char *text, size_t length) {
        while (length > 0) {
                ssize_t n = send(client->fd, text, length, MSG_NOSIGNAL);

                if (n < 0 && errno != EINTR)
                        return fail(client, "could not send to", errno);
                if (n > 0) {
                        text += n;
                        length -= (size_t)n;
                }
        }
        return 0;
}

int client_send(Client *client, const char *method, json_t *params) {
        json_t *request = params ? json_pack("{s:s,s:o}", "method", method, "params", params)
                                 : json_pack("{s:s}", "method", method);
        _cleanup_(freep) char *text = request ? json_dumps(request, JSON_COMPACT) : NULL;

        json_decref(request);
        if (!text)
                return fail(client, "could not make a request for", ENOMEM);
        int code = send_all(client, text, strlen(text));
        return code != 0 ? code : send_all(client, "\n", 1);
}

static int wait_readable(Client *client, int timeout_msec) {
        struct pollfd ready = { .fd = client->fd, .events = POLLIN };
        int n;

        do
                n = poll(&ready, 1, timeout_msec);
        while (n < 0 && errno == EINTR);
        if (n > 0)
                return 0;
        return fail(client, "no answer from", n == 0 ? ETIMEDOUT : errno);
}

/* A reset is an end like any other: endwell ended while something that we sent was still on its way. */
static int receive(Client *client, int timeout_msec, bool *ret_end) {
        int code = make_room(client);

        if (code == 0)
                code = wait_readable(client, timeout_msec);
        if (code != 0)
                return code;
        ssize_t n = recv(client->fd, client->in + client->length, client->size - client->length - 1, 0);
        if (n < 0 && errno != EINTR && errno != ECONNRESET)
                return fail(client, "could not read from", errno);
        *ret_end = n == 0 || (n < 0 && errno == ECONNRESET);
        client->length += n > 0 ? (size_t)n : 0;
        return 0;
}

static void forget_last_line(Client *client) {
        if (client->consumed == 0)
                return;
        client->length -= client->consumed;
        memmove(client->in, client->in + client->consumed, client->length);
        client->consumed = 0;
}

bool client_has_line_within(Client *client, int timeout_msec) {
        struct pollfd ready = { .fd = client->fd, .events = POLLIN };

        forget_last_line(client);
        return memchr(client->in, '\n', client->length) || poll(&ready, 1, timeout_msec) > 0;
}

int client_read(Client *client, int timeout_msec, ClientLine *ret) {
        char *newline = NULL;
        bool end = false;

        forget_last_line(client);
        for (size_t from = 0; !(newline = memchr(client->in + from, '\n', client->length - from)) && !end;) {
                from = client->length;
                int code = receive(client, timeout_msec, &end);
                if (code != 0)
                        return code;
        }
        *ret = (ClientLine){ 0 };
        if (!newline)
                return 0; /* a torn line at the end is nothing */
        *newline = '\0';
        client->consumed = (size_t)(newline - client->in) + 1;
        ret->text = client->in;
        ret->value = json_loads(client->in, JSON_DECODE_ANY, NULL);
        return ret->value ? 0 : fail(client, "something that is not endwell's came from", EPROTO);
}

bool client_is_answer(const json_t *value) {
        return !json_object_get(value, "event"); /* an event may have an "error" too */
}

int client_check_answer(const Client *client, const json_t *answer) {
        const json_t *error = json_object_get(answer, "error");
        const char *code = json_string_value(json_object_get(error, "code"));
        const char *message = json_string_value(json_object_get(error, "message"));

        if (!error)
                return 0;
        fprintf(stderr, "endwell %s: endwell refused: %s (%s)\n", client->verb, message ? message : "no reason given",
                code ? code : "no code");
        return CLIENT_REFUSED;
}

static int read_answer(Client *client, ClientLine *ret) {
        for (;;) {
                int code = client_read(client, ANSWER_MSEC, ret);

                if (code != 0)
                        return code;
                if (!ret->value)
                        return fail(client, "no answer from", ECONNRESET);
                if (client_is_answer(ret->value))
                        return 0;
                json_decref(ret->value);
        }
}

int client_ask(Client *client, const char *method, json_t *params, json_t **ret_result) {
        ClientLine line = { 0 };
        int code = client_send(client, method, params);

        if (code == 0)
                code = read_answer(client, &line);
        if (code != 0)
                return code;
        code = client_check_answer(client, line.value);
        if (code == 0 && ret_result)
                *ret_result = json_incref(json_object_get(line.value, "result"));
        json_decref(line.value);
        return code;
}

int client_try(Client *client, const char *method, json_t **ret_result) {
        struct pollfd gone = { .fd = client->fd, .events = 0 };
        char byte;

        *ret_result = NULL;
        if (poll(&gone, 1, 0) > 0 || recv(client->fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT) == 0)
                return 0;
        return client_ask(client, method, NULL, ret_result);
}

int client_learn_instances(Client *client) {
        json_t *status = NULL, *service;
        size_t i;
        int code = client_ask(client, "status", NULL, &status);

        if (code != 0)
                return code;
        json_decref(client->instances);
        client->instances = json_object();
        json_array_foreach(json_object_get(status, "services"), i, service) {
                const char *name = json_string_value(json_object_get(service, "service"));
                size_t n = json_array_size(json_object_get(service, "instances"));
                if (name) /* without memory it is numbered, and no harm done */
                        (void)json_object_set_new(client->instances, name, json_integer((json_int_t)n));
        }
        json_decref(status);
        return 0;
}

const char *client_sentence(const Client *client, const ClientLine *line, char ret_text[static SENTENCE_MAX],
                            LogLevel *ret_level) {
        return event_line_sentence(line->text, strlen(line->text), client->instances, ret_text, ret_level);
}
