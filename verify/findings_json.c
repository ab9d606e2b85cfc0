/* findings_json.c - see findings_json.h. */
#include "verify/findings_json.h"
#include "base/take.h"
#include <errno.h>
#include <stdio.h>

/* Bytes above ASCII of a text that is not UTF-8, as \xNN. */
static json_t *text_value(const char *text) {
        json_t *value = json_string(text);
        char *escaped = NULL;
        size_t size = 0;

        if (value)
                return value;
        FILE *to = open_memstream(&escaped, &size);
        if (!to)
                return NULL;
        for (; *text; text++)
                if ((unsigned char)*text < 0x80)
                        fputc(*text, to);
                else
                        fprintf(to, "\\x%02x", (unsigned char)*text);
        value = fclose(to) == 0 ? json_string(escaped) : NULL;
        free(escaped);
        return value;
}

static int append_texts(json_t *list, char *const *texts, size_t n) {
        for (size_t i = 0; i < n; i++)
                if (json_array_append_new(list, text_value(texts[i])) < 0)
                        return -ENOMEM;
        return 0;
}

static const char *verdict_word(Ruling ruling) {
        return ruling_to_string(ruling_add(RULING_NONE, ruling));
}

/* Takes nothing; NULL without memory. */
static json_t *finding_value(const Finding *finding) {
        json_t *value = json_pack("{s:s}", "verdict", verdict_word(finding->ruling)), *why = json_array();
        int r = value && why ? append_texts(why, finding->why.sentences, finding->why.n_sentences) : -ENOMEM;

        if (r == 0)
                r = append_texts(why, finding->why.extras, finding->why.n_extras);
        if (r == 0 && (finding->ruling == RULING_LITTER || finding->ruling == RULING_NOTE))
                r = json_object_set_new(value, "remark", json_string(ruling_to_string(finding->ruling)));
        if (r == 0 && json_array_size(why) > 0)
                r = json_object_set(value, "why", why);
        json_decref(why);
        if (r == 0)
                return value;
        json_decref(value);
        return NULL;
}

static json_t *hook_value(const HookFindings *hook) {
        json_t *properties = json_object(), *masks = json_array();
        int r = !properties || !masks ? -ENOMEM : append_texts(masks, hook->masks.sentences, hook->masks.n_sentences);

        for (int property = 0; property < _PROPERTY_MAX && r == 0; property++)
                if (hook->of[property].ruling != RULING_NONE)
                        r = json_object_set_new(properties, property_to_string((Property)property),
                                                finding_value(&hook->of[property]));
        if (r == 0)
                return json_pack("{s:s,s:s,s:o,s:o}", "hook", hook->hook, "verdict",
                                 ruling_to_string(hook_findings_verdict(hook)), "properties", properties, "masks",
                                 masks);
        json_decref(properties);
        json_decref(masks);
        return NULL;
}

static json_t *pair_value(const PairFindings *pair) {
        json_t *value = finding_value(&pair->finding);

        if (value && json_object_set_new(value, "hooks", json_pack("[s,s]", pair->one, pair->other)) < 0) {
                json_decref(value);
                return NULL;
        }
        return value;
}

int findings_to_json(const Findings *findings, json_t **ret) {
        json_t *hooks = json_array(), *pairs = json_array();
        int r = hooks && pairs ? 0 : -ENOMEM;

        for (size_t i = 0; i < findings->n_hooks && r == 0; i++)
                r = json_array_append_new(hooks, hook_value(&findings->hooks[i]));
        for (size_t i = 0; i < findings->n_pairs && r == 0; i++)
                r = json_array_append_new(pairs, pair_value(&findings->pairs[i]));
        if (r < 0) {
                json_decref(hooks);
                json_decref(pairs);
                return -ENOMEM;
        }
        json_t *value = json_pack("{s:s,s:s,s:o,s:o,s:[]}", "verdict", ruling_to_string(findings_verdict(findings)),
                                  "level", findings->level, "hooks", hooks, "pairs", pairs, "rules");
        if (!value)
                return -ENOMEM;
        *ret = value;
        return 0;
}
