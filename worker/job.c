/* job.c - see job.h. */
#include "worker/job.h"
#include "base/json.h"
#include "base/take.h"
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define LINE_WORDS 512 /* all of a line but its texts */

static int copy_text(const char *text, char **ret) {
        if (!text)
                return 0;
        *ret = strdup(text);
        return *ret ? 0 : -ENOMEM;
}

int job_init(Job *ret, const Job *from) {
        Job job = *from;
        job.kind = job.payload = job.progress = NULL;
        if (copy_text(from->kind, &job.kind) < 0 || copy_text(from->payload, &job.payload) < 0 ||
            copy_text(from->progress, &job.progress) < 0) {
                job_done(&job);
                return -ENOMEM;
        }
        *ret = job;
        return 0;
}

void job_done(Job *job) {
        free(job->kind);
        free(job->payload);
        free(job->progress);
        job->kind = job->payload = job->progress = NULL;
}

int job_environment(const Job *job, const char *owner, const char *notify, const char *file, char *ret, size_t size) {
        int n = snprintf(ret, size,
                         "ENDWELL_JOB_ID=%" PRId64 "\nENDWELL_GENERATION=%" PRId64 "\nENDWELL_CLAIM_ID=%s\n"
                         "ENDWELL_ATTEMPT=%" PRId64 "\nENDWELL_MAX_ATTEMPTS=%" PRId64 "\nENDWELL_OWNER=%s\n"
                         "NOTIFY_SOCKET=%s\nENDWELL_PAYLOAD_FILE%s%s\n",
                         job->key.id, job->key.generation, job->key.claim, job->attempt, job->max_attempts, owner,
                         notify, *file ? "=" : "", file);
        return n < 0 || (size_t)n >= size ? -E2BIG : n;
}

/* Only a line break that stands between two tokens can be in valid JSON. */
static char *put_raw(char *at, const char *key, const char *text) {
        at += sprintf(at, ",\"%s\":", key);
        if (!text)
                return stpcpy(at, "null");
        for (; *text; text++)
                *at++ = *text == '\n' || *text == '\r' ? ' ' : *text;
        return at;
}

static size_t length_of(const char *text) {
        return text ? strlen(text) : 0;
}

int job_line(const Job *job, char **ret, size_t *ret_length) {
        size_t kind = 6 * length_of(job->kind); /* each byte may become an escape of six letters */
        char *text = malloc(LINE_WORDS + kind + length_of(job->payload) + length_of(job->progress));
        Json json;

        if (!text)
                return -ENOMEM;
        json_init(&json, text, LINE_WORDS + kind);
        json_open_object(&json, NULL);
        json_put_signed(&json, "id", job->key.id);
        json_put_signed(&json, "generation", job->key.generation);
        json_put_string(&json, "claim_id", job->key.claim);
        json_put_signed(&json, "attempt", job->attempt);
        json_put_signed(&json, "max_attempts", job->max_attempts);
        json_put_string(&json, "kind", job->kind ? job->kind : "");
        size_t n = json_finish(&json) - 1; /* its closing bracket comes last */
        char *at = put_raw(put_raw(text + n, "payload", job->payload), "progress", job->progress);
        at = stpcpy(at, "}\n");
        *ret = text;
        *ret_length = (size_t)(at - text);
        return 0;
}
