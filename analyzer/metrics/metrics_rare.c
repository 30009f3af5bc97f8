/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/metrics/metrics_rare.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "analyzer/base/order.h"
#include "analyzer/training/training_account.h"

#define RARE_MOST 0.2	     /* of the steps */
#define RARE_LEAST_NS 100000 /* beyond twice the median, which may be 0 */
#define RARE_TIMES 2u	     /* the median */
/* Ranks are never in step, so that waits for each other differ more than work does. */
#define COMMUNICATION_TIMES 4u

void sp_rare_add(struct sp_rare *r, uint64_t ns, uint64_t median_ns)
{
	r->steps++;
	if (ns <= RARE_TIMES * median_ns + RARE_LEAST_NS)
		return;
	r->rare++;
	r->more_ns += ns - median_ns;
}

double sp_rare_ns(const struct sp_rare *r)
{
	return (double)r->rare <= RARE_MOST * (double)r->steps ? (double)r->more_ns : NAN;
}

SP_ORDER(descending, uint64_t, SP_COMPARE(*y, *x))

/* The communication of each step of one trainer, the longest first; `ns` has room for all. */
static uint32_t sort_communication(uint64_t *ns, const struct sp_training *training,
				   const struct sp_trainer *trainer)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < trainer->steps.count; i++)
		if (sp_step_is_selected(training, trainer, i))
			ns[n++] = trainer->steps.steps[i].account.ns[SP_ACCOUNT_grad_sync];
	qsort(ns, n, sizeof(*ns), descending);
	return n;
}

/*
 * Adds the communication of the longest steps, beyond the median. Each trainer is on its own: a
 * rank that waits for all others in each step has no few long ones.
 */
static int add_longest(uint64_t *more_ns, const struct sp_training *training,
		       const struct sp_trainer *trainer)
{
	uint64_t *ns = malloc((trainer->steps.count + 1) * sizeof(*ns)), usual_ns;
	uint32_t n;

	if (!ns)
		return -ENOMEM;
	n = sort_communication(ns, training, trainer);
	usual_ns = n ? COMMUNICATION_TIMES * ns[n / 2] + RARE_LEAST_NS : 0;
	for (uint32_t i = 0; i < n && i < RARE_MOST * n && ns[i] > usual_ns; i++)
		*more_ns += ns[i] - ns[n / 2];
	free(ns);
	return 0;
}

int sp_rare_communication(const struct sp_training *training, uint64_t *more_ns)
{
	int r = 0;

	for (uint32_t i = 0; r == 0 && i < training->count; i++)
		r = add_longest(more_ns, training, &training->trainers[i]);
	return r;
}
