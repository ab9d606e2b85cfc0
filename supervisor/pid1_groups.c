/* pid1_groups.c - the members' control groups, and whom the OOM killer took. */
#include <signal.h>
#include <string.h>
#include <sys/wait.h>

#include "base/log.h"
#include "supervisor/pid1.h"

/* A single command is all that runs: its tree is everything, and a group would only cost it time. */
void pid1_make_groups(Pid1 *pid1) {
        const char *problem = "our own group of version 2 cannot be found";
        CgroupPlace ours;
        int r = cgroup_place_find(NULL, &ours);
        oom_open(&pid1->oom, r < 0 ? NULL : &ours);
        if (pid1->config->single || survey_is_blind(pid1->survey))
                return;
        if (r >= 0)
                r = control_groups_new(&pid1->groups, pid1->crew, &ours, &problem);
        if (r < 0) {
                log_info("control groups are not used: %s: %s; whose a process is, its session, its parents and its "
                         "environment say",
                         problem, strerrordesc_np(-r));
                return;
        }
        log_info("control groups are used: each service has one in %s", control_groups_directory(pid1->groups));
        survey_set_groups(pid1->survey, pid1->groups);
}

void pid1_doubt_group(Pid1 *pid1, uint32_t member, int error) {
        char name[64];
        if (pid1->groups_doubted)
                return;
        pid1->groups_doubted = true;
        crew_name(pid1->crew, member, name, sizeof name);
        log_warning("could not put %s into a control group: %s; whose its processes are, their session, their parents "
                    "and their environment say (this is said once)",
                    name, strerrordesc_np(error));
}

const char *pid1_group_for(Pid1 *pid1, uint32_t member) {
        const char *directory;
        oom_begin(&pid1->oom);
        if (!pid1->groups)
                return NULL;
        int r = control_groups_leaf(pid1->groups, member, &directory);
        if (r >= 0)
                return directory;
        pid1_doubt_group(pid1, member, -r);
        return NULL;
}

void pid1_note_end(Pid1 *pid1, uint32_t member, Ended *how) {
        if (pid1->groups)
                control_groups_retire(pid1->groups, member);
        how->oom = how->code == CLD_KILLED && how->status == SIGKILL && oom_explains(&pid1->oom);
}
