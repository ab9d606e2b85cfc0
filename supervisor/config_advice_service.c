/* config_advice_service.c - how the command of a service takes its end: by which signal, through which shells and
 * wrappers, in the foreground or not. Warns where that is sure to be worse than it need be. */
#include "base/file.h"
#include "base/names.h"
#include "base/take.h"
#include "base/words.h"
#include "supervisor/config_program.h"
#include "supervisor/config_values.h"
#include "supervisor/programs.h"
#include "supervisor/shell_text.h"
#include <errno.h>
#include <stdarg.h>
#include <string.h>

#define SCRIPT_MAX (64 << 10) /* a longer one ends where we do not look */

typedef struct Advice {
        Reading *reading;
        const SettingsSection *section;
        const ServiceConfig *service;
        const Setting *command; /* the ExecStart line */
        char *script;           /* the text of a script that it runs; freed */
        char **words;           /* of the last command in a shell's text; freed */
        char *const *arguments; /* what "$@" is in that script */
        bool shell_stays;
} Advice;

static void advice_done(Advice *advice) {
        free(advice->script);
        free(advice->words);
}

static void advise(Advice *advice, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void advise(Advice *advice, const char *format, ...) {
        char text[600];
        va_list arguments;

        va_start(arguments, format);
        vsnprintf(text, sizeof text, format, arguments);
        va_end(arguments);
        complaints_warn(advice->reading->complaints, advice->command->file, advice->command->line, "ExecStart: %s",
                        text);
}

/* ---- Inits ---- */

/* The command behind what stands before it; warns of an init among it. */
static char *const *skip_before(Advice *advice, char *const *argv) {
        ProgramBefore before;
        char *const *next;

        while ((next = program_next(argv, &before))) {
                if (before == PROGRAM_BEFORE_INIT)
                        advise(advice,
                               "%.40s is an init, and so is endwell: between it and the program it hides what that "
                               "leaves "
                               "behind and how it ended; write the command without it",
                               program_name(argv[0]));
                argv = next;
        }
        return argv;
}

/* ---- Shells ---- */

static bool is_shell(const char *path) {
        static const char *const shells[] = { "sh", "dash", "ash", "bash", "ksh", "zsh" };
        for (size_t i = 0; i < LENGTH_OF(shells); i++)
                if (strcmp(program_name(path), shells[i]) == 0)
                        return true;
        return false;
}

/* Of a text behind -c these become the last command by themselves, most of the time; Debian's sh does not. */
static bool shell_may_step_aside(const char *path) {
        const char *name = program_name(path);
        return strcmp(name, "sh") != 0 && strcmp(name, "dash") != 0;
}

/* What stands behind -c (or -ec, -xc); NULL: the shell reads a file. */
static const char *text_of(char *const *argv) {
        for (argv++; *argv && (*argv)[0] == '-' && (*argv)[1] != '-'; argv++)
                if (strchr(*argv, 'c') && argv[1])
                        return argv[1];
        return NULL;
}

/* The file that the shell reads, and in *ret_arguments what follows it. */
static const char *file_of(char *const *argv, char *const **ret_arguments) {
        for (argv++; *argv && (*argv)[0] == '-'; argv++)
                if ((*argv)[1] == '\0' || strchr(*argv, 'o') || strchr(*argv, 's'))
                        return NULL;
        *ret_arguments = *argv ? argv + 1 : argv;
        return *argv;
}

/* Whether the first line names a shell: #!/bin/sh -e, #!/usr/bin/env bash. */
static bool is_shell_script(const char *text) {
        char line[128], *words[3];
        size_t n = 0;

        if (strncmp(text, "#!", 2) != 0)
                return false;
        snprintf(line, sizeof line, "%.*s", (int)strcspn(text + 2, "\n"), text + 2);
        for (char *rest = line, *word; n < LENGTH_OF(words) && (word = strsep(&rest, " \t\r"));)
                if (*word)
                        words[n++] = word;
        if (n > 1 && strcmp(program_name(words[0]), "env") == 0)
                return is_shell(words[1]);
        return n > 0 && is_shell(words[0]);
}

/* A shell looks for its file in its directory, execvp(3) for a program in PATH. */
static int path_of(const Advice *advice, const char *file, bool is_program, char **ret) {
        const ServiceConfig *service = advice->service;
        const char *directory = service->working_directory ? service->working_directory : ".";

        if (is_program || strchr(file, '/'))
                return program_path(file,
                                    &(ProgramPlace){ .environment = service->environment,
                                                     .inheritance = service->inheritance,
                                                     .directory = service->working_directory },
                                    ret);
        return asprintf(ret, "%s/%s", directory, file) < 0 ? -ENOMEM : 0;
}

/* Only while nothing waits for us, and then without waiting for anything: file_read() takes regular files only. What
 * cannot be read is good. */
static bool read_script(Advice *advice, const char *file, bool is_program) {
        _cleanup_(freep) char *path = NULL;
        size_t length;

        if (!advice->reading->thorough)
                return false;
        int r = path_of(advice, file, is_program, &path);
        if (r == 0)
                r = file_read(path, SCRIPT_MAX, &advice->script, &length);
        if (r == -ENOMEM)
                advice->reading->error = r;
        return r == 0 && strlen(advice->script) == length;
}

static void warn_of_shell(Advice *advice, const char *program, const char *script) {
        char text[SIGNAL_TEXT_MAX];

        advice->shell_stays = true;
        advise(advice,
               "%s%.80s%sstays between endwell and %.60s: %s ends the shell alone, what it runs is asked only then, as "
               "a "
               "left-over, by SIGTERM whatever KillSignal says, and its exit code is lost; write exec before %.60s%s",
               script ? "the shell of " : "the shell ", script ? script : "", script ? " " : "", program,
               signal_to_string(advice->service->kill_signal, text), program, script ? " in its last line" : "");
}

/* The command that the shell becomes or runs last; NULL: nobody knows. */
static char *const *behind_text(Advice *advice, const char *text, bool may_step_aside, const char *script) {
        const char *command, *problem;
        size_t length, n = 0;
        ShellEnd end = shell_text_end(text, strlen(text), &command, &length);

        if (end == SHELL_END_UNSURE)
                return NULL;
        _cleanup_(freep) char *copy = strndup(command, length);
        int r = copy ? words_split(copy, &advice->words, &n, &problem) : -ENOMEM;
        if (r == -ENOMEM)
                advice->reading->error = r;
        if (r < 0 || n == 0)
                return NULL;
        bool arguments = strstr(advice->words[0], "$@") || strstr(advice->words[0], "$*");
        if (end == SHELL_END_RUNS && may_step_aside)
                return NULL;
        if (end == SHELL_END_RUNS)
                warn_of_shell(advice, arguments ? "what it is given" : advice->words[0], script);
        if (!arguments)
                return advice->words;
        return advice->arguments && *advice->arguments ? advice->arguments : NULL;
}

static char *const *behind_shell(Advice *advice, char *const *argv) {
        const char *text = text_of(argv);
        const char *file = text ? NULL : file_of(argv, &advice->arguments);

        if (text)
                return behind_text(advice, text, shell_may_step_aside(argv[0]), NULL);
        return file && read_script(advice, file, false) ? behind_text(advice, advice->script, false, file) : NULL;
}

/* The command that does the work; NULL: nobody knows. */
static char *const *find_program(Advice *advice) {
        char *const *argv = skip_before(advice, advice->service->argv);
        char *const *found = argv;

        if (is_shell(argv[0])) {
                found = behind_shell(advice, argv);
        } else if (read_script(advice, argv[0], true) && is_shell_script(advice->script)) {
                advice->arguments = argv + 1;
                found = behind_text(advice, advice->script, false, argv[0]);
        }
        return found && !advice->shell_stays ? skip_before(advice, found) : found;
}

/* ---- The program ---- */

static void advise_swallower(Advice *advice, char *const *argv) {
        const char *wrapper = program_swallows(argv);
        if (wrapper)
                advise(advice,
                       "%s and its shell stay between endwell and the program, and whether they pass the signal on, "
                       "wait, "
                       "and tell the exit code is up to their version; write the command that the script runs, as in "
                       "ExecStart=node server.js",
                       wrapper);
}

static void advise_supervisor(Advice *advice, char *const *argv) {
        if (program_is_supervisor(argv[0]))
                advise(advice,
                       "%.40s starts and stops processes by itself: endwell cannot keep their order, nor see whether "
                       "they "
                       "are ready, failed or done; write a [Service] for each",
                       program_name(argv[0]));
}

static void advise_signal(Advice *advice, char *const *argv) {
        const KnownProgram *program = program_known(argv[0]);
        char text[SIGNAL_TEXT_MAX];

        if (program && program->graceful_signal > 0 && !settings_get(advice->section, "KillSignal"))
                advise(advice, "%.40s ends well on %s, so write KillSignal=%s: %s", program_name(argv[0]),
                       signal_to_string(program->graceful_signal, text), text, program->why);
}

/* -1: it cannot be read. */
static int file_has(const char *path, const char *text) {
        _cleanup_(freep) char *content = NULL;
        size_t length;

        if (file_read(path, SCRIPT_MAX, &content, &length) < 0)
                return -1;
        return strstr(content, text) != NULL;
}

static void advise_daemon(Advice *advice, char *const *argv) {
        ProgramDaemon daemon;
        int says_otherwise = 0;

        if (advice->service->type != SERVICE_SIMPLE || !program_is_daemon(argv, &daemon))
                return;
        if (daemon.config)
                says_otherwise = advice->reading->thorough ? file_has(daemon.config, daemon.config_has) : 1;
        if (says_otherwise == 1)
                return;
        advise(advice,
               "%.40s goes to the background, and with Type=simple the end of its first process is its end: "
               "%s%s%.120s%s",
               daemon.name, daemon.instead, says_otherwise < 0 ? ", unless " : "",
               says_otherwise < 0 ? daemon.config : "",
               says_otherwise < 0 ? " (which cannot be read here) says so" : "");
}

static void advise_kill_mode(Advice *advice, char *const *argv) {
        const Setting *setting = settings_get(advice->section, "KillMode");
        const KnownProgram *program = argv ? program_known(argv[0]) : NULL;
        bool has_children = advice->shell_stays || (program && program->has_children);

        if (setting && advice->service->kill_mode == KILL_PROCESS && has_children)
                value_warn(
                        advice->reading, setting,
                        "%s has processes of its own, and they are neither asked nor waited for: they die by SIGKILL "
                        "when endwell is gone (exit code 84); leave it out",
                        advice->service->name);
}

void config_advise_service(Reading *reading, size_t index) {
        _cleanup_(advice_done) Advice advice = { .reading = reading,
                                                 .section = reading->services[index],
                                                 .service = &reading->config->services[index] };

        advice.command = settings_get(advice.section, "ExecStart");
        if (advice.service->type == SERVICE_ONESHOT) /* it ends by itself */
                return;
        char *const *argv = find_program(&advice);
        advise_kill_mode(&advice, argv);
        if (!argv || advice.shell_stays || reading->error < 0)
                return;
        advise_swallower(&advice, argv);
        advise_supervisor(&advice, argv);
        advise_signal(&advice, argv);
        advise_daemon(&advice, argv);
}
