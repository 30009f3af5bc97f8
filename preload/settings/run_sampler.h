/* SPDX-License-Identifier: Apache-2.0 */
/*
 * STAGEPROF_SAMPLER: the process that samples the run. A launcher sets it, or the
 * first process that records; children inherit it: a run has one sampler for each tree of
 * processes. Reads and sets the environment: for constructors and launchers.
 */
#ifndef STAGEPROF_PRELOAD_RUN_SAMPLER_H
#define STAGEPROF_PRELOAD_RUN_SAMPLER_H

#include <stdint.h>

/* The sampler of sp_run that sp_config names, where it names one. Returns 0 and its pid, which is 0
 * where it could not begin; or -ENOENT. */
int sp_run_sampler(uint64_t *ret_pid);

/* The same for the run that sp_config names, before this process has joined it. */
int sp_run_sampler_inherited(void);

/* Sets the variable: children of this process do not begin another. Returns 0 or -ENOMEM. */
int sp_run_sampler_publish(uint64_t pid);

#endif
