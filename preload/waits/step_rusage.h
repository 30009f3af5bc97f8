/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A trainer's resource usage by steps (SP_DEFINE_STEP_RUSAGE), because a trainer that is killed has
 * no clean end (thread_rusage.h).
 */
#ifndef STAGEPROF_PRELOAD_STEP_RUSAGE_H
#define STAGEPROF_PRELOAD_STEP_RUSAGE_H

/*
 * In a step, by the thread that makes it: in its backward, or after an optimizer. Not for the
 * hook path. Most calls do nothing: each definition comes when the time covered so far has grown
 * by an eighth, so that the trace of a killed trainer covers most of the training. Waits
 * (thread_waits.h) are taken every 5 ms and before each definition. errno is kept.
 */
void sp_rusage_define_step(void);

#endif
