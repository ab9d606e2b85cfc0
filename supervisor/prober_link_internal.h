/* prober_link_internal.h - what prober_link.c (the prober's life) and prober_talk.c (what is said) share; for nobody
 * else. */
#pragma once
#include "supervisor/helper.h"
#include "supervisor/prober_link.h"
#include "supervisor/prober_queue.h"

struct ProberLink {
        ProberPlan plan;
        Helper helper;
        ProberQueue queue;
        sd_event_source *starter, *teller, *patience;
};

void prober_answer_all(ProberLink *link, QueuePlace place, const char *detail); /* as unknown */
bool prober_can_do(const ProberRequest *what);

void prober_on_message(void *link, const Packet *packet);
/* Sends what waits, as far as the socket takes it; the rest when it can be written. */
void prober_send_waiting(ProberLink *link);
void prober_send_cancel(const ProberLink *link, uint64_t id);
/* From now on it must say something within PROBER_PATIENCE_USEC. */
void prober_be_patient(ProberLink *link);
