/* config_digest.c - names what was read by 64 bits, so that a journal tells which configuration ran.
 *
 * Over the bytes of the files and not over the values: these may hold secrets from the environment, and a short hash of
 * a weak secret, written into a journal, gives it away. */
#include "base/take.h"
#include "supervisor/config_reading.h"
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

#define FNV_OFFSET UINT64_C(0xcbf29ce484222325) /* draft-eastlake-fnv */
#define FNV_PRIME  UINT64_C(0x100000001b3)

static void add_bytes(uint64_t *hash, const unsigned char *bytes, size_t n) {
        for (size_t i = 0; i < n; i++)
                *hash = (*hash ^ bytes[i]) * FNV_PRIME;
}

static int add_file(uint64_t *hash, const char *path) {
        _cleanup_(closep) int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
        unsigned char buffer[4096];

        if (fd < 0)
                return -errno;
        for (;;) {
                ssize_t n = read(fd, buffer, sizeof buffer);
                if (n == 0)
                        break;
                if (n < 0 && errno == EINTR)
                        continue;
                if (n < 0)
                        return -errno;
                add_bytes(hash, buffer, (size_t)n);
        }
        add_bytes(hash, (const unsigned char *)"", 1); /* two files are not one that is their sum */
        return 0;
}

int config_digest_files(char *const *paths, size_t n, char ret_digest[static 17], const char **ret_path) {
        uint64_t hash = FNV_OFFSET;

        for (size_t i = 0; i < n; i++) {
                int r = add_file(&hash, paths[i]);
                if (r < 0) {
                        *ret_path = paths[i];
                        return r;
                }
        }
        snprintf(ret_digest, 17, "%016" PRIx64, hash);
        return 0;
}
