/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>

#include "analyzer/verdict/verdict_parts.h"

#define GAIN_LEAST 0.03	 /* of a step: below it nobody sees a gain */
#define CACHES_MOST 0.2	 /* of the rest of a step's time on a core: with caches of its own */
#define READS_A_FILE 1.5 /* fewer leave nothing to put together but files */

struct text_check {
	const struct sp_verdict *v;
	bool knows_all;
};

static void check_part(void *context, const char *words, size_t bytes, enum sp_metric_id metric)
{
	struct text_check *check = context;

	(void)words, (void)bytes;
	if (metric < SP_METRICS && !sp_verdict_knows(check->v, metric))
		check->knows_all = false;
}

/* Every metric that the text shows is known. */
static bool knows_all(const struct sp_verdict *v, const char *text)
{
	struct text_check check = {v, true};

	sp_template_read(text, &check, check_part);
	return check.knows_all;
}

/* Another number of workers is advised where even the least gain is worth it. */
static bool workers_gain(const struct sp_verdict *v)
{
	struct sp_what_if w = sp_what_if_make(&v->metrics, SP_WHAT_IF_workers, SP_WORKERS_UNASKED);

	return w.is_known && w.usual_ns <= w.now_ns * (1 - GAIN_LEAST);
}

/* A library is called by code that goes with it: Pillow's and h5py's Python parts, conversions, and
 * the release of what was unpacked. */
static double with_code_around(const struct sp_metrics *e, double part)
{
	part += sp_metrics_value(e, SP_METRIC_transform_work_share);
	return part < 1 ? part : 1;
}

/* The part of its rule's cost that the advice is about; 1: all of it. */
static double part_of_cost(const struct sp_metrics *e, enum sp_metric_id metric)
{
	switch (metric) {
	case SP_METRIC_transform_work_share:
	case SP_METRIC_collate_work_share:
	case SP_METRIC_fetch_blocked_share:
	case SP_METRIC_fetch_contended_share:
	case SP_METRIC_fetch_awaited_share:
	case SP_METRIC_fetch_threads_share:
	case SP_METRIC_fetch_received_share:
	case SP_METRIC_single_batch_share:
	case SP_METRIC_slow_loader_share:
	case SP_METRIC_sampler_wait_share:
	case SP_METRIC_rare_communication_share:
		return sp_metrics_value(e, metric);
	case SP_METRIC_decode_work_share:
	case SP_METRIC_decompress_work_share:
	case SP_METRIC_hdf5_open_share:
		return with_code_around(e, sp_metrics_value(e, metric));
	case SP_METRIC_image_pixels:
		return with_code_around(e, sp_metrics_value(e, SP_METRIC_decode_work_share));
	case SP_METRIC_jpeg_decode_share:
	case SP_METRIC_png_decode_share:
	case SP_METRIC_video_decode_share:
		return with_code_around(e,
					sp_metrics_value(e, metric) *
						sp_metrics_value(e, SP_METRIC_decode_work_share));
	case SP_METRIC_hdf5_read_share:
		return with_code_around(e, sp_metrics_value(e, metric) *
						   sp_metrics_value(e, SP_METRIC_read_work_share));
	case SP_METRIC_mapped_read_share:
		return sp_metrics_value(e, metric) * sp_metrics_value(e, SP_METRIC_read_work_share);
	case SP_METRIC_read_bytes_mean:
	case SP_METRIC_opens_per_batch:
	case SP_METRIC_read_bytes_per_s:
		return sp_metrics_value(e, SP_METRIC_read_work_share);
	default:
		return 1;
	}
}

/* The metric of the time that the advice takes away, where that is not its rule's cost. */
static enum sp_metric_id time_of(enum sp_advice_id advice)
{
	switch (advice) {
	case SP_ADVICE_first_epoch:
		return SP_METRIC_first_epoch_wait_share;
	case SP_ADVICE_own_queue:
		return SP_METRIC_awaited_share;
	case SP_ADVICE_own_input:
		return SP_METRIC_own_input_share;
	case SP_ADVICE_own_rare:
		return SP_METRIC_rare_own_input_share;
	case SP_ADVICE_one_iterator:
	case SP_ADVICE_persistent_workers:
	case SP_ADVICE_warm_start:
		return SP_METRIC_restart_share;
	case SP_ADVICE_validation_workers:
		return SP_METRIC_validation_wait_share;
	case SP_ADVICE_async_checkpoint:
		return SP_METRIC_loop_save_share;
	case SP_ADVICE_load_ahead:
		return SP_METRIC_loop_load_share;
	case SP_ADVICE_loop_writes:
		return SP_METRIC_write_share;
	case SP_ADVICE_loop_fsync:
		return SP_METRIC_fsync_share;
	case SP_ADVICE_loop_messages:
		return SP_METRIC_message_share;
	case SP_ADVICE_loop_waits:
		return SP_METRIC_loop_others_share;
	case SP_ADVICE_rare_loop:
		return SP_METRIC_rare_loop_share;
	case SP_ADVICE_loop_blocked: /* a thread that wakes may have to wait for a core */
		return SP_METRIC_off_core_share;
	default:
		return SP_METRICS;
	}
}

