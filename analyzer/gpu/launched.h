/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The time that a device was busy with the work that a training thread launched between two
 * instants. Spans (analyzer/training/gpu_time.h) are found by the launch of their first work.
 */
#ifndef STAGEPROF_ANALYZER_LAUNCHED_H
#define STAGEPROF_ANALYZER_LAUNCHED_H

#include <stdint.h>

struct sp_training;

struct sp_launch {
	int64_t at_ns;
	uint64_t before_ns; /* busy with all work that was launched earlier */
};

struct sp_launched {
	struct sp_launch *list; /* by at_ns; one more than `count`, after all launches */
	uint32_t count;
};

/* stream: one of the thread's. The training must have its steps. The list is empty where the thread
 * is no trainer. Returns 0 or -ENOMEM. */
int sp_launched_read(struct sp_launched *launched, const struct sp_training *training,
		     uint32_t stream);
void sp_launched_finish(struct sp_launched *launched);

/* The busy time of work launched at or after from_ns and before to_ns. */
uint64_t sp_launched_between(const struct sp_launched *launched, int64_t from_ns, int64_t to_ns);

#endif
