/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The processes that called CUDA, as the view cuda shows them. A process that trains is shown
 * with its steps. The calls of another process (inference, programs in C, evaluation beside
 * training) are reported for the whole run.
 */
#ifndef STAGEPROF_ANALYZER_GPU_PROCESS_H
#define STAGEPROF_ANALYZER_GPU_PROCESS_H

#include "analyzer/gpu/gpu_calls.h"
#include "analyzer/training/gpu_time.h"

struct sp_gpu_process {
	uint32_t image;
	const struct sp_trainer *trainer; /* the first trainer of the process; NULL: none */
	struct sp_gpu_calls calls;
	struct sp_gpu_sums gpu; /* of all steps of its trainers, selected or not, as `calls` */
};

struct sp_totals;
struct sp_training;

struct sp_gpu_processes {
	struct sp_gpu_process *list; /* processes that train come first */
	uint32_t count, room;
};

/* Reads the selected processes. Returns 0 or -ENOMEM; call sp_gpu_processes_finish() in either
 * case. */
int sp_gpu_processes_read(struct sp_gpu_processes *processes, const struct sp_totals *totals,
			  const struct sp_training *training);
void sp_gpu_processes_finish(struct sp_gpu_processes *processes);

#endif
