/* crew_progress.c - whom a slow start-up waits for, and why, as far as that is known. */
#include <stdio.h>
#include <string.h>

#include "supervisor/crew_internal.h"

#define START_PROGRESS_USEC (5 * USEC_PER_SEC) /* from the start, and from one line to the next */
#define REASON_MAX          128

static void write_probe(const ProbeRun *run, char text[static REASON_MAX]) {
        snprintf(text, REASON_MAX, " (%s probe%s%s)", probe_kind_to_string((ProbeKind)run->kind),
                 run->detail[0] ? ": " : "", run->detail);
}

/* " (readiness probe: HTTP 503)", or "". */
static void write_reason(const Crew *crew, const Member *member, char text[static REASON_MAX]) {
        ServiceType type = crew_service(crew, member)->type;
        bool starts = member->life.state == LIFE_STARTING;
        const ProbeRun *probe = starts && member->executed ? crew_unready_probe(crew, member) : NULL;

        text[0] = '\0';
        if (member->life.state == LIFE_BACKOFF)
                snprintf(text, REASON_MAX, " (%u failed in a row)", member->respawn.failures);
        else if (member->life.state == LIFE_PRE_START)
                snprintf(text, REASON_MAX, " (its pre-start hooks)");
        else if (starts && type == SERVICE_NOTIFY && !member->said_ready)
                snprintf(text, REASON_MAX, " (no READY=1 yet)");
        else if (probe)
                write_probe(probe, text);
}

/* Whole or not at all. */
static bool add(char *text, size_t size, const char *more, const char *reason) {
        size_t used = strlen(text), length = strlen(more) + strlen(reason) + 2;
        if (used + length >= size)
                return false;
        snprintf(text + used, size - used, "%s%s%s", used > 0 ? ", " : "", more, reason);
        return true;
}

unsigned crew_write_awaited(const Crew *crew, char *ret_text, size_t size) {
        unsigned n = 0;
        size_t room = size > 24 ? size - 24 : 0; /* " and 60000 more" comes on top */
        unsigned named = 0;
        ret_text[0] = '\0';
        for (uint32_t i = 0; i < crew->n_members; i++) {
                char name[64], reason[REASON_MAX];
                if (!crew_is_awaited(crew, &crew->members[i]))
                        continue;
                n++;
                if (named >= NAMED_MAX || named + 1 < n)
                        continue;
                crew_name(crew, i, name, sizeof name);
                write_reason(crew, &crew->members[i], reason);
                named += add(ret_text, room, name, reason);
        }
        if (named < n)
                snprintf(ret_text + strlen(ret_text), size - strlen(ret_text), "%s%u more", named > 0 ? " and " : "",
                         n - named);
        return n;
}

void crew_tell_start(Crew *crew) {
        if (crew->startup_told || crew->start_phase < 0)
                return;
        crew_alarm(crew, CREW_ALARM_PROGRESS, usec_add(crew_now(crew), START_PROGRESS_USEC));
        char detail[8 * 64], names[NAMED_MAX * 48] = "";
        unsigned left = crew_write_awaited(crew, detail, sizeof detail), named = 0;
        for (uint32_t i = 0; i < crew->n_members && named < NAMED_MAX; i++)
                if (crew_is_awaited(crew, &crew->members[i])) {
                        crew_add_name(crew, i, names, sizeof names);
                        named++;
                }
        if (left > 0)
                crew_record(crew, &(Event){ .kind = EVENT_STARTUP_PROGRESS,
                                            .phase = crew->phase_names[crew->start_phase],
                                            .left = left,
                                            .waiting_for = names,
                                            .detail = detail });
}

void crew_await_start(Crew *crew) {
        crew_alarm(crew, CREW_ALARM_PROGRESS, usec_add(crew_now(crew), START_PROGRESS_USEC));
}
