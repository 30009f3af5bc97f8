/* SPDX-License-Identifier: Apache-2.0 */
/*
 * STAGEPROF_SAMPLE without the launcher: the first process that records begins the sampler, the
 * launcher's program, as a process apart. It is no child of the host, has no descriptor and no
 * terminal of it, and ends when the host ends.
 */
#ifndef STAGEPROF_PRELOAD_SAMPLER_PROCESS_H
#define STAGEPROF_PRELOAD_SAMPLER_PROCESS_H

/* Constructor, once sp_run is there. Does nothing where STAGEPROF_SAMPLE is unset. */
void sp_sampler_process_begin(void);

/* In a forked child: Yama asks every process by itself whether another may read it. One system call
 * where there is a sampler. */
void sp_sampler_process_forked(void);

#endif
