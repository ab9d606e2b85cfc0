/* verb_run.c - `endwell run`: reads what shall run, then becomes the first process. */
#include <stdio.h>

#include "base/complaints.h"
#include "base/log.h"
#include "base/take.h"
#include "shutdown/verdict.h"
#include "supervisor/descriptors.h"
#include "supervisor/pid1.h"
#include "supervisor/verbs.h"

/* The configuration's errors go out whole, not through the log: it is the one moment at which nothing else can happen.
 */
static int load(const RunOptions *options, Config **ret) {
        _cleanup_(complaints_freep) Complaints *complaints = NULL;
        int r = complaints_new(&complaints);
        if (r < 0)
                return EXIT_OWN_FAULT;
        r = config_load(options->config_path, options->mode, complaints, ret);
        complaints_print(complaints, stderr);
        if (r < 0)
                fprintf(stderr, "endwell: the configuration has errors; nothing was started\n");
        return r < 0 ? EXIT_CONFIGURATION : 0;
}

int verb_run(int argc, char **argv) {
        RunOptions options;
        _cleanup_(config_freep) Config *config = NULL;
        char problem[256];
        descriptors_fill_standard();
        if (run_options_parse(argc, argv, &options, problem) < 0) {
                fprintf(stderr, "endwell run: %s\nTry `endwell help run`.\n", problem);
                return EXIT_USAGE;
        }
        if (options.single)
                config = options.single;
        else {
                int code = load(&options, &config);
                if (code != 0)
                        return code;
        }
        log_open("endwell", config->log_format, config->log_level);
        int code = pid1_run(config, &options);
        log_close();
        return code;
}
