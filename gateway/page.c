/* page.c - see page.h. */
#include "gateway/page.h"
#include "base/json.h"
#include "base/take.h"
#include "base/utf8.h"
#include "gateway/page_internal.h"
#include <inttypes.h>
#include <string.h>

#define RUN_MAX   8192
#define LINES_MAX 60 /* of the journal, at first */

/* ---- Text ---- */

static void put_character(char c, FILE *out) {
        switch (c) {
        case '<': fputs("&lt;", out); break;
        case '>': fputs("&gt;", out); break;
        case '&': fputs("&amp;", out); break;
        case '"': fputs("&quot;", out); break;
        case '\'': fputs("&#39;", out); break;
        default: fputc(c, out); break;
        }
}

void page_write_text(const char *text, size_t length, FILE *out) {
        for (size_t i = 0; i < length;) {
                size_t n = utf8_character(text + i, length - i);
                if (n == 1)
                        put_character(text[i], out);
                else if (n > 1)
                        fwrite(text + i, 1, n, out);
                else
                        fputc('?', out);
                i += n > 0 ? n : 1;
        }
}

static void put(const char *text, FILE *out) {
        page_write_text(text, strlen(text), out);
}

static void put_span(usec_t span, FILE *out) {
        if (span < USEC_PER_SEC)
                fprintf(out, "%" PRIu64 " ms", span / USEC_PER_MSEC);
        else if (span < 120 * USEC_PER_SEC)
                fprintf(out, "%" PRIu64 ".%" PRIu64 " s", span / USEC_PER_SEC, span % USEC_PER_SEC / 100000);
        else if (span < 7200 * USEC_PER_SEC)
                fprintf(out, "%" PRIu64 " min", span / USEC_PER_SEC / 60);
        else
                fprintf(out, "%" PRIu64 " h", span / USEC_PER_SEC / 3600);
}

/* ---- What the script begins with ---- */

static void put_phase(Json *json, const PicturePhase *phase) {
        json_open_object(json, NULL);
        json_put_string(json, "name", phase->name);
        json_put_bool(json, "began", phase->began);
        json_put_bool(json, "finished", phase->finished);
        json_put_unsigned(json, "begun_us", phase->begun_usec);
        json_put_unsigned(json, "limit_us", phase->limit_usec);
        json_put_unsigned(json, "took_us", phase->took_usec);
        json_put_unsigned(json, "members", phase->members);
        json_put_unsigned(json, "gone", phase->gone);
        json_put_unsigned(json, "killed", phase->killed);
        json_put_unsigned(json, "left", phase->left);
        json_close(json);
}

static void put_run(const PageView *view, FILE *out) {
        const Picture *picture = view->known->picture;
        char text[RUN_MAX];
        Json json;

        json_init(&json, text, sizeof text);
        json_open_object(&json, NULL);
        json_put_unsigned(&json, "seq", picture->seq);
        json_put_unsigned(&json, "now_us", view->now_usec);
        json_put_bool(&json, "ready", picture->ready);
        json_put_bool(&json, "started", picture->started);
        json_put_bool(&json, "ending", picture->ending);
        json_put_bool(&json, "finished", picture->finished);
        json_put_signed(&json, "code", picture->code);
        json_put_string(&json, "reason", picture->reason);
        json_put_string(&json, "cause", picture->cause);
        json_put_unsigned(&json, "ending_us", picture->ending_usec);
        json_put_unsigned(&json, "deadline_us", picture->deadline_usec);
        json_open_array(&json, "phases");
        for (unsigned i = 0; i < picture->n_phases; i++)
                put_phase(&json, &picture->phases[i]);
        json_close(&json);
        json_close(&json);
        page_write_text(text, json_finish(&json), out);
}

/* ---- The head ---- */

static const char *state_of(const Known *known, const char **ret_kind) {
        const Picture *picture = known->picture;
        const struct State {
                bool is;
                const char *kind, *words;
        } states[] = {
                { !known->connected, "bad", "No connection" },
                { picture->ending, "move", "Ending" },
                { picture->ready, "good", "Ready" },
                { picture->started, "wait", "Not ready" },
                { true, "wait", "Starting" },
        };
        size_t i = 0;

        while (!states[i].is)
                i++;
        *ret_kind = states[i].kind;
        return states[i].words;
}

typedef struct Sums {
        size_t members, ready;
        unsigned restarts;
} Sums;

static Sums sum_up(const Snapshot *status) {
        Sums sums = { 0 };

        for (size_t s = 0; status && s < status->n_services; s++) {
                sums.members += status->services[s].n_members;
                sums.ready += status->services[s].n_ready;
                for (size_t i = 0; i < status->services[s].n_members; i++)
                        sums.restarts += status->services[s].members[i].restarts;
        }
        return sums;
}

