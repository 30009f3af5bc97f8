/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where a step begins, by the order of calls alone: with the last batch before its backward, its
 * optimizer or its graph. For loaders whose calls do not say of which iterator they are; else
 * step_pass.h.
 */
#ifndef STAGEPROF_ANALYZER_STEP_ORDER_H
#define STAGEPROF_ANALYZER_STEP_ORDER_H

#include "analyzer/steps/step_cut.h"

/* The intervals at hand end in what ends a step. */
void sp_order_cut(struct sp_cutter *cutter);

/* The index of the interval that begins the first step, by the rows SP_STEP_BEGIN of step.def. */
uint32_t sp_order_first_of_step(const struct sp_cutter *cutter);

/* Behind the last step: the loader's last call, and validation. */
void sp_order_cut_rest(struct sp_cutter *cutter);

#endif
