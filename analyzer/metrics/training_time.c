/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/metrics/training_time.h"

#include "analyzer/report/report.h"
#include "analyzer/training/step_stats.h"
#include "analyzer/training/training_account.h"

/* The time by which an epoch's start exceeds another batch. */
static void add_first(struct sp_training_time *t, const struct sp_step *step, uint64_t usual_ns,
		      bool is_run)
{
	uint64_t ns = step->account.ns[SP_ACCOUNT_loader_wait];

	double more = ns > usual_ns ? (double)(ns - usual_ns) : 0;

	t->first_ns += more;
	t->firsts++;
	if (is_run) {
		t->run_start_ns += more;
		t->run_starts++;
	}
}

/* A loader begins before the first step, and its workers end after the last one. */
static void add_end(struct sp_training_time *t, const struct sp_report *report,
		    const struct sp_trainer *trainer, const struct sp_pause *p)
{
	double ns = (double)p->account.ns[SP_ACCOUNT_loader_wait];

	if (!sp_pause_is_selected(&report->training, trainer, p))
		return;
	t->first_ns += ns;
	*(p->step ? &t->run_end_ns : &t->run_start_ns) += ns;
}

static void add_restarts(struct sp_training_time *t, const struct sp_report *report,
			 const struct sp_trainer *trainer)
{
	const struct sp_steps *s = &trainer->steps;

	for (uint32_t i = 0; i < s->pause_count; i++) {
		const struct sp_pause *p = &s->pauses[i];

		if (!p->step || p->step >= s->count)
			add_end(t, report, trainer, p);
		if (!p->is_restart || !p->step || p->step >= s->count ||
		    !sp_step_is_selected(&report->training, trainer, p->step - 1) ||
		    !sp_step_is_selected(&report->training, trainer, p->step))
			continue;
		t->first_ns += (double)p->account.ns[SP_ACCOUNT_loader_wait];
		if (p->forked_before || p->forked_after)
			t->loader_start_ns += (double)p->account.ns[SP_ACCOUNT_other];
	}
}

static void add_loads(struct sp_training_time *t, const struct sp_report *report,
		      const struct sp_trainer *trainer)
{
	const struct sp_steps *s = &trainer->steps;

	for (uint32_t i = 0; i < s->pause_count; i++) {
		const struct sp_pause *p = &s->pauses[i];

		if (!sp_pause_is_selected(&report->training, trainer, p))
			continue;
		t->sum[SP_STEP_SUM_load] += (double)p->load_ns;
		if (!p->step || p->step == s->count)
			t->end_load_ns += (double)p->load_ns;
	}
}

static void add_trainer(struct sp_training_time *t, const struct sp_report *report,
			const struct sp_trainer *trainer, uint64_t usual_wait_ns)
{
	const struct sp_steps *s = &trainer->steps;
	struct sp_account account = sp_trainer_account(&report->training, trainer);
	uint32_t epochs = 0;

	sp_account_merge(&t->account, &account);
	/* Where most iterators give one batch, the usual wait is one for a first batch. */
	if (s->trained_passes && 2 * s->single_passes >= s->trained_passes)
		usual_wait_ns = 0;
	for (uint32_t i = 0; i < s->count; i++) {
		if (!sp_step_is_selected(&report->training, trainer, i))
			continue;
		t->steps++;
		for (int sum = 0; sum < SP_STEP_SUMS; sum++)
			t->sum[sum] += (double)s->steps[i].sum[sum];
		if (i != s->epochs[s->steps[i].epoch].first_step)
			continue;
		add_first(t, &s->steps[i], usual_wait_ns, i == 0);
		epochs++;
	}
	add_restarts(t, report, trainer);
	add_loads(t, report, trainer);
	t->epochs = epochs > t->epochs ? epochs : t->epochs;
}

int sp_training_time_read(struct sp_training_time *t, struct sp_metrics *e,
			  const struct sp_report *report)
{
	struct sp_step_mean mean = sp_step_mean(&report->training);
	struct sp_step_stats wait, wall;
	int r = sp_step_stats(&report->training, SP_ACCOUNT_loader_wait, 1u << SP_STEP_STEADY,
			      &wait);

	if (r == 0)
		r = sp_step_stats(&report->training, SP_STEP_WALL, 1u << SP_STEP_STEADY, &wall);
	if (r == 0 && wall.count == 0)
		r = sp_step_stats(&report->training, SP_STEP_WALL, SP_STEP_KINDS_ALL, &wall);
	if (r < 0)
		return r;
	for (uint32_t i = 0; i < report->training.count; i++)
		add_trainer(t, report, &report->training.trainers[i], wait.p50_ns);
	t->first_ns += t->loader_start_ns;
	t->total = (double)sp_account_total(&t->account);
	if (wall.count) {
		sp_metrics_set(e, SP_METRIC_step_ns, (double)wall.p50_ns);
		sp_metrics_ratio(e, SP_METRIC_step_mean_ns, (double)mean.total_ns,
				 (double)mean.count);
	}
	sp_metrics_ratio(e, SP_METRIC_wait_mean_ns, (double)wait.total_ns, (double)wait.count);
	return 0;
}
