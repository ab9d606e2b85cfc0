/* findings.c - see findings.h. */
#include "verify/findings.h"
#include <string.h>

Ruling hook_findings_verdict(const HookFindings *hook) {
        Ruling sum = RULING_NONE;

        for (int property = 0; property < _PROPERTY_MAX; property++)
                if (property != PROPERTY_COMMUTE)
                        sum = ruling_add(sum, hook->of[property].ruling);
        return sum == RULING_NONE ? RULING_INCONCLUSIVE : sum;
}

Ruling findings_verdict(const Findings *findings) {
        Ruling sum = RULING_NONE;

        for (size_t i = 0; i < findings->n_hooks; i++)
                sum = ruling_add(sum, hook_findings_verdict(&findings->hooks[i]));
        for (size_t i = 0; i < findings->n_pairs; i++)
                sum = ruling_add(sum, findings->pairs[i].finding.ruling);
        return sum == RULING_NONE ? RULING_INCONCLUSIVE : sum;
}

void hook_findings_done(HookFindings *hook) {
        for (int property = 0; property < _PROPERTY_MAX; property++)
                finding_done(&hook->of[property]);
        differences_done(&hook->masks);
}
