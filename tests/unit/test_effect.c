/* test_effect.c - kinds of effects as words, and which were made. */
#include "verify/effect.h"
#include <criterion/criterion.h>
#include <errno.h>

Test(effect, every_kind_has_a_word_and_is_found_by_it) {
        for (int kind = 0; kind < _EFFECT_KIND_MAX; kind++)
                cr_expect_eq(effect_kind_from_string(effect_kind_to_string((EffectKind)kind)), kind);
        cr_expect_eq(effect_kind_from_string("nothing"), -EINVAL);
}

Test(effect, a_call_that_failed_or_did_not_return_made_none) {
        cr_expect(effect_was_made(&(Effect){ .result = 0 }));
        cr_expect_not(effect_was_made(&(Effect){ .result = -ENOENT }));
        cr_expect_not(effect_was_made(&(Effect){ .result = EFFECT_PENDING }));
}
