/* SPDX-License-Identifier: Apache-2.0 */
/* Time that few steps take: in those that exceed twice the median, beyond the median. */
#ifndef STAGEPROF_ANALYZER_METRICS_RARE_H
#define STAGEPROF_ANALYZER_METRICS_RARE_H

#include <stdint.h>

struct sp_training;

struct sp_rare {
	uint64_t steps, rare; /* rare: those steps */
	uint64_t more_ns;
};

void sp_rare_add(struct sp_rare *rare, uint64_t ns, uint64_t median_ns);

/* NAN where those steps are not few. */
double sp_rare_ns(const struct sp_rare *rare);

/*
 * Adds the communication of few steps. Gradients are exchanged in each step: collectives of few
 * steps wait for a rank that does something else, or average weights. Returns 0 or -ENOMEM.
 */
int sp_rare_communication(const struct sp_training *training, uint64_t *more_ns);

#endif
