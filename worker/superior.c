/* superior.c - see superior.h. */
#include "worker/superior.h"
#include "base/take.h"
#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <systemd/sd-daemon.h>

#define ANSWER_MAX (8 * 1024 * 1024)
#define PIECE      (64 * 1024)
#define WORDS_MAX  512

struct Superior {
        sd_event_source *source;
        void (*told)(void *userdata, usec_t left_usec);
        void *userdata;
        int fd;
        char owner[40];
        char *answer;
        size_t length, size;
};

void superior_say(const char *format, ...) {
        char words[WORDS_MAX];
        va_list list;
        va_start(list, format);
        vsnprintf(words, sizeof words, format, list);
        va_end(list);
        (void)sd_notify(0, words); /* nobody there, or gone: we work all the same */
}

/* What status writes of one instance is one object without another in it, and the owner stands before the limit. */
int superior_read_limit(const char *answer, const char *owner, usec_t *ret) {
        static const char limit_key[] = "\"limit_us\":";
        char key[64];

        snprintf(key, sizeof key, "\"owner\":\"%s\"", owner);
        const char *at = strstr(answer, key);
        const char *end = at ? strchr(at, '}') : NULL;
        const char *limit = at ? strstr(at, limit_key) : NULL;
        if (!limit || !end || limit > end)
                return -ENOENT;
        *ret = strtoull(limit + sizeof limit_key - 1, NULL, 10);
        return 0;
}

static void finish(Superior *superior) {
        usec_t left;
        superior->source = sd_event_source_disable_unref(superior->source);
        superior->fd = close_fd(superior->fd);
        if (superior->length == 0)
                return;
        superior->answer[superior->length] = '\0';
        if (superior_read_limit(superior->answer, superior->owner, &left) == 0)
                superior->told(superior->userdata, left);
}

static bool make_room(Superior *superior) {
        if (superior->size - superior->length > PIECE)
                return true;
        if (superior->size >= ANSWER_MAX)
                return false;
        char *more = realloc(superior->answer, superior->size + 4 * PIECE);
        if (!more)
                return false;
        superior->answer = more;
        superior->size += 4 * PIECE;
        return true;
}

static int on_answer(sd_event_source *source, int fd, uint32_t revents, void *userdata) {
        Superior *superior = userdata;
        (void)source, (void)revents;

        if (!make_room(superior)) {
                finish(superior);
                return 0;
        }
        ssize_t n = read(fd, superior->answer + superior->length, PIECE);
        if (n < 0 && (errno == EAGAIN || errno == EINTR))
                return 0;
        if (n > 0)
                superior->length += (size_t)n;
        if (n <= 0 || memchr(superior->answer + superior->length - (size_t)n, '\n', (size_t)n))
                finish(superior);
        return 0;
}

static int ask(Superior *superior, const char *path) {
        static const char request[] = "{\"method\":\"status\"}\n";
        struct sockaddr_un address = { .sun_family = AF_UNIX };

        if (strlen(path) >= sizeof address.sun_path)
                return -ENAMETOOLONG;
        strcpy(address.sun_path, path);
        superior->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
        if (superior->fd < 0 || connect(superior->fd, (struct sockaddr *)&address, sizeof address) < 0)
                return -errno;
        ssize_t n = send(superior->fd, request, sizeof request - 1, MSG_NOSIGNAL);
        return n < 0 ? -errno : 0; /* a socket that nobody has written to takes it whole */
}

int superior_ask(Superior **ret, sd_event *event, const char *owner, void (*told)(void *userdata, usec_t left_usec),
                 void *userdata) {
        const char *path = getenv("ENDWELL_SOCKET");
        if (!path || !*path)
                return -ENOENT;
        Superior *superior = calloc(1, sizeof *superior);
        if (!superior)
                return -ENOMEM;
        *superior = (Superior){ .told = told, .userdata = userdata, .fd = -1 };
        snprintf(superior->owner, sizeof superior->owner, "%s", owner);
        int r = ask(superior, path);
        if (r >= 0)
                r = sd_event_add_io(event, &superior->source, superior->fd, EPOLLIN, on_answer, superior);
        if (r < 0) {
                superior_free(superior);
                return r;
        }
        *ret = superior;
        return 0;
}

Superior *superior_free(Superior *superior) {
        if (!superior)
                return NULL;
        superior->source = sd_event_source_disable_unref(superior->source);
        close_fd(superior->fd);
        free(superior->answer);
        free(superior);
        return NULL;
}
