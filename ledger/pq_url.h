/* pq_url.h - the URL of another database on the same server, and where that server listens.
 *
 * What libpq would take from the environment, the service file or its defaults stands in it; a password of the passfile
 * does not. Holds the password: for environments and connections, never to be shown. Only pq*.c include libpq-fe.h. */
#pragma once
#include <stdbool.h>

typedef struct PqServer {
        char *host; /* an address, a name, or the folder of its Unix socket ("/run/postgresql") */
        char *port, *user, *password, *database; /* NULL: none */
        char *url;                               /* "postgresql://…", of `database` */
} PqServer;

/* `url` NULL: libpq's own PG*. With `host` (NULL: as it was) in place of the server's, and `database` (the same) in
 * place of the one that is named. 0; -EINVAL: the URL cannot be read (pq_place() says why); -ENOMEM. */
int pq_server(const char *url, const char *host, const char *database, PqServer *ret);
void pq_server_done(PqServer *server);
bool pq_server_is_local(const PqServer *server); /* a Unix socket */
