/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calls of one sort by the threads of a process, in the order of their ends. They explain the
 * waits of another thread.
 */
#ifndef STAGEPROF_ANALYZER_PROCESS_CALLS_H
#define STAGEPROF_ANALYZER_PROCESS_CALLS_H

#include <stdbool.h>
#include <stdint.h>

#include "trace/format.h"

struct sp_process_metadata;
struct sp_reader;
struct sp_run;

/* CLOCK_REALTIME ns of the host. */
struct sp_process_call {
	int64_t start_ns, end_ns;
	int64_t value; /* of the event */
};

struct sp_process_calls {
	struct sp_process_call *list;
	uint32_t count, room;
};

/* Returns true if a slot is a call of the sort. */
typedef bool sp_process_call_test(const struct sp_process_metadata *image,
				  const struct sp_slot *slot);

#define SP_PROCESS_CALLS_MAX (1u << 21) /* later ones are not taken */

/* Adds the calls of all threads of an image except `but_tid` (0: of all threads) to `calls`, which
 * begin as zeros. Returns 0 or -ENOMEM; call sp_process_calls_finish() in both cases. */
int sp_process_calls_read(struct sp_process_calls *calls, struct sp_reader *reader,
			  const struct sp_run *run, uint32_t image, uint32_t but_tid,
			  sp_process_call_test *is_wanted);
void sp_process_calls_finish(struct sp_process_calls *calls);

/* The index of the first call that ends later than `ns`; `count` where there is none. */
uint32_t sp_process_calls_after(const struct sp_process_calls *calls, int64_t ns);

#endif
