/* hand.h - the worker's side of endwell-keeper: starts it, has it run one command at a time, and hears how that ended.
 *
 * A keeper that dies takes its command with it; the next command gets a new one. Source: worker/keeper.h. */
#pragma once
#include "worker/outcome.h"
#include <stdbool.h>
#include <sys/types.h>
#include <systemd/sd-event.h>

typedef struct Hand Hand;

typedef struct HandGone {
        OutcomeHow how;
        int status;
        unsigned left;     /* processes that the command had left behind, and that were killed */
        const char *names; /* of the first of them */
} HandGone;

typedef struct HandCalls {
        void (*gone)(void *userdata, const HandGone *gone); /* once for each hand_start() that answered 0 */
        void (*stuck)(void *userdata, unsigned left);       /* killed, and still not gone */
        void *userdata;
} HandCalls;

/* `argv` is borrowed. Starts no process yet. */
int hand_new(Hand **ret, sd_event *event, char *const *argv, const HandCalls *calls);
/* The keeper kills what is left of the command by itself. Not from within a call. */
Hand *hand_free(Hand *hand);

/* `words`: lines K=V for the environment, at most KEEPER_WORDS_MAX / 2 bytes; `fds` are duplicated. 0 or -errno. */
int hand_start(Hand *hand, const char *words, const int fds[static 3]);
void hand_ask(Hand *hand);
void hand_kill(Hand *hand);
bool hand_is_busy(const Hand *hand);
/* A child of ours was collected. */
void hand_note_dead(Hand *hand, pid_t pid);
pid_t hand_pid(const Hand *hand); /* of the keeper; 0: there is none */
