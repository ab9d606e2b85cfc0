/* verbs.h - the command line's front door: what each verb of `endwell` is called.
 *
 * Each takes the words after the verb (argv[0] is the verb) and returns an exit code (shutdown/verdict.h, ExitCode). */
#pragma once

int verb_run(int argc, char **argv);
int verb_check(int argc, char **argv);
int verb_status(int argc, char **argv);
int verb_events(int argc, char **argv);
int verb_logs(int argc, char **argv);
int verb_shutdown(int argc, char **argv);
int verb_notify(int argc, char **argv);
int verb_mark(int argc, char **argv);
int verb_steer(int argc, char **argv); /* start, stop, restart */
int verb_signal(int argc, char **argv);
int verb_wait(int argc, char **argv);
int verb_health(int argc, char **argv);
int verb_hook(int argc, char **argv);
int verb_help(int argc, char **argv);
int verb_program(int argc, char **argv); /* runs endwell-VERB in its place */

typedef struct Verb {
        const char *name;
        int (*run)(int argc, char **argv);
        const char *summary; /* one line of `endwell help` */
} Verb;

extern const Verb verbs[]; /* those of this version, in the order of the help; a NULL name ends it */

/* NULL when there is none; then *ret_nearest is the one that was probably meant, or NULL. */
const Verb *verb_find(const char *name, const char **ret_nearest);
