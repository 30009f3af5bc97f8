/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Looks at the processes of a run: which threads have run, their stacks, and the samples that come
 * of it. State of one run of the sampler; of its thread alone.
 */
#ifndef STAGEPROF_SAMPLER_LOOKS_H
#define STAGEPROF_SAMPLER_LOOKS_H

#include <stdint.h>

#include "scripts/sampler/other_memory.h"
#include "scripts/sampler/python_names.h"
#include "scripts/sampler/python_walk.h"
#include "scripts/sampler/sampled_process.h"
#include "scripts/sampler/thread_sample.h"

struct sp_looks {
	struct sp_python_names names;
	struct sp_python_walk walk;
	struct sp_other_parts parts;
	uint32_t heads; /* of parts: words of struct sp_sampled_head */
	struct sp_sample_buffer samples;
	uint64_t last; /* ticks; the look before the one at hand */
	uint64_t random;
};

static inline uint64_t sp_looks_random(struct sp_looks *looks)
{
	looks->random ^= looks->random << 13;
	looks->random ^= looks->random >> 7;
	looks->random ^= looks->random << 17;
	return looks->random;
}

/* One look at the process: samples.counts.ticks is the look's number. */
void sp_look_at_process(struct sp_looks *looks, struct sp_sampled_process *process);

/* At the end of the run: moves the samples of all threads of the process into the buffer. */
void sp_look_finish(struct sp_looks *looks, struct sp_sampled_process *process);

#endif
