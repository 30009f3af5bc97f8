/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The code of a loop between two backwards of one step, where no batch is taken: two rounds of a
 * step (sharpness-aware minimization, adversarial examples), or gradients that accumulate. It may
 * be an optimizer's work that has no class of its own.
 */
#ifndef STAGEPROF_ANALYZER_OWN_UPDATE_H
#define STAGEPROF_ANALYZER_OWN_UPDATE_H

#include "analyzer/steps/phase_interval.h"

/* Parts of the row "other". cleared_ns: gradients are cleared there, so that code has used them;
 * in such a step what lies between the last backward and the optimizer counts, too. */
struct sp_own_update {
	uint64_t cleared_ns, between_ns;
};

/* The n intervals are one step, whose time is charged. */
struct sp_own_update sp_own_update_of(const struct sp_phase_interval *intervals, uint32_t n);

#endif
