/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The cores that a process may use, SP_DEFINE_CPUS, and what the machine and the control group did
 * with them, SP_DEFINE_CORES. These functions make system calls, so they run when a file is made or
 * ended and now and then in a step, never for an event. Files are read in a private task. The
 * caller blocks signals.
 */
#ifndef STAGEPROF_PRELOAD_CORES_H
#define STAGEPROF_PRELOAD_CORES_H

#include "preload/blocks/thread_slots.h"

/* Constructor: keeps the affinity with which the program began. One system call. */
void sp_cores_init(void);

/* Once for each process image: the first call defines them, by a thread that filled its window,
 * that makes steps or batches, or that lived long enough to be worth it. Only the first image reads
 * the groups; forked images inherit what it read. */
void sp_cores_define(struct sp_thread *t);

/* Again: the program may have set a mask since. The last definition counts. */
void sp_cores_define_again(struct sp_thread *t);

/* The same, and reads the groups again: the process may have joined one since its begin. */
void sp_cores_define_afresh(struct sp_thread *t);

/* Counts since the machine and the group began. at: ticks. */
void sp_cores_define_use(struct sp_thread *t, uint64_t at);

#endif
