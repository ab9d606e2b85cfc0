/* command.c - see command.h. */
#include "worker/command.h"
#include "base/take.h"
#include "worker/sink.h"
#include "worker/spout.h"
#include "worker/tail.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#define LINE_EXTRA   (64 * 1024)   /* a line has an id and a generation besides its result */
#define BACKLOG_MAX  (1024 * 1024) /* answers that a stream does not read: then it is not read either */
#define BUFFER_LEAST (16 * 1024)
#define NAMES_MAX    128

struct Command {
        sd_event *event;
        CommandOptions options;
        CommandCalls calls;
        Hand *hand;
        Spout *output, *errors;
        Sink *input;
        char *bytes; /* of stdout: a result, or the lines that were not told yet */
        size_t length, size;
        bool too_long, paused, drowning, reading, deaf;
        bool is_gone; /* and what it wrote is not read to its end yet */
        HandGone gone;
        size_t unread;
        char names[NAMES_MAX];
        Tail tail;
        char tail_text[TAIL_MAX + 1];
};

/* ---- What it writes ---- */

static size_t limit(const Command *command) {
        return command->options.result_limit + (command->options.stream ? LINE_EXTRA : 0);
}

static bool make_room(Command *command, size_t length) {
        size_t need = command->length + length, size = command->size > 0 ? command->size : BUFFER_LEAST;
        while (size < need)
                size *= 2;
        if (size == command->size)
                return true;
        char *more = realloc(command->bytes, size);
        if (!more)
                return false;
        command->bytes = more;
        command->size = size;
        return true;
}

/* A result that is too long is read to its end and dropped: a command that waited for us would never end. */
static void gather(Command *command, const char *bytes, size_t length) {
        if (command->too_long)
                return;
        if (command->length + length > limit(command) || !make_room(command, length)) {
                command->too_long = true;
                return;
        }
        memcpy(command->bytes + command->length, bytes, length);
        command->length += length;
}

/* One line at a time, for each may pause us or end the command. */
static void tell_lines(Command *command) {
        size_t told = 0;

        if (command->reading)
                return;
        command->reading = true;
        while (!command->paused && !command->deaf && told < command->length) {
                const char *line = command->bytes + told, *end = memchr(line, '\n', command->length - told);
                if (!end)
                        break;
                told += (size_t)(end - line) + 1;
                command->calls.line(command->calls.userdata, line, (size_t)(end - line));
        }
        command->reading = false;
        if (told > 0)
                memmove(command->bytes, command->bytes + told, command->length - told);
        command->length -= told;
}

static void take_output(void *userdata, const char *bytes, size_t length) {
        Command *command = userdata;

        if (length == 0)
                return; /* half a line at the end is no line */
        gather(command, bytes, length);
        if (!command->options.stream || command->deaf)
                return;
        tell_lines(command);
        if (!command->too_long || command->deaf)
                return;
        command_distrust(command);
        command->calls.broke(command->calls.userdata, "a line is longer than a result may be");
}

static void take_errors(void *userdata, const char *bytes, size_t length) {
        Command *command = userdata;
        tail_add(&command->tail, bytes, length);
        echo_pass(command->options.echo, bytes, length);
}

static void apply_pause(Command *command) {
        if (command->output)
                spout_pause(command->output, command->paused || command->drowning || command->deaf);
}

static void on_eased(void *userdata) {
        Command *command = userdata;
        command->drowning = false;
        apply_pause(command);
}

int command_write(Command *command, const char *bytes, size_t length) {
        if (!command->input)
                return -EPIPE;
        int r = sink_write(command->input, bytes, length);
        command->drowning = sink_kept(command->input) > BACKLOG_MAX;
        apply_pause(command);
        return r;
}

void command_end_input(Command *command) {
        command->input = sink_free(command->input);
}

/* ---- Its life ---- */

static void close_pipes(Command *command) {
        command->output = spout_free(command->output);
        command->errors = spout_free(command->errors);
        command->input = sink_free(command->input);
}

