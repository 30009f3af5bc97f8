/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The time of the steps that are asked for. A process that trains has the time of its own steps;
 * any other process has the time of all trainers' steps.
 */
#ifndef STAGEPROF_ANALYZER_STEP_WINDOWS_H
#define STAGEPROF_ANALYZER_STEP_WINDOWS_H

#include "analyzer/metadata/run.h"
#include "analyzer/training/training.h"

/* From the first selected step's start to the end of the last one and of the pause after it, if
 * that is selected, for each process image. Without such steps a window is empty.
 * The result is the caller's to free; NULL: no memory. */
struct sp_time_window *sp_step_windows_make(const struct sp_training *training);

#endif
