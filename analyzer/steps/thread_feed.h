/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A DataLoader that another thread of the training process reads ahead: the training thread waits
 * for a queue and calls no loader. Its waits are for batches. The epochs are the passes of the
 * other thread, matched by their numbers of batches, because that thread is some batches ahead.
 */
#ifndef STAGEPROF_ANALYZER_THREAD_FEED_H
#define STAGEPROF_ANALYZER_THREAD_FEED_H

#include "analyzer/steps/process_calls.h"
#include "analyzer/steps/step.h"

struct sp_run;

/* From all threads of the process of this stream but its own. Returns 0 or -ENOMEM;
 * sp_process_calls_finish() it in either case. */
int sp_feed_read(struct sp_process_calls *feed, struct sp_reader *reader, const struct sp_run *run,
		 uint32_t stream);

/* Numbers the epochs of steps that are all there. */
void sp_feed_number_epochs(const struct sp_process_calls *feed, struct sp_steps *steps);

#endif
