/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A training thread, and all of them with what is asked of them.
 */
#ifndef STAGEPROF_ANALYZER_TRAINER_H
#define STAGEPROF_ANALYZER_TRAINER_H

#include <stdbool.h>
#include <stdint.h>

#include "analyzer/metadata/run.h"
#include "analyzer/training/gpu_time.h"
#include "analyzer/steps/step.h"
#include "analyzer/training/step_series.h"

/* A thread that steps: an optimizer, or what stands for it (step.h). */
struct sp_trainer {
	uint32_t stream; /* its first, index into index.streams */
	struct sp_steps steps;
	struct sp_gpu_time gpu;	      /* parallel to its steps */
	struct sp_step_series series; /* of the selected steps, where ranks are compared */
	struct sp_account account;    /* sp_trainer_account(), where the series is kept */
	uint64_t nccl_elsewhere_ns;   /* of its selected steps, as in sp_step */
	bool is_digested;	      /* from a digest: durations of steps have four digits */
};

/* True where the streams a and b belong to one thread. */
static inline bool sp_trainer_is_same_thread(const struct sp_run *run, uint32_t a, uint32_t b)
{
	const struct sp_stream *x = run->index.streams[a], *y = run->index.streams[b];

	return x->image == y->image && x->tid == y->tid;
}

/* The steps that are asked for. */
struct sp_step_selection {
	uint32_t from, to; /* numbers of steps; to is not in it */
	int64_t warmup;	   /* steps left out in front; below 0: none */
	int64_t epoch;	   /* below 0: all */
};

static inline bool sp_step_selection_is_all(const struct sp_step_selection *s)
{
	return !s->from && s->to == UINT32_MAX && s->warmup <= 0 && s->epoch < 0;
}

struct sp_training {
	/* Set by the caller. */
	const struct sp_run *run; /* borrowed */
	struct sp_step_selection selection;
	bool keeps_steps;    /* else a trainer has the number of its steps, and no list of them */
	bool keeps_timeline; /* of each trainer, with its steps */
	bool keeps_series;
	bool keeps_pauses; /* and epochs, where the steps are not kept */

	struct sp_trainer *trainers; /* in the order of streams */
	uint32_t count;
};

/* The process of a trainer. */
static inline const struct sp_process_image *sp_trainer_image(const struct sp_training *training,
							      uint32_t trainer)
{
	return sp_run_image(training->run, training->trainers[trainer].stream);
}

static inline const struct sp_process_metadata *
sp_trainer_metadata(const struct sp_training *training, uint32_t trainer)
{
	return sp_run_process(training->run, training->trainers[trainer].stream);
}

#endif