/* Its last lines count, and one of them may have to wait for an answer to the one before. */
static void end_when_read(Command *command) {
        if (!command->is_gone || (command->paused && !command->deaf))
                return;
        if (!command->deaf)
                spout_drain(command->output);
        if (command->paused && !command->deaf)
                return;
        spout_drain(command->errors);
        command->unread = command->input ? sink_unread(command->input) : 0;
        close_pipes(command);
        command->is_gone = false;
        command->calls.gone(command->calls.userdata, &command->gone);
}

static void on_gone(void *userdata, const HandGone *gone) {
        Command *command = userdata;

        command->gone = *gone;
        command->gone.names = command->names;
        snprintf(command->names, sizeof command->names, "%s", gone->names);
        command->is_gone = true;
        command->drowning = false;
        apply_pause(command);
        end_when_read(command);
}

void command_pause(Command *command, bool paused) {
        command->paused = paused;
        if (!paused)
                tell_lines(command);
        apply_pause(command);
        end_when_read(command);
}

static void on_stuck(void *userdata, unsigned left) {
        const Command *command = userdata;
        command->calls.stuck(command->calls.userdata, left);
}

static void forget_output(Command *command) {
        command->length = 0;
        command->too_long = command->paused = command->drowning = command->is_gone = command->deaf = false;
        if (command->size <= LINE_EXTRA)
                return;
        freep(&command->bytes); /* one large result must not be paid for until the worker ends */
        command->bytes = NULL;
        command->size = 0;
}

static int open_pipes(Command *command, int ret_theirs[static 3]) {
        int r = spout_new(&command->output, command->event, take_output, command, &ret_theirs[1]);
        if (r >= 0)
                r = spout_new(&command->errors, command->event, take_errors, command, &ret_theirs[2]);
        if (r >= 0 && command->options.stream)
                r = sink_new(&command->input, command->event, on_eased, command, &ret_theirs[0]);
        return r;
}

int command_start(Command *command, const char *words, int input_fd) {
        int theirs[3] = { -1, -1, -1 };

        forget_output(command);
        command_forget_tail(command);
        int r = open_pipes(command, theirs);
        const int fds[3] = { command->options.stream ? theirs[0] : input_fd, theirs[1], theirs[2] };
        if (r >= 0)
                r = hand_start(command->hand, words, fds);
        for (int i = 0; i < 3; i++)
                close_fd(theirs[i]);
        if (r < 0)
                close_pipes(command);
        return r;
}

void command_distrust(Command *command) {
        command->deaf = true;
        apply_pause(command);
}

void command_ask(Command *command) {
        hand_ask(command->hand);
}

void command_kill(Command *command) {
        hand_kill(command->hand);
}

bool command_is_up(const Command *command) {
        return command->is_gone || hand_is_busy(command->hand);
}

const char *command_result(const Command *command, size_t *ret_length) {
        *ret_length = command->length;
        return command->length > 0 ? command->bytes : "";
}

bool command_result_is_too_long(const Command *command) {
        return command->too_long;
}

size_t command_unread(const Command *command) {
        return command->unread;
}

const char *command_tail(Command *command) {
        return tail_text(&command->tail, command->tail_text);
}

void command_forget_tail(Command *command) {
        command->tail.length = 0;
}

pid_t command_keeper(const Command *command) {
        return hand_pid(command->hand);
}

void command_note_dead(Command *command, pid_t pid) {
        hand_note_dead(command->hand, pid);
}

int command_new(Command **ret, sd_event *event, const CommandOptions *options, const CommandCalls *calls) {
        Command *command = calloc(1, sizeof *command);
        if (!command)
                return -ENOMEM;
        *command = (Command){ .event = sd_event_ref(event), .options = *options, .calls = *calls };
        const HandCalls hand_calls = { .gone = on_gone, .stuck = on_stuck, .userdata = command };
        int r = hand_new(&command->hand, event, options->argv, &hand_calls);
        if (r < 0) {
                command_free(command);
                return r;
        }
        *ret = command;
        return 0;
}

Command *command_free(Command *command) {
        if (!command)
                return NULL;
        close_pipes(command);
        command->hand = hand_free(command->hand);
        sd_event_unref(command->event);
        free(command->bytes);
        free(command);
        return NULL;
}
