/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The recorded call that a thread was inside of when it was sampled, and its work on a batch.
 */
#ifndef STAGEPROF_ANALYZER_SAMPLE_CALLS_H
#define STAGEPROF_ANALYZER_SAMPLE_CALLS_H

#include <stdbool.h>
#include <stdint.h>

#include "analyzer/metadata/run.h"
#include "analyzer/samples/sample_phase.h"

struct sp_taken_sample {
	uint64_t at; /* ticks */
	uint64_t ns; /* that it stands for */
	uint32_t pid, tid, stack;
	uint32_t object; /* text; 0: not known */
	uint32_t samples;
	bool is_waiting;
	/* Results of sp_sample_calls_join(). */
	uint16_t call;		   /* kind of the innermost recorded call; 0: none */
	enum sp_sample_phase work; /* of a worker, if the thread is one; or SP_SAMPLE_NO_FETCH */
	uint64_t call_ticks, work_ticks; /* their durations */
};

/* Sorts the samples of one host by thread and time, and reads the streams of their threads. Returns
 * 0 or -ENOMEM. */
int sp_sample_calls_join(struct sp_taken_sample *samples, uint32_t count, const struct sp_run *run,
			 uint32_t host);

#endif
