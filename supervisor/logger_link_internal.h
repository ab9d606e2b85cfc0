/* logger_link_internal.h - what logger_link.c (the logger's life) and logger_talk.c (what is said) share; for nobody
 * else. */
#pragma once
#include "supervisor/logger_journal.h"
#include "supervisor/logger_link.h"
#include "supervisor/logger_streams.h"

struct LoggerLink {
        sd_event *event;
        LoggerPlan plan;
        char *program;
        LinkStreams streams;
        LinkJournal journal;
        sd_event_source *talk, *birth, *restart;
        int socket, failure_fd;
        pid_t pid;
        usec_t started;
        unsigned failures;
        bool given_up, finishing;
        bool reopen_unsent, settle_unsent;
        uint64_t settling; /* number of the question that is open; 0: none */
        uint64_t questions;
};

void link_say(const LoggerLink *link, LogLevel level, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* Tells the logger everything it does not know: now, or when the socket can be written, or the next logger. */
void link_send_or_wait(LoggerLink *link);
/* Adds the source that hears it. 0 or -errno. */
int link_listen(LoggerLink *link);
/* Hears what a logger that has exited had still said. */
void link_hear_last_words(LoggerLink *link);
void link_call_settled(LoggerLink *link);
