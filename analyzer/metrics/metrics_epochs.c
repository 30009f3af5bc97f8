/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/metrics/metrics_epochs.h"

#include <math.h>

#include "analyzer/report/report.h"
#include "analyzer/training/training_account.h"

#define STEPS_LEAST 5 /* of the first epoch, and of the later ones, beside their first batches */
#define TIMES_LEAST 3 /* the first epoch's mean wait is so many of the later ones' */
#define MOST 0.5      /* of all the waiting is beyond that of the later epochs */

struct waits {
	double ns, steps, wall_ns;
};

/* First batches also wait for the start of their loader. */
struct epochs {
	struct waits first_batches, first, later_first_batches, later;
};

static void add_step(struct waits *waits, const struct sp_step *step)
{
	waits->ns += (double)step->account.ns[SP_ACCOUNT_loader_wait];
	waits->wall_ns += (double)(step->end_ns - step->start_ns);
	waits->steps++;
}

static struct waits *waits_of(struct epochs *epochs, bool is_later, bool is_first_batch)
{
	if (is_later)
		return is_first_batch ? &epochs->later_first_batches : &epochs->later;
	return is_first_batch ? &epochs->first_batches : &epochs->first;
}

static void add_trainer(struct epochs *epochs, const struct sp_report *report,
			const struct sp_trainer *trainer)
{
	const struct sp_steps *s = &trainer->steps;

	for (uint32_t i = 0; i < s->count; i++)
		if (sp_step_is_selected(&report->training, trainer, i))
			add_step(waits_of(epochs, s->steps[i].epoch,
					  i == s->epochs[s->steps[i].epoch].first_step),
				 &s->steps[i]);
}

/* At most the making of a batch: workers that keep up with their trainer make as many at once as
 * there are workers. The start of a loader is no work that a later epoch need not do again. */
static double making_ns(const struct sp_metrics *e, const struct waits *first)
{
	double ns = first->ns / first->steps;
	double workers = sp_metrics_value(e, SP_METRIC_workers);

	return workers < 1 ? ns : fmax(ns, workers * first->wall_ns / first->steps);
}

/* The waits for the first epoch's first batches, beyond those of later epochs. */
static double first_batches_ns(const struct sp_metrics *e, const struct epochs *epochs)
{
	const struct waits *first = &epochs->first_batches, *later = &epochs->later_first_batches;
	double usual_ns = later->steps > 0 ? later->ns / later->steps : 0;
	double more_ns = first->ns - first->steps * usual_ns;

	return fmin(fmax(more_ns, 0), first->steps * making_ns(e, &epochs->first));
}

/* Making all batches, where the training thread makes them: what is in no other wait is in those
 * for first batches. */
static double made_in_first_ns(const struct sp_metrics *e, double total_ns)
{
	double batches = sp_metrics_value(e, SP_METRIC_steps) * sp_batches_a_step(e);

	if (sp_metrics_value(e, SP_METRIC_workers) > 0)
		return 0;
	return batches * sp_metrics_value(e, SP_METRIC_batch_work_ns) -
	       total_ns * sp_metrics_value(e, SP_METRIC_loader_wait_share);
}

/*
 * The part of the waits for first batches that has the work of any batch. Workers start with two
 * batches each, so the sampler draws for all of these ahead of the first one.
 */
static void set_first_made(struct sp_metrics *e, const struct sp_report *report, double total_ns)
{
	double epochs = sp_metrics_value(e, SP_METRIC_epochs) * report->training.count;
	double drawn = sp_batches_a_step(e) + 2 * sp_metrics_value(e, SP_METRIC_workers);
	double ns = sp_batches_a_step(e) * (sp_metrics_value(e, SP_METRIC_batch_work_ns) +
					    sp_metrics_value(e, SP_METRIC_handover_ns)) +
		    drawn * sp_metrics_value(e, SP_METRIC_sampler_ns);

	if (!e->of[SP_METRIC_first_wait_share].is_known ||
	    !e->of[SP_METRIC_batch_work_ns].is_known || total_ns <= 0)
		return;
	ns = fmax(epochs * ns, made_in_first_ns(e, total_ns));
	sp_metrics_set(e, SP_METRIC_first_made_share,
		       fmin(ns / total_ns, sp_metrics_value(e, SP_METRIC_first_wait_share)));
}

void sp_metrics_epochs(struct sp_metrics *e, const struct sp_report *report, double total_ns)
{
	struct epochs epochs = {0};
	const struct waits *first = &epochs.first, *later = &epochs.later;
	double usual_ns, more_ns;

	set_first_made(e, report, total_ns);
	for (uint32_t t = 0; t < report->training.count; t++)
		add_trainer(&epochs, report, &report->training.trainers[t]);
	if (e->is_unfed || first->steps < STEPS_LEAST || later->steps < STEPS_LEAST)
		return;
	usual_ns = later->ns / later->steps;
	more_ns = first->ns - first->steps * usual_ns;
	if (first->ns >= TIMES_LEAST * usual_ns * first->steps &&
	    more_ns >= MOST * (first->ns + later->ns))
		sp_metrics_ratio(e, SP_METRIC_first_epoch_wait_share,
				 more_ns + first_batches_ns(e, &epochs), total_ns);
}
