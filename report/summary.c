/* summary.c - see summary.h. */
#include "report/summary.h"

#include <inttypes.h>
#include <string.h>

#include "base/json.h"
#include "base/utf8.h"
#include "report/words.h"

/* Names come from strangers: they must not move a cursor. */
static void put(FILE *out, char *text) {
        utf8_clean(text, strlen(text));
        fputs(text, out);
}

static void put_law(FILE *out, Law law, const LawFinding *finding) {
        char text[LAW_TEXT_MAX];
        fprintf(out, "  %-4s %-16s %s", law_to_string(law), law_state_to_string(finding->state), law_sentence(law));
        if (finding->text[0]) {
                snprintf(text, sizeof text, "%s", finding->text);
                fputs("\n                        ", out);
                put(out, text);
        }
        for (size_t i = 0; i < finding->n_breaches && i < LAW_BREACHES_MAX; i++)
                fprintf(out, "%s%" PRIu64, i == 0 ? " (event " : ", ", finding->breaches[i]);
        if (finding->n_breaches > LAW_BREACHES_MAX)
                fprintf(out, " and %u more", finding->n_breaches - LAW_BREACHES_MAX);
        fputs(finding->n_breaches > 0 ? ")\n" : "\n", out);
}

void summary_write(FILE *out, const Story *story, const Judgement *judgement) {
        char text[WORDS_MAX], name[48];
        Tone tone;
        put(out, (char *)words_code(story, text, &tone));
        fputs(": ", out);
        put(out, (char *)words_sentence(story, text));
        fputs("\n", out);
        for (size_t i = 0; i < story->n_phases; i++) {
                snprintf(name, sizeof name, "%.40s", story->phases[i].name ? story->phases[i].name : "?");
                utf8_clean(name, strlen(name));
                words_phase(&story->phases[i], text, &tone);
                fprintf(out, "  %-12s %s\n", name, text);
        }
        fputs("laws:\n", out);
        for (Law law = 0; law < _LAW_MAX; law++)
                put_law(out, law, &judgement->of[law]);
}

static void put_finding(Json *json, Law law, const LawFinding *finding) {
        json_open_object(json, NULL);
        json_put_string(json, "law", law_to_string(law));
        json_put_string(json, "state", law_state_to_string(finding->state));
        json_put_unsigned(json, "breaches", finding->n_breaches);
        json_open_array(json, "seqs");
        for (size_t i = 0; i < finding->n_breaches && i < LAW_BREACHES_MAX; i++)
                json_put_unsigned(json, NULL, finding->breaches[i]);
        json_close(json);
        json_put_string(json, "detail", finding->text[0] ? finding->text : NULL);
        json_close(json);
}

void summary_write_json(FILE *out, const Story *story, const Judgement *judgement) {
        char buffer[16384], text[WORDS_MAX]; /* nine laws of at most LAW_TEXT_MAX and eight numbers */
        Json json;
        json_init(&json, buffer, sizeof buffer);
        json_open_object(&json, NULL);
        json_put_string(&json, "answer", law_state_to_string(laws_answer(judgement)));
        json_put_bool(&json, "finished", judgement->finished);
        if (story->finish)
                json_put_signed(&json, "code", story->finish->code);
        else
                json_put_null(&json, "code");
        json_put_string(&json, "sentence", words_sentence(story, text));
        json_put_unsigned(&json, "missing_events", judgement->missing);
        json_open_array(&json, "laws");
        for (Law law = 0; law < _LAW_MAX; law++)
                put_finding(&json, law, &judgement->of[law]);
        json_finish(&json);
        fputs(buffer, out);
        fputs("\n", out);
}
