/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Matches fetches of loaders' workers with arrivals in the trainer's process, by the bytes of the
 * pipe between them. A message is 4 bytes of length and the rest (Python's
 * multiprocessing.connection), written under a lock. The n-th message that a worker sends after its
 * n-th fetch is the batch of that fetch.
 *
 * Returns no match when it would have to guess: where events were lost, only a part is selected,
 * names of pipes are unknown, a pipe has two readers, or its messages do not end where reads end.
 */
#ifndef STAGEPROF_ANALYZER_LAUNCH_MATCHING_H
#define STAGEPROF_ANALYZER_LAUNCH_MATCHING_H

#include <stdbool.h>
#include <stdint.h>

#include "analyzer/events/event_record.h"

#define BATCH_PIPES_MAX 4096u
#define BATCH_WAITING_MAX 4096u /* messages, and reads, that a pipe may have in flight */

struct sp_batch_pipe;
struct sp_batch_worker;

struct sp_batches {
	/* Set by the caller: batch `id` was read by this stream at this time. */
	int (*arrived)(void *context, uint64_t id, uint32_t stream, int64_t at_ns);
	void *context;

	const struct sp_report *report;
	bool is_on;
	struct sp_batch_worker *workers; /* parallel to index.images */
	struct sp_batch_pipe *pipes;	 /* uthash */
};

/* Returns 0 or -ENOMEM. */
int sp_batches_init(struct sp_batches *batches, const struct sp_report *report);
void sp_batches_finish(struct sp_batches *batches);

/*
 * Takes all records in the order of their ends. *ret_id: the batch that this record fetched, 0:
 * none. Returns 0, -ENOMEM, or the result of arrived().
 */
int sp_batches_take(struct sp_batches *batches, const struct sp_record *record, uint64_t *ret_id);

#endif
