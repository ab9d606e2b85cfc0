/* verbs.h - the command line's front door: what each verb of `endwell` is called.
 *
 * Each takes the words after the verb (argv[0] is the verb) and returns an exit code (shutdown/verdict.h, ExitCode). */
#pragma once

int verb_run(int argc, char **argv);
int verb_check(int argc, char **argv);
int verb_status(int argc, char **argv);
int verb_events(int argc, char **argv);
int verb_shutdown(int argc, char **argv);
int verb_notify(int argc, char **argv);
int verb_mark(int argc, char **argv);
int verb_help(int argc, char **argv);
