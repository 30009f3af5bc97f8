/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/verdict/verdict_parts.h"

static void rest_on(struct sp_verdict *v, enum sp_metric_id metric)
{
	for (uint32_t i = 0; i < v->rests_on_count; i++)
		if (v->rests_on[i] == metric)
			return;
	if (sp_verdict_knows(v, metric) && v->rests_on_count < SP_VERDICT_EVIDENCE_MAX)
		v->rests_on[v->rests_on_count++] = metric;
}

static void rest_on_part(void *context, const char *words, size_t bytes, enum sp_metric_id metric)
{
	(void)words, (void)bytes;
	if (metric < SP_METRICS && metric != SP_METRIC_cannot_tell)
		rest_on(context, metric);
}

/* The account's wait, what is not the verdict's of it, and what is left: the last is the cost. */
static void rest_on_sum(struct sp_verdict *v)
{
	static const enum sp_metric_id sum[] = {
		SP_METRIC_input_wait_share,
		SP_METRIC_first_wait_share,
		SP_METRIC_loader_wait_share,
		SP_METRIC_hidden_wait_share,
	};

	for (size_t i = 0; i < sizeof(sum) / sizeof(sum[0]); i++)
		if (sp_verdict_value(v, sum[i]) > 0)
			rest_on(v, sum[i]);
}

/* Metrics that need no steps. */
static const enum sp_metric_id knowns[] = {
	SP_METRIC_apart_share,	SP_METRIC_update_share,	   SP_METRIC_input_wait_share,
	SP_METRIC_loop_batches, SP_METRIC_loop_wait_share, SP_METRIC_read_rate,
	SP_METRIC_read_ns,	SP_METRIC_decode_ns,	   SP_METRIC_wait_ns,
	SP_METRIC_cores_used,
};
#define KNOWNS (sizeof(knowns) / sizeof(knowns[0]))

/* Costs, and what may be input or the model, that a digest gives without events. */
static const enum sp_metric_id digested[] = {
	SP_METRIC_input_wait_share, SP_METRIC_communication_share, SP_METRIC_straggler_share,
	SP_METRIC_copy_share,	    SP_METRIC_checkpoint_share,	   SP_METRIC_validation_share,
	SP_METRIC_evaluation_share, SP_METRIC_compile_share,	   SP_METRIC_bookkeeping_share,
	SP_METRIC_compute_share,    SP_METRIC_other_share,	   SP_METRIC_step_ns,
};
#define DIGESTED (sizeof(digested) / sizeof(digested[0]))

/* Evidence that other programs took the cores. */
static const enum sp_metric_id taken[] = {
	SP_METRIC_outside_share,
	SP_METRIC_worker_outside_share,
	SP_METRIC_contention_share,
	SP_METRIC_wanted_per_core,
};
#define TAKEN (sizeof(taken) / sizeof(taken[0]))

/* A sign that is another metric under a condition: the same number again is no evidence. */
static bool is_copy(enum sp_metric_id sign)
{
	return sign == SP_METRIC_steps || sign == SP_METRIC_unfed_loop_share ||
	       sign == SP_METRIC_unfed_wait_share;
}

void sp_verdict_gather_evidence(struct sp_verdict *v)
{
	const struct sp_rule *r = sp_rule_of(v->id);
	bool is_wait = r->cost == SP_METRIC_lost_wait_share;

	if (!r->is_state) {
		if (is_wait)
			rest_on_sum(v);
		rest_on(v, r->cost);
		if (!is_copy(r->sign))
			rest_on(v, r->sign);
	}
	sp_template_read(r->sentence, v, rest_on_part);
	if (r->cost == SP_METRIC_first_batch_share) {
		rest_on(v, SP_METRIC_first_wait_share);
		rest_on(v, SP_METRIC_loader_start_share);
	}
	for (size_t i = 0; v->id == SP_VERDICT_machine_busy && i < TAKEN; i++)
		rest_on(v, taken[i]);
	if (v->doubts[SP_DOUBT_outsiders])
		rest_on(v, SP_METRIC_unaccounted_processes);
	for (size_t i = 0; v->metrics.is_from_digest && i < DIGESTED; i++)
		rest_on(v, digested[i]);
	if (v->id == SP_VERDICT_compute) {
		rest_on(v, SP_METRIC_model_share);
		rest_on(v, SP_METRIC_unmarked_share);
		if (sp_verdict_value(v, SP_METRIC_own_update_share) > 0)
			rest_on(v, SP_METRIC_own_update_share);
	}
	if (v->id == SP_VERDICT_unknown)
		rest_on(v, SP_METRIC_update_share);
	if (sp_verdict_value(v, SP_METRIC_idle_call_share) > 0 &&
	    (v->id == SP_VERDICT_compute || v->id == SP_VERDICT_unknown))
		rest_on(v, SP_METRIC_idle_call_share);
	if (v->id == SP_VERDICT_contention)
		rest_on(v, SP_METRIC_bystander_cores);
	rest_on(v, SP_METRIC_steps);
	rest_on(v, SP_METRIC_step_mean_ns);
	for (size_t i = 0; v->id == SP_VERDICT_cannot_tell && i < KNOWNS; i++)
		rest_on(v, knowns[i]);
}
