/* gateway_internal.h - what the files of gateway share. */
#pragma once
#include "gateway/gateway.h"
#include "gateway/health.h"
#include "gateway/http.h"
#include "gateway/listener.h"
#include "gateway/metrics.h"
#include "gateway/recent.h"
#include "gateway/wire.h"

struct Gateway {
        sd_event *event;
        const Invocation *invocation;
        Wire *wire;
        Http *http;
        Listener *listener;
        Recent *recent;
        Picture picture;
        Tally tally;
        Snapshot *status;  /* the last; NULL: none on this connection */
        uint64_t answers;  /* how often it was given */
        bool asked;        /* and is so again, soon */
        usec_t asked_usec; /* last */
        sd_event_source *asker, *heart, *waker, *parent, *last;
        bool subscribed, connected; /* the latter: and the journal is read up to `newest` */
        bool lost_told, acknowledged, finishing;
        uint64_t newest;
};

/* gateway_answers.c */
HttpDecision gateway_on_ask(void *userdata, HttpRequest *request, HttpAnswer *ret);
int gateway_on_next(void *userdata, uint64_t *since, char ret_message[static HTTP_MESSAGE_MAX]);

/* gateway.c */
void gateway_want_status(Gateway *gateway, usec_t span); /* at the latest that long after the last question */
