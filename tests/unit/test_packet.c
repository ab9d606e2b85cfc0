/* test_packet.c - words and descriptors come out as they went in, and nothing that came is left open. */
#include "base/packet.h"
#include "base/take.h"
#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>

static int ends[2];
static char sent_text[256], got_text[256];
static Packet sent, got;

static void open_sockets(void) {
        cr_assert_eq(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends), 0);
        packet_init(&sent, sent_text, sizeof sent_text);
        packet_init(&got, got_text, sizeof got_text);
}

static void close_sockets(void) {
        close_fd(ends[0]);
        close_fd(ends[1]);
}

TestSuite(packet, .init = open_sockets, .fini = close_sockets);

static int lowest_free(void) {
        int fd = fcntl(ends[0], F_DUPFD_CLOEXEC, 0);
        return close_fd(fd), fd;
}

Test(packet, only_a_socket_of_its_kind_is_taken_for_one) {
        int stream[2];
        cr_assert_eq(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, stream), 0);
        _cleanup_(closep) int file = open("/dev/null", O_RDONLY | O_CLOEXEC);

        cr_assert(packet_is_socket(ends[0]));
        cr_assert_not(packet_is_socket(stream[0]));
        cr_assert_not(packet_is_socket(file));
        cr_assert_not(packet_is_socket(-1));
        close_fd(stream[0]);
        close_fd(stream[1]);
}

Test(packet, words_numbers_and_a_body_of_any_lines_come_over) {
        uint64_t number;
        packet_add(&sent, "NAME", "a=b c");
        packet_add_unsigned(&sent, "BIG", UINT64_MAX);
        packet_set_body(&sent, "first\n\nNAME=body\n");
        cr_assert_eq(packet_send(ends[0], &sent), 0);
        cr_assert_eq(packet_receive(ends[1], &got), PACKET_RECEIVED);
        cr_assert_str_eq(packet_get(&got, "NAME"), "a=b c");
        cr_assert_eq(packet_get_unsigned(&got, "BIG", &number), 0);
        cr_assert_eq(number, UINT64_MAX);
        cr_assert_str_eq(got.body, "first\n\nNAME=body\n");
        cr_assert_null(packet_get(&got, "first"));
        cr_assert_null(packet_get(&got, "NAM"));
}

Test(packet, what_is_no_number_is_not_taken_for_one) {
        static const struct {
                const char *text;
                int answer;
        } table[] = { { "", -EINVAL },
                      { "-1", -EINVAL },
                      { " 1", -EINVAL },
                      { "1x", -EINVAL },
                      { "18446744073709551616", -ERANGE },
                      { "0", 0 } };
        for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
                uint64_t number = 7;
                packet_init(&sent, sent_text, sizeof sent_text);
                packet_add(&sent, "N", table[i].text);
                cr_assert_eq(packet_send(ends[0], &sent), 0);
                cr_assert_eq(packet_receive(ends[1], &got), PACKET_RECEIVED);
                cr_expect_eq(packet_get_unsigned(&got, "N", &number), table[i].answer, "row %zu", i);
                cr_expect_eq(number, table[i].answer == 0 ? 0 : 7, "row %zu", i);
                cr_expect_eq(packet_get_unsigned(&got, "M", &number), -ENOENT);
        }
}

Test(packet, descriptors_come_in_order_and_what_is_not_taken_is_closed) {
        int pipe_ends[2], before, fd;
        char letter;
        cr_assert_eq(pipe2(pipe_ends, O_CLOEXEC), 0);
        before = lowest_free();
        packet_add(&sent, "TWO", "1");
        packet_add_fd(&sent, pipe_ends[1]);
        packet_add_fd(&sent, pipe_ends[0]);
        cr_assert_eq(packet_send(ends[0], &sent), 0);
        cr_assert_eq(packet_receive(ends[1], &got), PACKET_RECEIVED);
        fd = packet_take_fd(&got);
        cr_assert_eq(write(fd, "x", 1), 1);
        cr_assert_eq(read(pipe_ends[0], &letter, 1), 1);
        cr_assert(fcntl(fd, F_GETFD) & FD_CLOEXEC);
        close_fd(fd);
        packet_done(&got);
        cr_assert_eq(lowest_free(), before);
        cr_assert_eq(packet_take_fd(&got), -1);
        close_fd(pipe_ends[0]);
        close_fd(pipe_ends[1]);
}

Test(packet, a_message_that_is_too_long_is_dropped_with_its_descriptors) {
        char small[16];
        int before = lowest_free();
        packet_init(&got, small, sizeof small);
        packet_add(&sent, "TEXT", "longer than the buffer of who receives it");
        packet_add_fd(&sent, ends[0]);
        cr_assert_eq(packet_send(ends[0], &sent), 0);
        cr_assert_eq(packet_receive(ends[1], &got), -EMSGSIZE);
        cr_assert_eq(lowest_free(), before);
        cr_assert_eq(packet_receive(ends[1], &got), -EAGAIN);
}

Test(packet, what_does_not_fit_is_not_sent_in_part) {
        char small[8];
        packet_init(&sent, small, sizeof small);
        packet_add(&sent, "TEXT", "too long");
        cr_assert_eq(packet_send(ends[0], &sent), -EMSGSIZE);
        cr_assert_eq(packet_receive(ends[1], &got), -EAGAIN);
}

Test(packet, the_other_sides_end_is_told_after_its_last_message) {
        packet_add(&sent, "LAST", "1");
        cr_assert_eq(packet_send(ends[0], &sent), 0);
        ends[0] = close_fd(ends[0]);
        cr_assert_eq(packet_receive(ends[1], &got), PACKET_RECEIVED);
        cr_assert_eq(packet_receive(ends[1], &got), 0);
        cr_assert_eq(packet_send(ends[1], &sent), -EPIPE);
}

Test(packet, a_full_socket_is_told_and_nobody_waits) {
        int r;
        packet_add(&sent, "N", "1");
        while ((r = packet_send(ends[0], &sent)) == 0)
                continue;
        cr_assert_eq(r, -EAGAIN);
}
