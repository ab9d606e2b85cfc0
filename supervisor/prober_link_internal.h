/* prober_link_internal.h - what prober_link.c (the prober's life) and prober_talk.c (what is said) share; for nobody
 * else. */
#pragma once
#include "supervisor/prober_link.h"
#include "supervisor/prober_queue.h"

struct ProberLink {
        sd_event *event;
        ProberPlan plan;
        char *program;
        ProberQueue queue;
        sd_event_source *talk, *birth, *starter, *teller, *patience;
        int socket, failure_fd;
        pid_t pid;
        usec_t started_usec; /* 0: never was */
        unsigned failures;
        bool given_up, finishing;
};

void prober_say(const ProberLink *link, LogLevel level, const char *format, ...) __attribute__((format(printf, 3, 4)));
void prober_answer_all(ProberLink *link, QueuePlace place, const char *detail); /* as unknown */
bool prober_can_do(const ProberRequest *what);

/* Adds the source that hears it. 0 or -errno. */
int prober_listen(ProberLink *link);
/* Sends what waits, as far as the socket takes it; the rest when it can be written. */
void prober_send_waiting(ProberLink *link);
void prober_send_cancel(const ProberLink *link, uint64_t id);
/* Hears what a prober that has exited had still said. */
void prober_hear_last_words(ProberLink *link);
/* From now on it must say something within PROBER_PATIENCE_USEC. */
void prober_be_patient(ProberLink *link);
