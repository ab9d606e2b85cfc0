/* config_listen.c - see config_listen.h. */
#include "supervisor/config_listen.h"
#include "base/names.h"
#include "base/take.h"
#include "base/words.h"
#include "supervisor/config_address.h"
#include "supervisor/config_probe.h"
#include <errno.h>
#include <string.h>

#define WORD_SHOWN_MAX 60

/* ---- Addresses ---- */

static int set_text(char **field, const char *text) {
        char *copy = strdup(text);

        if (!copy)
                return -ENOMEM;
        free(*field);
        *field = copy;
        return 0;
}

static int read_tcp(const char *text, ListenConfig *listen, Problem *problem) {
        Address address;
        int r = address_parse(text, strlen(text), NAMES_NONE, 0, &address, problem);

        listen->by = LISTEN_TCP;
        return r < 0 ? r : set_text(&listen->address, address.text);
}

static int read_unix(const char *path, ListenConfig *listen, Problem *problem) {
        listen->by = LISTEN_UNIX;
        if (*path == '@')
                return problem_say(problem, "an abstract socket can be used by whoever shares the network, and has no "
                                            "permissions: write a path, such as unix:/run/NAME.sock");
        if (*path != '/')
                return problem_say(problem, "unix: must be followed by an absolute path (one that begins with /)");
        if (strlen(path) > SOCKET_PATH_MAX)
                return problem_say(problem, "the path of a socket has at most %d bytes", SOCKET_PATH_MAX);
        if (path[strlen(path) - 1] == '/')
                return problem_say(problem, "the path of a socket does not end in /");
        return set_text(&listen->address, path);
}

/* ---- Options ---- */

/* sd_listen_fds_with_names(3): printable ASCII, and no colon, for that separates them. */
static int read_name(const char *text, ListenConfig *listen, Problem *problem) {
        size_t length = strlen(text);
        bool good = length > 0 && length <= LISTEN_NAME_MAX;

        for (size_t i = 0; good && i < length; i++)
                good = text[i] > ' ' && text[i] < 0x7F && text[i] != ':';
        if (!good)
                return problem_say(problem, "a name= has 1 to %d letters of ASCII, no blank and no colon",
                                   LISTEN_NAME_MAX);
        return set_text(&listen->name, text);
}

static int read_mode(const char *text, ListenConfig *listen, Problem *problem) {
        size_t length = strlen(text);
        int mode = 0;

        if (listen->by != LISTEN_UNIX)
                return problem_say(problem, "mode= is of a unix: socket only: there is no file that could have one");
        for (size_t i = 0; i < length && mode <= 0777; i++)
                mode = text[i] >= '0' && text[i] <= '7' ? mode * 8 + (text[i] - '0') : 01000;
        if (length == 0 || mode > 0777)
                return problem_say(problem, "mode=%.*s is no octal number from 0 to 0777", WORD_SHOWN_MAX, text);
        listen->mode = mode;
        return 0;
}

static int read_option(const char *word, ListenConfig *listen, Problem *problem) {
        static const char *const known[] = { "mode", "name" };
        size_t length = strcspn(word, "=");
        char name[16] = "";

        if (strncmp(word, "name=", 5) == 0)
                return read_name(word + 5, listen, problem);
        if (strncmp(word, "mode=", 5) == 0)
                return read_mode(word + 5, listen, problem);
        if (length < sizeof name)
                memcpy(name, word, length);
        const char *nearest = word[length] ? name_nearest(name, known, LENGTH_OF(known)) : NULL;
        if (nearest)
                return problem_say(problem, "%s= is no option, did you mean %s=?", name, nearest);
        return problem_say(problem,
                           "%.*s is neither tcp://ADDR:PORT nor unix:PATH, nor mode= or name= of the one "
                           "before",
                           WORD_SHOWN_MAX, word);
}

/* ---- The line ---- */

static int add(ListenConfig **listens, size_t *n, const char *name) {
        ListenConfig *grown = reallocarray(*listens, *n + 1, sizeof *grown);

        if (!grown)
                return -ENOMEM;
        *listens = grown;
        grown[*n] = (ListenConfig){ .mode = LISTEN_MODE };
        (*n)++;
        return set_text(&grown[*n - 1].name, name);
}

static int read_word(const char *word, const char *name, ListenConfig **listens, size_t *n, Problem *problem) {
        bool tcp = strncmp(word, "tcp://", 6) == 0, unix_path = strncmp(word, "unix:", 5) == 0;

        if (!tcp && !unix_path && *n > 0)
                return read_option(word, &(*listens)[*n - 1], problem);
        if (!tcp && !unix_path)
                return problem_say(problem, "%.*s is neither tcp://ADDR:PORT nor unix:PATH", WORD_SHOWN_MAX, word);
        int r = add(listens, n, name);
        if (r < 0)
                return r;
        ListenConfig *listen = &(*listens)[*n - 1];
        return tcp ? read_tcp(word + 6, listen, problem) : read_unix(word + 5, listen, problem);
}

int listen_parse(const char *text, const char *name, ListenConfig **ret, size_t *ret_n, Problem *problem) {
        _cleanup_(freep) char **words = NULL;
        ListenConfig *listens = NULL;
        size_t n_words = 0, n = 0;
        const char *why = NULL;

        int r = words_split(text, &words, &n_words, &why);
        if (r == -EINVAL)
                return problem_say(problem, "%s", why);
        for (size_t i = 0; i < n_words && r == 0; i++)
                r = read_word(words[i], name, &listens, &n, problem);
        if (r < 0) {
                listens_free(listens, n);
                return r;
        }
        *ret = listens;
        *ret_n = n;
        return 0;
}

void listens_free(ListenConfig *listens, size_t n) {
        for (size_t i = 0; i < n; i++) {
                free(listens[i].address);
                free(listens[i].name);
        }
        free(listens);
}

/* ---- What they mean to each other ---- */

static Address address_of(const ListenConfig *listen) {
        Address address = { 0 };
        Problem problem;

        /* It was written by address_parse(). */
        (void)address_parse(listen->address, strlen(listen->address), NAMES_NONE, 0, &address, &problem);
        return address;
}

unsigned listen_port(const ListenConfig *listen) {
        return listen->by == LISTEN_TCP ? address_of(listen).port : 0;
}

bool listens_share_port(const ListenConfig *a, const ListenConfig *b) {
        if (a->by != LISTEN_TCP || b->by != LISTEN_TCP)
                return false;
        Address one = address_of(a), other = address_of(b);
        return one.port == other.port && one.kind == other.kind;
}

bool listens_clash(const ListenConfig *a, const ListenConfig *b) {
        if (a->by == b->by && strcmp(a->address, b->address) == 0)
                return true;
        if (!listens_share_port(a, b))
                return false;
        Address one = address_of(a), other = address_of(b);
        return address_is_any(&one) || address_is_any(&other);
}

int listens_compare(const ListenConfig *a, const ListenConfig *b) {
        if (a->by != b->by || a->by != LISTEN_TCP)
                return a->by != b->by ? (int)a->by - (int)b->by : strcmp(a->address, b->address);
        Address one = address_of(a), other = address_of(b);
        if (one.port != other.port)
                return (int)one.port - (int)other.port;
        if (one.kind != other.kind)
                return (int)one.kind - (int)other.kind;
        if (address_is_any(&one) != address_is_any(&other))
                return address_is_any(&one) ? -1 : 1;
        return strcmp(one.text, other.text);
}
