/* verdict.h - judges a run by its journal: the exit code and the sentence that explains it.
 *
 * Pure: a fold over events, used by PID 1 for its own exit and by whoever reads the journal later, so the two cannot
 * differ. Ranks (contracts/cli.md): 70, 83, 82, 81, 80, 84, 0; then ExitCodeFrom or the single command's own code. */
#pragma once
#include "shutdown/event.h"
#include <stdbool.h>
#include <stdint.h>

typedef enum ExitCode {
        EXIT_CLEAN = 0,
        EXIT_USAGE = 64,
        EXIT_NOT_RUNNING = 69,
        EXIT_OWN_FAULT = 70,
        EXIT_CONFIGURATION = 78,
        EXIT_HOOK_FAILED = 80,
        EXIT_KILLED = 81,
        EXIT_DEADLINE = 82,
        EXIT_ESSENTIAL = 83,
        EXIT_DESCENDANTS = 84,
} ExitCode;

typedef struct Verdict {
        bool own_fault, essential_failed, deadline_hit, forced, hook_aborted, descendants_left;
        bool ending;          /* ending_started was seen */
        bool single;          /* single-command mode */
        bool has_passed_code; /* the code of the program named by ExitCodeFrom, or of the single command */
        int passed_code;
        uint8_t remap[32]; /* bit set: this code of the single command becomes 0 */
        char exit_code_from[41];
        char culprit[64]; /* who caused the highest rank so far: a service, a hook, a process */
        unsigned killed, left, hooks_failed;
        bool finished; /* ending_finished was seen */
        int finished_code;
} Verdict;

#define VERDICT_START ((Verdict){ 0 })

Verdict verdict_fold(Verdict verdict, const Event *event);
int verdict_code(const Verdict *verdict);

#define VERDICT_TEXT_MAX 256
/* One sentence for people: "exit 81: web@2 had to be killed". Returns `ret_text`. */
const char *verdict_explain(const Verdict *verdict, char ret_text[static VERDICT_TEXT_MAX]);
