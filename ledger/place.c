/* place.c - where a database is, as one word for people, and what in a URL cannot be meant. */
#include "ledger/place.h"
#include "base/utf8.h"
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define ENCODE                                                                                                         \
        "a character of the user or the password must be percent-encoded (@ %40, / %2F, ? %3F, # %23, : %3A, % %25)"

static const char * or (const char *text, const char *otherwise) {
        return text && *text ? text : otherwise;
}

int place_judge(const Place *place, char ret_problem[static PLACE_MAX]) {
        const char *host = or (place->host, ""), *port = or (place->port, "5432");
        bool host_is_path = host[0] == '/' || host[0] == '@'; /* @: a socket in the abstract namespace */

        if (strspn(port, "0123456789,") != strlen(port)) {
                snprintf(ret_problem, PLACE_MAX, "its port is not a number: %s", ENCODE);
                return -EINVAL;
        }
        if ((!host_is_path && strchr(host, '@')) || strchr(or (place->database, ""), '@')) {
                snprintf(ret_problem, PLACE_MAX, "it has an @ too many: %s", ENCODE);
                return -EINVAL;
        }
        return 0;
}

const char *place_format(const Place *place, char ret_text[static PLACE_MAX]) {
        int n = snprintf(ret_text, PLACE_MAX, "%s%s%s:%s/%s", or (place->user, ""),
                         place->user && *place->user ? "@" : "", or (place->host, "(socket)"), or (place->port, "5432"),
                         or (place->database, or (place->user, "")));

        utf8_clean(ret_text, n < PLACE_MAX ? (size_t)n : PLACE_MAX - 1);
        return ret_text;
}

static bool begins(const char *text, const char *front) {
        return strncmp(text, front, strlen(front)) == 0;
}

const char *place_explain(const char *url, char ret_problem[static PLACE_MAX]) {
        const char *why =
                "it is neither a URI, postgresql://USER:PASSWORD@HOST:PORT/NAME, nor keywords, host=… dbname=…";

        if (begins(url, "postgresql://") || begins(url, "postgres://"))
                why = "it is a URI that libpq cannot read; probably " ENCODE;
        else if (begins(url, "postgresql+") || begins(url, "jdbc:"))
                why = "it names a driver of another language: a URI for libpq begins with postgresql://";
        else if (strstr(url, "://"))
                why = "it is a URI of something else: one for PostgreSQL begins with postgresql://";
        snprintf(ret_problem, PLACE_MAX, "%s", why);
        return ret_problem;
}
