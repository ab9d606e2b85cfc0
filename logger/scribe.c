/* scribe.c - writes entries into a backlog of limited size. */
#include "logger/scribe.h"
#include "base/take.h"
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define BACKLOG_FIRST 8192
#define MISSING_MAX   128

void scribe_init(Scribe *scribe, ScribeFormat format, const EntrySource *source, ScribeRoom *room) {
        *scribe = (Scribe){ .format = format, .source = *source, .room = room };
        scribe->cutter.max = format == SCRIBE_LINES ? SCRIBE_LINE_MAX : KEPT_TEXT_MAX;
}

static void resize(Scribe *scribe, char *text, size_t size) {
        scribe->room->used = scribe->room->used - scribe->size + size;
        scribe->text = text;
        scribe->size = size;
}

static void forget(Scribe *scribe) {
        free(scribe->text);
        resize(scribe, NULL, 0);
        scribe->from = scribe->to = 0;
}

void scribe_done(Scribe *scribe) {
        forget(scribe);
        cutter_done(&scribe->cutter);
}

/* ---- The backlog ---- */

static size_t waiting(const Scribe *scribe) {
        return scribe->to - scribe->from;
}

bool scribe_is_full(const Scribe *scribe) {
        return waiting(scribe) >= SCRIBE_BACKLOG_MAX ||
               (waiting(scribe) > 0 && scribe->room->used >= SCRIBE_BACKLOG_ALL);
}

static bool make_room(Scribe *scribe, size_t length) {
        size_t size = scribe->size ? scribe->size : BACKLOG_FIRST;

        if (scribe->from > 0 && scribe->to + length > scribe->size) {
                memmove(scribe->text, scribe->text + scribe->from, waiting(scribe));
                scribe->to -= scribe->from;
                scribe->from = 0;
        }
        while (scribe->to + length > size)
                size *= 2;
        if (size == scribe->size)
                return true;
        char *text = realloc(scribe->text, size);
        if (!text)
                return false;
        resize(scribe, text, size);
        return true;
}

static bool add(Scribe *scribe, const char *text, size_t length) {
        if (!make_room(scribe, length))
                return false;
        memcpy(scribe->text + scribe->to, text, length);
        scribe->to += length;
        return true;
}

size_t scribe_waiting(const Scribe *scribe, const char **ret) {
        *ret = scribe->text ? scribe->text + scribe->from : NULL;
        return waiting(scribe);
}

void scribe_written(Scribe *scribe, size_t n) {
        scribe->from += n;
        if (waiting(scribe) <= SCRIBE_BACKLOG_MAX / 2)
                scribe->dropping = false;
        if (waiting(scribe) == 0)
                forget(scribe);
}

static void count(Scribe *scribe, uint64_t n) {
        scribe->untold += n;
        scribe->missing += n;
}

void scribe_lose(Scribe *scribe) {
        uint64_t n = 0;

        for (size_t i = scribe->from; i < scribe->to; i++)
                n += scribe->text[i] == '\n';
        count(scribe, n);
        forget(scribe);
        scribe->dropping = false;
}

void scribe_begin_dropping(Scribe *scribe) {
        scribe->dropping = true;
}

/* ---- Entries ---- */

static size_t write_entry(Scribe *scribe, const Entry *entry, char *ret_text, size_t *ret_length) {
        return scribe->format == SCRIBE_JSON ? entry_write_json(entry, ret_text, ret_length)
                                             : entry_write_prefix(entry, scribe->colour, ret_text, ret_length);
}

/* A text that is too long for one entry becomes several. False: no memory. */
static bool add_entries(Scribe *scribe, Entry entry) {
        char text[ENTRY_MAX];
        size_t length, n;

        do {
                n = write_entry(scribe, &entry, text, &length);
                if (!add(scribe, text, length))
                        return false;
                entry.text += n;
                entry.length -= n;
                entry.continues = true;
        } while (entry.length > 0);
        return true;
}

static bool add_lines(Scribe *scribe, const Entry *entry) {
        return add(scribe, entry->text, entry->length) && (entry->goes_on || add(scribe, "\n", 1));
}

static bool add_entry(Scribe *scribe, const Entry *entry) {
        return scribe->format == SCRIBE_LINES ? add_lines(scribe, entry) : add_entries(scribe, *entry);
}

/* Who reads on must know that he does not see all. */
static void name_missing(Scribe *scribe) {
        char text[MISSING_MAX];
        Entry entry = { .source = &scribe->source, .wall = scribe->wall, .text = text };

        if (scribe->missing == 0)
                return;
        entry.length = (size_t)snprintf(text, sizeof text, "[endwell: %" PRIu64 " line%s missing here]",
                                        scribe->missing, scribe->missing == 1 ? " is" : "s are");
        if (add_entry(scribe, &entry))
                scribe->missing = 0;
}

static void take_part(Scribe *scribe, const CutterPart *part) {
        Entry entry = { .source = &scribe->source,
                        .wall = scribe->wall,
                        .text = part->text,
                        .length = part->length,
                        .continues = part->continues,
                        .goes_on = part->goes_on };

        if (scribe->room->kept)
                kept_put(scribe->room->kept, &entry);
        if (scribe->format == SCRIBE_UNCHANGED)
                return;
        if (!scribe->dropping && !part->continues)
                name_missing(scribe);
        if (scribe->dropping || !add_entry(scribe, &entry))
                count(scribe, !part->goes_on);
}

size_t scribe_take(Scribe *scribe, const char *bytes, size_t length) {
        CutterPart part;
        size_t done = 0;

        while (done < length && (scribe->dropping || !scribe_is_full(scribe))) {
                done += cutter_take(&scribe->cutter, bytes + done, length - done, &part);
                if (part.text)
                        take_part(scribe, &part);
        }
        return done;
}

bool scribe_end(Scribe *scribe) {
        if (scribe_is_full(scribe) && !scribe->dropping)
                return false;
        CutterPart part = cutter_rest(&scribe->cutter);
        if (part.text)
                take_part(scribe, &part);
        if (!scribe->dropping)
                name_missing(scribe);
        return true;
}
