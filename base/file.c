/* file.c - see file.h. */
#include "base/file.h"
#include "base/take.h"
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

static int open_regular(const char *path) {
        /* O_NONBLOCK: opening a FIFO that nobody writes to must not wait. */
        _cleanup_(closep) int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
        struct stat st;

        if (fd < 0 || fstat(fd, &st) < 0)
                return -errno;
        if (S_ISDIR(st.st_mode))
                return -EISDIR;
        if (!S_ISREG(st.st_mode))
                return -EINVAL;
        return TAKE_FD(fd);
}

/* Reads until the end: files in /proc are regular and say a size of 0. */
static int read_all(int fd, size_t most, char **ret_text, size_t *ret_length) {
        _cleanup_(freep) char *text = NULL;
        size_t length = 0, size = 0;
        ssize_t n;

        do {
                if (size - length < 2) {
                        size = size ? size * 2 : 8192;
                        char *grown = realloc(text, size);
                        if (!grown)
                                return -ENOMEM;
                        text = grown;
                }
                n = read(fd, text + length, size - length - 1); /* one byte stays for the NUL */
                if (n < 0)
                        return -errno;
                length += (size_t)n;
                if (length > most)
                        return -EFBIG;
        } while (n > 0);
        text[length] = '\0';
        *ret_text = TAKE(text);
        *ret_length = length;
        return 0;
}

int file_read(const char *path, size_t most, char **ret_text, size_t *ret_length) {
        _cleanup_(closep) int fd = open_regular(path);

        return fd < 0 ? fd : read_all(fd, most, ret_text, ret_length);
}

const char *file_problem(int error) {
        return error == -EINVAL ? "it is not a regular file" : strerrordesc_np(-error);
}
