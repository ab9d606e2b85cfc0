/* programs.c - tables of well-known programs, and how they are found in a command; see programs.h. */
#include "supervisor/programs.h"
#include "base/take.h"
#include <signal.h>
#include <string.h>

const char *program_name(const char *path) {
        const char *slash = strrchr(path, '/');
        return slash ? slash + 1 : path;
}

/* "php-fpm" stands for php-fpm8.2 too: Debian's packages carry the version in the name. */
bool program_is(const char *path, const char *program) {
        const char *name = program_name(path);
        size_t length = strlen(program);
        if (strncmp(name, program, length) != 0)
                return false;
        name += length + (name[length] == '-' && name[length + 1] >= '0' && name[length + 1] <= '9');
        return name[strspn(name, "0123456789.")] == '\0';
}

static bool is_one_of(const char *word, const char *const *list, size_t n) {
        for (size_t i = 0; i < n; i++)
                if (strcmp(word, list[i]) == 0)
                        return true;
        return false;
}

/* ---- How it ends ---- */

#define CUTS_REQUESTS "SIGTERM cuts off the requests in hand"
#define WAITS_FOR_CLIENTS                                                                                              \
        "on SIGTERM it waits until its last client has gone by itself, idle ones of a pool included, and would be "    \
        "killed at its limit; SIGINT, a fast shutdown, ends the sessions and closes the database cleanly"

static const KnownProgram known[] = {
        { "nginx", SIGQUIT, CUTS_REQUESTS, SIGQUIT, true },
        { "openresty", SIGQUIT, CUTS_REQUESTS, SIGQUIT, true },
        { "php-fpm", SIGQUIT, CUTS_REQUESTS, SIGQUIT, true },
        { "unicorn", SIGQUIT, CUTS_REQUESTS, 0, true },
        { "haproxy", SIGUSR1, "SIGTERM cuts off the connections in hand", SIGUSR1, true },
        { "httpd", SIGWINCH, CUTS_REQUESTS, SIGWINCH, true },
        { "httpd-foreground", SIGWINCH, CUTS_REQUESTS, SIGWINCH, true },
        { "apache2", SIGWINCH, CUTS_REQUESTS, SIGWINCH, true },
        { "apache2-foreground", SIGWINCH, CUTS_REQUESTS, SIGWINCH, true },
        { "postgres", SIGINT, WAITS_FOR_CLIENTS, SIGINT, true },
        { "postmaster", SIGINT, WAITS_FOR_CLIENTS, SIGINT, true },
        { "gunicorn", 0, NULL, 0, true },
        { "uwsgi", 0, NULL, 0, true },
        { "npm", 0, NULL, 0, true },
        { "yarn", 0, NULL, 0, true },
        { "pnpm", 0, NULL, 0, true },
};

const KnownProgram *program_known(const char *path) {
        for (size_t i = 0; i < LENGTH_OF(known); i++)
                if (program_is(path, known[i].name))
                        return &known[i];
        return NULL;
}

/* ---- What stands before it ---- */

typedef struct Before {
        const char *name;
        ProgramBefore kind;
        const char *short_values; /* letters of options that take the next word */
        const char *long_values;  /* names of such options, a blank before and behind each */
        const char *subcommand;   /* that must come first, and then the command; NULL: none */
        unsigned n_words;         /* behind the options, before the command */
        bool assignments;         /* NAME=VALUE before the command */
} Before;

static const Before befores[] = {
        { "env", PROGRAM_BEFORE_EXECS, "uC", " --unset --chdir ", NULL, 0, true },
        { "nice", PROGRAM_BEFORE_EXECS, "n", " --adjustment ", NULL, 0, false },
        { "ionice", PROGRAM_BEFORE_EXECS, "cn", " --class --classdata ", NULL, 0, false },
        { "nohup", PROGRAM_BEFORE_EXECS, "", "", NULL, 0, false },
        { "stdbuf", PROGRAM_BEFORE_EXECS, "ioe", " --input --output --error ", NULL, 0, false },
        { "chroot", PROGRAM_BEFORE_EXECS, "", " --userspec --groups ", NULL, 1, false },
        { "chpst", PROGRAM_BEFORE_EXECS, "uUbe/nmdopfcrtl", "", NULL, 0, false },
        { "setpriv", PROGRAM_BEFORE_EXECS, "",
          " --ambient-caps --inh-caps --bounding-set --ruid --euid --reuid --rgid --egid --regid --groups --securebits "
          "--pdeathsig --selinux-label --apparmor-profile ",
          NULL, 0, false },
        { "su-exec", PROGRAM_BEFORE_EXECS, "", "", NULL, 1, false },
        { "gosu", PROGRAM_BEFORE_EXECS, "", "", NULL, 1, false },
        { "s6-setuidgid", PROGRAM_BEFORE_EXECS, "", "", NULL, 1, false },
        { "bundle", PROGRAM_BEFORE_EXECS, "", "", "exec", 0, false },
        { "docker-entrypoint.sh", PROGRAM_BEFORE_EXECS, "", "", NULL, 0, false },
        { "docker-php-entrypoint", PROGRAM_BEFORE_EXECS, "", "", NULL, 0, false },
        { "tini", PROGRAM_BEFORE_INIT, "pe", "", NULL, 0, false },
        { "tini-static", PROGRAM_BEFORE_INIT, "pe", "", NULL, 0, false },
        { "docker-init", PROGRAM_BEFORE_INIT, "pe", "", NULL, 0, false },
        { "dumb-init", PROGRAM_BEFORE_INIT, "r", " --rewrite ", NULL, 0, false },
        { "catatonit", PROGRAM_BEFORE_INIT, "", "", NULL, 0, false },
};

