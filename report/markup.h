/* markup.h - writes text into XML and HTML, where it stays text whatever is in it.
 *
 * Pure but for the stream, which is in memory. What no XML may have (control characters, what is no UTF-8, U+FFFE and
 * U+FFFF) becomes U+FFFD. Good for element content and for attributes in double quotes. */
#pragma once
#include <stdio.h>

void markup_text(FILE *out, const char *text); /* NULL writes nothing */
/* At most so many characters, the last of them … when there are more. */
void markup_fit(FILE *out, const char *text, size_t most);
size_t markup_characters(const char *text);
