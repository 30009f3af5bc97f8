/*
 * The processes that called CUDA, as the view cuda has them: those that train with their steps, and those in which
 * nobody does (inference, programs in C, evaluation beside training), whose calls are told for the whole run.
 */
#ifndef STAGEPROF_ANALYZER_GPU_PROCESS_H
#define STAGEPROF_ANALYZER_GPU_PROCESS_H

#include "analyzer/gpu_calls.h"
#include "analyzer/gpu_time.h"

struct sp_gpu_process {
	uint32_t image;
	const struct sp_trainer *trainer; /* whose steps are told of: its first; NULL: nobody trains in it */
	struct sp_gpu_calls calls;
	struct sp_gpu_sums gpu; /* of all steps of all its trainers, whatever is selected: calls are, too */
};

struct sp_gpu_processes {
	struct sp_gpu_process *list; /* that train, first */
	uint32_t count, room;
};

/* Of the selected processes. Returns 0 or -ENOMEM; to be finished in both cases. */
int sp_gpu_processes_read(struct sp_gpu_processes *processes, const struct sp_report *report);
void sp_gpu_processes_finish(struct sp_gpu_processes *processes);

#endif
