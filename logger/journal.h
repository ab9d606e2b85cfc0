/* journal.h - PID 1's journal: from the pipe it comes through into the file that PID 1 must not touch.
 *
 * While the file cannot be written the lines wait here, in the pipe, and in PID 1's ring, all of them bounded; it is
 * tried again every second. A line is written once, also when a logger before this one wrote it and died. */
#pragma once
#include <stdbool.h>
#include <stdint.h>
#include <systemd/sd-event.h>

typedef struct Journal Journal;

typedef struct JournalPlan {
        const char *path; /* copied */
        uint64_t max_size;
        /* False: it could not be said, say it again later. */
        bool (*on_error)(void *userdata, int error); /* errno, told when it changes; 0: lines are written again */
        bool (*on_begun)(void *userdata);            /* the first line is in the file */
        void (*on_end)(void *userdata);              /* PID 1 has closed the pipe */
        void *userdata;
} JournalPlan;

int journal_new(Journal **ret, sd_event *event, const JournalPlan *plan);
Journal *journal_free(Journal *journal);

/* Takes over the reading, non-blocking end of the pipe. `handed`: the last line that was handed to an earlier logger,
 * which may have written it and those before it; 0: there was none. 0 or -errno, the descriptor then being closed. */
int journal_attach(Journal *journal, int pipe, uint64_t handed);
void journal_reopen(Journal *journal);
/* Takes what is in the pipe, writes it, and syncs the file. 0 or the last error (-errno), and then lines are lost. */
int journal_finish(Journal *journal);
