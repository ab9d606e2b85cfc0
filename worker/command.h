/* command.h - the command of one slot: starts it through its keeper, gathers what it writes, and says when it is gone.
 *
 * A command a job: what it writes to stdout is kept up to a limit. A stream: its stdout is taken line by line, at most
 * `result_limit` and a little more a line, and lines go to its stdin. Of stderr the tail is kept, and the bytes are
 * passed on to ours, as far as that takes them. Its end is told when nothing of it is left and all it wrote was read.
 */
#pragma once
#include "worker/echo.h"
#include "worker/hand.h"
#include <stdbool.h>
#include <stddef.h>

typedef struct Command Command;

typedef struct CommandCalls {
        void (*line)(void *userdata, const char *line, size_t length); /* of a stream; it may pause within */
        void (*broke)(void *userdata, const char *problem);            /* of a stream: a line that is too long */
        void (*gone)(void *userdata, const HandGone *gone);
        void (*stuck)(void *userdata, unsigned left);
        void *userdata;
} CommandCalls;

typedef struct CommandOptions {
        char *const *argv; /* borrowed */
        bool stream;
        size_t result_limit;
        const Echo *echo; /* where its stderr goes on to; borrowed */
} CommandOptions;

int command_new(Command **ret, sd_event *event, const CommandOptions *options, const CommandCalls *calls);
Command *command_free(Command *command);

/* `input_fd` is its stdin, duplicated; a stream has a pipe of ours instead. 0 or -errno. */
int command_start(Command *command, const char *words, int input_fd);
int command_write(Command *command, const char *bytes, size_t length); /* 0, -EPIPE, -ENOMEM */
void command_end_input(Command *command);
void command_pause(Command *command, bool paused); /* no line is told; who writes on has to wait */
void command_distrust(Command *command);           /* what it says from now on is not heard */
void command_ask(Command *command);
void command_kill(Command *command);
bool command_is_up(const Command *command);

/* What it wrote; valid until its next start. */
const char *command_result(const Command *command, size_t *ret_length);
bool command_result_is_too_long(const Command *command);
size_t command_unread(
        const Command *command);            /* of a stream that is gone: bytes that were written to it and not read */
const char *command_tail(Command *command); /* of stderr, made fit to be stored */
void command_forget_tail(Command *command);
pid_t command_keeper(const Command *command);
void command_note_dead(Command *command, pid_t pid); /* a child of ours was collected */
