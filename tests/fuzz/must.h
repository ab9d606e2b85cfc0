/* must.h - a law that a fuzz target checks: it holds, or the fuzzer has found something. */
#pragma once
#include <stdio.h>
#include <stdlib.h>

#define must(law)                                                                                                      \
        do {                                                                                                           \
                if (!(law)) {                                                                                          \
                        fprintf(stderr, "%s:%d: broken: %s\n", __FILE__, __LINE__, #law);                              \
                        abort();                                                                                       \
                }                                                                                                      \
        } while (0)
