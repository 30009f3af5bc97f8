/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One training thread becomes steps, GPU time and a series.
 */
#ifndef STAGEPROF_ANALYZER_TRAINER_READ_H
#define STAGEPROF_ANALYZER_TRAINER_READ_H

#include "analyzer/reader/reader.h"
#include "analyzer/steps/process_calls.h"
#include "analyzer/training/trainer.h"

/* By kind of event: true where sp_trainer_read() needs it. */
void sp_trainer_wants(bool ret[SP_EVENT_KINDS]);

/*
 * Reads all streams of the thread whose first one is trainer->stream. checkpoints: calls of other
 * threads that the thread may have waited for; borrowed; NULL: none. Returns 0 or -ENOMEM.
 */
int sp_trainer_read(const struct sp_training *training, struct sp_reader *reader,
		    const bool wants[SP_EVENT_KINDS], const struct sp_process_calls *checkpoints,
		    struct sp_trainer *trainer);

#endif
