/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The kinds of steps and pauses, found once all steps of a thread are cut.
 */
#ifndef STAGEPROF_ANALYZER_STEP_CLASSIFY_H
#define STAGEPROF_ANALYZER_STEP_CLASSIFY_H

#include "analyzer/steps/step.h"

/*
 * Joins what belongs to one step, distinguishes validation from skipped batches,
 * numbers epochs, sorts steps by kind. Returns 0 or -ENOMEM.
 */
int sp_steps_classify(struct sp_steps *steps);

#endif
