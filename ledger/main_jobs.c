/* main_jobs.c - the program endwell-jobs: what `endwell jobs` becomes. */
#include "ledger/command.h"

int main(int argc, char **argv) {
        const Command commands[] = { command_enqueue, command_list,    command_show,   command_stats, command_culprits,
                                     command_retry,   command_discard, command_cancel, { 0 } };

        return command_dispatch("jobs", commands,
                                "The jobs in the ledger: put in, look at, and decide what became of them.\n", argc,
                                argv);
}
