/* noop.c - a stream that does nothing: each job is answered with a result at once. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(void) {
        static const char id_key[] = "{\"id\":", generation_key[] = ",\"generation\":";
        char *line = NULL;
        size_t size = 0;

        while (getline(&line, &size, stdin) > 0) {
                const char *generation = strstr(line, generation_key);
                if (!generation)
                        return 1;
                printf("{\"id\":%lld,\"generation\":%lld,\"result\":null}\n", atoll(line + sizeof id_key - 1),
                       atoll(generation + sizeof generation_key - 1));
                fflush(stdout);
        }
        free(line);
        return 0;
}
