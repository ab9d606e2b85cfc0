/* upward.c - see upward.h. */
#include "supervisor/upward.h"
#include "base/take.h"
#include "shutdown/sentence.h"
#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>

/* There is one parent. */
static struct {
        int fd; /* -1: nobody wants to hear */
        struct sockaddr_un address;
        socklen_t length;
        bool owes_ready, owes_stopping;
} upward = { .fd = -1 };

/* A path, or @NAME in the abstract namespace. */
static int read_address(const char *text) {
        size_t length = strlen(text);
        if ((text[0] != '/' && text[0] != '@') || length < 2 || length >= sizeof upward.address.sun_path)
                return -EINVAL;
        upward.address = (struct sockaddr_un){ .sun_family = AF_UNIX };
        memcpy(upward.address.sun_path, text, length);
        if (text[0] == '@')
                upward.address.sun_path[0] = '\0';
        upward.length = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + length + (text[0] == '/'));
        return 0;
}

void upward_open(bool pass_on) {
        const char *text = getenv("NOTIFY_SOCKET");
        upward_close();
        if (text && read_address(text) == 0) {
                /* Without a socket the parent hears nothing, and all else goes on. */
                upward.fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
        }
        if (!pass_on)
                (void)unsetenv("NOTIFY_SOCKET");
}

void upward_close(void) {
        upward.fd = close_fd(upward.fd);
        upward.owes_ready = upward.owes_stopping = false;
}

/* NULL: no status for the parent. */
static const char *status_of(const Event *event, char text[static SENTENCE_MAX]) {
        switch ((int)event->kind) {
        case EVENT_STARTUP_FINISHED:
        case EVENT_READINESS_CHANGED:
        case EVENT_ENDING_STARTED:
        case EVENT_PHASE_STARTED:
        case EVENT_DRAIN_PROGRESS:
        case EVENT_ENDING_FINISHED: return sentence_write(event, text);
        default: return NULL;
        }
}

void upward_tell(const Event *event) {
        char sentence[SENTENCE_MAX], words[SENTENCE_MAX + 64];
        if (upward.fd < 0)
                return;
        upward.owes_ready |= event->kind == EVENT_STARTUP_FINISHED;
        upward.owes_stopping |= event->kind == EVENT_ENDING_STARTED;
        const char *status = status_of(event, sentence);
        if (!status && !upward.owes_ready && !upward.owes_stopping)
                return;
        int n = snprintf(words, sizeof words, "%s%s%s%s", upward.owes_ready ? "READY=1\n" : "",
                         upward.owes_stopping ? "STOPPING=1\n" : "", status ? "STATUS=" : "", status ? status : "");
        if (sendto(upward.fd, words, (size_t)n, MSG_NOSIGNAL | MSG_DONTWAIT, (const struct sockaddr *)&upward.address,
                   upward.length) >= 0)
                upward.owes_ready = upward.owes_stopping = false;
}
