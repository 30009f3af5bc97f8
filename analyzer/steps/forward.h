/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A forward that was observed trains where a backward follows it. One that none follows is
 * evaluation; one that an environment's step follows first is a rollout. Without gradients it is a
 * teacher's or a target network's if it lies between the batch and the model's own forward, or,
 * where no loader feeds the step, if a quarter of the steps have one; else it is evaluation.
 */
#ifndef STAGEPROF_ANALYZER_FORWARD_H
#define STAGEPROF_ANALYZER_FORWARD_H

#include "analyzer/steps/step_cut.h"

/* Distinguishes the forwards among the intervals at hand from evaluation, and marks what lies in
 * one. */
void sp_forward_judge(struct sp_cutter *cutter);

#endif
