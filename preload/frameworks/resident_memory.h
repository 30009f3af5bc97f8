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

/*
 * After a batch was made, by the thread that made it: the cores of the process after the first one
 * (SP_DEFINE_CPUS), and its memory now and then (SP_DEFINE_MEMORY). Not for the hook path. Memory
 * is read after the second batch and then at growing intervals of a second at least, because the
 * kernel walks all pages for it, 3 to 8 ms for 300 MB; never in a process that makes steps. errno
 * is kept.
 */
void sp_batch_facts(void);

#endif
