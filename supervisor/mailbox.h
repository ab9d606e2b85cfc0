/* mailbox.h - receives sd_notify messages, on one socket an instance.
 *
 * A message is attributed by the socket it came in on, so it counts even when its sender is already gone. Only the
 * instance's uid may write (0600, owned by it). One datagram a socket and wake-up; a flood, also one of descriptors, is
 * rate-limited and cannot delay SIGTERM. Descriptors that come along and that nobody keeps are closed (a barrier's when
 * everything before it was handled). All sockets stand in one nested epoll, so that an instance costs this process no
 * memory of sd-event. */
#pragma once
#include "base/notify_words.h"
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <systemd/sd-event.h>

typedef struct Mailbox Mailbox;

typedef struct MailboxMessage {
        pid_t sender;     /* 0: not said */
        uid_t sender_uid; /* (uid_t)-1: not said */
        const NotifyWords *words;
        int *fds; /* that came along; a handler that keeps one puts -1 in its place, the others are closed after it */
        size_t n_fds;
} MailboxMessage;

/* May open, close and drain slots, but not free the mailbox. */
typedef void (*MailboxHandler)(void *userdata, uint32_t slot, const MailboxMessage *message);

/* `directory` must exist; sockets are made in it as DIRECTORY/NAME. */
int mailbox_new(Mailbox **ret, sd_event *event, const char *directory, uint32_t n_slots, MailboxHandler handler,
                void *userdata);
Mailbox *mailbox_free(Mailbox *mailbox); /* closes and unlinks every socket */

/* Makes the socket of `slot`, if it is not there yet, for processes of `owner` ((uid_t)-1: our own uid). 0; -EINVAL
 * (slot, or a name with a slash), -ENAMETOOLONG (the whole path has at most 107 letters), or -errno. */
int mailbox_open(Mailbox *mailbox, uint32_t slot, const char *name, uid_t owner);
/* Takes what is queued on `slot` now, at most 64 datagrams: before a decision about its process. */
void mailbox_drain(Mailbox *mailbox, uint32_t slot);
void mailbox_close(Mailbox *mailbox, uint32_t slot);
