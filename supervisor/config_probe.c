/* config_probe.c - see config_probe.h. */
#include "supervisor/config_probe.h"
#include "base/duration.h"
#include "base/names.h"
#include "base/take.h"
#include "base/words.h"
#include "supervisor/config_address.h"
#include "supervisor/config_strings.h"
#include <errno.h>
#include <string.h>
#include <strings.h>

#define PERIOD_LEAST_USEC (100 * USEC_PER_MSEC)
#define IN_A_ROW_MAX      1000
#define WORD_SHOWN_MAX    40

typedef enum Option {
        OPTION_PERIOD,
        OPTION_TIMEOUT,
        OPTION_FAILURES,
        OPTION_SUCCESSES,
        OPTION_DELAY,
        OPTION_COUNT,
} Option;

static const char *const option_names[OPTION_COUNT] = {
        [OPTION_PERIOD] = "period",       [OPTION_TIMEOUT] = "timeout", [OPTION_FAILURES] = "failures",
        [OPTION_SUCCESSES] = "successes", [OPTION_DELAY] = "delay",
};

/* ---- Where words begin ---- */

/* As words_split() sees it, which has already found that all quotes are closed. */
static const char *skip_word(const char *at) {
        while (*at && !strchr(" \t\n", *at)) {
                char c = *at++;
                if (c == '\'')
                        at = strchrnul(at, '\'') + 1;
                else if (c == '\\')
                        at++;
                else if (c == '"') {
                        while (*at != '"')
                                at += *at == '\\' ? 2 : 1;
                        at++;
                }
        }
        return at;
}

static const char *skip_between(const char *at) {
        for (;;) {
                if (*at && strchr(" \t\n", *at))
                        at++;
                else if (at[0] == '\\' && at[1] == '\n')
                        at += 2;
                else
                        return at;
        }
}

/* The option that stands at the front of what was written, or -1: a quoted word is none. */
static int find_option(const char *written) {
        for (int i = 0; i < OPTION_COUNT; i++) {
                size_t n = strlen(option_names[i]);
                if (strncmp(written, option_names[i], n) == 0 && written[n] == '=')
                        return i;
        }
        return -1;
}

/* A probe's value in pieces. */
typedef struct Words {
        char **items;
        size_t n, n_before; /* all of them; those before the options */
        const char *last;   /* of those before the options, as it is written */
} Words;

static void find_options(const char *text, Words *words) {
        size_t i = 0;

        for (const char *at = skip_between(text); *at; at = skip_between(skip_word(at)), i++)
                if (find_option(at) < 0) {
                        words->n_before = i + 1;
                        words->last = at;
                }
}

/* ---- Options ---- */

static int read_span(const char *name, const char *text, usec_t *ret, Problem *problem) {
        usec_t span;

        if (duration_parse(text, &span) < 0)
                return problem_say(problem, "%s=%.*s is no span of time (write 500ms, 10s or 1min)", name,
                                   WORD_SHOWN_MAX, text);
        if (span == USEC_INFINITY)
                return problem_say(problem, "%s must end: infinity is not allowed here", name);
        *ret = span;
        return 0;
}

static int read_count(const char *name, const char *text, uint16_t *ret, Problem *problem) {
        size_t n = strspn(text, "0123456789");
        unsigned number = 0;

        for (size_t i = 0; i < n && number <= IN_A_ROW_MAX; i++)
                number = number * 10 + (unsigned)(text[i] - '0');
        if (n == 0 || text[n] || number < 1 || number > IN_A_ROW_MAX)
                return problem_say(problem, "%s=%.*s must be a number from 1 to %d", name, WORD_SHOWN_MAX, text,
                                   IN_A_ROW_MAX);
        *ret = (uint16_t)number;
        return 0;
}

static int read_option(int option, const char *text, ProbeConfig *probe, Problem *problem) {
        const char *name = option_names[option];

        switch ((Option)option) {
        case OPTION_PERIOD: return read_span(name, text, &probe->period_usec, problem);
        case OPTION_TIMEOUT: return read_span(name, text, &probe->timeout_usec, problem);
        case OPTION_DELAY: return read_span(name, text, &probe->delay_usec, problem);
        case OPTION_FAILURES: return read_count(name, text, &probe->failures, problem);
        case OPTION_SUCCESSES: return read_count(name, text, &probe->successes, problem);
        case OPTION_COUNT: break;
        }
        return -EINVAL;
}

static int read_options(const Words *words, ProbeConfig *probe, Problem *problem) {
        bool seen[OPTION_COUNT] = { false };

        for (size_t i = words->n_before; i < words->n; i++) {
                int option = find_option(words->items[i]);
                if (seen[option])
                        return problem_say(problem, "%s= stands in it twice", option_names[option]);
                seen[option] = true;
                int r = read_option(option, strchr(words->items[i], '=') + 1, probe, problem);
                if (r < 0)
                        return r;
        }
        return 0;
}

static int check_options(const ProbeConfig *probe, ProbeKind kind, Problem *problem) {
        if (probe->period_usec < PERIOD_LEAST_USEC)
                return problem_say(problem, "period must be at least 100ms");
        if (probe->timeout_usec == 0)
                return problem_say(problem, "timeout must be more than 0");
        if (kind != PROBE_READINESS && probe->successes != 1)
                return problem_say(problem, "successes must be 1 here: only readiness can come back after a failure");
        return 0;
}

