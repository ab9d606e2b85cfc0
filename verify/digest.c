/* digest.c - see digest.h; the only file that knows libcrypto. */
#include "verify/digest.h"
#include <inttypes.h>
#include <openssl/evp.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

struct Digest {
        EVP_MD_CTX *context;
        uint64_t size;
        bool failed;
};

Digest *digest_new(void) {
        Digest *digest = calloc(1, sizeof *digest);

        if (!digest)
                return NULL;
        digest->context = EVP_MD_CTX_new();
        digest->failed = !digest->context || EVP_DigestInit_ex(digest->context, EVP_sha256(), NULL) != 1;
        return digest;
}

void digest_add(Digest *digest, const void *bytes, size_t size) {
        digest->size += size;
        digest->failed = digest->failed || EVP_DigestUpdate(digest->context, bytes, size) != 1;
}

void digest_end(Digest *digest, char ret_text[static DIGEST_TEXT_MAX]) {
        unsigned char sum[EVP_MAX_MD_SIZE];
        unsigned n = 0;

        if (!digest || digest->failed || EVP_DigestFinal_ex(digest->context, sum, &n) != 1)
                n = 0;
        int length = snprintf(ret_text, DIGEST_TEXT_MAX, "%" PRIu64 " bytes, SHA-256 ", digest ? digest->size : 0);
        for (unsigned i = 0; i < n; i++)
                length += snprintf(ret_text + length, DIGEST_TEXT_MAX - (size_t)length, "%02x", sum[i]);
        if (n == 0)
                snprintf(ret_text, DIGEST_TEXT_MAX, "?");
        if (digest)
                EVP_MD_CTX_free(digest->context);
        free(digest);
}
