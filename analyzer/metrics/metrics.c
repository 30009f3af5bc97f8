/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/metrics/metrics.h"

#include <stdio.h>
#include <string.h>

#include "analyzer/hang/hang.h"
#include "analyzer/hang/hang_text.h"
#include "analyzer/metadata/gpu_kinds.h"
#include "analyzer/metadata/source_lines.h"
#include "analyzer/metrics/metrics_abstain.h"
#include "analyzer/metrics/metrics_account.h"
#include "analyzer/metrics/metrics_cpu.h"
#include "analyzer/metrics/metrics_device.h"
#include "analyzer/metrics/metrics_epochs.h"
#include "analyzer/metrics/metrics_input.h"
#include "analyzer/metrics/metrics_job.h"
#include "analyzer/metrics/metrics_late_rank.h"
#include "analyzer/metrics/metrics_rare.h"
#include "analyzer/metrics/metrics_stepless.h"
#include "analyzer/metrics/metrics_turns.h"
#include "analyzer/metrics/metrics_ways.h"
#include "analyzer/metrics/training_time.h"
#include "analyzer/report/report.h"
#include "analyzer/text/text.h"
#include "analyzer/text/translate.h"
#include "analyzer/training/step_stats.h"
#include "analyzer/training/training_account.h"

/* The Python line with the longest total wait. */
static void set_line(struct sp_metrics *e, const struct sp_report *report)
{
	struct sp_metric *m = &e->of[SP_METRIC_sync_line];
	const struct sp_line *line, *longest = NULL;
	const char *tab;

	for (line = report->run.metadata.slow.lines.by_key; line; line = line->hh.next)
		if (sp_gpu_call_is_kept(line->key.kind) &&
		    (!longest || line->ticks > longest->ticks))
			longest = line;
	if (!longest)
		return;
	tab = memchr(longest->key.text, '\t', longest->text_bytes);
	sp_text_escape(m->text, sizeof(m->text), longest->key.text,
		       tab ? (size_t)(tab - longest->key.text) : longest->text_bytes);
	m->is_known = true;
}

static bool is_compiled(const struct sp_report *report)
{
	const struct sp_run *run = &report->run;

	for (uint32_t i = 0; i < report->training.count; i++)
		if (run->metadata
			    .images[run->index.streams[report->training.trainers[i].stream]->image]
			    .compiles)
			return true;
	return false;
}

/* Metrics of the model itself, where a backward shows one: the mark of compilation, and a forward
 * that holds no other work. */
static void set_model(struct sp_metrics *e, const struct sp_report *report)
{
	double share = sp_metrics_value(e, SP_METRIC_compute_share);

	if (sp_training_source(&report->training, SP_ACCOUNT_backward) == SP_FROM_NOTHING ||
	    sp_metrics_value(e, SP_METRIC_forward_ratio) >= SP_FORWARD_LONG ||
	    sp_metrics_value(e, SP_METRIC_rare_forward_share) >= SP_FORWARD_RARE ||
	    sp_metrics_value(e, SP_METRIC_unmarked_share) >= SP_UNMARKED_MUCH)
		return;
	sp_metrics_set(e, is_compiled(report) ? SP_METRIC_compiled_share : SP_METRIC_eager_share,
		       share);
}

static bool has_loader_calls(const struct sp_report *report)
{
	for (uint32_t i = 0; i < report->run.index.image_count; i++)
		if (report->run.metadata.images[i].asks_loader)
			return true;
	return false;
}

static void set_hang(struct sp_metrics *e, const struct sp_report *report)
{
	char chain[SP_METRIC_TEXT_BYTES];
	struct sp_hang hang;

	sp_hang_find(report, &hang);
	if (!hang.is_hung)
		return;
	sp_metrics_set(e, SP_METRIC_hang_ns, (double)hang.for_ns);
	sp_hang_text(report, &hang, chain, sizeof(chain));
	sp_metrics_set_text(e, SP_METRIC_hang_chain, chain);
}

/* Batches of a loop are no steps of training: what they cost is known, and what they are for is
 * not. */
static void set_loop_batches(struct sp_metrics *e, const struct sp_training_time *t)
{
	e->of[SP_METRIC_step_ns].is_known = false;
	e->of[SP_METRIC_step_mean_ns].is_known = false;
	e->of[SP_METRIC_wait_mean_ns].is_known = false;
	sp_metrics_set(e, SP_METRIC_loop_batches, (double)t->steps);
	sp_metrics_ratio(e, SP_METRIC_loop_wait_share,
			 (double)t->account.ns[SP_ACCOUNT_loader_wait], t->total);
}

