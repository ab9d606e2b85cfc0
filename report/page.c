/* page.c - the page around picture and tables; see page.h. */
#include "report/page_internal.h"

#include <errno.h>

#include "report/markup.h"
#include "report/words.h"

static const char style[] =
        ":root{color-scheme:light dark;--paper:#fff;--ink:#1b2027;--soft:#5a6573;--line:#e1e5ea;--band:#f6f8fa;"
        "--good:#1a7f46;--warning:#9a5b00;--bad:#c62b1d}"
        "@media screen and (prefers-color-scheme:dark){:root{--paper:#14181e;--ink:#e7ebf0;--soft:#9aa6b4;"
        "--line:#2b323b;--band:#1c222a;--good:#46c07c;--warning:#e0a33e;--bad:#ff6b5c}}"
        "*{box-sizing:border-box}html{background:var(--paper);color:var(--ink)}"
        "body{font:15px/1.5 system-ui,-apple-system,\"Segoe UI\",\"Liberation Sans\",Arial,sans-serif;margin:0 auto;"
        "max-width:1480px;padding:20px 20px 48px}"
        "h1{font-size:28px;line-height:1.2;margin:0 0 4px}h2{font-size:18px;margin:28px 0 8px}p{margin:0 0 12px}"
        ".lead{font-size:17px}.good{color:var(--good)}.warning{color:var(--warning)}.bad{color:var(--bad)}"
        ".soft{color:var(--soft)}"
        ".broken{border-left:4px solid var(--bad);padding:6px 12px;margin:0 0 16px;background:var(--band)}"
        "svg{display:block;width:100%;height:auto}.picture{margin:20px 0}.small-screen{display:none}"
        "dl{display:grid;grid-template-columns:repeat(auto-fit,minmax(220px,1fr));gap:8px 20px;margin:16px 0}"
        "dt{color:var(--soft);font-size:13px}dd{margin:0;overflow-wrap:anywhere}"
        ".scroll{overflow-x:auto}table{border-collapse:collapse;width:100%;font-size:14px}"
        "th,td{text-align:left;padding:5px 12px 5px 0;border-bottom:1px solid var(--line);vertical-align:top}"
        "thead th{color:var(--soft);font-weight:500}tbody th{font-weight:600;white-space:nowrap}"
        "td.number{white-space:nowrap;font-variant-numeric:tabular-nums}"
        "@media (max-width:719px){.big-screen{display:none}.small-screen{display:block}body{padding:14px 12px 32px}"
        "h1{font-size:24px}}"
        "@media print{@page{margin:12mm}body{padding:0;max-width:none;font-size:11px}.big-screen{display:block}"
        ".small-screen{display:none}table{font-size:10px}tr{break-inside:avoid}.scroll{overflow:visible}}";

static void put_head(FILE *out, const Story *story) {
        char code[WORDS_MAX], sentence[WORDS_MAX];
        Tone tone;
        fputs("<!DOCTYPE html>\n<html lang=\"en\" xmlns=\"http://www.w3.org/1999/xhtml\">\n<head>\n<meta "
              "charset=\"utf-8\"/>\n<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n"
              "<meta name=\"generator\" content=\"endwell report\"/>\n<title>",
              out);
        words_code(story, code, &tone);
        markup_text(out, code);
        fprintf(out, " – endwell report</title>\n<style>%s%s</style>\n</head>\n<body>\n<main>\n<h1 class=\"%s\">",
                style, picture_style(), tone_to_string(tone));
        markup_text(out, code);
        fputs("</h1>\n<p class=\"lead\">", out);
        markup_text(out, words_sentence(story, sentence));
        fputs("</p>\n", out);
}

/* Above everything else: what should never be. */
static void put_broken(FILE *out, const Judgement *judgement) {
        for (Law law = 0; law < _LAW_MAX; law++) {
                const LawFinding *finding = &judgement->of[law];
                if (finding->state != LAW_BROKEN)
                        continue;
                fprintf(out, "<p class=\"broken\"><strong class=\"bad\">%s is broken.</strong> It demands that %s: ",
                        law_to_string(law), law_sentence(law));
                markup_text(out, finding->text);
                fputs(".</p>\n", out);
        }
}

int page_write(FILE *out, const PageFacts *facts, const Story *story, const Judgement *judgement, const Lanes *lanes) {
        put_head(out, story);
        put_broken(out, judgement);
        fputs("<div class=\"picture big-screen\">\n", out);
        int r = picture_write(out, PICTURE_WIDE, story, judgement, lanes);
        fputs("</div>\n<div class=\"picture small-screen\">\n", out);
        if (r == 0)
                r = picture_write(out, PICTURE_NARROW, story, judgement, lanes);
        fputs("</div>\n", out);
        page_put_facts(out, facts, story, judgement);
        page_put_laws(out, judgement);
        page_put_phases(out, story);
        page_put_hooks(out, story);
        page_put_members(out, story, lanes);
        page_put_orphans(out, story);
        page_put_events(out, story);
        fputs("</main>\n</body>\n</html>\n", out);
        return r < 0 ? r : ferror(out) ? -ENOMEM : 0;
}
