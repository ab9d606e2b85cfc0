/* config_http.c - see config_http.h. */
#include "supervisor/config_http.h"
#include "base/names.h"
#include "base/take.h"
#include "base/words.h"
#include "supervisor/config_address.h"
#include <errno.h>
#include <string.h>

static int check_method(const char *word, Problem *problem) {
        static const char *const known[] = { "GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS" };

        for (size_t i = 0; i < LENGTH_OF(known); i++)
                if (strcmp(known[i], word) == 0)
                        return 0;
        const char *nearest = name_nearest(word, known, LENGTH_OF(known));
        return problem_say(problem,
                           "begins with no method of HTTP: write GET, HEAD, POST, PUT, PATCH, DELETE or OPTIONS and "
                           "then the URL%s%s%s",
                           nearest ? " (did you mean " : "", nearest ? nearest : "", nearest ? "?)" : "");
}

static int copy_url(const char *text, char **ret, Problem *problem) {
        Url url;
        int r = url_parse(text, NAMES_ANY, &url, problem);

        if (r < 0)
                return r;
        const char *scheme = url.tls ? "https://" : "http://", *slash = *url.path == '/' ? "" : "/";
        char *copy = malloc(strlen(scheme) + strlen(url.address.text) + strlen(slash) + strlen(url.path) + 1);
        if (!copy)
                return -ENOMEM;
        stpcpy(stpcpy(stpcpy(stpcpy(copy, scheme), url.address.text), slash), url.path);
        *ret = copy;
        return 0;
}

int http_parse(const char *text, char **ret_method, char **ret_url, Problem *problem) {
        _cleanup_(freep) char **words = NULL;
        _cleanup_(freep) char *url = NULL;
        const char *why = NULL;
        size_t n = 0;

        int r = words_split(text, &words, &n, &why);
        if (r == -EINVAL)
                return problem_say(problem, "%s", why);
        if (r == 0)
                r = check_method(n > 0 ? words[0] : "", problem);
        if (r < 0)
                return r;
        if (n != 2)
                return problem_say(problem, n < 2 ? "the URL is missing behind the method"
                                                  : "only a method and a URL can stand here");
        r = copy_url(words[1], &url, problem);
        if (r < 0)
                return r;
        *ret_method = strdup(words[0]);
        if (!*ret_method)
                return -ENOMEM;
        *ret_url = TAKE(url);
        return 0;
}
