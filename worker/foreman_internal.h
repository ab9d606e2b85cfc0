/* foreman_internal.h - the worker's one struct, and what its files share; for nobody else. */
#pragma once
#include "worker/command.h"
#include "worker/desk.h"
#include "worker/foreman.h"
#include "worker/intake.h"
#include "worker/lease.h"
#include "worker/slot.h"
#include "worker/strays.h"
#include "worker/superior.h"
#include "worker/told.h"
#include "worker/utterance.h"

enum { EXIT_CLEAN = 0, EXIT_GAVE_UP = 1, EXIT_NO_DATABASE = 69, EXIT_TEMPORARY = 75 };

typedef enum Errand { ERRAND_NONE, ERRAND_WANTED, ERRAND_SENT } Errand; /* something that is asked of the ledger */

typedef struct Item { /* a stream's present question */
        Errand errand;
        bool begins, ok;
        int force;
        char *key, *result, *error;
} Item;

typedef struct Post { /* one slot, with all that belongs to it */
        Foreman *foreman;
        unsigned number;
        Slot slot;
        Job job; /* unless the slot is empty */
        Lease lease;
        Command *command;
        Told *told;
        int payload_fd;
        usec_t began_usec;
        /* what is to be reported */
        Errand report;
        Outcome outcome;
        char *result;
        int64_t retry_in_usec;
        bool alone; /* a completion that is sent by itself, because the ledger refused it among others */
        unsigned refusals;
        usec_t report_usec; /* not before then */
        HandGone gone;
        char broken[UTTERANCE_PROBLEM_MAX];
        /* what is asked meanwhile */
        Errand look;
        Item item;
        char *progress; /* not sent yet; NULL: none */
        usec_t progress_usec;
        /* the life of a stream */
        bool answered;
        size_t line_length; /* of the job's line; SIZE_MAX: it could not be written */
        unsigned strangers, deaths;
        bool unproven; /* the one before it died without an answer: it gets a job when it has lived for a while */
        usec_t restart_usec, proven_usec;
} Post;

struct Foreman {
        sd_event *event;
        sd_event_source *turn, *timer, *signals[3];
        const CommandLine *line;
        const Database *database;
        const char *owner;
        Desk *desk;
        Strays *strays;
        Superior *superior;
        Intake intake;
        unsigned n_posts;
        Post *posts;
        Utterance *utterance; /* of the present line */
        Echo echo;
        uint64_t n_done, n_failed;
        bool claiming; /* a claim is in flight */
        bool beating;
        bool ready_said, down_said;
        unsigned refusals;      /* of the ledger as a whole, in a row */
        unsigned n_giving_back; /* releases of jobs that have no post */
        usec_t begin_usec;      /* the desk is begun anew then; USEC_INFINITY: it need not be */
        /* claims whose answer was lost */
        unsigned held_checks;
        bool held_asked;
        usec_t held_usec;
        /* the ending */
        bool draining, over, stopped_streams;
        Errand drain;
        usec_t born_usec, drain_began_usec, drain_limit_usec, give_up_usec, streams_limit_usec;
        bool limit_passed;
        int code;
        unsigned said_active;
        usec_t said_usec;
};

/* foreman.c */
void foreman_wake(Foreman *foreman); /* there is something to do: before the loop waits again */
Post *foreman_find(Foreman *foreman, const JobKey *key);
unsigned foreman_active(const Foreman *foreman);
bool post_is_free(const Post *post, usec_t now_usec);

/* foreman_posts.c: one slot and its command */
int post_init(Post *post, Foreman *foreman, unsigned number);
void post_done(Post *post);
void post_happens(Post *post, SlotHappeningKind kind, usec_t now_usec);
int post_give(Post *post, const Job *job, usec_t sent_usec, usec_t now_usec);
void post_keep_stream_up(Post *post, usec_t now_usec);

/* foreman_outcomes.c: what is to be reported of it */
void post_prepare_report(Post *post);
void post_refuse_result(Post *post, const char *why);
void post_note_settled(Post *post, DeskWord word);

/* foreman_stream.c: what a stream says, and what it is told */
void stream_take_line(Post *post, const char *line, size_t length);
void stream_break(Post *post, const char *problem);
void stream_answer_item(Post *post, DeskWord word, const char *result);
void stream_tell_cancel(Post *post);
int stream_give(Post *post);
bool stream_never_read(const Post *post); /* it is gone, and its job's line is still where it was put */
void item_done(Item *item);

/* foreman_errands.c: what is sent to the ledger */
void foreman_send(Foreman *foreman, usec_t now_usec);
usec_t foreman_errands_usec(const Foreman *foreman, usec_t now_usec);

/* foreman_ledger.c: what the ledger answered */
extern const DeskCalls foreman_desk_calls;

/* foreman_ending.c */
void foreman_drain(Foreman *foreman, const char *why, bool limited);
void foreman_give_up(Foreman *foreman, int code);
void foreman_go_on_ending(Foreman *foreman, usec_t now_usec);
usec_t foreman_ending_usec(const Foreman *foreman);
void foreman_say_state(Foreman *foreman, usec_t now_usec);
