/* test_markup.c - whatever a name is, in a picture it is text. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>

#include "report/markup.h"

static void expect(const char *text, size_t most, const char *wanted) {
        char *found = NULL;
        size_t length;
        FILE *out = open_memstream(&found, &length);
        markup_fit(out, text, most);
        fclose(out);
        cr_expect_str_eq(found, wanted);
        free(found);
}

Test(markup, tags_and_quotes_are_text) {
        expect("<script>alert(\"1\")&'</script>", 99, "&lt;script&gt;alert(&quot;1&quot;)&amp;&#39;&lt;/script&gt;");
}

Test(markup, what_no_xml_may_have_is_replaced) {
        expect("a\x01"
               "b\x1b[31m\x7f",
               99,
               "a\xef\xbf\xbd"
               "b\xef\xbf\xbd[31m\xef\xbf\xbd");
        expect("\xff\xc3\x28", 99, "\xef\xbf\xbd\xef\xbf\xbd(");
        expect("\xef\xbf\xbe\xef\xbf\xbf\xc2\x9b", 99, "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd");
}

Test(markup, what_is_too_long_is_cut_between_characters) {
        expect("ääääää", 6, "ääääää");
        expect("ääääää", 4, "äää…");
        expect("<<<<", 3, "&lt;&lt;…");
        expect("", 3, "");
}
