/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The role of a thread. PyTorch names its threads itself from 2.5 on (torch/utils/data/_utils,
 * torch/csrc/autograd/engine.cpp). For earlier versions, a worker of a loader is found by the
 * process that started it, and every other thread is "other".
 */
#ifndef STAGEPROF_ANALYZER_THREAD_ROLE_H
#define STAGEPROF_ANALYZER_THREAD_ROLE_H

#include <stdint.h>

struct sp_training;

/* "trainer", "worker", "pin_memory", "autograd" or "other". The training must have been read. */
const char *sp_role_of(const struct sp_training *training, uint32_t stream);

/* The number of a role in digests; it never changes. */
uint32_t sp_role_number(const char *role);

#endif
