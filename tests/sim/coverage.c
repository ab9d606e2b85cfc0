/* coverage.c - see coverage.h. */
#include "tests/sim/coverage.h"

#include <inttypes.h>
#include <stdio.h>

uint64_t coverage_counts[_STEP_MAX][_HAPPENING_MAX];

SequenceStep __real_sequence_step(Sequence now, Happening what);
SequenceStep __wrap_sequence_step(Sequence now, Happening what);

SequenceStep __wrap_sequence_step(Sequence now, Happening what) {
        coverage_counts[now.step][what]++;
        return __real_sequence_step(now, what);
}

static void print_head(void) {
        printf("%-12s", "");
        for (unsigned h = 0; h < _HAPPENING_MAX; h++)
                printf(" %16s", happening_to_string((Happening)h));
        putchar('\n');
}

static void print_row(unsigned step) {
        printf("%-12s", step_to_string((Step)step));
        for (unsigned h = 0; h < _HAPPENING_MAX; h++)
                printf(" %16" PRIu64, coverage_counts[step][h]);
        putchar('\n');
}

unsigned coverage_print(uint64_t wanted) {
        uint64_t lowest = UINT64_MAX;
        unsigned missing = 0;
        print_head();
        for (unsigned s = 0; s < _STEP_MAX; s++) {
                print_row(s);
                for (unsigned h = 0; h < _HAPPENING_MAX; h++) {
                        uint64_t count = coverage_counts[s][h];
                        lowest = count < lowest ? count : lowest;
                        missing += count < wanted;
                }
        }
        printf("lowest count %" PRIu64 "; %u pairs fewer than %" PRIu64 " times\n", lowest, missing, wanted);
        for (unsigned s = 0; s < _STEP_MAX && missing > 0; s++)
                for (unsigned h = 0; h < _HAPPENING_MAX; h++)
                        if (coverage_counts[s][h] < wanted)
                                printf("  %s x %s: %" PRIu64 "\n", step_to_string((Step)s),
                                       happening_to_string((Happening)h), coverage_counts[s][h]);
        return missing;
}
