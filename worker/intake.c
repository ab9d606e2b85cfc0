/* intake.c - see intake.h. */
#include "worker/intake.h"

bool intake_is_closed(const Intake *intake) {
        return intake->closed || intake->jobs_left == 0;
}

unsigned intake_wants(const Intake *intake, unsigned free_slots, usec_t now_usec) {
        if (intake_is_closed(intake) || now_usec < intake->due_usec)
                return 0;
        unsigned n = free_slots < intake->batch ? free_slots : intake->batch;
        return n < intake->jobs_left ? n : (unsigned)intake->jobs_left;
}

bool intake_has_cursor(const Intake *intake, usec_t now_usec) {
        return now_usec < intake->cursor_usec;
}

usec_t intake_next_usec(const Intake *intake, unsigned free_slots) {
        return intake_is_closed(intake) || free_slots == 0 ? USEC_INFINITY : intake->due_usec;
}

/* From nine tenths to the whole of the interval: workers that were started together do not ask together for long. */
static usec_t next_poll(const Intake *intake, usec_t now_usec, uint32_t chance) {
        usec_t most = intake->poll_usec / 10;
        return usec_add(now_usec, intake->poll_usec - (most > 0 ? chance % (most + 1) : 0));
}

void intake_answered(Intake *intake, unsigned wanted, unsigned got, bool with_cursor, usec_t now_usec,
                     uint32_t chance) {
        if (intake->jobs_left != UINT64_MAX)
                intake->jobs_left -= got < intake->jobs_left ? got : intake->jobs_left;
        if (got >= wanted) {
                intake->due_usec = 0;
                if (!with_cursor || !intake_has_cursor(intake, now_usec))
                        intake->cursor_usec = usec_add(now_usec, INTAKE_CURSOR_USEC);
                return;
        }
        intake->cursor_usec = 0;
        intake->due_usec = with_cursor ? 0 : next_poll(intake, now_usec, chance);
}

void intake_failed(Intake *intake, usec_t now_usec, uint32_t chance) {
        intake->cursor_usec = 0;
        intake->due_usec = next_poll(intake, now_usec, chance);
}

void intake_notified(Intake *intake) {
        intake->due_usec = 0;
}

void intake_close(Intake *intake) {
        intake->closed = true;
}
