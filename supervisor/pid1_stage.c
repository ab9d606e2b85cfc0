/* pid1_stage.c - what the crew asks of the world, carried out with real processes. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/kin.h"
#include "base/log.h"
#include "shutdown/sentence.h"
#include "shutdown/verdict.h"
#include "supervisor/child.h"
#include "supervisor/pid1.h"
#include "supervisor/termination.h"
#include "supervisor/upward.h"

/* It stands still while the foreground program and we with it are stopped: no limit goes by then. */
usec_t pid1_now(const Pid1 *pid1) {
        return usec_sub(clock_now_usec(), pid1->away_usec);
}

static usec_t stage_now(void *self) {
        return pid1_now(self);
}

/* xorshift128+: for jitter and names, not for secrets. */
static uint32_t stage_random(void *self) {
        Pid1 *pid1 = self;
        uint64_t a = pid1->random_state[0], b = pid1->random_state[1];
        pid1->random_state[0] = b;
        a ^= a << 23;
        pid1->random_state[1] = a ^ b ^ (a >> 17) ^ (b >> 26);
        return (uint32_t)((pid1->random_state[1] + b) >> 32);
}

/* Single-command mode asks with the signal that arrived, and with -g the whole group. */
static void ask_command(Pid1 *pid1, uint32_t member, int signal_number, const char *reason) {
        pid_t pid = crew_view(pid1->crew, member).pid;
        int number = pid1->ending_signal > 0 ? pid1->ending_signal : signal_number;
        if (pid <= 0)
                return;
        if (!pid1->passed_on &&
            (pid1->config->ask_group ? child_signal_group(pid, number) : child_signal(pid, number)) < 0)
                return; /* it ended in this very moment */
        pid1->passed_on = false;
        (void)child_signal(pid, SIGCONT);
        crew_told(pid1->crew, member, pid, NULL, number, reason);
}

static void stage_signal(void *self, uint32_t member, Whom whom, int signal_number, const char *reason) {
        Pid1 *pid1 = self;
        bool by_person = strcmp(reason, "request") == 0;
        if (pid1->config->single && whom == WHOM_MAIN && signal_number != SIGKILL && !by_person)
                ask_command(pid1, member, signal_number, reason);
        else
                survey_signal(pid1->survey, member, whom, signal_number, reason);
}

static void stage_signal_hook(void *self, uint32_t run, int signal_number) {
        Pid1 *pid1 = self;
        pid_t pid = pid1->hook_pids[run];
        if (crew_hook_view(pid1->crew, run).hook->url)
                pid1_call_off_hook(pid1, run);
        else if (pid > 0)
                (void)child_signal_group(pid, signal_number); /* gone meanwhile: its end is told next */
}

static void stage_survey(void *self) {
        pid1_survey(self);
}

/* A drop-in for tini says nothing while all is well, and one line when the command could not run, had to be killed, or
 * a fault is ours. The command's own code needs no explanation. */
static LogLevel level_for_command(const Event *event) {
        LogLevel level = sentence_level(event);
        switch ((int)event->kind) {
        case EVENT_SERVICE_EXITED: return event->error ? LOG_LEVEL_ERR : LOG_LEVEL_INFO;
        case EVENT_SERVICE_GAVE_UP:
        case EVENT_ENDING_FINISHED: return LOG_LEVEL_INFO;
        default: break;
        }
        return level == LOG_LEVEL_NOTICE ? LOG_LEVEL_INFO : level;
}

void pid1_record(Pid1 *pid1, Event *event) {
        char line[EVENT_LINE_MAX], sentence[SENTENCE_MAX];
        event->seq = ++pid1->seq;
        event->mono_usec = clock_now_usec();
        event->wall_usec = clock_wall_usec();
        size_t length = event_write(event, line, sizeof line);
        archive_append(pid1->archive, event->seq, line, length);
        LogLevel level = pid1->config->single ? level_for_command(event) : sentence_level(event);
        if (log_wants(level))
                log_line(level, "%s", sentence_write(event, sentence));
        upward_tell(event);
        pid1_rearm_upward(pid1);
        (void)sd_event_source_set_enabled(pid1->pump, SD_EVENT_ONESHOT);
}

static void stage_record(void *self, const Event *event) {
        Event filled = *event;
        if (filled.kind == EVENT_SUPERVISOR_STARTED)
                filled.pid = getpid();
        if (filled.kind == EVENT_ENDING_FINISHED)
                pid1_say_lost_lines(self);
        pid1_record(self, &filled);
        if (filled.kind == EVENT_ENDING_STARTED)
                pid1_rest_helpers(self);
}

static bool stage_withdraw(void *self) {
        Pid1 *pid1 = self;
        return pid1->control && control_has_gateway(pid1->control);
}

/* The last line is written; the logger has what is left of the deadline to write it down. */
static void stage_finish(void *self, int code, const char *explanation) {
        Pid1 *pid1 = self;
        pid1->finished = true;
        pid1->code = code;
        int r = termination_write(pid1->config->termination_message_path, code, explanation);
        if (r < 0)
                log_warning("could not write the termination message: %s", strerrordesc_np(-r));
        if (!pid1_await_helpers(pid1))
                (void)sd_event_exit(pid1->event, code);
}

const Stage pid1_stage = {
        .now = stage_now,
        .random = stage_random,
        .spawn = pid1_spawn,
        .spawn_hook = pid1_spawn_hook,
        .signal = stage_signal,
        .signal_hook = stage_signal_hook,
        .survey = stage_survey,
        .probe = pid1_probe,
        .call_off_probe = pid1_call_off_probe,
        .close_sockets = pid1_close_sockets,
        .drop_store = pid1_drop_store,
        .record = stage_record,
        .withdraw = stage_withdraw,
        .finish = stage_finish,
};
