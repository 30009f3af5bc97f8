/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The usual step of the tests of metrics: a batch from a DataLoader, a forward without a call, a
 * backward and an optimizer.
 */
#ifndef STAGEPROF_TESTS_USUAL_STEP_H
#define STAGEPROF_TESTS_USUAL_STEP_H

#include "tests/unit/common/judged_trace.h"

enum { LOADER = 1, ADAM }; /* names */

enum {
	STEPS = 40,
	WAIT_NS = 300000,
	FIRST_NS = 5000000,
	WORK_NS = 600000,
	ADAM_NS = 100000,
	LONG_NS = 9000000
};

static inline void names(void)
{
	name(LOADER, "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__");
	name(ADAM, "Optimizer.step#Adam.step");
}

static inline bool is_known(enum sp_metric_id measure)
{
	return v.metrics.of[measure].is_known;
}

static inline void step(uint64_t wait_ns)
{
	span(SP_EV_torch_range, LOADER, wait_ns, 0);
	m.now_ticks += WORK_NS;
	span(SP_EV_torch_backward, ADAM, WORK_NS, 0);
	span(SP_EV_torch_range, ADAM, ADAM_NS, 0);
}

#endif
