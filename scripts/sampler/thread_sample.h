/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Samples of a thread. The newest one is kept until the next: it grows while the thread waits.
 */
#ifndef STAGEPROF_SAMPLER_THREAD_SAMPLE_H
#define STAGEPROF_SAMPLER_THREAD_SAMPLE_H

#include <stdint.h>

#include "preload/recorder/recorder.h"
#include "scripts/sampler/sampled_process.h"
#include "trace/format.h"

#define SP_SAMPLES_BUFFERED 100u /* a definition has room for them */
#define SP_SAMPLE_CHANCE 8u	 /* looks that the sample of a look by chance stands for */

struct sp_sample_buffer {
	struct sp_thread *recorder; /* NULL: the run's directory is not there yet */
	struct sp_sampler_metadata counts;
	struct sp_python_sample buffer[SP_SAMPLES_BUFFERED];
	uint32_t buffered;
};

/* The thread has not run since its last sample: its stack is the same, and so is its state. `now`:
 * ticks; `looks`: how many found it so. */
void sp_sample_extend(struct sp_sample_buffer *samples, struct sp_sampled_thread *thread,
		      uint64_t now, uint32_t looks);

/* A new sample of the stack that was read. */
void sp_sample_take(struct sp_sample_buffer *samples, const struct sp_sampled_process *process,
		    struct sp_sampled_thread *thread);

/* Moves the newest sample, if there is one, into the buffer. */
void sp_sample_put(struct sp_sample_buffer *samples, struct sp_sampled_thread *thread);

/* Writes the buffer into the trace. */
void sp_samples_flush(struct sp_sample_buffer *samples);

#endif
