/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The phase of a training thread at an instant, for work that other threads and the GPU do for
 * it. Work that autograd's threads launch belongs to backward, because the training thread waits
 * for it in backward.
 */
#ifndef STAGEPROF_ANALYZER_LAUNCH_PHASE_H
#define STAGEPROF_ANALYZER_LAUNCH_PHASE_H

#include "analyzer/training/training.h"

struct sp_launch_phases {
	struct sp_phase_interval *intervals; /* in the order of time, none inside another */
	uint32_t count, room;
	const struct sp_steps *steps;
};

/* Reads the trainer's thread. Returns 0 or -ENOMEM. The memory is a few intervals a step. */
int sp_launch_phases_read(struct sp_launch_phases *phases, const struct sp_run *run,
			  const struct sp_trainer *trainer);
void sp_launch_phases_finish(struct sp_launch_phases *phases);

/* Time in no interval is forward where it leads to a backward (sp_steps_lead_to_backward());
 * otherwise, and outside steps, it is other. */
enum sp_account_phase sp_launch_phase(const struct sp_launch_phases *phases, int64_t at_ns);

/* The same for the thread's own code. Where calls of the model were observed, time in no interval
 * is the loop's: loss after a forward, up to its backward, otherwise other. */
enum sp_account_phase sp_code_phase(const struct sp_launch_phases *phases, int64_t at_ns);

#endif
