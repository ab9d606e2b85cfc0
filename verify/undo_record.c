/* undo_record.c - see undo_record.h. */
#include "verify/undo_record.h"
#include "base/enumeration.h"
#include "base/take.h"
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static const char *const words[_UNDO_KIND_MAX] = {
        [UNDO_ABSENT] = "absent", [UNDO_FILE] = "file",   [UNDO_DIRECTORY] = "directory", [UNDO_LINK] = "link",
        [UNDO_FIFO] = "fifo",     [UNDO_MOVED] = "moved", [UNDO_TREE] = "tree",           [UNDO_UNDONE] = "undone",
};

ENUMERATION(undo_kind, UndoKind, words)

#define N_WORDS 17

/* FNV-1a: against torn lines, not against people. */
static uint64_t checksum(const char *text) {
        uint64_t sum = UINT64_C(0xcbf29ce484222325);

        for (; *text; text++)
                sum = (sum ^ (unsigned char)*text) * UINT64_C(0x100000001b3);
        return sum;
}

/* ---- Writing ---- */

static size_t room(const char *text) {
        return text ? 3 * strlen(text) + 2 : 2;
}

/* "-" is nothing, "=" and what follows a text; blanks, newlines and all that is not plain as %XX. */
static char *put(char *at, const char *text) {
        if (!text)
                return stpcpy(at, " -");
        at = stpcpy(at, " =");
        for (; *text; text++)
                if (*text > ' ' && *text < 127 && *text != '%')
                        *at++ = *text;
                else
                        at += sprintf(at, "%%%02x", (unsigned char)*text);
        *at = 0;
        return at;
}

char *undo_record_format(const UndoRecord *record) {
        size_t size = 512 + room(record->path) + room(record->target) + room(record->attributes) + room(record->kept);
        _cleanup_(freep) char *body = malloc(size);
        char *line = malloc(size + 32), *at;

        if (!body || !line) {
                free(line);
                return NULL;
        }
        at = body + sprintf(body,
                            "%s %" PRIo32 " %" PRIu32 " %" PRIu32 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64
                            " %lld %ld %lld %ld",
                            undo_kind_to_string(record->kind), record->mode, record->uid, record->gid, record->device,
                            record->inode, record->size, record->offset, (long long)record->atime.tv_sec,
                            record->atime.tv_nsec, (long long)record->mtime.tv_sec, record->mtime.tv_nsec);
        at = put(at, record->path);
        at = put(at, record->target);
        at = put(at, record->attributes);
        put(at, record->kept);
        sprintf(line, "%016" PRIx64 " %s\n", checksum(body), body);
        return line;
}

/* ---- Reading ---- */

static int digit(char letter) {
        if (letter >= '0' && letter <= '9')
                return letter - '0';
        return letter >= 'a' && letter <= 'f' ? letter - 'a' + 10 : -1;
}

static int take(const char *word, char **ret) {
        if (strcmp(word, "-") == 0)
                return 0;
        if (word[0] != '=')
                return -EBADMSG;
        char *text = malloc(strlen(word)), *to = text;
        if (!text)
                return -ENOMEM;
        for (const char *from = word + 1; *from; from++) {
                if (*from != '%') {
                        *to++ = *from;
                        continue;
                }
                int high = digit(from[1]), low = high < 0 ? -1 : digit(from[2]);
                if (low < 0) {
                        free(text);
                        return -EBADMSG;
                }
                *to++ = (char)(high << 4 | low);
                from += 2;
        }
        *to = 0;
        *ret = text;
        return 0;
}

static int split(char *text, char *ret_words[static N_WORDS]) {
        size_t n = 0;
        char *word;

        while ((word = strsep(&text, " ")) && n < N_WORDS)
                ret_words[n++] = word;
        return n == N_WORDS && !word ? 0 : -EBADMSG;
}

static void take_numbers(char *const *words_, UndoRecord *record) {
        record->mode = (uint32_t)strtoul(words_[2], NULL, 8);
        record->uid = (uint32_t)strtoul(words_[3], NULL, 10);
        record->gid = (uint32_t)strtoul(words_[4], NULL, 10);
        record->device = strtoull(words_[5], NULL, 10);
        record->inode = strtoull(words_[6], NULL, 10);
        record->size = strtoull(words_[7], NULL, 10);
        record->offset = strtoull(words_[8], NULL, 10);
        record->atime = (struct timespec){ strtoll(words_[9], NULL, 10), strtol(words_[10], NULL, 10) };
        record->mtime = (struct timespec){ strtoll(words_[11], NULL, 10), strtol(words_[12], NULL, 10) };
}

int undo_record_parse(const char *line, UndoRecord *ret) {
        _cleanup_(freep) char *copy = strdup(line);
        char *words_[N_WORDS];
        UndoRecord record = { 0 };

        if (!copy)
                return -ENOMEM;
        if (strlen(line) < 18 || line[16] != ' ' || strtoull(line, NULL, 16) != checksum(line + 17))
                return -EBADMSG;
        int r = split(copy, words_);
        int kind = r < 0 ? r : undo_kind_from_string(words_[1]);
        if (kind < 0)
                return -EBADMSG;
        record.kind = (UndoKind)kind;
        take_numbers(words_, &record);
        r = take(words_[13], &record.path);
        if (r == 0)
                r = take(words_[14], &record.target);
        if (r == 0)
                r = take(words_[15], &record.attributes);
        if (r == 0)
                r = take(words_[16], &record.kept);
        if (r < 0) {
                undo_record_done(&record);
                return r;
        }
        *ret = record;
        return 0;
}

bool undo_record_holds_attribute(const char *name) {
        return strncmp(name, "trusted.overlay", 15) != 0 && strcmp(name, "security.selinux") != 0;
}

void undo_record_done(UndoRecord *record) {
        free(record->path);
        free(record->target);
        free(record->attributes);
        free(record->kept);
        *record = (UndoRecord){ 0 };
}
