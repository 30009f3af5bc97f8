/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The work of the GPUs, as CUPTI reported it: time by kernel, by sort of copy, and by the phase
 * in which the training thread launched it; and the time that each GPU was busy.
 */
#ifndef STAGEPROF_ANALYZER_GPU_WORK_H
#define STAGEPROF_ANALYZER_GPU_WORK_H

#include <stdbool.h>
#include <stdint.h>

#include "analyzer/gpu/gpu_busy.h"
#include "analyzer/totals/totals.h"
#include "analyzer/training/training.h"

/* Devices of all processes together; work of further devices counts in no busy time. */
#define SP_GPU_DEVICES_MAX 32u

/* The work with one kernel's name, or of one stage of copies and sets. */
struct sp_gpu_row {
	uint64_t calls, total_ns, max_ns, bytes;
	uint64_t phase_ns[SP_ACCOUNT_PHASES]; /* by the trainer's phase; all 0 without a trainer */
};

struct sp_gpu_device {
	uint32_t image, device; /* device: CUPTI's number among the devices that the process sees */
	struct sp_gpu_busy busy; /* inside: from the first step's start to the last one's end */
};

struct sp_gpu_work {
	struct sp_gpu_row *rows; /* by label; after them by stage */
	uint32_t labels;
	struct sp_gpu_device devices[SP_GPU_DEVICES_MAX];
	uint32_t device_count;
	uint64_t lost; /* pieces of work without a reported time */
	uint64_t kernels, total_ns, busy_ns;
	uint64_t inside_ns;   /* busy while training, of all devices */
	uint64_t training_ns; /* time of training, of all devices */
	bool has_phases; /* there is a trainer, and it launches no graphs: graphs have no phases */
};

/* True where CUPTI reported work of the selected streams. */
bool sp_gpu_work_is_known(const struct sp_sums *stages);

/* Reads the streams of GPUs; labels have names where the report has names. Returns 0 or -ENOMEM. */
int sp_gpu_work_read(struct sp_gpu_work *work, const struct sp_totals *totals,
		     const struct sp_training *training);
void sp_gpu_work_finish(struct sp_gpu_work *work);

#endif
