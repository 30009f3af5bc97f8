/*
 * What the GPUs did, as CUPTI told it: time by kernel, by sort of copy, and by what the training thread was doing
 * when the work was given; and how long each GPU was busy with anything.
 */
#ifndef STAGEPROF_ANALYZER_GPU_WORK_H
#define STAGEPROF_ANALYZER_GPU_WORK_H

#include <stdbool.h>
#include <stdint.h>

#include "analyzer/gpu_busy.h"
#include "analyzer/report.h"

#define SP_GPU_DEVICES_MAX 32u /* of all processes; what others do counts in no busy time */

/* Of one kernel's name, or of one stage of copies and sets. */
struct sp_gpu_row {
	uint64_t calls, total_ns, max_ns, bytes;
	uint64_t part_ns[SP_ACCOUNT_PARTS]; /* by what the trainer did; all 0 where nobody trains */
};

struct sp_gpu_device {
	uint32_t image, device; /* CUPTI's number, among those that the process sees */
	struct sp_gpu_busy busy; /* inside: from the first step's start to the last one's end */
};

struct sp_gpu_work {
	struct sp_gpu_row *rows; /* by label; behind them by stage */
	uint32_t labels;
	struct sp_gpu_device devices[SP_GPU_DEVICES_MAX];
	uint32_t device_count;
	uint64_t lost; /* pieces of work of which no time was told */
	uint64_t kernels, total_ns, busy_ns;
	uint64_t inside_ns, training_ns; /* busy while training, and the time of that, of all devices */
	bool has_parts; /* somebody trains, and not by graphs, in which parts are not told apart */
};

/* True where CUPTI told anything of the selected streams. */
bool sp_gpu_work_is_known(const struct sp_report *report);

/* Reads the streams of GPUs again; labels are named where the report has names. Returns 0 or -ENOMEM. */
int sp_gpu_work_read(struct sp_gpu_work *work, const struct sp_report *report);
void sp_gpu_work_finish(struct sp_gpu_work *work);

#endif
