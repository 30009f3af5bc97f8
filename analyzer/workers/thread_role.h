/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The role of a thread. PyTorch names its threads itself from 2.5 on (torch/utils/data/_utils,
 * torch/csrc/autograd/engine.cpp). For earlier versions, a worker of a loader is found by the
 * process that started it and by its fetches, and every other thread is "other". A process that
 * asks a loader for batches makes them for itself: it evaluates.
 */
#ifndef STAGEPROF_ANALYZER_THREAD_ROLE_H
#define STAGEPROF_ANALYZER_THREAD_ROLE_H

#include <stdbool.h>
#include <stdint.h>

struct sp_run;
struct sp_training;

/* "trainer", "worker", "pin_memory", "autograd" or "other". The training must have been read. */
const char *sp_role_of(const struct sp_training *training, uint32_t stream);

/* False for the thread of a process, none of a loader's, that has a loader of its own. */
bool sp_may_serve(const struct sp_run *run, uint32_t stream);

/* The number of a role in digests; it never changes. */
uint32_t sp_role_number(const char *role);

#endif
