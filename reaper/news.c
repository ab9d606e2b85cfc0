/* news.c - lines of the control socket, read; see news.h. */
#include "reaper/news.h"
#include "base/enumeration.h"
#include "base/utf8.h"
#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>

static const char *const kind_words[_NEWS_MAX] = {
        [NEWS_OTHER] = "other",         [NEWS_SUBSCRIBED] = "subscribed", [NEWS_TAKEN] = "taken",
        [NEWS_REFUSED] = "refused",     [NEWS_EXITED] = "service_exited", [NEWS_GONE] = "service_gone",
        [NEWS_ASKED] = "service_asked", [NEWS_ENDING] = "ending_started", [NEWS_PHASE] = "phase_started",
};
ENUMERATION(news_kind, NewsKind, kind_words)

static const char *text_of(const json_t *object, const char *key) {
        const char *text = json_string_value(json_object_get(object, key));
        return text ? text : "";
}

static uint64_t number_of(const json_t *object, const char *key) {
        json_int_t number = json_integer_value(json_object_get(object, key));
        return number > 0 ? (uint64_t)number : 0;
}

/* A uuid in its usual form: anything else would be an error of the database, again and again. */
static bool is_uuid(const char *text) {
        static const char form[] = "xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx";
        size_t i = 0;

        for (; form[i] && text[i]; i++)
                if (form[i] == '-' ? text[i] != '-' : !strchr("0123456789abcdefABCDEF", text[i]))
                        return false;
        return !form[i] && !text[i];
}

static void take_name(char ret[static NAME_LENGTH_MAX + 1], const char *name) {
        if (name_is_valid(name))
                strcpy(ret, name);
}

/* As much of it as there is room for, in whole characters. */
static void take_text(char *ret, size_t size, const char *text) {
        snprintf(ret, size, "%.*s", (int)utf8_cut(text, strlen(text), size - 1), text);
}

static void write_note(const json_t *event, char note[static NEWS_NOTE_MAX]) {
        const char *code = text_of(event, "code"), *error = text_of(event, "error");
        int status = (int)json_integer_value(json_object_get(event, "status"));
        char signal_text[SIGNAL_TEXT_MAX];

        if (error[0]) {
                strcpy(note, "could not be started: ");
                take_text(note + strlen(note), NEWS_NOTE_MAX - strlen(note), error);
        } else if (strcmp(code, "exited") == 0) {
                snprintf(note, NEWS_NOTE_MAX, "exit code %d", status);
        } else if (strcmp(code, "killed") == 0 || strcmp(code, "dumped") == 0) {
                snprintf(note, NEWS_NOTE_MAX, "killed by %s%s", signal_to_string(status, signal_text),
                         code[0] == 'd' ? ", core dumped" : "");
        }
}

static NewsKind kind_of(const char *event) {
        int kind = news_kind_from_string(event);
        return kind < NEWS_EXITED ? NEWS_OTHER : (NewsKind)kind;
}

static void read_event(const json_t *event, News *news) {
        const char *owner = text_of(event, "owner");

        news->kind = kind_of(text_of(event, "event"));
        take_name(news->service, text_of(event, "service"));
        take_name(news->phase, text_of(event, "phase"));
        take_name(news->cause, text_of(event, "cause"));
        news->instance = (unsigned)number_of(event, "instance");
        news->pid = (pid_t)number_of(event, "pid");
        news->certain = json_is_true(json_object_get(event, "certain"));
        news->limit_usec = number_of(event, "limit_us");
        if (is_uuid(owner))
                strcpy(news->owner, owner);
        if (news->kind == NEWS_EXITED)
                write_note(event, news->note);
        if ((news->kind == NEWS_EXITED || news->kind == NEWS_GONE) && !news->owner[0])
                news->kind = NEWS_OTHER;
}

static int read_answer(const json_t *line, News *news) {
        const json_t *result = json_object_get(line, "result"), *error = json_object_get(line, "error");

        if (json_is_object(error)) {
                news->kind = NEWS_REFUSED;
                take_text(news->note, sizeof news->note, text_of(error, "message"));
                return 0;
        }
        if (!json_is_object(result))
                return -EBADMSG;
        bool subscribed = json_is_true(json_object_get(result, "subscribed"));
        news->kind = subscribed ? NEWS_SUBSCRIBED : NEWS_TAKEN;
        news->seq = number_of(result, "since");
        news->newest = number_of(result, "newest");
        return 0;
}

int news_read(const char *line, size_t length, News *ret) {
        News news = { 0 };
        json_error_t error;
        json_t *root = json_loadb(line, length, 0, &error);
        int r = 0;

        if (!root)
                return json_error_code(&error) == json_error_out_of_memory ? -ENOMEM : -EBADMSG;
        news.seq = number_of(root, "seq");
        if (!json_is_object(root))
                r = -EBADMSG;
        else if (news.seq > 0)
                read_event(root, &news);
        else
                r = read_answer(root, &news);
        json_decref(root);
        if (r == 0)
                *ret = news;
        return r;
}