/* Workers that work less make batches more often: the step becomes shorter by that part of all of
 * it, until there is no wait. The other parts are of the wait itself. */
static bool is_of_work(const struct sp_metrics *e, enum sp_metric_id metric)
{
	return sp_metrics_value(e, SP_METRIC_workers) > 0 &&
	       metric != SP_METRIC_handover_wait_share && metric != SP_METRIC_others_idle_share &&
	       metric != SP_METRIC_single_batch_share && metric != SP_METRIC_sampler_wait_share &&
	       metric != SP_METRIC_slow_loader_share &&
	       metric != SP_METRIC_rare_communication_share;
}

/* The metric of all time that the advice takes away, of which its rule's cost may be a part:
 * keeping memory saves the idleness that no event shows, too, a lock is asked for by all code
 * around the model, and a first epoch's first batch has to be made, too. */
static enum sp_metric_id more_of(enum sp_advice_id advice)
{
	switch (advice) {
	case SP_ADVICE_keep_memory:
		return SP_METRIC_allocation_open_share;
	case SP_ADVICE_first_epoch:
		return SP_METRIC_first_epoch_wait_share;
	case SP_ADVICE_other_threads:
		return SP_METRIC_lock_share;
	default:
		return SP_METRICS;
	}
}

/* The loop gives back what workers sent. */
static double release_share(const struct sp_metrics *e)
{
	double step_ns = sp_metrics_value(e, SP_METRIC_step_mean_ns);
	double ns = sp_batches_a_step(e) * sp_metrics_value(e, SP_METRIC_release_ns);

	return step_ns > 0 ? ns / step_ns : 0;
}

/*
 * A training thread that makes batches finds its caches full of them. Without that the rest of a
 * step takes less time on the core.
 */
static double cache_share(const struct sp_metrics *e)
{
	double step_ns = sp_metrics_value(e, SP_METRIC_step_mean_ns);
	double work_ns = sp_metrics_value(e, SP_METRIC_batch_work_ns);
	double cpu_ns = sp_metrics_value(e, SP_METRIC_batch_cpu_ns);
	double own_ns =
		sp_metrics_value(e, SP_METRIC_trainer_cpu_ns) - sp_batches_a_step(e) * cpu_ns;
	double rest = 1 - sp_metrics_value(e, SP_METRIC_lost_wait_share);

	if (sp_metrics_value(e, SP_METRIC_workers) > 0 || step_ns <= 0 || work_ns <= 0 ||
	    own_ns <= 0)
		return 0;
	rest = own_ns < rest * step_ns ? own_ns / step_ns : rest;
	return rest > 0 ? CACHES_MOST * rest * (cpu_ns < work_ns ? cpu_ns / work_ns : 1) : 0;
}

/* First batches have to be made, too: beside their start, their wait has the same work. */
static double input_at_most(const struct sp_metrics *e, enum sp_advice_id advice)
{
	return sp_metrics_value(e, SP_METRIC_first_made_share) + cache_share(e) +
	       (advice == SP_ADVICE_receive ? release_share(e) : 0);
}

/* Gradients are copied for the exchange in hooks of backward, which takes no longer than that. */
static double copies_share(const struct sp_metrics *e, double exchange)
{
	double hooks = sp_metrics_value(e, SP_METRIC_hook_share);

	return hooks < exchange ? hooks : exchange;
}

/* One rank keeps all others waiting, and waits itself for none. */
static double cost_at_most(const struct sp_metrics *e, enum sp_advice_id advice)
{
	enum sp_metric_id metric = sp_rule_of(sp_advice_rule_of(advice)->verdict)->cost;
	double cost = sp_metrics_value(e, metric);
	enum sp_metric_id more = more_of(advice);

	if (metric == SP_METRIC_lost_wait_share && cost > 0)
		cost += input_at_most(e, advice);
	if (more < SP_METRICS && sp_metrics_value(e, more) > cost)
		return sp_metrics_value(e, more);
	if (advice == SP_ADVICE_overlap_communication)
		return cost + copies_share(e, cost);
	if (advice == SP_ADVICE_rare_collectives && e->trainers > 1)
		cost *= e->trainers / (e->trainers - 1.0);
	return cost;
}

