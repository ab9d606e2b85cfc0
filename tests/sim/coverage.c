/* coverage.c - see coverage.h. */
#include "tests/sim/coverage.h"

#include "shutdown/sequence.h"
#include "supervisor/life.h"
#include <inttypes.h>
#include <stdio.h>

static uint64_t counts[_COVERAGE_BY_MAX][_STEP_MAX][_HAPPENING_MAX];
static CoverageBy present;
static uint64_t ill[_LIFE_STATE_MAX][2]; /* LIFE_UNHEALTHY, by state and by whether it is to stop */

SequenceStep __real_sequence_step(Sequence now, Happening what);
SequenceStep __wrap_sequence_step(Sequence now, Happening what);

SequenceStep __wrap_sequence_step(Sequence now, Happening what) {
        counts[present][now.step][what]++;
        return __real_sequence_step(now, what);
}

LifeStep __real_life_step(Life now, LifeHappening what);
LifeStep __wrap_life_step(Life now, LifeHappening what);

LifeStep __wrap_life_step(Life now, LifeHappening what) {
        if (what == LIFE_UNHEALTHY)
                ill[now.state][now.stop]++;
        return __real_life_step(now, what);
}

void coverage_count_as(CoverageBy by) {
        present = by;
}

static void print_table(const char *title, CoverageBy by) {
        printf("\n%-12s", title);
        for (unsigned h = 0; h < _HAPPENING_MAX; h++)
                printf(" %16s", happening_to_string((Happening)h));
        putchar('\n');
        for (unsigned s = 0; s < _STEP_MAX; s++) {
                printf("%-12s", step_to_string((Step)s));
                for (unsigned h = 0; h < _HAPPENING_MAX; h++)
                        printf(" %16" PRIu64, counts[by][s][h]);
                putchar('\n');
        }
}

static uint64_t count_of(unsigned step, unsigned happening) {
        return counts[COVERAGE_BY_LIVES][step][happening] + counts[COVERAGE_BY_REHEARSALS][step][happening];
}

static unsigned print_illness(uint64_t wanted) {
        unsigned missing = 0;
        printf("\n%-12s %16s %16s\n", "unhealthy", "serving", "to stop");
        for (unsigned s = 0; s < _LIFE_STATE_MAX; s++) {
                printf("%-12s %16" PRIu64 " %16" PRIu64 "\n", life_state_to_string((LifeState)s), ill[s][0], ill[s][1]);
                if (ill[s][0] + ill[s][1] < wanted) {
                        missing++;
                        printf("%s x unhealthy: only %" PRIu64 "\n", life_state_to_string((LifeState)s),
                               ill[s][0] + ill[s][1]);
                }
        }
        return missing;
}

unsigned coverage_print(uint64_t wanted) {
        uint64_t lowest = UINT64_MAX;
        unsigned missing = print_illness(wanted);
        print_table("lives", COVERAGE_BY_LIVES);
        print_table("rehearsals", COVERAGE_BY_REHEARSALS);
        putchar('\n');
        for (unsigned s = 0; s < _STEP_MAX; s++)
                for (unsigned h = 0; h < _HAPPENING_MAX; h++) {
                        uint64_t count = count_of(s, h);
                        lowest = count < lowest ? count : lowest;
                        if (count >= wanted)
                                continue;
                        missing++;
                        printf("%s x %s: only %" PRIu64 "\n", step_to_string((Step)s),
                               happening_to_string((Happening)h), count);
                }
        printf("lowest count of a pair of the sequence: %" PRIu64 "; pairs met fewer than %" PRIu64 " times: %u\n",
               lowest, wanted, missing);
        return missing;
}
