/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Passes over loaders, where their calls say of which iterator they are. A pass trains if an
 * optimizer steps between its first batch and its last call, or on a batch of it.
 */
#ifndef STAGEPROF_ANALYZER_STEP_PASS_H
#define STAGEPROF_ANALYZER_STEP_PASS_H

#include "analyzer/steps/step_cut.h"

/* Numbers the pass of an interval that has an iterator. */
void sp_pass_note(struct sp_steps *steps, struct sp_phase_interval *interval);

/* The intervals at hand end in an optimizer step. */
void sp_pass_cut(struct sp_cutter *cutter);

/* Behind the last step: the loaders' last calls, and validation. */
void sp_pass_cut_rest(struct sp_cutter *cutter);

/* Once all are there. */
struct sp_pass_facts {
	bool reads, evaluates; /* a pass that does not train has batches, and a model is called */
	bool calls;	       /* a model is called in one of all passes */
};
struct sp_pass_facts sp_pass_facts(const struct sp_steps *steps, const struct sp_pause *pause);

/* Makes the passes of a pause a part of the program's start. */
void sp_pass_leave_out(struct sp_steps *steps, struct sp_pause *pause);

/* All of its passes that evaluate is validation. Returns the wait for their loaders. */
uint64_t sp_pass_label(struct sp_steps *steps, const struct sp_pause *pause);
void sp_pass_number_epochs(struct sp_steps *steps);
/* Sets trained_passes and single_passes. */
void sp_pass_count(struct sp_steps *steps);

#endif