/* The code that makes a log goes with it, and a log that waits for the disk is written before. */
static double along_share(const struct sp_metrics *e, enum sp_advice_id advice)
{
	double code = sp_metrics_value(e, SP_METRIC_log_code_share);

	switch (advice) {
	case SP_ADVICE_loop_writes:
		return code + sp_metrics_value(e, SP_METRIC_fsync_share);
	case SP_ADVICE_loop_fsync:
		return code + sp_metrics_value(e, SP_METRIC_write_share);
	case SP_ADVICE_loop_messages:
	case SP_ADVICE_loop_waits:
		return code;
	default:
		return 0;
	}
}

/* The training time ends with the last step, before the loop's own code that follows it. */
static double with_last_step(const struct sp_metrics *e, enum sp_metric_id cost, double share)
{
	double steps = sp_metrics_value(e, SP_METRIC_steps) / (e->trainers ? e->trainers : 1);
	double whole;

	if ((cost != SP_METRIC_loop_share && cost != SP_METRIC_bookkeeping_share) || steps < 2)
		return share;
	whole = share * steps / (steps - 1);
	return whole / (1 - share + whole);
}

double sp_advice_most_share(const struct sp_metrics *e, enum sp_advice_id advice)
{
	const struct sp_advice_rule *a = sp_advice_rule_of(advice);
	double cost = cost_at_most(e, advice), part;
	enum sp_metric_id time = time_of(advice);

	if (time < SP_METRICS && e->of[time].is_known)
		cost = fmin(sp_metrics_value(e, time) + along_share(e, advice), cost);
	part = part_of_cost(e, a->metric);
	if (is_of_work(e, a->metric))
		return part < cost ? part : cost;
	if (advice == SP_ADVICE_async_checkpoint)
		return cost + sp_metrics_value(e, SP_METRIC_beside_save_share);
	return with_last_step(e, sp_rule_of(a->verdict)->cost, cost * part);
}

enum sp_what_if_id sp_advice_what_if(enum sp_advice_id advice)
{
	switch (advice) {
	case SP_ADVICE_add_workers:
	case SP_ADVICE_use_workers:
	case SP_ADVICE_no_workers:
		return SP_WHAT_IF_workers;
	case SP_ADVICE_handover:
		return SP_WHAT_IF_prefetch;
	case SP_ADVICE_sync_line:
	case SP_ADVICE_fewer_syncs:
		return SP_WHAT_IF_no_syncs;
	case SP_ADVICE_pin_memory:
		return SP_WHAT_IF_pinned_copies;
	default:
		return SP_WHAT_IFS;
	}
}

/* The middle of what it saves is a gain, and where a what-if answers for it, it costs nothing. */
static bool is_worth_it(const struct sp_verdict *v, enum sp_advice_id advice)
{
	enum sp_what_if_id id = sp_advice_what_if(advice);
	struct sp_what_if w = {.is_known = false};

	if (sp_advice_rule_of(advice)->verdict == SP_VERDICT_compute ||
	    sp_rule_of(sp_advice_rule_of(advice)->verdict)->is_state)
		return true;
	if (id != SP_WHAT_IFS)
		w = sp_what_if_make(&v->metrics, id, SP_WORKERS_UNASKED);
	if (!w.is_known)
		return sp_advice_most_share(&v->metrics, advice) >= GAIN_LEAST;
	return w.usual_ns <= w.now_ns && (w.low_ns + w.usual_ns) / 2 <= w.now_ns * (1 - GAIN_LEAST);
}

/* Another advice says that fewer of them are better. */
static bool is_crowded(const struct sp_verdict *v)
{
	return v->holds[SP_VERDICT_oversubscribed] || v->holds[SP_VERDICT_contention];
}

/* Batches of the late rank and of the others differ, and no rank has the mean of them. */
static bool has_late_rank(const struct sp_verdict *v)
{
	return v->holds[SP_VERDICT_straggler];
}

/* The workers are of several loaders, so one number of them says nothing. */
static bool has_several_loaders(const struct sp_verdict *v, enum sp_advice_id advice)
{
	return advice != SP_ADVICE_use_workers && sp_verdict_knows(v, SP_METRIC_slow_loader_share);
}

static bool is_about_workers(enum sp_advice_id advice)
{
	return advice == SP_ADVICE_add_workers || advice == SP_ADVICE_use_workers ||
	       advice == SP_ADVICE_no_workers;
}

/* Larger reads help no file that one read already fetches. */
static bool reads_whole_files(const struct sp_verdict *v)
{
	double reads = sp_verdict_value(v, SP_METRIC_reads_per_open);

	return reads > 0 && reads < READS_A_FILE;
}

