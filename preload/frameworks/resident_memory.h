/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The memory that the process holds (RSS), as events of kind `memory`: sampled at the end of a
 * step's backward, of a step, or of the fetch of a batch, at most four times a second. Not for
 * hooks: it reads a file in a private task.
 */
#ifndef STAGEPROF_PRELOAD_RESIDENT_MEMORY_H
#define STAGEPROF_PRELOAD_RESIDENT_MEMORY_H

/* Keeps errno; any thread. Does nothing while recording is off and in a frozen process. */
void sp_resident_sample(void);

#endif
