/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The cost of receiving a batch from a worker, on the training thread. It is the part of a wait
 * for the loader from the first bytes that came through a pipe or socket to the end, without the
 * waits in it (for another batch, or for a lock). PyTorch's workers pass descriptors of shared
 * memory, each in a few messages between the two processes. Where another thread receives them
 * (pin_memory), the training thread pays nothing. The sampler draws the indices of a later batch
 * in such a wait, on the training thread with any number of workers.
 */
#ifndef STAGEPROF_ANALYZER_BATCH_RECEIVE_H
#define STAGEPROF_ANALYZER_BATCH_RECEIVE_H

#include <stdint.h>

#include "analyzer/metadata/stage.h"

struct sp_steps;

struct sp_batch_receive {
	int64_t ns;
	uint64_t wait_ns; /* the waits that contain ns */
	uint64_t bytes;	  /* through pipes and sockets, so without shared memory */
	uint64_t batches; /* a batch may come during the wait for another */
	uint64_t sampler_ns, all_wait_ns, all_batches; /* also where nothing was received */
	uint64_t ahead_ns; /* of the sampler outside of these waits: where a loader begins */
};

/* The state for one thread, whose events come in the order of their ends. */
struct sp_receiving {
	const struct sp_steps *steps;
	int64_t received_ns;
	uint64_t bytes, sampler_ns, ahead_ns;
	uint32_t wait; /* 1 + index of the last wait with bytes; 0: none yet */
};

/* Takes an event of the training thread, of any stage. value: the event's; of a read, bytes. */
void sp_receiving_take(struct sp_receiving *receiving, enum sp_stage stage, int64_t start_ns,
		       int64_t end_ns, int64_t value);

/* Takes a call of the sampler by the training thread. */
void sp_receiving_draw(struct sp_receiving *receiving, int64_t start_ns, int64_t end_ns);

struct sp_batch_receive sp_receiving_sum(const struct sp_receiving *receiving);

#endif
