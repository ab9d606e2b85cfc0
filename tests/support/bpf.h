/* bpf.h - runs a seccomp program over one call, as the kernel would: the instructions that our filters use.
 *
 * What it does not know fails the test. Source: seccomp(2), the classic BPF of linux/filter.h. */
#pragma once
#include <linux/filter.h>
#include <linux/seccomp.h>

/* The program's answer, SECCOMP_RET_*; fails the test if the program runs out, or does what seccomp forbids. */
unsigned bpf_run(const struct sock_filter *code, unsigned length, const struct seccomp_data *call);
