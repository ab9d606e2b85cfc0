/* main_ledger.c - the program endwell-ledger: what `endwell ledger` becomes. */
#include "ledger/command.h"

int main(int argc, char **argv) {
        const Command commands[] = { command_migrate, command_check, { 0 } };

        return command_dispatch("ledger", commands,
                                "Installs the job ledger in PostgreSQL, and looks after its shape.\n", argc, argv);
}