/* The advice's own condition, beside the range of its metric. */
static bool may_advise(const struct sp_verdict *v, enum sp_advice_id advice)
{
	if (is_about_workers(advice) && (is_crowded(v) || has_late_rank(v) || !workers_gain(v) ||
					 has_several_loaders(v, advice)))
		return false;
	if (advice == SP_ADVICE_larger_reads && reads_whole_files(v))
		return false;
	if (advice == SP_ADVICE_quiet_machine)
		return sp_verdict_is_beside_others(v);
	return advice != SP_ADVICE_no_workers || sp_verdict_value(v, SP_METRIC_workers) >= 1;
}

static bool applies(const struct sp_verdict *v, enum sp_advice_id advice)
{
	const struct sp_advice_rule *a = sp_advice_rule_of(advice);
	double value = sp_verdict_value(v, a->metric);

	return (v->holds[a->verdict] || v->id == a->verdict) && sp_verdict_knows(v, a->metric) &&
	       value >= a->least && value <= a->most && knows_all(v, a->text) &&
	       may_advise(v, advice) && is_worth_it(v, advice);
}

/* Another rule that holds makes buying a faster device bad advice. */
static bool is_about(const struct sp_verdict *v, const struct sp_advice_rule *a, bool same)
{
	bool is_same = sp_rule_of(a->verdict)->cost == sp_rule_of(v->id)->cost;

	if (sp_rule_of(v->id)->is_state)
		return same && a->verdict == v->id;
	return is_same == same && (a->verdict != SP_VERDICT_compute || v->id == SP_VERDICT_compute);
}

/* Two pieces of advice about the same time: where the first is given, the second is not. */
static const struct {
	enum sp_advice_id given, left_out;
} instead[] = {
	/* Workers take a cache of the process with them when they end. */
	{SP_ADVICE_first_epoch, SP_ADVICE_add_workers},
	{SP_ADVICE_first_epoch, SP_ADVICE_use_workers},
	{SP_ADVICE_idle_calls, SP_ADVICE_unseen_batches},
	{SP_ADVICE_one_iterator, SP_ADVICE_persistent_workers},
	{SP_ADVICE_one_iterator, SP_ADVICE_warm_start},
	{SP_ADVICE_persistent_workers, SP_ADVICE_warm_start},
	{SP_ADVICE_no_workers, SP_ADVICE_handover},
	{SP_ADVICE_no_workers, SP_ADVICE_persistent_workers},
	{SP_ADVICE_receive, SP_ADVICE_handover},
	{SP_ADVICE_cheaper_sampler, SP_ADVICE_handover},
	{SP_ADVICE_long_forward, SP_ADVICE_unmarked_names},
	{SP_ADVICE_late_rank, SP_ADVICE_overlap_communication},
	{SP_ADVICE_rare_collectives, SP_ADVICE_overlap_communication},
	{SP_ADVICE_keep_memory, SP_ADVICE_keep_open_memory},
	{SP_ADVICE_quiet_machine, SP_ADVICE_faster_model},
	{SP_ADVICE_quiet_machine, SP_ADVICE_faster_compiled},
	{SP_ADVICE_other_threads, SP_ADVICE_blocked_model},
	{SP_ADVICE_blocked_model, SP_ADVICE_faster_model},
	{SP_ADVICE_cheaper_optimizer, SP_ADVICE_faster_model},
	{SP_ADVICE_cheaper_optimizer, SP_ADVICE_faster_compiled},
	{SP_ADVICE_quiet_machine, SP_ADVICE_cheaper_optimizer},
	{SP_ADVICE_rare_loop, SP_ADVICE_loop_batches},
	{SP_ADVICE_loop_blocked, SP_ADVICE_loop_batches},
	{SP_ADVICE_blocked_model, SP_ADVICE_faster_compiled},
};

static void leave_out(bool given[SP_ADVICES])
{
	for (size_t i = 0; i < sizeof(instead) / sizeof(instead[0]); i++)
		if (given[instead[i].given])
			given[instead[i].left_out] = false;
}

void sp_verdict_advise(struct sp_verdict *v)
{
	bool given[SP_ADVICES];

	for (int i = 0; i < SP_ADVICES; i++)
		given[i] = applies(v, (enum sp_advice_id)i);
	leave_out(given);
	for (int same = 1; same >= 0; same--)
		for (int i = 0; i < SP_ADVICES; i++)
			if (given[i] && is_about(v, sp_advice_rule_of(i), same))
				v->advice[v->advice_count++] = (enum sp_advice_id)i;
}
