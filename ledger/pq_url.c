/* pq_url.c - see pq_url.h. */
#include "ledger/pq_url.h"
#include "base/take.h"
#include <ctype.h>
#include <errno.h>
#include <libpq-fe.h>
#include <stdio.h>
#include <string.h>

#define SOCKET_FOLDER "/var/run/postgresql" /* Debian's; a server elsewhere is named by its user anyway */

static const char *option(const PQconninfoOption *options, const char *keyword) {
        for (; options && options->keyword; options++)
                if (strcmp(options->keyword, keyword) == 0)
                        return options->val && options->val[0] ? options->val : NULL;
        return NULL;
}

static void put_encoded(FILE *out, const char *text) {
        for (; *text; text++)
                if (isalnum((unsigned char)*text) || strchr("-._~", *text))
                        fputc(*text, out);
                else
                        fprintf(out, "%%%02X", (unsigned char)*text);
}

static void put_parameter(FILE *out, const char **separator, const char *name, const char *value) {
        fprintf(out, "%s%s=", *separator, name);
        put_encoded(out, value);
        *separator = "&";
}

static bool is_written_elsewhere(const char *keyword) {
        static const char *const elsewhere[] = { "user", "password", "host", "hostaddr", "port", "dbname", "service" };

        for (size_t i = 0; i < LENGTH_OF(elsewhere); i++)
                if (strcmp(keyword, elsewhere[i]) == 0)
                        return true;
        return false;
}

static char *write_url(const PqServer *server, const PQconninfoOption *said) {
        const char *separator = "?";
        char *text = NULL;
        size_t size;
        FILE *out = open_memstream(&text, &size);

        if (!out)
                return NULL;
        fputs("postgresql://", out);
        put_encoded(out, server->user);
        if (server->password) {
                fputc(':', out);
                put_encoded(out, server->password);
        }
        bool brackets = strchr(server->host, ':'); /* IPv6 */
        if (pq_server_is_local(server))
                fputc('@', out);
        else
                fprintf(out, brackets ? "@[%s]:%s" : "@%s:%s", server->host, server->port);
        fputc('/', out);
        put_encoded(out, server->database);
        if (pq_server_is_local(server)) {
                put_parameter(out, &separator, "host", server->host);
                put_parameter(out, &separator, "port", server->port);
        }
        for (; said->keyword; said++)
                if (said->val && said->val[0] && !is_written_elsewhere(said->keyword))
                        put_parameter(out, &separator, said->keyword, said->val);
        if (fclose(out) == 0)
                return text;
        free(text);
        return NULL;
}

static char *copy(const char *text) {
        return text ? strdup(text) : NULL;
}

static const char *first(const char *a, const char *b, const char *c) {
        return a ? a : b ? b : c;
}

int pq_server(const char *url, const char *host, const char *database, PqServer *ret) {
        char *libpq_words = NULL; /* never shown: the password may stand in it */
        PQconninfoOption *said = PQconninfoParse(url ? url : "", &libpq_words), *defaults = PQconndefaults();

        PQfreemem(libpq_words);
        if (!said || !defaults) {
                int r = said ? -ENOMEM : -EINVAL;
                PQconninfoFree(said);
                PQconninfoFree(defaults);
                return r;
        }
        const char *user = first(option(said, "user"), option(defaults, "user"), "postgres");
        PqServer server = {
                .host = copy(host ? host
                                  : first(first(option(said, "hostaddr"), option(said, "host"), NULL),
                                          first(option(defaults, "hostaddr"), option(defaults, "host"), NULL),
                                          SOCKET_FOLDER)),
                .port = copy(first(option(said, "port"), option(defaults, "port"), "5432")),
                .user = copy(user),
                .password = copy(first(option(said, "password"), option(defaults, "password"), NULL)),
                .database = copy(database ? database : first(option(said, "dbname"), option(defaults, "dbname"), user)),
        };
        if (server.host && server.port && server.user && server.database)
                server.url = write_url(&server, said);
        PQconninfoFree(said);
        PQconninfoFree(defaults);
        if (!server.url) {
                pq_server_done(&server);
                return -ENOMEM;
        }
        *ret = server;
        return 0;
}

void pq_server_done(PqServer *server) {
        free(server->host);
        free(server->port);
        free(server->user);
        free(server->password);
        free(server->database);
        free(server->url);
        *server = (PqServer){ 0 };
}

bool pq_server_is_local(const PqServer *server) {
        return server->host[0] == '/';
}