/* Of "tcp://…" every word but the first must be an option; of a command the last words may be misspelt ones. */
static int refuse_misspelt(const char *word, bool is_command, Problem *problem) {
        size_t length = strcspn(word, "= \t\n");
        char name[16] = "";

        if (length < sizeof name)
                memcpy(name, word, length);
        const char *nearest =
                word[length] == '=' && find_option(word) < 0 ? name_nearest(name, option_names, OPTION_COUNT) : NULL;
        if (is_command)
                return !nearest ? 0
                                : problem_say(problem,
                                              "%.*s= is no option, did you mean %s=? (quote it if it belongs to the "
                                              "command)",
                                              WORD_SHOWN_MAX, name, nearest);
        if (nearest)
                return problem_say(problem, "%.*s= is no option, did you mean %s=?", WORD_SHOWN_MAX, name, nearest);
        return problem_say(problem, "only period=, timeout=, failures=, successes= and delay=, without quotes around "
                                    "them, can follow the address");
}

/* ---- Targets ---- */

static int copy(const char *text, char **ret) {
        *ret = strdup(text);
        return *ret ? 0 : -ENOMEM;
}

static int read_http(const char *text, ProbeConfig *probe, Problem *problem) {
        Url url;
        int r = url_parse(text, NAMES_LOCALHOST, &url, problem);

        if (r < 0)
                return r;
        if (url.tls)
                return problem_say(problem, "a probe speaks no TLS: look at a port without it, or use exec:");
        const char *slash = *url.path == '/' ? "" : "/";
        size_t size = strlen("http://") + strlen(url.address.text) + strlen(slash) + strlen(url.path) + 1;
        probe->target = malloc(size);
        if (!probe->target)
                return -ENOMEM;
        stpcpy(stpcpy(stpcpy(stpcpy(probe->target, "http://"), url.address.text), slash), url.path);
        return 0;
}

static int read_tcp(const char *text, ProbeConfig *probe, Problem *problem) {
        Address address;
        int r = address_parse(text, strlen(text), NAMES_LOCALHOST, 0, &address, problem);

        return r < 0 ? r : copy(address.text, &probe->target);
}

static int read_unix(const char *text, ProbeConfig *probe, Problem *problem) {
        if (*text != '/')
                return problem_say(problem, "unix: must be followed by an absolute path (one that begins with /)");
        if (strlen(text) > SOCKET_PATH_MAX)
                return problem_say(problem, "the path of a socket has at most %d bytes", SOCKET_PATH_MAX);
        return copy(text, &probe->target);
}

/* The command begins behind "exec:", in the same word or in the next. */
static int read_exec(char *text, const Words *words, ProbeConfig *probe, Problem *problem) {
        char **command = words->items;
        size_t n = words->n_before;

        if (*text)
                command[0] = text;
        else {
                command++;
                n--;
        }
        if (n == 0 || !*command[0])
                return problem_say(problem, "the command is empty");
        if (words->n_before > 1 && !strchr("'\"\\", *words->last)) {
                int r = refuse_misspelt(words->last, true, problem);
                if (r < 0)
                        return r;
        }
        return strings_pack(command, n, &probe->argv);
}

static int read_target(const Words *words, ProbeConfig *probe, Problem *problem) {
        static const struct {
                const char *prefix;
                ProbeBy by;
        } known[] = {
                { "http://", PROBE_BY_HTTP }, { "https://", PROBE_BY_HTTP }, { "tcp://", PROBE_BY_TCP },
                { "unix:", PROBE_BY_UNIX },   { "exec:", PROBE_BY_EXEC },
        };
        char *text = words->items[0], *rest = NULL;

        for (size_t i = 0; i < LENGTH_OF(known) && !rest; i++)
                if (strncmp(text, known[i].prefix, strlen(known[i].prefix)) == 0) {
                        probe->by = known[i].by;
                        rest = text + strlen(known[i].prefix);
                }
        if (!rest)
                return problem_say(problem, "must begin with http://, tcp://, unix: or exec: (or be none)");
        if (probe->by != PROBE_BY_EXEC && words->n_before > 1)
                return refuse_misspelt(words->items[1], false, problem);
        switch (probe->by) {
        case PROBE_BY_HTTP: return read_http(text, probe, problem);
        case PROBE_BY_TCP: return read_tcp(rest, probe, problem);
        case PROBE_BY_UNIX: return read_unix(rest, probe, problem);
        case PROBE_BY_EXEC: return read_exec(rest, words, probe, problem);
        case PROBE_BY_NONE:
        case _PROBE_BY_MAX: break;
        }
        return -EINVAL;
}

/* ---- The whole ---- */

static int parse(const Words *words, ProbeKind kind, ProbeConfig *probe, Problem *problem) {
        if (words->n_before == 0)
                return problem_say(problem, "says not what to look at: http://, tcp://, unix: or exec:");
        int r = read_target(words, probe, problem);
        if (r == 0)
                r = read_options(words, probe, problem);
        return r < 0 ? r : check_options(probe, kind, problem);
}

int probe_parse(const char *text, ProbeKind kind, ProbeConfig *ret, Problem *problem) {
        ProbeConfig probe = {
                .period_usec = 10 * USEC_PER_SEC, .timeout_usec = USEC_PER_SEC, .failures = 3, .successes = 1
        };
        _cleanup_(freep) char **items = NULL;
        Words words = { 0 };
        const char *why = NULL;

        int r = words_split(text, &items, &words.n, &why);
        if (r == -EINVAL)
                return problem_say(problem, "%s", why);
        if (r < 0)
                return r;
        words.items = items;
        find_options(text, &words);
        if (words.n != 1 || strcmp(items[0], "none") != 0)
                r = parse(&words, kind, &probe, problem);
        if (r == 0)
                *ret = probe;
        else
                probe_config_done(&probe);
        return r;
}

void probe_config_done(ProbeConfig *probe) {
        free(probe->target);
        free(probe->argv);
        *probe = (ProbeConfig){ 0 };
}
