/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The work of a thread at an instant: a training thread's part of a step, or a worker's batch. The
 * events of the thread itself say so.
 */
#ifndef STAGEPROF_ANALYZER_SAMPLE_PHASE_H
#define STAGEPROF_ANALYZER_SAMPLE_PHASE_H

#include <stdbool.h>
#include <stdint.h>

#include "analyzer/training/training.h"
#include "analyzer/workers/worker.h"

enum sp_sample_phase {
	SP_SAMPLE_ELSEWHERE, /* another thread, or no training */
	SP_SAMPLE_FETCH,     /* a worker makes a batch, by the dataset's own code */
	SP_SAMPLE_DECODE,    /* … decodes an image or a video */
	SP_SAMPLE_TRANSFORM, /* … in a transform */
	SP_SAMPLE_COLLATE,
	SP_SAMPLE_NO_FETCH, /* a worker, between batches */
	SP_SAMPLE_NO_STEP,  /* the training thread, outside steps */
	SP_SAMPLE_ACCOUNT,  /* + enum sp_account_phase: the training thread, in a step */
	SP_SAMPLE_PHASES = SP_SAMPLE_ACCOUNT + SP_ACCOUNT_PHASES
};

/* As JSON has it. */
const char *sp_sample_phase_name(enum sp_sample_phase phase);

/* The phase of a name, or of the beginning of one alone; -1: none. */
int sp_sample_phase_find(const char *name);

/* True where the time that a thread waits counts, too: the training or the batch waits then. */
bool sp_sample_phase_is_wall(enum sp_sample_phase phase);

struct sp_sampled_role;

struct sp_sampled_roles {
	struct sp_sampled_role *list; /* by pid and tid */
	uint32_t count;
};

/* Reads the threads of trainers. Returns 0 or -ENOMEM. */
int sp_sampled_roles_read(struct sp_sampled_roles *roles, const struct sp_training *training,
			  const struct sp_workers *workers);
void sp_sampled_roles_finish(struct sp_sampled_roles *roles);

/* work: of the thread at that instant, if the thread is a worker. */
enum sp_sample_phase sp_sampled_role_phase(const struct sp_sampled_roles *roles, uint32_t pid,
					   uint32_t tid, int64_t at_ns, enum sp_sample_phase work);

#endif
