/* fuzz_notify_words.c - any datagram: no crash, every line is accounted for, every text is clean. */
#include "base/names.h"
#include "base/notify_words.h"
#include "base/utf8.h"
#include "tests/fuzz/must.h"
#include <string.h>

static void check_text(const char *text, size_t size) {
        size_t length = strnlen(text, size);
        must(length < size);
        for (size_t i = 0; i < length;) {
                size_t n = utf8_character(text + i, length - i);
                must(n > 0 && (unsigned char)text[i] >= ' ' && text[i] != 0x7F);
                i += n;
        }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
        NotifyWords words;
        size_t n_lines = 1;

        notify_words_parse((const char *)data, size, &words);
        for (size_t i = 0; i < size; i++)
                n_lines += data[i] == '\n';
        must(words.unknown + words.bad <= n_lines);
        check_text(words.status, sizeof words.status);
        check_text(words.fd_name, sizeof words.fd_name);
        must(!words.hook[0] || name_is_valid(words.hook));
        must(words.main_pid >= 0);
        must(words.exit_status >= 0 && words.exit_status <= 255);
        return 0;
}
