/* journal.c - reads whole lines of the journal and sees that each gets into the file. */
#include "logger/journal.h"
#include "base/log.h"
#include "base/take.h"
#include "base/usec.h"
#include "logger/journal_file.h"
#include <errno.h>
#include <string.h>
#include <sys/epoll.h>

#define BUFFER_SIZE (64 * 1024)
#define RETRY_USEC  USEC_PER_SEC

struct Journal {
        sd_event *event;
        sd_event_source *input, *retry;
        JournalPlan plan;
        JournalFile file;
        char *path;
        int pipe;
        bool begun, ended;
        int error;           /* as told; errno */
        uint64_t skip_until; /* lines up to this number are in the file already */
        size_t length;
        char buffer[BUFFER_SIZE];
};

static int on_retry(sd_event_source *source, uint64_t usec, void *userdata);

static void retry_later(Journal *journal) {
        journal->retry = sd_event_source_disable_unref(journal->retry);
        if (sd_event_add_time_relative(journal->event, &journal->retry, CLOCK_MONOTONIC, RETRY_USEC, 0, on_retry,
                                       journal) < 0)
                /* No memory: the next lines are the next try. */
                sd_event_source_set_enabled(journal->input, SD_EVENT_ON);
}

static void drop_front(Journal *journal, size_t length) {
        memmove(journal->buffer, journal->buffer + length, journal->length - length);
        journal->length -= length;
}

/* Passes over what a logger before this one has written. */
static void skip_written(Journal *journal) {
        size_t skipped = 0;
        const char *newline;

        while (journal->skip_until > 0 &&
               (newline = memchr(journal->buffer + skipped, '\n', journal->length - skipped))) {
                size_t line = (size_t)(newline - (journal->buffer + skipped)) + 1;
                if (journal_line_seq(journal->buffer + skipped, line) > journal->skip_until)
                        journal->skip_until = 0;
                else
                        skipped += line;
        }
        drop_front(journal, skipped);
}

static size_t whole_lines(const Journal *journal) {
        const char *newline = journal->length > 0 ? memrchr(journal->buffer, '\n', journal->length) : NULL;

        if (newline)
                return (size_t)(newline - journal->buffer) + 1;
        /* No line of PID 1's is as long as the buffer; should there be one, it must not stop the rest. */
        return journal->length == BUFFER_SIZE ? BUFFER_SIZE : 0;
}

static void tell_error(Journal *journal, int error) {
        if (journal->error != error && journal->plan.on_error(journal->plan.userdata, error))
                journal->error = error;
}

/* 0 when every whole line that was read is in the file; or -errno. */
static int write_lines(Journal *journal) {
        int r;

        skip_written(journal);
        size_t length = whole_lines(journal);
        if (length == 0)
                return 0;
        size_t done = journal_file_append(&journal->file, journal->buffer, length, &r);
        drop_front(journal, done);
        tell_error(journal, -r);
        if (done > 0 && !journal->begun)
                journal->begun = journal->plan.on_begun(journal->plan.userdata);
        return r;
}

/* Bytes, 0 at the end, or -errno. */
static ssize_t read_some(Journal *journal) {
        ssize_t n;

        do
                n = read(journal->pipe, journal->buffer + journal->length, BUFFER_SIZE - journal->length);
        while (n < 0 && errno == EINTR);
        if (n < 0)
                return -errno;
        journal->length += (size_t)n;
        journal->ended = n == 0;
        return n;
}

/* While lines wait for the disk nothing more is read: PID 1's ring keeps it. */
static void try_to_write(Journal *journal) {
        bool fine = write_lines(journal) == 0;

        sd_event_source_set_enabled(journal->input, fine && !journal->ended ? SD_EVENT_ON : SD_EVENT_OFF);
        if (!fine)
                retry_later(journal);
}

static int on_readable(sd_event_source *source, int fd, uint32_t revents, void *userdata) {
        Journal *journal = userdata;

        (void)source, (void)fd, (void)revents;
        if (read_some(journal) == -EAGAIN)
                return 0;
        try_to_write(journal);
        if (journal->ended)
                journal->plan.on_end(journal->plan.userdata);
        return 0;
}

static int on_retry(sd_event_source *source, uint64_t usec, void *userdata) {
        (void)source, (void)usec;
        try_to_write(userdata);
        return 0;
}

void journal_reopen(Journal *journal) {
        journal_file_close(&journal->file);
        try_to_write(journal);
}

int journal_finish(Journal *journal) {
        int r = write_lines(journal);

        while (r == 0 && journal->pipe >= 0 && !journal->ended && read_some(journal) > 0)
                r = write_lines(journal);
        sd_event_source_set_enabled(journal->input, SD_EVENT_OFF);
        sd_event_source_set_enabled(journal->retry, SD_EVENT_OFF);
        if (r == 0)
                r = journal_file_sync(&journal->file);
        return r;
}

/* Only a number that was handed to an earlier logger can be one it wrote: a greater one stands in a file of another
 * run. */
static uint64_t written_before(const Journal *journal, uint64_t handed) {
        uint64_t seq = handed > 0 ? journal_file_last_seq(&journal->file) : 0;
        return seq <= handed ? seq : 0;
}

int journal_attach(Journal *journal, int pipe, uint64_t handed) {
        journal->pipe = close_fd(journal->pipe);
        journal->input = sd_event_source_disable_unref(journal->input);
        int r = sd_event_add_io(journal->event, &journal->input, pipe, EPOLLIN, on_readable, journal);
        if (r < 0) {
                close_fd(pipe);
                return r;
        }
        journal->pipe = pipe;
        journal->length = 0;
        journal->ended = false;
        journal->skip_until = written_before(journal, handed);
        /* A folder that is missing is told now, not with the first line; and a torn line is repaired. */
        tell_error(journal, -journal_file_open(&journal->file));
        return 0;
}

int journal_new(Journal **ret, sd_event *event, const JournalPlan *plan) {
        Journal *journal = malloc(sizeof *journal);
        if (!journal)
                return -ENOMEM;
        memset(journal, 0, offsetof(Journal, buffer));
        journal->event = event;
        journal->plan = *plan;
        journal->pipe = -1;
        journal->path = strdup(plan->path);
        journal_file_init(&journal->file, journal->path, plan->max_size);
        if (!journal->path) {
                journal_free(journal);
                return -ENOMEM;
        }
        *ret = journal;
        return 0;
}

Journal *journal_free(Journal *journal) {
        if (!journal)
                return NULL;
        sd_event_source_disable_unref(journal->input);
        sd_event_source_disable_unref(journal->retry);
        journal_file_close(&journal->file);
        close_fd(journal->pipe);
        free(journal->path);
        free(journal);
        return NULL;
}
