/* standing.c - what is said of the database. */
#include "reaper/standing.h"
#include "base/clock.h"
#include "base/duration.h"
#include "base/log.h"
#include <stdio.h>
#include <string.h>
#include <systemd/sd-daemon.h>

void standing_init(Standing *standing, const char *place, bool waits) {
        *standing = (Standing){ .place = place, .waits = waits };
}

void standing_say(Standing *standing, const char *text) {
        char message[STANDING_TEXT_MAX + 16];

        if (strcmp(standing->said, text) == 0)
                return;
        snprintf(standing->said, sizeof standing->said, "%s", text);
        snprintf(message, sizeof message, "STATUS=%s", standing->said);
        (void)sd_notify(0, message); /* nobody may be there to hear it */
}

static const char *what(SqlAnswer trouble) {
        switch (trouble) {
        case SQL_LOST: return "does not answer";
        case SQL_REFUSED: return "does not let us in";
        case SQL_SCHEMA: return "has no ledger, or one of another version (endwell ledger migrate)";
        case SQL_READ_ONLY: return "takes no writes now, as a standby does";
        case SQL_FULL: return "has no room";
        case SQL_TIMEOUT: return "gave up on a statement";
        case SQL_DONE:
        case SQL_RETRY:
        case SQL_STALE:
        case SQL_ISOLATION:
        case SQL_FAILED:
        case _SQL_ANSWER_MAX: break;
        }
        return "failed";
}

void standing_good(Standing *standing, usec_t interval_usec) {
        char span[DURATION_TEXT_MAX], text[STANDING_TEXT_MAX];

        if (standing->troubles)
                log_notice("the database %s works again, after %s", standing->place,
                           duration_format(usec_sub(clock_now_usec(), standing->since_usec), span));
        standing->troubles = 0;
        snprintf(text, sizeof text, "sweeping every %s", duration_format(interval_usec, span));
        standing_say(standing, text);
}

static void log_bad(const Standing *standing, const char *text, size_t n_dead) {
        if (!standing->waits)
                log_err("%s; nothing more was done", text);
        else if (n_dead > 0)
                log_warning("%s; it is tried again, more and more rarely, and %zu of the dead wait for it", text,
                            n_dead);
        else
                log_warning("%s; it is tried again, more and more rarely", text);
}

void standing_bad(Standing *standing, SqlAnswer trouble, const char *why, size_t n_dead) {
        char text[STANDING_TEXT_MAX];

        snprintf(text, sizeof text, "%sthe database %s %s: %s", standing->waits ? "waiting: " : "", standing->place,
                 what(trouble), why);
        if (!standing->troubles)
                standing->since_usec = clock_now_usec();
        if (!(standing->troubles & (1u << trouble)))
                log_bad(standing, text, n_dead);
        standing->troubles |= 1u << trouble;
        standing_say(standing, text);
}
