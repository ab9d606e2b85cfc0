/* utterance.c - see utterance.h. */
#include "worker/utterance.h"
#include "base/utf8.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MEMBERS_MAX       64
#define RETRY_MAX_SECONDS 315360000.0 /* ten years */

typedef struct Members {
        JsonMember list[MEMBERS_MAX];
        int n;
} Members;

static int refuse(char problem[static UTTERANCE_PROBLEM_MAX], const char *text) {
        snprintf(problem, UTTERANCE_PROBLEM_MAX, "%s", text);
        return -EINVAL;
}

/* The last one of that name counts, as most parsers have it. */
static const JsonText *find(const Members *members, const char *key) {
        for (int i = members->n; i > 0; i--)
                if (json_text_is(members->list[i - 1].key, key))
                        return &members->list[i - 1].value;
        return NULL;
}

/* Too long is cut, at a whole character: of an error the beginning is better than nothing. */
static bool read_text(const Members *members, const char *key, char *ret, size_t size) {
        const JsonText *value = find(members, key);
        if (!value)
                return true;
        int r = json_text_string(*value, ret, size);
        if (r != -E2BIG)
                return r >= 0;
        JsonText front = *value;
        front.length = utf8_cut(value->text, value->length, size / 6); /* an escape has at most six letters a byte */
        while (front.length > 1 && front.text[front.length - 1] == '\\')
                front.length--;
        ret[0] = '\0';
        size_t used = 0;
        for (size_t i = 1; i < front.length; i++)
                ret[used++] = front.text[i];
        ret[used] = '\0';
        return true;
}

/* 1 true, 0 false, -1 not said, -EINVAL something else. */
static int read_bool(const Members *members, const char *key) {
        const JsonText *value = find(members, key);
        if (!value || json_text_is(*value, "null"))
                return -1;
        if (json_text_is(*value, "true"))
                return 1;
        return json_text_is(*value, "false") ? 0 : -EINVAL;
}

static int read_seconds(const Members *members, int64_t *ret_usec) {
        const JsonText *value = find(members, "retry_in");
        char number[40];

        *ret_usec = -1;
        if (!value || json_text_is(*value, "null"))
                return 0;
        if (value->length >= sizeof number || value->text[0] == '"')
                return -EINVAL;
        memcpy(number, value->text, value->length);
        number[value->length] = '\0';
        double seconds = strtod(number, NULL);
        if (!(seconds >= 0 && seconds <= RETRY_MAX_SECONDS))
                return -EINVAL;
        *ret_usec = (int64_t)(seconds * 1e6);
        return 0;
}

static int read_item(const Members *members, Utterance *said, char *problem) {
        int begin = read_bool(members, "begin"), done = read_bool(members, "done");
        const JsonText *result = find(members, "result");

        said->force = read_bool(members, "force");
        if (!read_text(members, "item", said->key, sizeof said->key) || said->key[0] == '\0')
                return refuse(problem, "its item has no name");
        if (begin == -EINVAL || done == -EINVAL || said->force == -EINVAL || (begin == 1) == (done >= 0))
                return refuse(problem, "its item neither begins nor is done");
        said->kind = begin == 1 ? UTTERANCE_ITEM_BEGIN : UTTERANCE_ITEM_END;
        said->ok = done == 1;
        if (!read_text(members, "error", said->error, sizeof said->error))
                return refuse(problem, "its error is no text");
        if (result)
                said->value = *result;
        return 0;
}

static int read_failure(const Members *members, Utterance *said, char *problem) {
        int fatal = read_bool(members, "fatal");

        said->kind = UTTERANCE_FAILURE;
        said->fatal = fatal == 1;
        if (!read_text(members, "error", said->error, sizeof said->error))
                return refuse(problem, "its error is no text");
        if (!read_text(members, "class", said->class, sizeof said->class))
                return refuse(problem, "its class is no text");
        if (fatal == -EINVAL || read_seconds(members, &said->retry_in_usec) < 0)
                return refuse(problem, "its retry_in or fatal is neither a span nor true or false");
        return 0;
}

static int read_kind(const Members *members, Utterance *said, char *problem) {
        const JsonText *result = find(members, "result"), *progress = find(members, "progress");

        if (find(members, "item"))
                return read_item(members, said, problem);
        if (find(members, "error"))
                return result ? refuse(problem, "it has both a result and an error")
                              : read_failure(members, said, problem);
        if (!result && !progress)
                return refuse(problem, "it has no result, error, progress or item");
        said->kind = result ? UTTERANCE_RESULT : UTTERANCE_PROGRESS;
        said->value = result ? *result : *progress;
        return 0;
}

static int read_whose(const Members *members, Utterance *said, char *problem) {
        const JsonText *id = find(members, "id"), *generation = find(members, "generation");

        if (!id || json_text_integer(*id, &said->id) < 0)
                return refuse(problem, "it has no id");
        if (!generation || json_text_integer(*generation, &said->generation) < 0)
                return refuse(problem, "it has no generation");
        return 0;
}

int utterance_parse(const char *line, size_t length, Utterance *ret, char ret_problem[static UTTERANCE_PROBLEM_MAX]) {
        Members members;

        members.n = json_text_members(line, length, members.list, MEMBERS_MAX);
        if (members.n < 0)
                return refuse(ret_problem, members.n == -E2BIG ? "it has too many members" : "it is no JSON object");
        ret->value = (JsonText){ 0 };
        ret->fatal = ret->ok = false;
        ret->force = -1;
        ret->retry_in_usec = -1;
        ret->key[0] = ret->error[0] = ret->class[0] = '\0';
        int r = read_whose(&members, ret, ret_problem);
        return r < 0 ? r : read_kind(&members, ret, ret_problem);
}