/* A digest has no events, so other costs may be greater than those that are known. */
static void doubt_digested(struct sp_metrics *e, const struct sp_report *report)
{
	const struct sp_rank *latest = sp_metrics_latest_straggler(&report->ranks);
	char text[SP_METRIC_TEXT_BYTES], late[128];

	if (!latest) {
		sp_metrics_set_text(e, SP_METRIC_cannot_tell,
				    _("a verdict needs events, and a digest has none; the account "
				      "and the "
				      "view ranks hold"));
		return;
	}
	sp_metrics_who_straggles(report, latest, late, sizeof(late));
	snprintf(text, sizeof(text),
		 _("a verdict needs events, and a digest has none; the account and the view ranks "
		   "hold, and that view names as late: %s"),
		 late);
	sp_metrics_set_text(e, SP_METRIC_cannot_tell, text);
}

static void set_rounds(struct sp_metrics *e, const struct sp_training *training)
{
	bool has_rounds = false, has_others = false;

	for (uint32_t i = 0; i < training->count; i++) {
		const struct sp_steps *s = &training->trainers[i].steps;

		has_rounds |= s->rounds > 0;
		has_others |= s->rounds < s->optimizer_count;
		e->has_whole_calls |= s->has_whole_calls;
	}
	e->is_mixed = has_rounds && has_others;
}

/* The metrics that docs/DIGEST.md lists as those of a digest. */
static int set_digested(struct sp_metrics *e, const struct sp_report *report)
{
	const struct sp_training *training = &report->training;
	struct sp_training_time t = {.account = sp_training_account(training)};
	struct sp_step_stats wall;
	int r;

	e->is_from_digest = true;
	doubt_digested(e, report);
	for (uint32_t i = 0; i < training->count; i++)
		t.steps += training->trainers[i].steps.count;
	if (!t.steps || sp_training_end(training) == SP_STEP_BY_BATCH)
		return 0;
	t.total = (double)sp_account_total(&t.account);
	sp_metrics_phases(e, &t, report);
	if (!e->is_unfed)
		sp_metrics_phase(e, SP_METRIC_input_wait_share, &t, report, SP_ACCOUNT_loader_wait);
	sp_metrics_straggler(e, report);
	r = sp_step_stats(training, SP_STEP_WALL, 1u << SP_STEP_STEADY, &wall);
	if (r == 0 && wall.count)
		sp_metrics_set(e, SP_METRIC_step_ns, (double)wall.p50_ns);
	return r;
}

int sp_metrics_gather(struct sp_metrics *e, const struct sp_report *report)
{
	struct sp_training_time time = {.total = 0};
	int r = sp_index_has_digested(&report->run.index) ? 0
							  : sp_training_time_read(&time, e, report);
	bool is_loop = sp_training_end(&report->training) == SP_STEP_BY_BATCH;

	e->trainers = report->training.count;
	e->events_lost = report->totals.lost + report->totals.missing + report->totals.holes;
	e->events_unknown = report->totals.unknown;
	e->files_unread = sp_index_unread(&report->run.index);
	e->tails_away = report->totals.tails_away;
	e->is_unfed = sp_training_is_unfed(&report->training);
	set_rounds(e, &report->training);
	e->is_fed_by_thread = sp_training_is_fed_by_thread(&report->training) ||
			      (e->is_unfed && sp_metrics_has_busy_thread(report));
	e->is_forward_left_over = sp_metrics_is_forward_left_over(&report->training);
	e->has_loader_calls = has_loader_calls(report);
	if (sp_index_has_digested(&report->run.index))
		return set_digested(e, report);
	if (r == 0) {
		sp_metrics_cannot_tell(e, report, time.steps);
		if (!is_loop)
			set_hang(e, report);
		if (is_loop)
			set_loop_batches(e, &time);
		if (is_loop || time.steps == 0)
			sp_metrics_stepless(e, report);
	}
	if (r < 0 || time.steps == 0 || is_loop)
		return r;
	sp_metrics_account(e, &time, report);
	sp_metrics_whole_steps(e, &time, report);
	sp_metrics_turns(e, &time, report);
	sp_metrics_device(e, &time.account, time.steps, report);
	/* With a device, backward waits for autograd's own threads. */
	if (!e->has_device) {
		sp_metrics_ratio(e, SP_METRIC_model_lock_share, time.sum[SP_STEP_SUM_lock],
				 time.total);
		sp_metrics_ratio(e, SP_METRIC_lock_share, time.sum[SP_STEP_SUM_locked], time.total);
	}
	r = sp_metrics_forward(e, report);
	if (r == 0)
		r = sp_metrics_rare_loop(e, report);
	if (r == 0)
		r = sp_metrics_rare_communication(e, report);
	if (r == 0)
		r = sp_metrics_warm_up(e, report);
	if (r < 0)
		return r;
	set_model(e, report);
	sp_metrics_job(e, report);
	set_line(e, report);
	sp_metrics_straggler(e, report);
	sp_metrics_cpu(e, report);
	sp_metrics_input(e, report);
	sp_metrics_epochs(e, report, time.total);
	if (e->of[SP_METRIC_decode_work_share].is_known)
		e->of[SP_METRIC_loader_ways].is_known = false;
	sp_metrics_ways(e, report, is_compiled(report));
	return 0;
}
