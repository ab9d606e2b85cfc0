/* logger_journal.c - from the ring into the pipe, without waiting. */
#include "supervisor/logger_journal.h"
#include "base/packet.h"
#include "base/take.h"
#include <errno.h>
#include <fcntl.h>
#include <sys/epoll.h>
#include <unistd.h>

#define PIECES_AT_ONCE 8

void link_journal_init(LinkJournal *journal, sd_event *event, Archive *archive) {
        journal->event = event;
        journal->archive = archive;
        journal->output = NULL;
        journal->reader = journal->writer = -1;
        journal->handed = 0;
        journal->begun = journal->ending = journal->broken = false;
        journal->from = journal->to = 0;
        archive_cursor_init(&journal->cursor, 0);
}

void link_journal_stop(LinkJournal *journal) {
        journal->output = sd_event_source_disable_unref(journal->output);
        journal->reader = close_fd(journal->reader);
        journal->writer = close_fd(journal->writer);
        journal->from = journal->to = 0;
        journal->broken = false;
}

void link_journal_done(LinkJournal *journal) {
        link_journal_stop(journal);
        archive_cursor_done(&journal->cursor);
}

static int on_writable(sd_event_source *source, int fd, uint32_t revents, void *userdata) {
        (void)source, (void)fd, (void)revents;
        link_journal_pump(userdata);
        return 0;
}

int link_journal_start(LinkJournal *journal) {
        int ends[2];

        link_journal_stop(journal);
        if (pipe2(ends, O_CLOEXEC | O_NONBLOCK) < 0)
                return -errno;
        journal->reader = ends[0];
        journal->writer = ends[1];
        archive_cursor_done(&journal->cursor);
        archive_cursor_init(&journal->cursor, 0);
        int r = sd_event_add_io(journal->event, &journal->output, journal->writer, EPOLLOUT, on_writable, journal);
        if (r < 0)
                link_journal_stop(journal);
        return r < 0 ? r : 0;
}

int link_journal_send(LinkJournal *journal, int socket) {
        char head[64];
        Packet packet;

        if (journal->reader < 0)
                return 0;
        packet_init(&packet, head, sizeof head);
        packet_add_unsigned(&packet, "JOURNAL", journal->begun ? journal->handed : 0);
        packet_add_fd(&packet, journal->reader);
        int r = packet_send(socket, &packet);
        if (r == 0)
                journal->reader = close_fd(journal->reader);
        return r;
}

/* True when there is something to write. */
static bool refill(LinkJournal *journal) {
        if (journal->from < journal->to)
                return true;
        ssize_t n = archive_read(journal->archive, &journal->cursor, journal->buffer, sizeof journal->buffer);
        if (n <= 0)
                return false;
        journal->from = 0;
        journal->to = (size_t)n;
        if (journal->cursor.seq > 0 && journal->cursor.seq - 1 > journal->handed)
                journal->handed = journal->cursor.seq - 1;
        return true;
}

/* True when the pipe can take more. False: it is full; or the logger is gone, which its exit will tell, and the next
 * one gets everything anew. */
static bool write_piece(LinkJournal *journal) {
        ssize_t n = write(journal->writer, journal->buffer + journal->from, journal->to - journal->from);

        if (n >= 0)
                journal->from += (size_t)n;
        else if (errno != EAGAIN && errno != EINTR)
                journal->broken = true;
        return n >= 0;
}

void link_journal_pump(LinkJournal *journal) {
        bool more = true, taken = true;

        if (journal->writer < 0 || journal->broken)
                return;
        for (int i = 0; i < PIECES_AT_ONCE && taken && (more = refill(journal)); i++)
                taken = write_piece(journal);
        if (!more && journal->ending) {
                link_journal_stop(journal);
                journal->on_handed_over(journal->userdata);
                return;
        }
        sd_event_source_set_enabled(journal->output, more && !journal->broken ? SD_EVENT_ON : SD_EVENT_OFF);
}

void link_journal_end(LinkJournal *journal) {
        journal->ending = true;
        link_journal_pump(journal);
}
