/* test_enumeration.c - words of an enum, there and back. */
#include "base/enumeration.h"
#include <criterion/criterion.h>

typedef enum Fruit { FRUIT_APPLE, FRUIT_PEAR, _FRUIT_MAX } Fruit;
static const char *const fruit_words[_FRUIT_MAX] = { [FRUIT_APPLE] = "apple", [FRUIT_PEAR] = "pear" };
const char *fruit_to_string(Fruit value);
int fruit_from_string(const char *text);
ENUMERATION(fruit, Fruit, fruit_words)

Test(enumeration, each_word_goes_there_and_back) {
        for (Fruit fruit = 0; fruit < _FRUIT_MAX; fruit++)
                cr_assert_eq(fruit_from_string(fruit_to_string(fruit)), (int)fruit);
        cr_assert_str_eq(fruit_to_string(FRUIT_PEAR), "pear");
}

Test(enumeration, what_is_no_word_is_refused) {
        cr_assert_eq(fruit_from_string("Apple"), -EINVAL);
        cr_assert_eq(fruit_from_string(""), -EINVAL);
        cr_assert_null(fruit_to_string(_FRUIT_MAX));
        cr_assert_null(fruit_to_string((Fruit)-1));
}
