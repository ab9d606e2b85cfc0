/* logger_streams.h - the pipes between services and the logger, as PID 1 keeps them, and what the logger knows of each.
 *
 * A part of logger_link. A stream has a number that is never given twice and a slot that is; a number finds its slot in
 * constant time. */
#pragma once
#include "supervisor/config.h"
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <systemd/sd-event.h>

typedef enum StreamState {
        STREAM_FREE,
        STREAM_UNSENT, /* the logger does not know it yet */
        STREAM_SENT,
        STREAM_CLOSING, /* dropped, and the logger must be told */
        STREAM_DRAINED, /* nobody serves it: its bytes are dropped here */
} StreamState;

/* Where the output of a member comes from; its hooks have pipes of their own, beside those of its runs. */
#define LINK_STDOUT      0
#define LINK_STDERR      1
#define LINK_HOOK_STDOUT 2
#define LINK_HOOK_STDERR 3
#define LINK_SIDES       4

typedef struct LinkStream {
        StreamState state;
        uint64_t id;
        uint32_t member, slot;
        uint32_t older; /* slot + 1 of the stream before it of the same member and side; 0: none */
        uint16_t service;
        uint8_t side;     /* LINK_…; that of stdout when one pipe serves both */
        const char *hook; /* of a hook: its name; else NULL */
        unsigned instance;
        pid_t pid;
        int pipe; /* our copy of the reading end */
        const Output *output;
        bool emptied;  /* its file was truncated: not again */
        unsigned sent; /* hooks the logger was told of */
        sd_event_source *drain;
} LinkStream;

typedef struct LinkStreams {
        sd_event *event;
        const Config *config;
        LinkStream *items;
        uint32_t n, size, n_used;
        uint64_t serial;
        uint32_t *newest;                                          /* [LINK_SIDES * member + side]: slot + 1; 0: none */
        bool unsent;                                               /* something is to be sent */
        void (*dropped)(void *userdata, const LinkStream *stream); /* the oldest had to make room */
        void *userdata;
} LinkStreams;

int link_streams_init(LinkStreams *streams, sd_event *event, const Config *config);
void link_streams_done(LinkStreams *streams);

typedef struct LinkWriter {
        uint32_t member;
        uint16_t service;
        unsigned instance, side;
        const char *hook; /* NULL: the service itself. Must live as long as the configuration */
} LinkWriter;

/* The writing end, or -errno. Told to the logger by the next link_streams_send(). */
int link_streams_open(LinkStreams *streams, const LinkWriter *writer);
/* NULL: no such stream (any more). */
LinkStream *link_streams_find(LinkStreams *streams, uint64_t id);
LinkStream *link_streams_newest(LinkStreams *streams, uint32_t member, unsigned side);
void link_streams_close(LinkStreams *streams, LinkStream *stream);

/* Tells the logger what it does not know yet. 0: all was told; -EAGAIN: go on when the socket can be written; or
 * -errno. */
int link_streams_send(LinkStreams *streams, int socket);
/* A new logger knows nothing. */
void link_streams_forget(LinkStreams *streams);
void link_streams_drain(LinkStreams *streams, LinkStream *stream);
void link_streams_drain_all(LinkStreams *streams);