static bool is_in_list(const char *list, const char *word) {
        size_t length = strlen(word);
        for (const char *at = length > 0 ? strstr(list, word) : NULL; at; at = strstr(at + 1, word))
                if (at > list && at[-1] == ' ' && at[length] == ' ')
                        return true;
        return false;
}

static bool takes_next_word(const Before *before, const char *option) {
        if (option[1] == '-')
                return !strchr(option, '=') && is_in_list(before->long_values, option);
        return option[1] && !option[2] && strchr(before->short_values, option[1]);
}

static char *const *behind_options(const Before *before, char *const *argv) {
        while (*argv && (*argv)[0] == '-') {
                if (strcmp(*argv, "--") == 0)
                        return argv + 1;
                bool two = takes_next_word(before, *argv++);
                if (two && *argv)
                        argv++;
        }
        return argv;
}

/* `env -S TEXT` splits the text itself. */
static bool is_unclear(char *const *argv) {
        for (; *argv && (*argv)[0] == '-'; argv++)
                if (strncmp(*argv, "-S", 2) == 0 || strncmp(*argv, "--split-string", 14) == 0)
                        return true;
        return false;
}

char *const *program_next(char *const *argv, ProgramBefore *ret_before) {
        const Before *before = NULL;

        *ret_before = PROGRAM_BEFORE_NOTHING;
        for (size_t i = 0; argv[0] && !before && i < LENGTH_OF(befores); i++)
                if (strcmp(program_name(argv[0]), befores[i].name) == 0)
                        before = &befores[i];
        if (!before || is_unclear(argv + 1))
                return NULL;
        argv = behind_options(before, argv + 1);
        if (before->subcommand && (!*argv || strcmp(*argv++, before->subcommand) != 0))
                return NULL;
        while (before->assignments && *argv && strchr(*argv, '='))
                argv++;
        for (unsigned i = 0; i < before->n_words && *argv; i++)
                argv++;
        if (!*argv)
                return NULL;
        *ret_before = before->kind;
        return argv;
}

char *const *program_behind(char *const *argv) {
        ProgramBefore before;
        char *const *next;

        while ((next = program_next(argv, &before)))
                argv = next;
        return argv;
}

/* ---- What swallows ---- */

const char *program_swallows(char *const *argv) {
        static const struct {
                const char *program;
                const char *words; /* the first of them, a blank before and behind each; "": any */
        } wrappers[] = {
                { "npm", " start run run-script exec test restart " },
                { "npx", "" },
                { "yarn", " start run serve dev " },
                { "pnpm", " start run serve dev dlx " },
        };
        const char *first = NULL;

        for (size_t i = 1; argv[i] && !first; i++)
                if (argv[i][0] != '-')
                        first = argv[i];
        for (size_t i = 0; i < LENGTH_OF(wrappers); i++)
                if (first && strcmp(program_name(argv[0]), wrappers[i].program) == 0)
                        return !*wrappers[i].words || is_in_list(wrappers[i].words, first) ? wrappers[i].program : NULL;
        return NULL;
}

bool program_is_supervisor(const char *path) {
        static const char *const supervisors[] = { "s6-svscan", "runsvdir", "supervisord", "my_init", "runit-init" };
        return is_one_of(program_name(path), supervisors, LENGTH_OF(supervisors));
}

/* ---- What is soon over ---- */

/* clang-format off */
static const char brief[][10] = { /* the letters and not pointers: nothing for the dynamic linker to write */
        /* of the shell */
        ":", ".", "[", "alias", "bg", "break", "cd", "command", "continue", "echo", "eval", "exec", "exit", "export",
        "false", "fg", "hash", "jobs", "kill", "local", "printf", "pwd", "read", "readonly", "return", "set",
        "shift", "source", "test", "times", "trap", "true", "type", "ulimit", "umask", "unalias", "unset", "wait",
        "[[", "let",
        /* programs */
        "basename", "cat", "chgrp", "chmod", "chown", "cp", "curl", "cut", "date", "dirname", "expr", "find", "grep",
        "head", "hostname", "id", "install", "ln", "ls", "mkdir", "mktemp", "mv", "ps", "readlink", "rm", "rmdir",
        "sed", "seq", "sleep", "sort", "stat", "sync", "tar", "touch", "tr", "uname", "wc", "wget", "which",
        "whoami",
};
/* clang-format on */

bool program_is_brief(const char *name) {
        for (size_t i = 0; i < LENGTH_OF(brief); i++)
                if (strcmp(name, brief[i]) == 0)
                        return true;
        return false;
}
