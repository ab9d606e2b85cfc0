/* mailbox.c - the notify sockets: one an instance, all in one nested epoll, and none that floods is heard too often. */
#include "supervisor/mailbox.h"
#include "base/clock.h"
#include "base/take.h"
#include "supervisor/parcel.h"
#include "supervisor/priority.h"
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#define TEXT_MAX         8192 /* of a datagram; what is longer is taken up to here */
#define TURN_MAX         64   /* datagrams a wake-up, and a drain */
#define WINDOW_USEC      (100 * USEC_PER_MSEC)
#define WINDOW_MAX       500  /* datagrams and descriptors a socket and window */
#define WINDOW_TOTAL_MAX 5000 /* of all sockets: about a seventh of one processor */

/* One for each instance; the kernel knows the name that its socket is bound to. */
typedef struct Box {
        int fd;              /* -1: closed */
        unsigned taken : 31; /* in the present window: datagrams, and descriptors, each of which costs as much */
        bool muted : 1;      /* out of the epoll until the window is over */
} Box;

struct Mailbox {
        MailboxHandler handler;
        void *userdata;
        sd_event_source *source, *timer;
        int epoll_fd;
        usec_t window_usec; /* when the present one began */
        unsigned taken;     /* in it, by all */
        bool muted;         /* all of them */
        uint32_t n_boxes;
        char *directory;
        char *text; /* of the present datagram */
        Box boxes[];
};

static bool box_is_open(const Mailbox *mailbox, uint32_t slot) {
        return slot < mailbox->n_boxes && mailbox->boxes[slot].fd >= 0;
}

/* pid 0: in no PID namespace that we can see. */
static struct ucred sender_of(struct msghdr *message) {
        struct ucred credentials = { .pid = 0, .uid = (uid_t)-1 };
        for (struct cmsghdr *header = CMSG_FIRSTHDR(message); header; header = CMSG_NXTHDR(message, header))
                if (header->cmsg_level == SOL_SOCKET && header->cmsg_type == SCM_CREDENTIALS &&
                    header->cmsg_len == CMSG_LEN(sizeof credentials))
                        memcpy(&credentials, CMSG_DATA(header), sizeof credentials);
        return credentials;
}

/* Of a text that was cut the last line goes: half a value (MAINPID=12 of 1234) would be a wrong one. */
static size_t whole_lines(const char *text, size_t length, bool cut) {
        const char *end = cut ? memrchr(text, '\n', length) : text + length;
        return end ? (size_t)(end - text) : 0;
}

static void deliver(Mailbox *mailbox, uint32_t slot, struct ucred sender, size_t length, int *fds, size_t n_fds) {
        NotifyWords words;
        notify_words_parse(mailbox->text, length, &words);
        mailbox->handler(
                mailbox->userdata, slot,
                &(MailboxMessage){
                        .sender = sender.pid, .sender_uid = sender.uid, .words = &words, .fds = fds, .n_fds = n_fds });
}

/* One datagram. False: none is there. Descriptors are closed after the handler, so whoever waits for that (BARRIER=1)
 * knows that this datagram and all before it, which came in order, have had their effect. */
