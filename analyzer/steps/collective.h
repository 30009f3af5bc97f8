/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Collectives that are marked from the call to their end. All ranks leave a collective at once,
 * so the rank that comes last to the last collective of a step made the others wait. A thread
 * that waits while a collective is in flight waits for that collective.
 *
 * gloo makes the mark on threads of its own. These have to find a core, so a mark may begin after
 * the wait for it, and end after it.
 */
#ifndef STAGEPROF_ANALYZER_COLLECTIVE_H
#define STAGEPROF_ANALYZER_COLLECTIVE_H

#include <stdbool.h>
#include <stdint.h>

#include "analyzer/steps/process_calls.h"

/* True for a call of NCCL. It hands a collective to the device and returns. */
bool sp_slot_is_nccl(const struct sp_process_metadata *image, const struct sp_slot *slot);

/*
 * The next time from *from_ns on that the calls cover: sets its begin, *from_ns, and its end, which
 * is to_ns at most. Calls that overlap count once. *i begins as sp_process_calls_after(calls,
 * *from_ns). False where there is none.
 */
bool sp_collective_next(const struct sp_process_calls *calls, uint32_t *i, int64_t *from_ns,
			int64_t to_ns, int64_t *ret_end_ns);

/* Reads the collectives of one process, from all threads of its image; none where no label of the
 * process names a collective. Returns 0 or -ENOMEM; call sp_process_calls_finish() in both cases.
 */
int sp_collective_calls_read(struct sp_process_calls *calls, struct sp_reader *reader,
			     const struct sp_run *run, uint32_t image);

/*
 * A wait from *from_ns to *to_ns. True where it is for collectives: they were in flight in it. The
 * wait is whole where one was in flight when it began, or where they cover half of it or more.
 * Otherwise another thread does work beside them, and the bounds are cut to what they cover.
 */
bool sp_collective_wait(const struct sp_process_calls *calls, int64_t *from_ns, int64_t *to_ns);

#endif
