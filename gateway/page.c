/* page.c - see page.h. */
#include "gateway/page.h"
#include "base/take.h"
#include "base/utf8.h"
#include <inttypes.h>
#include <string.h>

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

static void put_member(const SnapshotService *service, const SnapshotMember *member, FILE *out) {
        fputs("<tr><td>", out);
        put(service->phase, out);
        fputs("</td><th scope=\"row\">", out);
        put(service->name, out);
        if (service->n_members > 1)
                fprintf(out, "@%u", member->number);
        fputs("</th><td>", out);
        put(member->state, out);
        fprintf(out, "</td><td>%u</td><td>", member->restarts);
        put(member->note, out);
        fputs("</td></tr>\n", out);
}

void page_write(const PageView *view, FILE *out) {
        const Snapshot *status = view->known->status;

        fputs("<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>endwell</title></head><body>\n"
              "<table><thead><tr><th scope=\"col\">Phase</th><th scope=\"col\">Process</th><th scope=\"col\">State</th>"
              "<th scope=\"col\">Restarts</th><th scope=\"col\">Note</th></tr></thead><tbody>\n",
              out);
        for (size_t s = 0; status && s < status->n_services; s++)
                for (size_t i = 0; i < status->services[s].n_members; i++)
                        put_member(&status->services[s], &status->services[s].members[i], out);
        fputs("</tbody></table></body></html>\n", out);
}
