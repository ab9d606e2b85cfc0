/* gateway_answers.c - what the gateway says on each of its paths. */
#include "base/clock.h"
#include "base/take.h"
#include "gateway/gateway_internal.h"
#include "gateway/page.h"
#include <inttypes.h>
#include <string.h>
#include <sys/random.h>

#define FRESH_USEC (20 * USEC_PER_MSEC) /* between two questions for the status, however many want it */

typedef HttpDecision (*Answerer)(Gateway *gateway, HttpRequest *request, HttpAnswer *ret);

/* ---- Put together ---- */

typedef struct Draft {
        FILE *out;
        char *text;
        size_t length;
} Draft;

static bool draft_open(Draft *draft) {
        draft->out = open_memstream(&draft->text, &draft->length);
        return draft->out;
}

/* Without memory there is nothing to say, and that with 503. */
static HttpDecision draft_send(Draft *draft, HttpAnswer *ret) {
        bool good = fclose(draft->out) == 0;

        ret->body = draft->text;
        ret->length = good ? draft->length : 0;
        if (!good)
                ret->status = 503;
        return HTTP_ANSWERED;
}

static HttpDecision say(HttpAnswer *ret, unsigned status, const char *text) {
        ret->status = status;
        ret->body = strdup(text);
        ret->length = ret->body ? strlen(text) : 0;
        return HTTP_ANSWERED;
}

/* True: the status is one that was asked for after the request came in. */
static bool is_fresh(Gateway *gateway, HttpRequest *request) {
        if (request->ticket == 0) {
                request->ticket = gateway->answers + (gateway->asked ? 2 : 1);
                gateway_want_status(gateway, FRESH_USEC);
        }
        if (gateway->status && gateway->answers >= request->ticket)
                return true;
        if (!gateway->asked)
                gateway_want_status(gateway, FRESH_USEC);
        return false;
}

static Known known_of(const Gateway *gateway) {
        return (Known){ .picture = &gateway->picture,
                        .tally = &gateway->tally,
                        .status = gateway->status,
                        .connected = gateway->connected,
                        .followers = http_followers(gateway->http) };
}

/* ---- Health ---- */

static HttpDecision answer_health(Gateway *gateway, HttpRequest *request, HttpAnswer *ret, HealthQuestion question) {
        Draft draft = { 0 };
        const HealthView view = { .picture = &gateway->picture,
                                  .status = gateway->status,
                                  .ready_when = gateway->invocation->ready_when,
                                  .connected = gateway->connected,
                                  .silence_usec = usec_sub(clock_now_usec(), wire_heard_usec(gateway->wire)) };

        /* A person waits for the reasons of this moment; a probe never waits. */
        if (request->verbose && question == HEALTH_READY && gateway->connected && !request->overdue &&
            !is_fresh(gateway, request))
                return HTTP_LATER;
        if (!draft_open(&draft))
                return say(ret, 503, "no memory\n");
        ret->status = health_answer(&view, question, request->verbose, draft.out) ? 200 : 503;
        return draft_send(&draft, ret);
}

static HttpDecision answer_live(Gateway *gateway, HttpRequest *request, HttpAnswer *ret) {
        return answer_health(gateway, request, ret, HEALTH_LIVE);
}

static HttpDecision answer_ready(Gateway *gateway, HttpRequest *request, HttpAnswer *ret) {
        return answer_health(gateway, request, ret, HEALTH_READY);
}

static HttpDecision answer_started(Gateway *gateway, HttpRequest *request, HttpAnswer *ret) {
        return answer_health(gateway, request, ret, HEALTH_STARTED);
}

/* ---- Metrics, status, events ---- */

/* What is known is worth telling even where endwell does not answer: that it does not is among it. */
static HttpDecision answer_metrics(Gateway *gateway, HttpRequest *request, HttpAnswer *ret) {
        Draft draft = { 0 };

        if (gateway->connected && !request->overdue && !is_fresh(gateway, request))
                return HTTP_LATER;
        if (!draft_open(&draft))
                return say(ret, 503, "no memory\n");
        const Known known = known_of(gateway);
        metrics_write(&known, draft.out);
        ret->type = METRICS_TYPE;
        return draft_send(&draft, ret);
}

