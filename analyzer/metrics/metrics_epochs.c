/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/metrics/metrics_epochs.h"

#include "analyzer/report/report.h"
#include "analyzer/training/training_account.h"

#define STEPS_LEAST 5 /* of the first epoch, and of the later ones, beside their first batches */
#define TIMES_LEAST 3 /* the first epoch's mean wait is so many of the later ones' */
#define MOST 0.5      /* of all the waiting is beyond that of the later epochs */

struct waits {
	double ns, steps;
};

static void add_step(struct waits *waits, const struct sp_step *step)
{
	waits->ns += (double)step->account.ns[SP_ACCOUNT_loader_wait];
	waits->steps++;
}

/* First batches have a rule of their own. */
static void add_trainer(struct waits *first, struct waits *later, const struct sp_report *report,
			const struct sp_trainer *trainer)
{
	const struct sp_steps *s = &trainer->steps;

	for (uint32_t i = 0; i < s->count; i++)
		if (sp_step_is_selected(&report->training, trainer, i) &&
		    i != s->epochs[s->steps[i].epoch].first_step)
			add_step(s->steps[i].epoch ? later : first, &s->steps[i]);
}

void sp_metrics_epochs(struct sp_metrics *e, const struct sp_report *report, double total_ns)
{
	struct waits first = {0}, later = {0};
	double usual_ns, more_ns;

	for (uint32_t t = 0; t < report->training.count; t++)
		add_trainer(&first, &later, report, &report->training.trainers[t]);
	if (e->is_unfed || first.steps < STEPS_LEAST || later.steps < STEPS_LEAST)
		return;
	usual_ns = later.ns / later.steps;
	more_ns = first.ns - first.steps * usual_ns;
	if (first.ns >= TIMES_LEAST * usual_ns * first.steps &&
	    more_ns >= MOST * (first.ns + later.ns))
		sp_metrics_ratio(e, SP_METRIC_first_epoch_wait_share, more_ns, total_ns);
}
