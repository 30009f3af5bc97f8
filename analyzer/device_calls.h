/*
 * What a training process gave its device to do in its steps, as the host saw it, and when the
 * device is known to have had nothing to do: from the end of a sync of the training thread, of a copy to the host that waits
 * like one, or of an allocation or free that took as long as one, until the next launch or copy. Backward's own threads launch
 * too, but the training thread waits for them before it syncs.
 */
#ifndef STAGEPROF_ANALYZER_DEVICE_CALLS_H
#define STAGEPROF_ANALYZER_DEVICE_CALLS_H

#include <stdbool.h>
#include <stdint.h>

struct sp_report;

struct sp_device_calls {
	bool is_used; /* any CUDA call of the trainers' processes */
	uint64_t launches, launch_ns;
	uint64_t blocked_ns; /* of launches of 100 us and more: the queue is full */
	uint64_t syncs, sync_ns;
	/*
	 * Copies to the host that wait for the device (analyzer/gpu_calls.h). One that a sync follows, with nothing given
	 * between, is that sync's in the count: frameworks make .cpu() of the two.
	 */
	uint64_t blocking_copies, blocking_copy_ns;
	uint64_t h2d_ns, h2d_pageable_ns;
	uint64_t idle_ns;   /* the device's, after syncs; without the loader's waits */
	/* Of device and pinned memory, that may wait for the device (analyzer/gpu_calls.h), in steps. */
	uint64_t allocations, allocation_ns;
	uint64_t allocation_idle_ns; /* the device's, in and after those; not in idle_ns */
	uint64_t drained_wait_ns; /* of the loader, while the device had nothing queued */
	/*
	 * Of the loader, while the device surely had work: at the next sync it still had more than it
	 * had done in a mean step since the sync before.
	 */
	uint64_t hidden_wait_ns;
	uint64_t wait_ns; /* of the loader */
	bool has_gpu_idle; /* by the device's own time (analyzer/gpu_time.h), which also tells the waits then */
	uint64_t gpu_idle_ns; /* in steps, without the loader's waits */
	uint64_t gpu_paced_ns; /* in stretches that were as long as their launching */
};

/* Of all trainers. Reads those of their threads again that made CUDA calls. Returns 0 or -ENOMEM. */
int sp_device_calls_read(struct sp_device_calls *calls, const struct sp_report *report);

#endif
