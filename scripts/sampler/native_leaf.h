/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The instruction that a thread of another process executes, in user space. The kernel notes it in
 * an interrupt of its timer, once for each sp_native_leaf_arm(); the thread is not stopped. It
 * needs perf events (perf_event_open(2)) and the right to read the process.
 */
#ifndef STAGEPROF_SAMPLER_NATIVE_LEAF_H
#define STAGEPROF_SAMPLER_NATIVE_LEAF_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* Zeros: not opened. */
struct sp_native_leaf {
	void *ring; /* pages that the kernel writes to; NULL: not opened */
	int fd;
	bool is_refused; /* the kernel gives none for this thread */
	bool is_armed;
	uint64_t armed_ns; /* CLOCK_MONOTONIC */
};

/* Asks for the instruction that the thread executes after some 0.1 ms more on a processor. Opens
 * the leaf at the first call. Returns 0, or -errno where the kernel refuses. */
int sp_native_leaf_arm(struct sp_native_leaf *leaf, pid_t tid);

/* The address of the instruction, or 0: none yet, or one that is too late for what was armed. No
 * system call. */
uint64_t sp_native_leaf_take(struct sp_native_leaf *leaf);

void sp_native_leaf_close(struct sp_native_leaf *leaf);

#endif
