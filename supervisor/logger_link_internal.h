/* logger_link_internal.h - what logger_link.c (the logger's life) and logger_talk.c (what is said) share; for nobody
 * else. */
#pragma once
#include "supervisor/helper.h"
#include "supervisor/logger_journal.h"
#include "supervisor/logger_link.h"
#include "supervisor/logger_streams.h"

struct LoggerLink {
        LoggerPlan plan;
        Helper helper;
        LinkStreams streams;
        LinkJournal journal;
        sd_event_source *restart;
        bool reopen_unsent, settle_unsent;
        uint64_t settling; /* number of the question that is open; 0: none */
        uint64_t questions;
};

/* Tells the logger everything it does not know: now, or when the socket can be written, or the next logger. */
void link_send_or_wait(LoggerLink *link);
void link_on_message(void *link, const Packet *packet);
void link_call_settled(LoggerLink *link);
