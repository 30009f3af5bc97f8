/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The work that a training process gave its device in its steps, as the host saw it, and the
 * time in which the device is known to have been idle. The device is idle from the end of a sync
 * of the training thread until the next launch or copy. A copy to the host that waits, and an
 * allocation or free that took as long as one, count as syncs. Backward's own threads launch
 * too, but the training thread waits for them before it syncs.
 */
#ifndef STAGEPROF_ANALYZER_DEVICE_CALLS_H
#define STAGEPROF_ANALYZER_DEVICE_CALLS_H

#include <stdbool.h>
#include <stdint.h>

struct sp_totals;
struct sp_training;

struct sp_device_calls {
	bool is_used; /* the trainers' processes made a CUDA call */
	uint64_t launches, launch_ns;
	uint64_t blocked_ns; /* of launches of 100 µs and more: the queue is full */
	uint64_t syncs, sync_ns;
	/*
	 * Copies to the host that wait for the device (analyzer/gpu/gpu_calls.h). A copy and a sync
	 * with no launch or copy between them count once, as the sync: the .cpu() of frameworks
	 * makes both.
	 */
	uint64_t blocking_copies, blocking_copy_ns;
	uint64_t h2d_ns, h2d_pageable_ns;
	uint64_t idle_ns; /* the device was idle after a sync; without waits for the loader */
	/* Allocations of device and pinned memory, in steps, that may wait for the device
	 * (analyzer/gpu/gpu_calls.h). */
	uint64_t allocations, allocation_ns;
	uint64_t allocation_idle_ns; /* the device was idle in and after allocations;
					not in idle_ns */
	/*
	 * The rest of allocation_ns. open_ns: it is not known whether the device worked, because a
	 * span that covers the call was still given work after it; without spans, all. gap_ns: no
	 * span covers it.
	 */
	uint64_t allocation_open_ns, allocation_gap_ns, allocation_wait_ns;
	uint64_t drained_wait_ns; /* waits for the loader while the device had nothing queued */
	/*
	 * Waits for the loader while the device surely had work: at the next sync the device still
	 * had more work than it did in a mean step since the previous sync.
	 */
	uint64_t hidden_wait_ns;
	uint64_t wait_ns;  /* waits for the loader */
	bool has_gpu_idle; /* the device's own time is known (analyzer/training/gpu_time.h); it then
			      gives the waits, too */
	uint64_t gpu_idle_ns;  /* in steps, without waits for the loader */
	uint64_t copying_ns;   /* copies on streams of their own, while no other stream ran */
	uint64_t gpu_paced_ns; /* in spans that took as long as the launching of their work */
};

/* Reads the threads of all trainers that made CUDA calls. Returns 0 or -ENOMEM. */
int sp_device_calls_read(struct sp_device_calls *calls, const struct sp_totals *totals,
			 const struct sp_training *training);

#endif
