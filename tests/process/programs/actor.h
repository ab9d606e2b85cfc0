/* actor.h - a real little program that plays the services of the process tests, step by step.
 *
 * `actor STEP … , STEP … , …`: each step is a name and its words, steps stand between commas, the process stays the
 * same one throughout, and exits with 0 behind the last. What happens to it is written to $ACTOR_LOG, a JSON object a
 * line with CLOCK_MONOTONIC in microseconds, in one write(2) a line, so that many actors can share a file. */
#pragma once
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

uint64_t actor_now_usec(void);
void actor_wait_until(uint64_t instant_usec);

/* Ends the process with 99 and a line on stderr: a test's own fault, never the supervisor's. */
void actor_die(const char *what) __attribute__((noreturn));
long actor_number(const char *text);

/* Reads $ACTOR_LOG, $ENDWELL_SERVICE and $ENDWELL_INSTANCE once; what a step does to the environment later changes
 * nothing. */
void actor_log_open(void);
void actor_log_name(const char *name);
void actor_log_to(const char *path);
/* `fields` is the rest of a JSON object ("" or ",\"key\":1"). */
void actor_log(const char *event, const char *format, ...) __attribute__((format(printf, 2, 3)));
void actor_log_state(void); /* environment, descriptors, masks, session, limits */

/* Runs the steps of `words`, which `separator` stands between. */
void actor_run(char **words, const char *separator);

/* Steps: `words` begins behind the name and ends with NULL. */
void step_serve(char **words);
void step_spawn(char **words);
void step_orphans(char **words);
void step_race(char **words);
void step_bomb(char **words);
void step_notify(char **words);
void step_barrier(char **words);
void step_flood(char **words);
void step_collect(char **words);

/* Runs a program as the first process of a namespace that has nothing else in it; does not return. */
void step_nest(char **words) __attribute__((noreturn));

/* To $NOTIFY_SOCKET, or to `path` when it is not NULL; a descriptor goes along when it is not -1. 0 or -errno. */
int words_send(const char *path, const char *text, int fd);
