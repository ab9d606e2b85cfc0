/* loopback.h - listens on a port of 127.0.0.1. */
#pragma once

int loopback_listen(unsigned short port, int *ret); /* 0: any port. 0, or -errno */
unsigned short loopback_port(int listener);         /* 0: it is no such socket */
