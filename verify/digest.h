/* digest.h - the SHA-256 of bytes that come piece by piece, for people to compare. */
#pragma once
#include <stddef.h>
#include <stdint.h>

typedef struct Digest Digest;

#define DIGEST_TEXT_MAX 128

Digest *digest_new(void); /* NULL: out of memory */
void digest_add(Digest *digest, const void *bytes, size_t size);
/* "1234 bytes, SHA-256 9f86d0…"; frees it. NULL is taken, and gives "?". */
void digest_end(Digest *digest, char ret_text[static DIGEST_TEXT_MAX]);
