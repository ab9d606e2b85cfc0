/* programs_daemons.c - which commands go to the background at once, by a table of programs and their options. */
#include "base/take.h"
#include "supervisor/programs.h"
#include <string.h>

/* A pattern is words that stand one behind the other; "~" before it: letters within one word; "?" before it: a letter
 * among short options; "^" before it: the first word behind the program. */
typedef char Pattern[21];

/* The letters and not pointers to them: the dynamic linker would write each pointer, and PID 1, which never looks in
 * here, keep the pages. An empty text: none. */
typedef struct Daemon {
        char program[16];
        Pattern foreground[6]; /* any of them keeps it in the foreground */
        Pattern background[3]; /* empty: it goes there unless it is kept */
        Pattern other[8];      /* any of them: it is no server at all this time */
        char instead[40];
        char config_option[4], config[48], config_has[16];
} Daemon;

static const Daemon daemons[] = {
        { .program = "nginx",
          .foreground = { "~daemon off" },
          .other = { "-t", "-T", "-v", "-V", "-s", "-h" },
          .instead = "add -g \"daemon off;\"",
          .config_option = "-c",
          .config = "/etc/nginx/nginx.conf",
          .config_has = "daemon off" },
        { .program = "openresty",
          .foreground = { "~daemon off" },
          .other = { "-t", "-T", "-v", "-V", "-s", "-h" },
          .instead = "add -g \"daemon off;\"",
          .config_option = "-c",
          .config = "/usr/local/openresty/nginx/conf/nginx.conf",
          .config_has = "daemon off" },
        { .program = "httpd",
          .foreground = { "-DFOREGROUND", "-D FOREGROUND", "-X", "-DNO_DETACH", "-D NO_DETACH" },
          .other = { "-t", "-v", "-V", "-l", "-L", "-S", "-p", "-h" }, /* the last two: busybox has another httpd */
          .instead = "add -D FOREGROUND" },
        { .program = "apache2",
          .foreground = { "-DFOREGROUND", "-D FOREGROUND", "-X", "-DNO_DETACH", "-D NO_DETACH" },
          .other = { "-t", "-v", "-V", "-l", "-L", "-S", "-h" },
          .instead = "add -D FOREGROUND" },
        { .program = "php-fpm", .background = { "?D", "--daemonize" }, .instead = "write -F in its place" },
        { .program = "redis-server", .background = { "--daemonize yes" }, .instead = "leave --daemonize out" },
        { .program = "valkey-server", .background = { "--daemonize yes" }, .instead = "leave --daemonize out" },
        { .program = "haproxy", .background = { "-D" }, .instead = "write -db in its place" },
        { .program = "memcached", .background = { "?d", "--daemon" }, .instead = "leave -d out" },
        { .program = "mysqld", .background = { "--daemonize" }, .instead = "leave --daemonize out" },
        { .program = "mongod", .background = { "--fork" }, .instead = "leave --fork out" },
        { .program = "gunicorn", .background = { "-D", "--daemon" }, .instead = "leave --daemon out" },
        { .program = "uwsgi", .background = { "--daemonize" }, .instead = "leave --daemonize out" },
        { .program = "sshd", .foreground = { "?D", "?d" }, .other = { "-t", "-T", "-V" }, .instead = "add -D" },
        { .program = "cron", .foreground = { "?f" }, .instead = "add -f" },
        { .program = "crond", .foreground = { "?f", "?n", "?d" }, .instead = "add -f (or -n, whichever it knows)" },
        { .program = "rsyslogd", .foreground = { "?n" }, .other = { "-v", "-N1" }, .instead = "add -n" },
        { .program = "dnsmasq",
          .foreground = { "?k", "?d", "--keep-in-foreground", "--no-daemon" },
          .other = { "--test", "-v", "--version" },
          .instead = "add --keep-in-foreground" },
        { .program = "lighttpd",
          .foreground = { "?D" },
          .other = { "-t", "-tt", "-p", "-v", "-V" },
          .instead = "add -D" },
        { .program = "varnishd", .foreground = { "-F", "-d" }, .other = { "-C", "-V" }, .instead = "add -F" },
        { .program = "pg_ctl", .background = { "start" }, .instead = "run postgres itself" },
        { .program = "apachectl",
          .foreground = { "-DFOREGROUND", "-D FOREGROUND" },
          .background = { "start" },
          .instead = "write apache2 -D FOREGROUND" },
        { .program = "apache2ctl",
          .foreground = { "-DFOREGROUND", "-D FOREGROUND" },
          .background = { "start" },
          .instead = "write apache2 -D FOREGROUND" },
        { .program = "pm2",
          .foreground = { "--no-daemon" },
          .background = { "^start" },
          .instead = "write pm2-runtime" },
        { .program = "caddy", .background = { "^start" }, .instead = "write caddy run" },
};

/* "-D" and "-Dde", but not "-oLogLevel=DEBUG". */
static bool has_letter(const char *word, char letter) {
        return word[0] == '-' && word[1] != '-' && strlen(word) <= 4 && strchr(word + 1, letter) &&
               word[1 + strspn(word + 1, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789")] == '\0';
}

/* The words of `pattern`, one behind the other; a word may carry "=VALUE". */
static bool begins_with(char *const *words, const char *pattern) {
        while (*pattern) {
                size_t length = strcspn(pattern, " ");
                if (!*words || strncmp(*words, pattern, length) != 0 || ((*words)[length] && (*words)[length] != '='))
                        return false;
                words++;
                pattern += length + (pattern[length] == ' ');
        }
        return true;
}

static bool has_pattern(char *const *argv, const char *pattern) {
        if (*pattern == '^')
                return argv[1] && strcmp(argv[1], pattern + 1) == 0;
        for (argv++; *argv; argv++)
                if (*pattern == '~'   ? strstr(*argv, pattern + 1) != NULL
                    : *pattern == '?' ? has_letter(*argv, pattern[1])
                                      : begins_with(argv, pattern))
                        return true;
        return false;
}

static bool has_any(char *const *argv, const Pattern *patterns, size_t n) {
        for (size_t i = 0; i < n && *patterns[i]; i++)
                if (has_pattern(argv, patterns[i]))
                        return true;
        return false;
}

static const char *text_or_null(const char *text) {
        return *text ? text : NULL;
}

static const char *config_of(char *const *argv, const Daemon *daemon) {
        for (; *daemon->config_option && *argv; argv++)
                if (strcmp(*argv, daemon->config_option) == 0 && argv[1])
                        return argv[1];
        return text_or_null(daemon->config);
}

bool program_is_daemon(char *const *argv, ProgramDaemon *ret) {
        for (size_t i = 0; i < LENGTH_OF(daemons); i++) {
                const Daemon *daemon = &daemons[i];
                if (!program_is(argv[0], daemon->program))
                        continue;
                if (has_any(argv, daemon->other, LENGTH_OF(daemon->other)) ||
                    has_any(argv, daemon->foreground, LENGTH_OF(daemon->foreground)) ||
                    (*daemon->background[0] && !has_any(argv, daemon->background, LENGTH_OF(daemon->background))))
                        return false;
                *ret = (ProgramDaemon){ .name = daemon->program,
                                        .instead = daemon->instead,
                                        .config = config_of(argv, daemon),
                                        .config_has = text_or_null(daemon->config_has) };
                return true;
        }
        return false;
}
