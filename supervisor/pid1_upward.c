/* pid1_upward.c - when the parent of this endwell hears what: upward's instants as a timer of the main loop. */
#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "shutdown/sentence.h"
#include "supervisor/pid1.h"
#include "supervisor/priority.h"
#include "supervisor/upward.h"

#define ACCURACY_USEC (1 * USEC_PER_MSEC)

static int on_due(sd_event_source *source, uint64_t usec, void *userdata) {
        Pid1 *pid1 = userdata;
        usec_t now = clock_now_usec();
        (void)source, (void)usec;
        if (upward_wants_to_wait(now)) {
                char text[SENTENCE_MAX] = "waiting for ";
                size_t used = strlen(text);
                bool any = crew_write_awaited(pid1->crew, text + used, sizeof text - used) > 0;
                upward_wait(any ? text : "", now);
        }
        upward_on_time(now);
        pid1_rearm_upward(pid1);
        return 0;
}

/* Without the timer the parent hears less, and all else goes on. */
void pid1_rearm_upward(Pid1 *pid1) {
        usec_t next = upward_next_usec();
        if (!pid1->herald || next == pid1->herald_usec)
                return;
        pid1->herald_usec = next;
        if (next == USEC_INFINITY)
                (void)sd_event_source_set_enabled(pid1->herald, SD_EVENT_OFF);
        else if (sd_event_source_set_time(pid1->herald, next) < 0 ||
                 sd_event_source_set_enabled(pid1->herald, SD_EVENT_ONESHOT) < 0)
                log_warning("could not set the timer for what the parent shall hear; it may take this for a hang");
}

/* As urgent as the crew's instants: who only looks after a flood of messages would be killed for one by the parent's
 * watchdog. It has a bounded number of instants a second, and the loop must turn for it all the same. */
int pid1_make_herald(Pid1 *pid1) {
        if (!upward_is_open())
                return 0;
        int r = sd_event_add_time(pid1->event, &pid1->herald, CLOCK_MONOTONIC, 0, ACCURACY_USEC, on_due, pid1);
        if (r >= 0)
                r = sd_event_source_set_enabled(pid1->herald, SD_EVENT_OFF);
        return r < 0 ? r : sd_event_source_set_priority(pid1->herald, PRIORITY_CHILD - 1);
}
