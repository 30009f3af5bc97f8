/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The GPU's busy and idle time in steps in a few lines, and in JSON as the object "gpu_time".
 */
#ifndef STAGEPROF_ANALYZER_GPU_SECTION_H
#define STAGEPROF_ANALYZER_GPU_SECTION_H

#include "analyzer/gpu/gpu_sums.h"
#include "analyzer/print/out.h"
#include "analyzer/report/report.h"

/* gpu: NULL where the device's time is unknown. dropped: stretches of work that were not timed. */
void sp_gpu_section(const struct sp_report *report, struct sp_out *out,
		    const struct sp_gpu_sums *gpu, uint64_t dropped);

/* The GPUs' busy time, where CUPTI measured it. */
void sp_gpu_work_section(const struct sp_report *report, struct sp_out *out);

#endif
