/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The trainer that a process works for: the trainer that started it, directly or through a fork
 * server. A fork server is multiprocessing's third way to start the workers of a DataLoader, and
 * the default of Python 3.14.
 */
#ifndef STAGEPROF_ANALYZER_PROCESS_TREE_H
#define STAGEPROF_ANALYZER_PROCESS_TREE_H

#include <stdint.h>

struct sp_training;

/* The process image of a trainer. */
uint32_t sp_trainer_process(const struct sp_training *training, uint32_t trainer);

/* The trainer of the image, or else the nearest trainer that started it; training.count: none. */
uint32_t sp_trainer_above(const struct sp_training *training, uint32_t image);

#endif
