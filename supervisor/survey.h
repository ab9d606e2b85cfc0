/* survey.h - looks for adopted orphans, says whose they are, and walks trees to signal them.
 *
 * A survey reads our own list of children; who is unknown there was adopted. It runs soon after it was asked for, after
 * the deaths that are already known, and takes at most a tenth of the time however many children there are.
 * Attribution: by control group where there are some, by session, by the last parent seen, by ENDWELL_OWNER. */
#pragma once
#include "supervisor/control_groups.h"
#include "supervisor/crew.h"
#include "supervisor/roster.h"
#include <systemd/sd-event.h>

typedef struct Survey Survey;

/* `surveyed` is called after each survey: every orphan that it found has been told to the crew. */
typedef void (*Surveyed)(void *userdata);

int survey_new(Survey **ret, sd_event *event, Roster *roster, uint32_t n_members, Surveyed surveyed, void *userdata);
Survey *survey_free(Survey *survey);
void survey_set_crew(Survey *survey, Crew *crew);
void survey_set_groups(Survey *survey, ControlGroups *groups); /* NULL: there are none */

/* A member's run began: its session is known by this pid. A hook's session counts as its member's. */
void survey_note_session(Survey *survey, uint32_t member, pid_t session);
void survey_ask(Survey *survey);
void survey_look(Survey *survey); /* now */

/* True: /proc is missing, or another PID namespace's. Then a tree is the process group that its main process leads, and
 * nobody can be proven to be elsewhere. */
bool survey_is_blind(const Survey *survey);

/* Whose a living process is, by its ancestors first; CREW_NOBODY when nothing proves it. */
uint32_t survey_owner_of(Survey *survey, pid_t pid);

/* Signals a member's main process, the rest of its tree, or both; CREW_NOBODY: the unattributed orphans. Tells each by
 * crew_told(). A polite signal reaches a process of the rest at most once, and is followed by SIGCONT; signal 0 only
 * names who is there. */
void survey_signal(Survey *survey, uint32_t member, Whom whom, int signal_number, const char *reason);
