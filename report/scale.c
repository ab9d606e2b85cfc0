/* scale.c - see scale.h. */
#include "report/scale.h"

#define START_SHARE 0.17
#define BAND_WIDTH  0.05
#define BAND_LEAST  22.0
#define WORTH_A_CUT 3 /* the time before the ending is so many times the ending */

static ScalePart part(usec_t from, usec_t to, usec_t zero, double left, double right, bool cut) {
        return (ScalePart){ from, usec_max(to, usec_add(from, 1)), left, right, zero, cut };
}

Scale scale_make(const ScalePlan *plan) {
        usec_t begin = plan->begin, end = usec_max(plan->end, usec_add(begin, 1));
        bool has_ending = plan->ending != USEC_INFINITY && plan->ending > begin;
        usec_t before = has_ending ? plan->ending - begin : 0, after = has_ending ? usec_sub(end, plan->ending) : 0;
        double width = plan->right - plan->left;

        if (!has_ending || before / WORTH_A_CUT <= after)
                return (Scale){ { part(begin, end, has_ending ? plan->ending : begin, plan->left, plan->right, false) },
                                1 };
        usec_t settled = usec_min(usec_max(plan->settled, begin), plan->ending);
        double start_right = plan->left + width * START_SHARE;
        double band = width * BAND_WIDTH > BAND_LEAST ? width * BAND_WIDTH : BAND_LEAST;
        Scale scale = { .n = 3 };
        scale.parts[0] = part(begin, settled, begin, plan->left, start_right, false);
        scale.parts[1] = part(scale.parts[0].to, plan->ending, begin, start_right, start_right + band, true);
        scale.parts[2] = part(plan->ending, end, plan->ending, start_right + band, plan->right, false);
        return scale;
}

double scale_x(const Scale *scale, usec_t instant) {
        const ScalePart *first = &scale->parts[0], *last = &scale->parts[scale->n - 1];
        if (instant <= first->from)
                return first->left;
        for (size_t i = 0; i < scale->n; i++) {
                const ScalePart *here = &scale->parts[i];
                if (instant < here->to || (instant == here->to && here == last))
                        return instant <= here->from
                                       ? here->left
                                       : here->left + (here->right - here->left) * (double)(instant - here->from) /
                                                              (double)(here->to - here->from);
        }
        return last->right;
}

/* 1, 2, 5, 10, … microseconds, the first of which so much is. */
static usec_t round_step(double least) {
        for (usec_t unit = 1; unit < USEC_INFINITY / 100; unit *= 10)
                for (unsigned i = 0; i < 3; i++) {
                        usec_t step = unit * (const usec_t[]){ 1, 2, 5 }[i];
                        if ((double)step >= least)
                                return step;
                }
        return USEC_INFINITY;
}

size_t scale_ticks(const ScalePart *part, double gap, usec_t ret_spans[static SCALE_TICKS_MAX]) {
        double width = part->right - part->left;
        size_t n = 0;
        if (part->cut || width <= 0)
                return 0;
        usec_t step = round_step((double)(part->to - part->from) * gap / width);
        usec_t span = part->from > part->zero ? (part->from - part->zero + step - 1) / step * step : 0;
        for (; n < SCALE_TICKS_MAX && span <= part->to - part->zero; span += step) {
                ret_spans[n++] = span;
                if (step == USEC_INFINITY || span > USEC_INFINITY - step)
                        break;
        }
        return n;
}
