/* programs.h - knows well-known programs by their commands: what ends them well, what lets them stay in the foreground,
 * and what only stands before them.
 *
 * Pure. A program is known by the name of its file, in whatever folder, with or without a version behind it
 * (php-fpm8.2). What is not known is good. */
#pragma once
#include <stdbool.h>
#include <stddef.h>

typedef struct KnownProgram {
        const char *name;
        int graceful_signal; /* 0: SIGTERM, as for most */
        const char *why;     /* what it does on SIGTERM instead; NULL with 0 */
        int stop_signal;     /* STOPSIGNAL of its own images; 0: none */
        bool has_children;   /* processes of its own do the work */
} KnownProgram;

/* NULL: not known. */
const KnownProgram *program_known(const char *path);

/* How a word of a command stands before another command, which is the rest of its words. */
typedef enum ProgramBefore {
        PROGRAM_BEFORE_NOTHING,
        PROGRAM_BEFORE_EXECS, /* becomes it: env, nice, gosu */
        PROGRAM_BEFORE_INIT,  /* an init of its own, and stays: tini */
        _PROGRAM_BEFORE_MAX
} ProgramBefore;

/* The command behind the first program, when there is one and it can be told for sure; else NULL, and nothing. */
char *const *program_next(char *const *argv, ProgramBefore *ret_before);
/* The command behind all of them; `argv` itself when nothing stands before it. */
char *const *program_behind(char *const *argv);

/* The name of a program that stays before the one that it runs, and may keep signals to itself; NULL: none is known. */
const char *program_swallows(char *const *argv);
/* One that starts and stops others by itself, as endwell does. */
bool program_is_supervisor(const char *path);

/* What makes this command go to the background at once, and what to write instead; false: it stays, or nobody knows. */
typedef struct ProgramDaemon {
        const char *name, *instead;
        const char *config;     /* the file that may say otherwise; NULL: none does */
        const char *config_has; /* what it says then */
} ProgramDaemon;

bool program_is_daemon(char *const *argv, ProgramDaemon *ret);

/* A word of a shell that is no program, or a program that is soon over: nobody waits for its end. */
bool program_is_brief(const char *name);
const char *program_name(const char *path); /* behind the last slash */
/* Whether the file that is named so is this program, whatever its version. */
bool program_is(const char *path, const char *program);
