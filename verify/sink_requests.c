/* sink_requests.c - see sink_requests.h. */
#include "verify/sink_requests.h"
#include "base/take.h"
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

static bool is_one_of(const char *method, const char *const *methods) {
        for (; *methods; methods++)
                if (strcmp(method, *methods) == 0)
                        return true;
        return false;
}

static bool changes_nothing(const char *method) {
        return is_one_of(method, (const char *const[]){ "GET", "HEAD", "OPTIONS", "TRACE", NULL });
}

static bool counts_once(const char *method, const char *key) {
        return key || is_one_of(method, (const char *const[]){ "PUT", "DELETE", "CONNECT", NULL });
}

/* "http://a/b" and "/b" with the host a are the same place. */
static const char *split(const char *url, const char *host, size_t *ret_host_length, const char **ret_host) {
        const char *path = url;

        *ret_host = host ? host : "";
        *ret_host_length = strlen(*ret_host);
        if (strncasecmp(url, "http://", 7) != 0)
                return path;
        path = url + 7 + strcspn(url + 7, "/?");
        *ret_host = url + 7;
        *ret_host_length = (size_t)(path - *ret_host);
        return *path ? path : "/";
}

/* One line, whatever is in it. */
static size_t escape(char *to, const char *body, size_t size) {
        char *at = to;

        for (size_t i = 0; i < size; i++) {
                unsigned char letter = (unsigned char)body[i];
                if (letter == '\n')
                        at = stpcpy(at, "\\n");
                else if (letter < ' ' || letter == 127)
                        at += sprintf(at, "\\x%02x", letter);
                else
                        *at++ = (char)letter;
        }
        *at = 0;
        return (size_t)(at - to);
}

static char *make_line(const char *method, const char *url, const char *host, const char *key, const char *body,
                       size_t body_size) {
        size_t host_length;
        const char *path = split(url, host, &host_length, &host);
        size_t room = strlen(method) + host_length + strlen(path) + (key ? strlen(key) : 0) + 4 * body_size + 32;
        char *line = malloc(room);

        if (!line)
                return NULL;
        int n = snprintf(line, room, "%s %.*s%s", method, (int)host_length, host, path);
        if (key)
                n += snprintf(line + n, room - (size_t)n, " key=%s", key);
        if (body_size > 0) {
                line[n++] = ' ';
                escape(line + n, body, body_size);
        }
        return line;
}

/* Where it belongs; true: the same one stands there. */
static bool find(const Requests *requests, const char *line, size_t *ret_at) {
        size_t at = 0;

        while (at < requests->n_lines && strcmp(requests->lines[at], line) < 0)
                at++;
        *ret_at = at;
        return at < requests->n_lines && strcmp(requests->lines[at], line) == 0;
}

int sink_requests_add(Requests *requests, const char *method, const char *url, const char *host, const char *key,
                      const char *body, size_t body_size) {
        size_t at;

        if (changes_nothing(method))
                return 0;
        _cleanup_(freep) char *line = make_line(method, url, host, key, body, body_size);
        char **lines = line ? reallocarray(requests->lines, requests->n_lines + 1, sizeof *lines) : NULL;
        if (!lines)
                return -ENOMEM;
        requests->lines = lines;
        requests->seen++;
        if (find(requests, line, &at) && counts_once(method, key))
                return 0;
        memmove(lines + at + 1, lines + at, (requests->n_lines++ - at) * sizeof *lines);
        lines[at] = TAKE(line);
        return 0;
}

void sink_requests_done(Requests *requests) {
        for (size_t i = 0; i < requests->n_lines; i++)
                free(requests->lines[i]);
        free(requests->lines);
        *requests = (Requests){ 0 };
}