static void put_head(const PageView *view, FILE *out) {
        const Known *known = view->known;
        const char *kind, *words = state_of(known, &kind);

        fprintf(out,
                "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
                "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
                "<meta name=\"color-scheme\" content=\"light dark\">\n"
                "<noscript><meta http-equiv=\"refresh\" content=\"5\"></noscript>\n"
                "<title>%s · endwell</title>\n<link rel=\"icon\" href=\"data:,\">\n<style nonce=\"%s\">\n",
                words, view->nonce);
        fputs(page_style, out);
        fputs("</style>\n</head>\n<body>\n<a class=\"skip\" href=\"#processes\">Skip to the processes</a>\n<header>\n"
              "<h1>endwell <small>",
              out);
        put(known->status ? known->status->version : "", out);
        fprintf(out, "</small></h1>\n<p id=\"state\" class=\"state %s\" role=\"status\">%s</p>\n<dl>\n", kind, words);
        const Sums sums = sum_up(known->status);
        fputs("<div><dt>Mode</dt><dd>", out);
        put(known->status ? known->status->mode : "unknown", out);
        fputs("</dd></div>\n<div><dt>Up for</dt><dd id=\"uptime\">", out);
        put_span(known->status ? known->status->uptime_usec : 0, out);
        fprintf(out,
                "</dd></div>\n<div><dt>Processes ready</dt><dd id=\"processes-ready\">%zu of %zu</dd></div>\n"
                "<div><dt>Restarts</dt><dd id=\"restarts\">%u</dd></div>\n</dl>\n<a class=\"jump\" "
                "href=\"#journal-title\">Journal</a>\n</header>\n",
                sums.ready, sums.members, sums.restarts);
}

/* ---- The ending ---- */

static void put_phase_row(const PicturePhase *phase, FILE *out) {
        fputs("<li><span class=\"name\">", out);
        put(phase->name, out);
        fputs("</span><span class=\"words\">", out);
        if (phase->finished) {
                fprintf(out, "%u gone in ", phase->gone);
                put_span(phase->took_usec, out);
                fprintf(out, ", %u killed, %u left", phase->killed, phase->left);
        } else if (phase->began) {
                fprintf(out, "%u to go, in at most ", phase->members);
                put_span(phase->limit_usec, out);
        } else {
                fputs("to come", out);
        }
        fputs("</span></li>\n", out);
}

/* Without a script it is a list; the script puts its own rows in its place. */
static void put_ending(const Picture *picture, FILE *out) {
        fprintf(out,
                "<section id=\"ending\" aria-labelledby=\"ending-title\"%s>\n<h2 id=\"ending-title\">The ending</h2>\n"
                "<ul class=\"timeline\" id=\"timeline\">\n",
                picture->ending ? "" : " hidden");
        for (unsigned i = 0; picture->ending && i < picture->n_phases; i++)
                put_phase_row(&picture->phases[i], out);
        fputs("</ul>\n<p class=\"axis\"><span id=\"ending-now\"></span><span id=\"ending-end\"></span></p>\n"
              "</section>\n",
              out);
}

/* ---- The processes ---- */

static void put_member(const SnapshotService *service, const SnapshotMember *member, FILE *out) {
        fputs("<tr><td>", out);
        put(service->phase, out);
        fputs("</td><th scope=\"row\">", out);
        put(service->name, out);
        if (service->n_members > 1)
                fprintf(out, "@%u", member->number);
        fputs("</th><td>", out);
        put(member->state, out);
        fputs("</td><td class=\"n\">", out);
        if (member->pid > 0)
                fprintf(out, "%d", (int)member->pid);
        fprintf(out, "</td><td class=\"n\">%u</td><td class=\"n\">", member->restarts);
        put_span(member->since_usec, out);
        fputs("</td><td>", out);
        put(member->note, out);
        fputs("</td></tr>\n", out);
}

static void put_processes(const Snapshot *status, FILE *out) {
        fputs("<section id=\"processes\" aria-labelledby=\"processes-title\" tabindex=\"-1\">\n"
              "<h2 id=\"processes-title\">Processes</h2>\n<div class=\"board\" id=\"board\" hidden></div>\n"
              "<div class=\"wide\" id=\"table\">\n<table>\n<thead><tr><th scope=\"col\">Phase</th>"
              "<th scope=\"col\">Process</th><th scope=\"col\">State</th><th scope=\"col\">Pid</th>"
              "<th scope=\"col\">Restarts</th><th scope=\"col\">Since</th><th scope=\"col\">Note</th></tr></thead>\n"
              "<tbody>\n",
              out);
        for (size_t s = 0; status && s < status->n_services; s++)
                for (size_t i = 0; i < status->services[s].n_members; i++)
                        put_member(&status->services[s], &status->services[s].members[i], out);
        fputs("</tbody>\n</table>\n</div>\n</section>\n", out);
}

/* ---- The journal ---- */

static void put_journal(const Recent *recent, FILE *out) {
        size_t n = recent_count(recent);

        fputs("<section aria-labelledby=\"journal-title\">\n<h2 id=\"journal-title\">Journal</h2>\n"
              "<ol class=\"journal\" id=\"journal\" tabindex=\"0\" aria-label=\"The last events, the newest at the "
              "end\">\n",
              out);
        for (size_t i = n > LINES_MAX ? n - LINES_MAX : 0; i < n; i++) {
                const RecentLine *line = recent_at(recent, i);
                fputs("<li><code>", out);
                page_write_text(line->text, line->length, out);
                fputs("</code></li>\n", out);
        }
        fputs("</ol>\n</section>\n", out);
}

void page_write(const PageView *view, FILE *out) {
        put_head(view, out);
        fputs("<main id=\"main\" data-run=\"", out);
        put_run(view, out);
        fputs("\">\n", out);
        put_ending(view->known->picture, out);
        put_processes(view->known->status, out);
        put_journal(view->recent, out);
        fputs("</main>\n<footer><p>The same for programs: <a href=\"/status\">/status</a>, "
              "<a href=\"/metrics\">/metrics</a>, /events.</p></footer>\n",
              out);
        fprintf(out, "<script nonce=\"%s\">\n", view->nonce);
        fputs(page_script, out);
        fputs("</script>\n</body>\n</html>\n", out);
}
