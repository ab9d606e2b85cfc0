/* fuzz_shell_text.c - any text: no crash, no endless loop; and the command that is found stands in the text. */
#include "supervisor/shell_text.h"
#include "tests/fuzz/must.h"
#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
        const char *text = (const char *)data, *command = NULL;
        size_t length = 0;
        ShellEnd end = shell_text_end(text, size, &command, &length);

        if (end == SHELL_END_UNSURE) {
                must(!command && length == 0);
                return 0;
        }
        must(length > 0 && command >= text && command + length <= text + size);
        return 0;
}
