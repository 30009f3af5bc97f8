/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sums of the time on the device, over all trainers.
 */
#ifndef STAGEPROF_ANALYZER_GPU_SUMS_H
#define STAGEPROF_ANALYZER_GPU_SUMS_H

#include <stdbool.h>
#include <stdint.h>

struct sp_gpu_sums;
struct sp_sums;
struct sp_training;

/* Adds up the selected steps of all trainers. Returns false where no trainer has spans. */
bool sp_gpu_time_sum(const struct sp_training *training, struct sp_gpu_sums *ret,
		     uint64_t *ret_dropped);

/* The reason for the absence of sums; in English, marked by N_(). stages: the run's, SP_STAGES of
 * them. */
const char *sp_gpu_time_missing(const struct sp_training *training, const struct sp_sums *stages);

#endif
