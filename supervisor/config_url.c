/* config_url.c - see config_url.h. */
#include "supervisor/config_url.h"
#include "base/take.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *url_problem(const char *text) {
        static const char *const schemes[] = { "postgresql://", "postgres://" };

        if (!text[strspn(text, " \t")])
                return "is empty; leave it out to take $DATABASE_URL";
        for (size_t i = 0; i < LENGTH_OF(schemes); i++)
                if (strncmp(text, schemes[i], strlen(schemes[i])) == 0)
                        return NULL;
        const char *equals = strchr(text, '='), *scheme = strstr(text, "://");
        if (scheme && (!equals || scheme < equals))
                return "must begin with postgresql:// (what stands here is not shown: it may hold a password)";
        if (!equals)
                return "is neither a URL, postgresql://USER@HOST/DATABASE, nor keywords, host=HOST user=USER (what "
                       "stands here is not shown: it may hold a password)";
        return NULL;
}

/* RFC 3986: what needs no %. */
static const char unreserved[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~";

int url_of_socket(const char *folder, char **ret_url, char **ret_word) {
        _cleanup_(freep) char *host = malloc(3 * strlen(folder) + 1);
        _cleanup_(freep) char *url = NULL;
        char *end = host;

        if (!host)
                return -ENOMEM;
        for (const char *at = folder; *at; at++)
                if (strchr(unreserved, *at))
                        *end++ = *at;
                else
                        end += sprintf(end, "%%%02X", (unsigned char)*at);
        *end = '\0';
        if (asprintf(&url, "postgresql:///endwell?host=%s&user=endwell", host) < 0) {
                url = NULL; /* else undefined */
                return -ENOMEM;
        }
        if (asprintf(ret_word, "DATABASE_URL=%s", url) < 0) {
                *ret_word = NULL;
                return -ENOMEM;
        }
        *ret_url = TAKE(url);
        return 0;
}
