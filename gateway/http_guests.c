/* http_guests.c - who is connected, and who has to go when all places are taken. */
#include "gateway/http_internal.h"
#include <stdlib.h>
#include <sys/socket.h>

static void leave(GuestList *list, Guest *guest) {
        if (guest->before)
                guest->before->after = guest->after;
        else
                list->first = guest->after;
        if (guest->after)
                guest->after->before = guest->before;
        else
                list->last = guest->before;
        guest->before = guest->after = NULL;
}

static void stand_last(GuestList *list, Guest *guest) {
        guest->before = list->last;
        guest->after = NULL;
        if (list->last)
                list->last->after = guest;
        else
                list->first = guest;
        list->last = guest;
}

/* Who is being answered stays: his answer is on its way, or he follows, of whom there are few. */
void guests_make_room(Http *http) {
        for (Guest *guest = http->guests.first; guest && http->guests.n >= http->places; guest = guest->after) {
                if (guest->leaving || guest->visit)
                        continue;
                guest->leaving = true;
                http->guests.n--;
                (void)shutdown(guest->fd, SHUT_RDWR); /* libmicrohttpd sees the end, and closes */
        }
}

static void arrive(Http *http, struct MHD_Connection *connection, void **context) {
        const union MHD_ConnectionInfo *info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
        Guest *guest = calloc(1, sizeof *guest);

        *context = guest;
        if (!guest)
                return; /* it is served, and not counted */
        guest->fd = info ? (int)info->connect_fd : -1;
        stand_last(&http->guests, guest);
        http->guests.n++;
}

void guests_on_notify(void *userdata, struct MHD_Connection *connection, void **context,
                      enum MHD_ConnectionNotificationCode code) {
        Http *http = userdata;
        Guest *guest = *context;

        if (code == MHD_CONNECTION_NOTIFY_STARTED) {
                arrive(http, connection, context);
                return;
        }
        if (!guest)
                return;
        leave(&http->guests, guest);
        http->guests.n -= !guest->leaving;
        free(guest);
        *context = NULL;
}

void guests_on_heard(Http *http, struct MHD_Connection *connection, Visit *visit) {
        const union MHD_ConnectionInfo *info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
        Guest *guest = info ? info->socket_context : NULL;

        if (!guest)
                return;
        guest->visit = visit;
        leave(&http->guests, guest);
        stand_last(&http->guests, guest);
}
