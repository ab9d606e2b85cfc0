/* logger_journal.h - hands the journal's lines from the ring to the logger, as far as the pipe takes them.
 *
 * A part of logger_link. Each logger gets a pipe of its own and everything the ring still has; it leaves out what is in
 * the file already. */
#pragma once
#include "supervisor/archive.h"
#include <stdbool.h>
#include <stdint.h>
#include <systemd/sd-event.h>

#define LINK_JOURNAL_BUFFER 8192

typedef struct LinkJournal {
        sd_event *event;
        Archive *archive;
        ArchiveCursor cursor;
        sd_event_source *output;
        int reader;      /* not yet handed to the logger */
        int writer;      /* -1: no logger, or all was said */
        uint64_t handed; /* the last line that any logger was given */
        bool begun;      /* one of them has written a line of ours */
        bool ending, broken;
        void (*on_handed_over)(void *userdata); /* after link_journal_end(): the pipe is closed */
        void *userdata;
        size_t from, to;
        char buffer[LINK_JOURNAL_BUFFER];
} LinkJournal;

void link_journal_init(LinkJournal *journal, sd_event *event, Archive *archive);
void link_journal_done(LinkJournal *journal);

/* For a new logger: a new pipe. 0 or -errno. */
int link_journal_start(LinkJournal *journal);
void link_journal_stop(LinkJournal *journal);
/* Sends the pipe's reading end if that is still to be done. 0, -EAGAIN, or -errno. */
int link_journal_send(LinkJournal *journal, int socket);
void link_journal_pump(LinkJournal *journal);
void link_journal_end(LinkJournal *journal);
