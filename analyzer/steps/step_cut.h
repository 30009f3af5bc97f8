/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Cutting intervals into steps and pauses: the helpers that two ways to find the begin of a step
 * share. One way uses the order of calls alone (step_order.c), the other the passes over loaders
 * (step_pass.c).
 */
#ifndef STAGEPROF_ANALYZER_STEP_CUT_H
#define STAGEPROF_ANALYZER_STEP_CUT_H

#include "analyzer/steps/interval_nest.h"
#include "analyzer/steps/lock_waits.h"
#include "analyzer/steps/step.h"
#include "analyzer/steps/phase_interval.h"

#define SP_FILES_SAVED 64u

struct sp_process_calls;

/* Takes the events of one thread, in the order in which they ended. */
struct sp_cutter {
	struct sp_steps *steps;
	const struct sp_process_metadata *image;
	const struct sp_process_calls
		*checkpoints;		     /* that a wait may be for; NULL: none are known */
	struct sp_phase_interval *intervals; /* none inside another */
	uint32_t count, room;
	struct sp_aparts aparts; /* of the intervals */
	int64_t from_ns;	 /* end of the last step */
	uint32_t no_grad_steps;	 /* steps with a forward without gradients before their own */
	uint32_t loading_steps;	 /* steps with a call that loads a checkpoint */
	uint32_t loaded_file;	 /* sp_phase_interval.file of the last such call */
	uint32_t saved_files[SP_FILES_SAVED]; /* written since the first backward, the last ones */
	uint32_t saved_count;
	struct sp_lock_waits locks; /* in no call so far */
	bool has_from, is_capturing;
	bool has_called;     /* a step that was one call, since the last one with a backward */
	bool has_learned;    /* a backward, an optimizer or a graph has been */
	bool has_replayed;   /* a graph has ended a step */
	int64_t captured_ns; /* end of the last capture; 0: none */
};

/* Puts [from_ns, to_ns) into the timeline, with the intervals [i, n) in it and what lies between
 * them. account: of a step, which has its own; NULL: of a pause. */
void sp_cut_charge(const struct sp_cutter *cutter, uint32_t i, uint32_t n, int64_t from_ns,
		   int64_t to_ns, struct sp_account *account);

/* The time of loads among the checkpoints in the intervals [i, n). */
uint64_t sp_cut_loads(const struct sp_cutter *cutter, uint32_t i, uint32_t n);

/* A pause before the step to come; NULL: no memory. */
struct sp_pause *sp_cut_pause(struct sp_steps *steps);

/* The intervals from `first` on are a step that begins at from_ns. NULL: no memory. */
struct sp_step *sp_cut_step(struct sp_cutter *cutter, uint32_t first, int64_t from_ns);

/* Index after the last checkpoint or evaluation; 0: there is none. */
uint32_t sp_cut_end_of_known(const struct sp_cutter *cutter);

/* After the last step, with no call of a loader: a pause up to the last checkpoint or evaluation,
 * if there is one. */
void sp_cut_known(struct sp_cutter *cutter);

/* The intervals before the first step or its loader, which begins with interval `first`. Makes a
 * pause from the first evaluation in them to the last one; takes_checkpoints: also one of each
 * checkpoint outside of that pause. */
void sp_cut_head(struct sp_cutter *cutter, uint32_t first, bool takes_checkpoints);

/* After the last step: drops what leads to the last backward before interval n, which no optimizer
 * follows. */
void sp_cut_unfinished(struct sp_cutter *cutter, uint32_t n);

#endif
