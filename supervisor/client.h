/* client.h - the verbs' side of the control socket: finds the running endwell, asks, and reads answers and events.
 *
 * For programs of people: blocks while it waits, and says on stderr what went wrong, naming the verb. Not for PID 1.
 * Returns exit codes (ExitCode): 69 when nothing answers, 78 when the configuration that shall name the socket is
 * wrong. */
#pragma once
#include "shutdown/sentence.h"
#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#define CLIENT_REFUSED 1 /* exit code: endwell answered that it will not */

typedef struct ClientPlace {
        const char *verb;   /* for messages */
        const char *socket; /* --socket; NULL: not given */
        const char *config; /* -c; NULL: not given */
} ClientPlace;

typedef struct Client Client;

#define CLIENT_PATH_MAX 108 /* sun_path, unix(7) */

/* Where the control socket of the running endwell is, or would be; see client_open(). 0 or an exit code. */
int client_find(const ClientPlace *place, char ret_path[static CLIENT_PATH_MAX]);

/* Asks --socket, $ENDWELL_SOCKET, the RuntimeDirectory of -c, the default directories, in this order. 0 or an exit
 * code. */
int client_open(const ClientPlace *place, Client **ret);
Client *client_free(Client *client);
void client_freep(Client **client);

/* Sends a request; takes over `params`, which may be NULL. 0 or an exit code. */
int client_send(Client *client, const char *method, json_t *params);

typedef struct ClientLine {
        json_t *value;    /* json_decref() it */
        const char *text; /* as it came, without its newline; valid until the next call */
} ClientLine;

/* The next line, whatever it is. 0; or an exit code: 69 after `timeout_msec` (-1: for ever) or on an error. At the end
 * of the connection 0 with ret->value NULL. */
int client_read(Client *client, int timeout_msec, ClientLine *ret);

/* Whether there is a line, or will be within so much time. */
bool client_has_line_within(Client *client, int timeout_msec);

/* Events of a subscription may come between a request and its answer. */
bool client_is_answer(const json_t *value);
/* 0; or CLIENT_REFUSED, said on stderr. */
int client_check_answer(const Client *client, const json_t *answer);

/* Asks how many instances each service has, so that client_sentence() names them as PID 1's log does. 0 or an exit
 * code. */
int client_learn_instances(Client *client);
/* The sentence of an event's line; see event_line_sentence(). */
const char *client_sentence(const Client *client, const ClientLine *line, char ret_text[static SENTENCE_MAX],
                            LogLevel *ret_level);

/* As client_ask() without params, but that the connection ends, or has ended, is no error: 0, and *ret_result is NULL.
 */
int client_try(Client *client, const char *method, json_t **ret_result);

/* Sends a request and reads lines until its answer, events between are passed over. 0 and the result; an exit code:
 * CLIENT_REFUSED (said on stderr) when it was refused. `ret_result` may be NULL. */
int client_ask(Client *client, const char *method, json_t *params, json_t **ret_result);
