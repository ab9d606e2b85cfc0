/* command.h - what the programs endwell-ledger and endwell-jobs share: where the database is, and what they say.
 *
 * Exit codes: 0 done; 1 it could not be as asked (each verb says what that means); 64 bad usage; 69 the database could
 * not be reached, refused us, or has no ledger; 70 a fault of ours; 78 bad configuration. */
#pragma once
#include "ledger/session.h"
#include "ledger/table.h"
#include <stdbool.h>

#define COMMAND_DONE      0
#define COMMAND_NOT_SO    1
#define COMMAND_USAGE     64
#define COMMAND_NO_LEDGER 69
#define COMMAND_FAULT     70
#define COMMAND_CONFIG    78

typedef struct Command {
        const char *name;  /* "ledger migrate", as after `endwell` */
        const char *usage; /* its help */
        int (*run)(int argc, char **argv);
        const char *summary; /* one line of its program's help */
} Command;

/* Every command's words: -c FILE, --wait TIME, --json, --help. */
typedef struct CommandPlace {
        const char *config;
        usec_t wait_usec;
        bool json, helped; /* helped: the help was printed, end with 0 */
} CommandPlace;

#define COMMAND_SHORT ":c:h"
#define COMMAND_LONG                                                                                                   \
        { "config", required_argument, NULL, 'c' }, { "json", no_argument, NULL, 'j' },                                \
                { "wait", required_argument, NULL, 'w' }, {                                                            \
                "help", no_argument, NULL, 'h'                                                                         \
        }
#define COMMAND_PLACE_USAGE                                                                                            \
        "  -c, --config FILE     the configuration whose [Database] counts (else the environment: $DATABASE_URL, "     \
        "PG*)\n"                                                                                                       \
        "      --wait TIME       go on trying to connect for so long (0: one attempt)\n"                               \
        "      --json            for programs\n"

/* The words after a program's name: finds the command and runs it. */
int command_dispatch(const char *program, const Command *commands, const char *introduction, int argc, char **argv);

void command_begin(void); /* before getopt_long() */
/* An option that the command does not know itself. 0: taken; else the exit code. */
int command_option(const Command *command, int option, char **argv, CommandPlace *place);
/* Says what is wrong with the words. The exit code. */
int command_refuse(const Command *command, const char *what, const char *word);

/* 0, or the exit code; what was wrong is said. */
int command_find_database(const Command *command, const CommandPlace *place, Database *ret);
int command_open(const Command *command, const CommandPlace *place, bool read_only_will_do, Session **ret);
/* A statement that failed: says what was being done, why it failed, and what that means now. The exit code. */
int command_failed(const Command *command, const Session *session, const char *doing, const PqReply *reply);
int command_out_of_memory(const Command *command);
int command_flush(const Command *command, int code); /* after the last word: `code`, unless it could not be written */

/* Asks; 0 and the rows, which are the caller's, or the exit code of command_failed(). With `json` the rows have one
 * column: each row of the query as a JSON object. */
int command_ask(const Command *command, Session *session, const char *doing, const char *sql, const char *const *values,
                size_t n_values, bool json, PqRows **ret);
void command_print_json(const PqRows *rows);                         /* one array of such rows */
int command_print_table(const Command *command, const Table *table); /* 0, or the exit code */
#define COMMAND_AGE_MAX 40
const char *command_age(int64_t usec, char ret[static COMMAND_AGE_MAX]); /* "5 s", "2 h"; of what lies ahead "in 5 s" */
/* The words behind the options as ids of jobs, "{1,2}" for PostgreSQL. 0, or the exit code. */
int command_read_ids(const Command *command, int argc, char **argv, char **ret);
/* Where nobody sweeps, says so on stdout, for whoever reads of jobs that are expired. 0, or the exit code. */
int command_tell_unswept(const Command *command, Session *session);
const char *command_by(void); /* who does it, for the audit: the user's name as the environment has it */

extern const Command command_migrate, command_check; /* of endwell ledger */
extern const Command command_enqueue, command_list, command_show, command_stats, command_culprits; /* of endwell jobs */
extern const Command command_retry, command_discard, command_cancel;