static HttpDecision answer_status(Gateway *gateway, HttpRequest *request, HttpAnswer *ret) {
        if (!gateway->connected)
                return say(ret, 503, "the gateway is not connected to endwell\n");
        if (!is_fresh(gateway, request))
                return HTTP_LATER;
        say(ret, 200, gateway->status->text);
        ret->type = "application/json";
        return HTTP_ANSWERED;
}

static HttpDecision answer_events(Gateway *gateway, HttpRequest *request, HttpAnswer *ret) {
        (void)ret;
        if (!request->has_since)
                request->since = gateway->picture.seq;
        return HTTP_FOLLOW;
}

/* Lines that went before the follower came to read them are told as missed. */
int gateway_on_next(void *userdata, uint64_t *since, char ret_message[static HTTP_MESSAGE_MAX]) {
        Gateway *gateway = userdata;
        const RecentLine *line = recent_after(gateway->recent, *since);
        int n = 0;

        if (!line)
                return gateway->finishing && (gateway->picture.finished || !gateway->subscribed) ? -1 : 0;
        if (line->seq > *since + 1)
                n = snprintf(ret_message, HTTP_MESSAGE_MAX,
                             "event: missed\ndata: {\"from\":%" PRIu64 ",\"to\":%" PRIu64 "}\n\n", *since + 1,
                             line->seq - 1);
        *since = line->seq;
        n += snprintf(ret_message + n, HTTP_MESSAGE_MAX - (size_t)n, "id: %" PRIu64 "\ndata: %.*s\n\n", line->seq,
                      (int)line->length, line->text);
        return n < HTTP_MESSAGE_MAX ? n : -1;
}

/* ---- The page ---- */

static bool make_nonce(char ret_nonce[static PAGE_NONCE_MAX]) {
        unsigned char bytes[(PAGE_NONCE_MAX - 1) / 2];

        if (getrandom(bytes, sizeof bytes, GRND_NONBLOCK) != (ssize_t)sizeof bytes)
                return false;
        for (size_t i = 0; i < sizeof bytes; i++)
                snprintf(ret_nonce + 2 * i, 3, "%02x", bytes[i]);
        return true;
}

static HttpDecision answer_page(Gateway *gateway, HttpRequest *request, HttpAnswer *ret) {
        static char policy[320]; /* until the answer is queued, which copies it */
        char nonce[PAGE_NONCE_MAX];
        Draft draft = { 0 };

        if (!gateway->invocation->dashboard)
                return say(ret, 404, "there is no status page here (Dashboard=no)\n");
        if (gateway->connected && !request->overdue && !is_fresh(gateway, request))
                return HTTP_LATER;
        if (!make_nonce(nonce) || !draft_open(&draft))
                return say(ret, 503, "no memory\n");
        const Known known = known_of(gateway);
        page_write(
                &(PageView){ .known = &known, .recent = gateway->recent, .nonce = nonce, .now_usec = clock_now_usec() },
                draft.out);
        snprintf(policy, sizeof policy,
                 "default-src 'none'; style-src 'nonce-%s'; script-src 'nonce-%s'; connect-src 'self'; img-src data:; "
                 "base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
                 nonce, nonce);
        ret->policy = policy;
        ret->type = "text/html; charset=utf-8";
        return draft_send(&draft, ret);
}

/* ---- Paths ---- */

static const struct Route {
        const char *path;
        Answerer answer;
} routes[] = {
        { "/livez", answer_live },      { "/readyz", answer_ready },  { "/startupz", answer_started },
        { "/metrics", answer_metrics }, { "/status", answer_status }, { "/events", answer_events },
        { "/", answer_page },
};

HttpDecision gateway_on_ask(void *userdata, HttpRequest *request, HttpAnswer *ret) {
        for (size_t i = 0; i < LENGTH_OF(routes); i++)
                if (strcmp(routes[i].path, request->path) == 0)
                        return routes[i].answer(userdata, request, ret);
        return say(ret, 404, "there are /livez /readyz /startupz /metrics /status /events\n");
}
