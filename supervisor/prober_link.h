/* prober_link.h - PID 1's side of endwell-prober: starts it, sends it checks and requests by HTTP, TCP and Unix
 * sockets, hears the answers.
 *
 * Never blocks. Requests are numbered by the caller; each one that was taken is answered once, also when the prober
 * dies (PROBE_UNKNOWN: its death says nothing of a service). It is started with the first request and, after a death,
 * with the next one, at most once a second; a request that finds no prober waits for it within its own timeout. One
 * that says nothing while requests are called off is killed. After PROBER_FAILURES_MAX failures in a row it is given
 * up, visibly: requests are refused until prober_link_retry(). Memory is bounded by the number of requests. Not started
 * after prober_link_finish(). The words: prober/requests.h. */
#pragma once
#include "base/log.h"
#include "base/usec.h"
#include "supervisor/crew.h"
#include "supervisor/probe.h"
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <systemd/sd-event.h>

#define PROBER_FAILURES_MAX  5
#define PROBER_PATIENCE_USEC (5 * USEC_PER_SEC) /* from a calling-off until it has said something */

/* A check is over with the headers and good from 200 to 399, goes by http to an address or localhost. A hook is over
 * with the end of the answer and good from 200 to 299, may go by https and to a name. */
typedef enum ProberPurpose { PROBER_CHECK, PROBER_HOOK } ProberPurpose;

/* Its strings are borrowed until the answer. */
typedef struct ProberRequest {
        ProbeBy by;         /* http, tcp, unix */
        const char *method; /* of http; NULL: GET */
        const char *target; /* as in ProbeConfig */
        usec_t timeout_usec;
        ProberPurpose purpose;
} ProberRequest;

typedef struct ProberPlan {
        const char *program; /* path of endwell-prober (libexec_find); copied */
        char *const *environment;
        LogFormat log_format;
        LogLevel log_level;
        uint32_t n_requests; /* that can be open: their numbers are below it */
        void (*answered)(void *userdata, uint32_t request, ProbeAnswer answer, const char *detail);
        void (*spawned)(void *userdata, pid_t pid); /* the roster must know it */
        void (*say)(void *userdata, LogLevel level, const char *sentence);
        void *userdata;
} ProberPlan;

typedef struct ProberLink ProberLink;

int prober_link_new(ProberLink **ret, sd_event *event, const ProberPlan *plan);
ProberLink *prober_link_free(ProberLink *link);
pid_t prober_link_pid(const ProberLink *link);           /* 0: none lives */
void prober_link_on_exited(ProberLink *link, Ended how); /* the roster has collected prober_link_pid() */

/* 0; -EBUSY: that number is open; -EINVAL; -ENOTCONN: given up; -ESHUTDOWN: finished. Without 0 no answer comes. */
int prober_link_ask(ProberLink *link, uint32_t request, const ProberRequest *what);
/* Nobody waits any more: answered as PROBE_UNKNOWN, soon, never from inside this call. */
void prober_link_call_off(ProberLink *link, uint32_t request);
void prober_link_retry(ProberLink *link); /* a person has repaired it */
/* Nothing will be asked any more, and what is open is not answered: the prober is killed, it holds nothing that could
 * be lost. True: wait for its exit. */
bool prober_link_finish(ProberLink *link);
