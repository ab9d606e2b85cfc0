/* survey_internal.h - what survey.c (who is there, and whose) and survey_signal.c (signals to trees) share; for nobody
 * else. */
#pragma once
#include "base/kin.h"
#include "supervisor/survey.h"

typedef struct SurveyMemory { /* of one process that was seen in a tree */
        pid_t pid;
        unsigned long long start_ticks;
        uint32_t member;
        bool asked, killed;
} SurveyMemory;

struct Survey {
        Roster *roster;
        Crew *crew;
        ControlGroups *groups;
        sd_event_source *soon, *later;
        Surveyed surveyed;
        void *userdata;
        usec_t last_usec, last_took_usec, looks_since_usec;
        unsigned looks;
        uint32_t n_members;
        bool blind;
        bool *group_left;     /* of each member, when blind */
        pid_t *sessions;      /* of each member's last run */
        SurveyMemory *memory; /* made when first needed */
};

/* What is remembered of a process, from now on at least its place; NULL: out of memory. */
SurveyMemory *survey_remember(Survey *survey, const KinProcess *process);
