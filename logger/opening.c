/* opening.c - the words of OPEN. */
#include "logger/opening.h"
#include "base/take.h"
#include <stdio.h>
#include <string.h>

static uint64_t number_of(const Packet *packet, const char *key) {
        uint64_t number = 0;
        return packet_get_unsigned(packet, key, &number) == 0 ? number : 0;
}

static void copy_name(const Packet *packet, const char *key, char ret_name[static ENTRY_NAME_MAX]) {
        const char *name = packet_get(packet, key);
        snprintf(ret_name, ENTRY_NAME_MAX, "%s", name ? name : "");
}

static void read_source(const Packet *packet, EntrySource *ret) {
        *ret = (EntrySource){ .instance = (unsigned)number_of(packet, "INSTANCE"),
                              .is_one_of_many = packet_get(packet, "MANY") != NULL,
                              .pid = (int)number_of(packet, "PID"),
                              .is_stderr = packet_get(packet, "STDERR") != NULL };
        copy_name(packet, "SERVICE", ret->service);
        copy_name(packet, "HOOK_NAME", ret->hook);
}

static ScribeFormat format_of(const Packet *packet) {
        static const char *const names[] = { "", "prefix", "json", "lines" };
        const char *format = packet_get(packet, "FORMAT");

        for (unsigned i = 0; format && i < LENGTH_OF(names); i++)
                if (strcmp(format, names[i]) == 0)
                        return (ScribeFormat)i;
        return SCRIBE_UNCHANGED;
}

void opening_read(const Packet *packet, StreamPlan *plan) {
        plan->path = packet->body;
        plan->truncate = packet_get(packet, "TRUNCATE") != NULL;
        plan->format = format_of(packet);
        plan->max_size = number_of(packet, "MAX_SIZE");
        plan->most = (unsigned)number_of(packet, "MOST");
        read_source(packet, &plan->source);
        /* A file without a size to rotate it at is one that is only appended to. */
        if (plan->format == SCRIBE_LINES && (!plan->path || plan->max_size == 0 || plan->most == 0))
                plan->format = SCRIBE_UNCHANGED;
}