static bool take_one(Mailbox *mailbox, uint32_t slot) {
        Parcel parcel;
        int fds[PARCEL_DESCRIPTORS_MAX];
        struct iovec text = { .iov_base = mailbox->text, .iov_len = TEXT_MAX };
        struct msghdr message = {
                .msg_iov = &text, .msg_iovlen = 1, .msg_control = &parcel, .msg_controllen = sizeof parcel
        };
        ssize_t n = recvmsg(mailbox->boxes[slot].fd, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
        if (n < 0 && (errno == EAGAIN || errno == EINTR))
                return false;
        size_t n_fds = n < 0 ? 0 : parcel_descriptors(&message, fds);
        /* An error is counted like a datagram: one that does not go away is muted as a flood is, and tried again later.
         */
        mailbox->boxes[slot].taken += 1 + (unsigned)n_fds;
        mailbox->taken += 1 + (unsigned)n_fds;
        if (n > 0)
                deliver(mailbox, slot, sender_of(&message),
                        whole_lines(mailbox->text, (size_t)n, message.msg_flags & MSG_TRUNC), fds, n_fds);
        parcel_close_some(fds, n_fds);
        return n >= 0;
}

static int watch(Mailbox *mailbox, uint32_t slot) {
        struct epoll_event event = { .events = EPOLLIN, .data.u32 = slot };
        return epoll_ctl(mailbox->epoll_fd, EPOLL_CTL_ADD, mailbox->boxes[slot].fd, &event) < 0 ? -errno : 0;
}

/* Never by close() alone: a child between fork and exec has a copy of the socket, and that would keep it in the epoll.
 */
static void unwatch(Mailbox *mailbox, uint32_t slot) {
        (void)epoll_ctl(mailbox->epoll_fd, EPOLL_CTL_DEL, mailbox->boxes[slot].fd, NULL);
}

static int arm(Mailbox *mailbox) {
        int r = sd_event_source_set_time(mailbox->timer, usec_add(mailbox->window_usec, WINDOW_USEC));
        return r < 0 ? r : sd_event_source_set_enabled(mailbox->timer, SD_EVENT_ONESHOT);
}

/* Nothing is lost: the messages wait in the socket, and the sender, when that is full. Without a timer that would end
 * the silence, a flood is the lesser evil. */
static void mute_one(Mailbox *mailbox, uint32_t slot) {
        if (mailbox->boxes[slot].muted || arm(mailbox) < 0)
                return;
        unwatch(mailbox, slot);
        mailbox->boxes[slot].muted = true;
}

static void mute_all(Mailbox *mailbox) {
        if (mailbox->muted || arm(mailbox) < 0)
                return;
        mailbox->muted = sd_event_source_set_enabled(mailbox->source, SD_EVENT_OFF) >= 0;
}

static void open_window(Mailbox *mailbox, usec_t now) {
        mailbox->window_usec = now;
        mailbox->taken = 0;
        for (uint32_t slot = 0; slot < mailbox->n_boxes; slot++) {
                Box *box = &mailbox->boxes[slot];
                box->taken = 0;
                /* When the kernel has no memory for it now, the next window tries again. */
                if (box->muted && box->fd >= 0 && watch(mailbox, slot) < 0)
                        (void)arm(mailbox);
                else
                        box->muted = false;
        }
        if (mailbox->muted)
                mailbox->muted = sd_event_source_set_enabled(mailbox->source, SD_EVENT_ON) < 0;
}

static void limit(Mailbox *mailbox, uint32_t slot) {
        if (box_is_open(mailbox, slot) && mailbox->boxes[slot].taken >= WINDOW_MAX)
                mute_one(mailbox, slot);
        if (mailbox->taken >= WINDOW_TOTAL_MAX)
                mute_all(mailbox);
}

/* One datagram of each socket that has any; the kernel puts those that were given to the end of its list, so that no
 * socket waits behind more than the others' one. */
static int on_readable(sd_event_source *source, int fd, uint32_t events, void *userdata) {
        Mailbox *mailbox = userdata;
        struct epoll_event ready[TURN_MAX];
        usec_t now = clock_now_usec();
        (void)source, (void)events;

        if (usec_sub(now, mailbox->window_usec) >= WINDOW_USEC)
                open_window(mailbox, now);
        int n = epoll_wait(fd, ready, TURN_MAX, 0);
        for (int i = 0; i < n && !mailbox->muted; i++) {
                uint32_t slot = ready[i].data.u32;
                if (box_is_open(mailbox, slot)) /* a handler before us may have closed it */
                        (void)take_one(mailbox, slot);
                limit(mailbox, slot);
        }
        return 0;
}

static int on_window(sd_event_source *source, uint64_t usec, void *userdata) {
        (void)source, (void)usec;
        open_window(userdata, clock_now_usec());
        return 0;
}

void mailbox_drain(Mailbox *mailbox, uint32_t slot) {
        for (int i = 0; i < TURN_MAX && box_is_open(mailbox, slot); i++)
                if (!take_one(mailbox, slot))
                        return;
}

static int address_of(const Mailbox *mailbox, const char *name, struct sockaddr_un *ret) {
        *ret = (struct sockaddr_un){ .sun_family = AF_UNIX };
        if (!*name || strchr(name, '/'))
                return -EINVAL;
        /* sd_notify(3) wants the NUL inside, so 107 letters are the most. */
        int n = snprintf(ret->sun_path, sizeof ret->sun_path, "%s/%s", mailbox->directory, name);
        return n < 0 || (size_t)n >= sizeof ret->sun_path ? -ENAMETOOLONG : 0;
}

/* Nobody's but ours from its first instant, and then its owner's: bind() itself makes the file, so the mask is set
 * around it (there is one thread), and only we can put another file into this directory. */
static int bind_private(int fd, const struct sockaddr_un *address, uid_t owner) {
        if (unlink(address->sun_path) < 0 && errno != ENOENT) /* of a run that was killed */
                return -errno;
        mode_t saved = umask(0177);
        int r = bind(fd, (const struct sockaddr *)address, sizeof *address) < 0 ? -errno : 0;
        umask(saved);
        if (r < 0 || owner == (uid_t)-1)
                return r;
        if (lchown(address->sun_path, owner, (gid_t)-1) >= 0)
                return 0;
        r = -errno;
        (void)unlink(address->sun_path);
        return r;
}

static int make_socket(const struct sockaddr_un *address, uid_t owner) {
        _cleanup_(closep) int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
        if (fd < 0)
                return -errno;
        /* Before bind: what is queued earlier comes without credentials. */
        if (setsockopt(fd, SOL_SOCKET, SO_PASSCRED, &(int){ 1 }, sizeof(int)) < 0)
                return -errno;
        int r = bind_private(fd, address, owner);
        return r < 0 ? r : TAKE_FD(fd);
}

int mailbox_open(Mailbox *mailbox, uint32_t slot, const char *name, uid_t owner) {
        struct sockaddr_un address;
        if (slot >= mailbox->n_boxes)
                return -EINVAL;
        if (box_is_open(mailbox, slot))
                return 0;
        int r = address_of(mailbox, name, &address);
        if (r < 0)
                return r;
        r = make_socket(&address, owner);
        if (r < 0)
                return r;
        mailbox->boxes[slot].fd = r;
        r = watch(mailbox, slot);
        if (r < 0)
                mailbox_close(mailbox, slot);
        return r;
}

void mailbox_close(Mailbox *mailbox, uint32_t slot) {
        struct sockaddr_un address = { 0 };
        socklen_t size = sizeof address;
        if (!box_is_open(mailbox, slot))
                return;
        Box *box = &mailbox->boxes[slot];
        unwatch(mailbox, slot);
        /* If it cannot be removed, nobody listens behind it. */
        if (getsockname(box->fd, (struct sockaddr *)&address, &size) == 0 && address.sun_path[0])
                (void)unlink(address.sun_path);
        box->fd = close_fd(box->fd);
        box->muted = false;
}

Mailbox *mailbox_free(Mailbox *mailbox) {
        if (!mailbox)
                return NULL;
        for (uint32_t slot = 0; slot < mailbox->n_boxes; slot++)
                mailbox_close(mailbox, slot);
        sd_event_source_disable_unref(mailbox->source);
        sd_event_source_disable_unref(mailbox->timer);
        close_fd(mailbox->epoll_fd);
        free(mailbox->directory);
        free(mailbox->text);
        free(mailbox);
        return NULL;
}

static void mailbox_freep(Mailbox **mailbox) {
        mailbox_free(*mailbox);
}

static int add_sources(Mailbox *mailbox, sd_event *event) {
        mailbox->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
        if (mailbox->epoll_fd < 0)
                return -errno;
        int r = sd_event_add_io(event, &mailbox->source, mailbox->epoll_fd, EPOLLIN, on_readable, mailbox);
        if (r >= 0)
                r = sd_event_source_set_priority(mailbox->source, PRIORITY_MAILBOX);
        if (r >= 0)
                r = sd_event_add_time(event, &mailbox->timer, CLOCK_MONOTONIC, 0, 1, on_window, mailbox);
        if (r >= 0)
                r = sd_event_source_set_enabled(mailbox->timer, SD_EVENT_OFF);
        return r < 0 ? r : sd_event_source_set_priority(mailbox->timer, PRIORITY_MAILBOX);
}

int mailbox_new(Mailbox **ret, sd_event *event, const char *directory, uint32_t n_slots, MailboxHandler handler,
                void *userdata) {
        _cleanup_(mailbox_freep) Mailbox *mailbox = calloc(1, sizeof *mailbox + n_slots * sizeof(Box));
        if (!mailbox)
                return -ENOMEM;
        mailbox->handler = handler;
        mailbox->userdata = userdata;
        mailbox->epoll_fd = -1;
        mailbox->n_boxes = n_slots;
        for (uint32_t slot = 0; slot < n_slots; slot++)
                mailbox->boxes[slot].fd = -1;
        mailbox->directory = strdup(directory);
        mailbox->text = malloc(TEXT_MAX); /* of its own, and not cleared: most services never say anything */
        if (!mailbox->directory || !mailbox->text)
                return -ENOMEM;
        int r = add_sources(mailbox, event);
        if (r < 0)
                return r;
        *ret = TAKE(mailbox);
        return 0;
}
