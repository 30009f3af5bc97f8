/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The steps of two runs, compared: faster, slower, or no difference beyond chance.
 */
#ifndef STAGEPROF_ANALYZER_STEP_CHANGE_H
#define STAGEPROF_ANALYZER_STEP_CHANGE_H

#include <stdbool.h>

#include "analyzer/report/report.h"
#include "analyzer/verdict/significance.h"

enum sp_change {
	SP_CHANGE_SAME,
	SP_CHANGE_SLOWER,
	SP_CHANGE_FASTER,
	SP_CHANGE_UNKNOWN, /* too few steps in one of the runs */
};

struct sp_step_change {
	enum sp_change change;
	struct sp_ratio ratio; /* of the means, to the first run's; not for SP_CHANGE_UNKNOWN */
	bool of_steady;	       /* ratio: of steady steps; else of all */
};

/* Returns 0 or -ENOMEM. */
int sp_step_change_find(const struct sp_report *first, const struct sp_report *other,
			struct sp_step_change *ret);

#endif
