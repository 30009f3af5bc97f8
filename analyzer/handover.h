/*
 * What it takes the training thread to receive a batch that a worker has made: within a wait for the loader, from
 * the first bytes that came through a pipe or socket to the end, less what it then waited (for another batch, or
 * for a lock). PyTorch's workers hand over descriptors of shared memory, each by a few messages between the two
 * processes. Where another thread receives them (pin_memory) the training thread has none.
 */
#ifndef STAGEPROF_ANALYZER_HANDOVER_H
#define STAGEPROF_ANALYZER_HANDOVER_H

#include <stdint.h>

#include "analyzer/stage.h"

struct sp_steps;

struct sp_handover {
	int64_t ns;
	uint64_t wait_ns; /* that these were parts of */
	uint64_t bytes;	  /* through pipes and sockets: what is not in shared memory */
	uint64_t batches; /* one may come while another is waited for */
};

/* One thread's, while its events come in the order of their ends. */
struct sp_receiving {
	const struct sp_steps *steps;
	int64_t received_ns;
	uint64_t bytes;
	uint32_t wait; /* 1 + index of the wait that something came in last; 0: none yet */
};

/* An event of the training thread, of any stage; value: its own, bytes of a read. */
void sp_receiving_take(struct sp_receiving *receiving, enum sp_stage stage, int64_t start_ns,
		       int64_t end_ns, int64_t value);

struct sp_handover sp_receiving_sum(const struct sp_receiving *receiving);

void sp_handover_merge(struct sp_handover *into, const struct sp_handover *from);

#endif
