/* probe_service.c - the least service: tells when it started and when SIGTERM reached it, and wakes up for nothing. */
#include "member.h"

int main(int argc, char **argv) {
        member_begin(argc, argv);
        for (;;)
                pause();
}
