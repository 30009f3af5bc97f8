/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/metrics/metrics_epochs.h"

#include "analyzer/metrics/metrics_input.h"
#include "analyzer/report/report.h"

#define STEPS_LEAST 5 /* of the first epoch, and of the later ones, beside their first batches */
#define TIMES_LEAST 3 /* the first epoch's mean wait is so many of the later ones' */
#define MOST 0.5      /* of all the waiting is beyond that of the later epochs */

/* At most the making of a batch: workers that keep up with their trainer make as many at once as
 * there are workers. The start of a loader is no work that a later epoch need not do again. */
static double making_ns(struct sp_metric_sums *m, const struct sp_epoch_waits *first)
{
	double ns = first->ns / first->steps;

	return V(workers) < 1 ? ns : fmax(ns, V(workers) * first->wall_ns / first->steps);
}

/* The waits for the first epoch's first batches, beyond those of later epochs. */
static double first_batches_ns(struct sp_metric_sums *m)
{
	const struct sp_epoch_waits *first = &m->time.waits[false][true];
	const struct sp_epoch_waits *later = &m->time.waits[true][true];
	double usual_ns = later->steps > 0 ? later->ns / later->steps : 0;
	double more_ns = first->ns - first->steps * usual_ns;

	return fmin(fmax(more_ns, 0), first->steps * making_ns(m, &m->time.waits[false][false]));
}

/* Making all batches, where the training thread makes them: what is in no other wait is in those
 * for first batches. */
static double made_in_first_ns(struct sp_metric_sums *m)
{
	double batches = V(steps) * sp_input_batches_a_step(m);

	if (V(workers) > 0)
		return 0;
	return batches * V(batch_work_ns) - m->time.total * V(loader_wait_share);
}

/* Workers start with two batches each, so the sampler draws for all of these ahead of the first
 * one. */
double sp_epochs_first_made(struct sp_metric_sums *m)
{
	double epochs = V(epochs) * m->report->training.count, a_step = sp_input_batches_a_step(m);
	double ns = a_step * (V(batch_work_ns) + V(handover_ns)) +
		    (a_step + 2 * V(workers)) * V(sampler_ns);

	if (!KNOWN(first_wait_share) || !KNOWN(batch_work_ns))
		return UNKNOWN;
	ns = fmax(epochs * ns, made_in_first_ns(m));
	return fmin(ns / m->time.total, V(first_wait_share));
}

double sp_epochs_first_wait_ns(struct sp_metric_sums *m)
{
	const struct sp_epoch_waits *first = &m->time.waits[false][false];
	const struct sp_epoch_waits *later = &m->time.waits[true][false];
	double usual_ns, more_ns;

	if (m->e->is_unfed || first->steps < STEPS_LEAST || later->steps < STEPS_LEAST)
		return UNKNOWN;
	usual_ns = later->ns / later->steps;
	more_ns = first->ns - first->steps * usual_ns;
	return IF(first->ns >= TIMES_LEAST * usual_ns * first->steps &&
			  more_ns >= MOST * (first->ns + later->ns),
		  more_ns + first_batches_ns(m));
}
