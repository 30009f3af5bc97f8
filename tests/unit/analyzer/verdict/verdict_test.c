/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rules over evidence made up: each code, each threshold from both sides, confidence, advice.
 */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/report/report.h"
#include "analyzer/verdict/judge.h"
#include "analyzer/verdict/saving.h"
#include "analyzer/verdict/verdict.h"
#include "analyzer/verdict/verdict_text.h"
#include "tests/unit/common/suite.h"

static const struct sp_wait_thresholds usual = {SP_WAIT_MODERATE, SP_WAIT_SEVERE};
static struct sp_verdict v;

/* A healthy trainer of 100 steps in three epochs. */
static void setup(void)
{
	memset(&v, 0, sizeof(v));
	sp_metrics_set(&v.metrics, SP_METRIC_steps, 100);
	sp_metrics_set(&v.metrics, SP_METRIC_epochs, 3);
	sp_metrics_set(&v.metrics, SP_METRIC_step_ns, 1e8);
	sp_metrics_set(&v.metrics, SP_METRIC_compute_share, 0.9);
	sp_metrics_set(&v.metrics, SP_METRIC_model_share, 0.9);
	sp_metrics_set(&v.metrics, SP_METRIC_eager_share, 0.9);
	sp_metrics_set(&v.metrics, SP_METRIC_loader_wait_share, 0.008);
	sp_metrics_set(&v.metrics, SP_METRIC_lost_wait_share, 0.008);
	sp_metrics_set(&v.metrics, SP_METRIC_other_share, 0.01);
	sp_metrics_set(&v.metrics, SP_METRIC_decode_work_share, 0.3);
	v.metrics.of[SP_METRIC_model_takes].is_known = true;
	strcpy(v.metrics.of[SP_METRIC_model_takes].text, "90.0%");
	v.metrics.of[SP_METRIC_model_ways].is_known = true;
	v.metrics.of[SP_METRIC_label_ways].is_known = true;
	v.metrics.of[SP_METRIC_thread_ways].is_known = true;
	v.metrics.of[SP_METRIC_input_ways].is_known = true;
	v.metrics.of[SP_METRIC_evaluation_ways].is_known = true;
	v.metrics.of[SP_METRIC_validation_ways].is_known = true;
	v.metrics.of[SP_METRIC_optimizer_ways].is_known = true;
	v.metrics.of[SP_METRIC_dataset_division].is_known = true;
	v.metrics.of[SP_METRIC_own_collate].is_known = true;
	v.metrics.of[SP_METRIC_loader_line].is_known = true;
}

static void set(enum sp_metric_id measure, double value)
{
	sp_metrics_set(&v.metrics, measure, value);
}

static void set_wait(double share)
{
	set(SP_METRIC_loader_wait_share, share);
	set(SP_METRIC_lost_wait_share, share);
}

static const char *code_of(const struct sp_rule *rule)
{
	return rule->reason ? rule->reason : rule->code;
}

static const char *judge(void)
{
	sp_verdict_judge(&v, &usual);
	return code_of(sp_rule_of(v.id));
}

/* At most: of advice that no what-if answers for. */
static double saved_by(enum sp_advice_id advice)
{
	return sp_advice_saving(&v.metrics, advice).most;
}

static bool advises(const char *name)
{
	for (uint32_t i = 0; i < v.advice_count; i++)
		if (strcmp(sp_advice_rule_of(v.advice[i])->name, name) == 0)
			return true;
	return false;
}

START_TEST(nothing_is_wrong)
{
	ck_assert_str_eq(judge(), "compute-bound");
	ck_assert_str_eq(v.text, "Compute-bound: the model takes 90.0% of the training time; "
				 "the cost of input is 0.8%.");
	ck_assert_int_eq(v.confidence, SP_CONFIDENCE_HIGH);
	ck_assert(advises("faster_model"));
	ck_assert_uint_eq(v.advice_count, 1);
}
END_TEST

/* "X-bound" names most of the time; elsewhere the greatest part stands first. */
START_TEST(the_greatest_part_stands_first)
{
	char brief[SP_VERDICT_TEXT_BYTES];

	set_wait(0.054);
	set(SP_METRIC_compute_share, 0.87);
	ck_assert_str_eq(judge(), "input-bound");
	ck_assert_str_eq(v.text, "Compute 87%. The first gain: the training thread waits for "
				 "batches 5.4% of the training time.");
	ck_assert_int_eq(v.greatest, SP_PART_compute);
	ck_assert_double_eq_tol(v.greatest_share, 0.87, 1e-12);
	sp_verdict_brief(&v, brief, sizeof(brief));
	ck_assert_str_eq(brief, "Compute 87%; gain: input");
	set_wait(0.46);
	set(SP_METRIC_compute_share, 0.45);
	ck_assert_str_eq(judge(), "input-bound");
	ck_assert_str_eq(v.text, "Input-bound: the training thread waits for batches 46.0% of the "
				 "training time.");
	sp_verdict_brief(&v, brief, sizeof(brief));
	ck_assert_str_eq(brief, "input-bound");
	set_wait(0);
	set(SP_METRIC_validation_share, 0.24);
	set(SP_METRIC_compute_share, 0.23);
	ck_assert_str_eq(judge(), "compute-bound");
	ck_assert_ptr_nonnull(strstr(v.text, "Validation 24%. No cost reaches its threshold: the "
					     "model takes"));
}
END_TEST

/* The words after "X-bound: " have to fit after the greatest part, too. */
START_TEST(sentences_begin_with_their_word)
{
	const struct sp_rule *rule = sp_rule_of((enum sp_verdict_id)_i);

	if (rule->is_state || rule->reason)
		return;
	ck_assert_msg(strcspn(rule->sentence, ":") <= strlen("Perhaps allocation-bound"), "%s",
		      rule->sentence);
	ck_assert(strncmp(rule->sentence + strcspn(rule->sentence, ":"), ": ", 2) == 0);
}
END_TEST

/* Every rule that stands for itself, as verdict.def has it. */
START_TEST(each_cost_from_both_sides)
{
	const struct sp_rule *rule = sp_rule_of((enum sp_verdict_id)_i);

	if (rule->is_state || _i == SP_VERDICT_compute || (int)rule->refines != _i)
		return;
	set(rule->sign, rule->least_sign > 100 ? rule->least_sign : rule->least_sign + 100);
	set(rule->cost, rule->moderate - 1e-4);
	ck_assert_str_eq(judge(), "compute-bound");
	setup();
	set(rule->sign, rule->least_sign + 100);
	set(rule->cost, rule->moderate + 1e-4);
	ck_assert_str_eq(judge(), code_of(rule));
	ck_assert(!v.is_severe);
	ck_assert(v.doubts[SP_DOUBT_near]);
	setup();
	set(rule->sign, rule->least_sign + 100);
	set(rule->cost, rule->severe - 1e-4);
	ck_assert_str_eq(judge(), code_of(rule));
	ck_assert(!v.is_severe);
	setup();
	set(rule->sign, rule->least_sign + 100);
	set(rule->cost, rule->severe + 1e-4);
	ck_assert_str_eq(judge(), code_of(rule));
	ck_assert(v.is_severe);
	ck_assert_double_eq_tol(v.cost, rule->severe + 1e-4, 1e-9);
}
END_TEST

/* Every rule that needs more than its cost. */
START_TEST(each_sign_from_both_sides)
{
	const struct sp_rule *rule = sp_rule_of((enum sp_verdict_id)_i);

	if (rule->is_state || rule->sign == SP_METRIC_steps)
		return;
	set(rule->cost, 0.3);
	set(rule->sign, rule->least_sign * 0.999);
	judge();
	ck_assert_int_ne(v.id, _i);
	setup();
	set(rule->cost, 0.3);
	set(rule->sign, rule->least_sign * 1.001);
	ck_assert_str_eq(judge(), code_of(rule));
	ck_assert_int_eq(v.id, _i);
	setup();
	set(rule->cost, 0.3);
	v.metrics.of[rule->sign].is_known = false;
	judge();
	ck_assert_int_ne(v.id, _i);
}
END_TEST

START_TEST(a_refinement_explains_and_the_later_line_wins)
{
	set_wait(0.4);
	ck_assert_str_eq(judge(), "input-bound");
	setup();
	set_wait(0.4);
	set(SP_METRIC_decode_work_share, 0.7);
	ck_assert_str_eq(judge(), "decode-bound");
	ck_assert_ptr_nonnull(strstr(v.text, "40.0%"));
	ck_assert_ptr_nonnull(strstr(v.text, "70.0%"));
	setup();
	set_wait(0.4);
	set(SP_METRIC_decode_work_share, 0.7);
	set(SP_METRIC_wanted_per_core, 3.5);
	ck_assert_str_eq(judge(), "cpu-oversubscribed");
	ck_assert(v.holds[SP_VERDICT_decode]);
}
END_TEST

START_TEST(input_without_a_loader)
{
	set_wait(0.3);
	set(SP_METRIC_unfed_wait_share, 0.3);
	set(SP_METRIC_awaited_share, 0.28);
	set(SP_METRIC_own_input_share, 0.02);
	ck_assert_str_eq(judge(), "input-bound");
	ck_assert_int_eq(v.id, SP_VERDICT_unfed);
	ck_assert_ptr_nonnull(strstr(v.text, "28.0%"));
	ck_assert_str_eq(sp_advice_rule_of(v.advice[0])->name, "own_queue");
	set(SP_METRIC_rare_own_input_share, 0.14);
	judge();
	ck_assert(!v.doubts[SP_DOUBT_rare_input]);
	set(SP_METRIC_rare_own_input_share, 0.16);
	judge();
	ck_assert(v.doubts[SP_DOUBT_rare_input]);
}
END_TEST

START_TEST(the_greatest_cost_wins_and_the_other_is_a_doubt)
{
	set_wait(0.3);
	set(SP_METRIC_save_share, 0.32);
	set(SP_METRIC_loop_save_share, 0.32);
	ck_assert_str_eq(judge(), "checkpoint-bound");
	ck_assert(v.holds[SP_VERDICT_input]);
	ck_assert(v.doubts[SP_DOUBT_rival]);
	ck_assert_int_eq(v.confidence, SP_CONFIDENCE_MEDIUM);
	/* advice on the reported verdict comes first */
	ck_assert_str_eq(sp_advice_rule_of(v.advice[0])->name, "async_checkpoint");
	setup();
	set_wait(0.1);
	set(SP_METRIC_save_share, 0.32);
	set(SP_METRIC_loop_save_share, 0.32);
	ck_assert_str_eq(judge(), "checkpoint-bound");
	ck_assert(!v.doubts[SP_DOUBT_rival]);
}
END_TEST

START_TEST(thresholds_of_the_loader_wait_are_given)
{
	const struct sp_wait_thresholds strict = {0.5, 0.6};

	set_wait(0.49);
	sp_verdict_judge(&v, &strict);
	ck_assert_int_eq(v.id, SP_VERDICT_compute);
	setup();
	set_wait(0.51);
	sp_verdict_judge(&v, &strict);
	ck_assert_int_eq(v.id, SP_VERDICT_input);
	ck_assert(!v.is_severe);
	setup();
	set_wait(0.61);
	sp_verdict_judge(&v, &strict);
	ck_assert(v.is_severe);
}
END_TEST

START_TEST(one_epoch_has_one_start)
{
	set(SP_METRIC_first_batch_share, 0.15);
	ck_assert_str_eq(judge(), "first-batch-bound");
	setup();
	set(SP_METRIC_epochs, 1);
	set(SP_METRIC_first_batch_share, 0.15);
	ck_assert_str_eq(judge(), "compute-bound");
	setup();
	set(SP_METRIC_epochs, 1);
	set(SP_METRIC_first_batch_share, 0.25);
	ck_assert_str_eq(judge(), "first-batch-bound");
	setup();
	/* several epochs, of which only the run's first batch costs */
	set(SP_METRIC_restart_share, 0.02);
	set(SP_METRIC_run_start_share, 0.9);
	set(SP_METRIC_first_batch_share, 0.15);
	ck_assert_str_eq(judge(), "compute-bound");
	set(SP_METRIC_first_batch_share, 0.25);
	ck_assert_str_eq(judge(), "first-batch-bound");
	ck_assert_int_eq(v.id, SP_VERDICT_run_start);
}
END_TEST

START_TEST(too_little_to_tell)
{
	v.metrics.of[SP_METRIC_steps].is_known = false;
	ck_assert_str_eq(judge(), "no-training");
	ck_assert_uint_eq(v.advice_count, 0);
	setup();
	v.metrics.of[SP_METRIC_steps].is_known = false;
	v.metrics.has_loader_calls = true;
	ck_assert_str_eq(judge(), "no-steps");
	setup();
	set(SP_METRIC_steps, 4);
	set_wait(0.9);
	ck_assert_str_eq(judge(), "too-few-steps");
	ck_assert_uint_eq(v.advice_count, 0);
	setup();
	set(SP_METRIC_steps, 5);
	set_wait(0.9);
	ck_assert_str_eq(judge(), "input-bound");
	ck_assert(v.doubts[SP_DOUBT_few_steps]);
	setup();
	set(SP_METRIC_steps, 20);
	set_wait(0.9);
	judge();
	ck_assert(!v.doubts[SP_DOUBT_few_steps]);
	setup();
	set(SP_METRIC_other_share, 0.51);
	ck_assert_str_eq(judge(), "unexplained");
	ck_assert(v.advice_count == 1 && advises("unknown_names"));
}
END_TEST

START_TEST(confidence_falls_with_each_doubt)
{
	set_wait(0.4);
	judge();
	ck_assert_int_eq(v.confidence, SP_CONFIDENCE_HIGH);
	setup();
	set_wait(0.4);
	v.metrics.events_lost = 1;
	judge();
	ck_assert_int_eq(v.confidence, SP_CONFIDENCE_MEDIUM);
	setup();
	set_wait(0.4);
	v.metrics.events_lost = 1;
	v.metrics.events_unknown = 1;
	judge();
	ck_assert_int_eq(v.confidence, SP_CONFIDENCE_LOW);
	setup();
	set_wait(0.4);
	v.metrics.has_device = true;
	judge();
	ck_assert(v.doubts[SP_DOUBT_queue]);
	setup();
	set_wait(0.4);
	v.metrics.has_device = true;
	v.metrics.is_queue_known = true;
	judge();
	ck_assert(!v.doubts[SP_DOUBT_queue]);
	setup();
	set_wait(0.4);
	v.metrics.of[SP_METRIC_decode_work_share].is_known = false;
	judge();
	ck_assert(v.doubts[SP_DOUBT_work_unseen]);
}
END_TEST

/* A loop whose own code takes 4.5% may be loop-bound in the next run. */
START_TEST(a_cost_just_below_its_threshold_is_a_doubt)
{
	setup();
	set(SP_METRIC_loop_share, 0.045);
	ck_assert_str_eq(judge(), "compute-bound");
	ck_assert(v.doubts[SP_DOUBT_near]);
	setup();
	set(SP_METRIC_loop_share, 0.035);
	ck_assert_str_eq(judge(), "compute-bound");
	ck_assert(!v.doubts[SP_DOUBT_near]);
	setup();
	set(SP_METRIC_compile_share, 0.18);
	ck_assert_str_eq(judge(), "compute-bound");
	ck_assert(v.doubts[SP_DOUBT_near]);
}
END_TEST

/* Without a DataLoader the visible input, 4.6%, is the least that input may cost. */
START_TEST(visible_input_just_below_its_threshold_is_a_doubt)
{
	v.metrics.unfed_seen = 0.046;
	ck_assert_str_eq(judge(), "compute-bound");
	ck_assert(v.doubts[SP_DOUBT_near]);
	v.metrics.unfed_seen = 0.035;
	ck_assert_str_eq(judge(), "compute-bound");
	ck_assert(!v.doubts[SP_DOUBT_near]);
}
END_TEST

/* A value that an advice asks for, and its verdict's rule. */
static void make_apply(const struct sp_advice_rule *a, double value)
{
	const struct sp_rule *rule = sp_rule_of(a->verdict);

	setup();
	for (int i = 0; i < SP_METRICS; i++) {
		if (sp_metric_about(i)->unit == SP_IN_TEXT) {
			v.metrics.of[i].is_known = true;
			strcpy(v.metrics.of[i].text, "train.py:7");
		} else if (!v.metrics.of[i].is_known) {
			set((enum sp_metric_id)i, 0);
		}
	}
	/* a state ends the judgement */
	v.metrics.of[SP_METRIC_hang_chain].is_known = false;
	v.metrics.of[SP_METRIC_cannot_tell].is_known = a->verdict == SP_VERDICT_not_recorded;
	if (!rule->is_state) {
		set(rule->cost, a->verdict == SP_VERDICT_compute ? 0.9 : 0.3);
		set(rule->sign, rule->sign == SP_METRIC_steps ? 100 : rule->least_sign);
	}
	if (a->verdict == SP_VERDICT_first_batch)
		set(SP_METRIC_restart_share, 0.3);
	if (a->metric == SP_METRIC_workers_wanted || a->verdict == SP_VERDICT_core)
		set(SP_METRIC_workers, 2);
	if (a->verdict == SP_VERDICT_loop)
		set(SP_METRIC_off_core_share, 0.3);
	if (a->verdict == SP_VERDICT_unexplained)
		set(SP_METRIC_other_share, 0.9);
	if (a->verdict == SP_VERDICT_machine_busy) {
		set(SP_METRIC_loop_share, 0.07);
		set(SP_METRIC_outside_share, 0.4);
		set(SP_METRIC_wanted_per_core, 0.7);
	}
	if (a->verdict == SP_VERDICT_storage)
		set(SP_METRIC_slow_read_share, 1);
	if (a->metric == SP_METRIC_hdf5_amplification)
		set(SP_METRIC_hdf5_work_share, 0.3);
	/* no mask keeps workers from the cores */
	v.metrics.of[SP_METRIC_worker_crowd].is_known = a->verdict == SP_VERDICT_core;
	/* the machine does not count other programs */
	v.metrics.of[SP_METRIC_others_cores].is_known = false;
	/* a number of workers would be that of several loaders */
	v.metrics.of[SP_METRIC_slow_loader_share].is_known = false;
	set(a->metric, value);
}

START_TEST(each_advice_needs_its_evidence)
{
	const struct sp_advice_rule *a = sp_advice_rule_of((enum sp_advice_id)_i);
	const struct sp_rule *rule = sp_rule_of(a->verdict);
	char text[SP_VERDICT_TEXT_BYTES];

	make_apply(a, a->most);
	judge();
	ck_assert_msg(advises(a->name), "%s", a->name);
	sp_advice_text(&v, (enum sp_advice_id)_i, text, sizeof(text));
	ck_assert_ptr_null(strchr(text, '{'));
	ck_assert_ptr_null(strstr(text, "not known"));
	make_apply(a, a->most + 1);
	judge();
	ck_assert_msg(!advises(a->name), "%s", a->name);
	v.advice_count = 0;
	make_apply(a, 0);
	v.metrics.of[a->metric].is_known = false;
	judge();
	ck_assert_msg(!advises(a->name), "%s", a->name);
	if (a->verdict == SP_VERDICT_compute || rule->is_state || rule->cost == a->metric)
		return;
	make_apply(a, a->most);
	set(rule->cost, 0);
	judge();
	ck_assert_msg(!advises(a->name), "%s", a->name);
}
END_TEST

/* Later epochs do not wait, and workers would take the cache along that the first one filled. */
START_TEST(a_first_epoch_asks_for_no_workers)
{
	const struct sp_advice_rule *a = sp_advice_rule_of(SP_ADVICE_add_workers);

	make_apply(a, a->least);
	judge();
	ck_assert(advises("add_workers"));
	set(SP_METRIC_first_epoch_wait_share, 0.3);
	v.advice_count = 0;
	judge();
	ck_assert(advises("first_epoch") && !advises("add_workers"));
}
END_TEST

static bool says(const char *words)
{
	char text[SP_VERDICT_TEXT_BYTES];

	for (uint32_t i = 0; i < v.advice_count; i++) {
		sp_advice_text(&v, v.advice[i], text, sizeof(text));
		if (strcasestr(text, words))
			return true;
	}
	return false;
}

/* Half of a batch is blocked, and two workers fill two cores. */
START_TEST(no_advice_contradicts_another)
{
	set_wait(0.4);
	set(SP_METRIC_cores, 2);
	set(SP_METRIC_workers, 2);
	set(SP_METRIC_batch_work_ns, 4e7);
	set(SP_METRIC_missing_workers, 3);
	set(SP_METRIC_fetch_blocked_share, 0.5);
	set(SP_METRIC_fetch_received_share, 0.5);
	judge();
	ck_assert(advises("cheaper_batches") && advises("blocked") && advises("received"));
	ck_assert(!says("more workers overlap") && !says("more workers have"));
	ck_assert(says("more workers will not help"));
}
END_TEST

START_TEST(workers_that_stay_are_not_advised)
{
	set(SP_METRIC_first_batch_share, 0.4);
	set(SP_METRIC_first_batch_ns, 3e9);
	set(SP_METRIC_restart_share, 0.4);
	set(SP_METRIC_worker_lives, 1);
	judge();
	ck_assert(advises("warm_start") && !advises("persistent_workers"));
	ck_assert(!says("persistent_workers"));
	setup();
	set(SP_METRIC_first_batch_share, 0.4);
	set(SP_METRIC_first_batch_ns, 3e9);
	set(SP_METRIC_restart_share, 0.4);
	set(SP_METRIC_worker_lives, 4);
	judge();
	ck_assert(advises("persistent_workers"));
}
END_TEST

/* A job that saves once, after the last step, has nothing to save less often. */
START_TEST(a_checkpoint_after_the_last_step)
{
	set(SP_METRIC_save_share, 0.32);
	set(SP_METRIC_loop_save_share, 0.01);
	ck_assert_str_eq(judge(), "checkpoint-bound");
	ck_assert(!advises("async_checkpoint"));
}
END_TEST

/* Saving less often helps no job that loads. */
START_TEST(loads_are_no_saves)
{
	set(SP_METRIC_save_share, 0.04);
	set(SP_METRIC_loop_save_share, 0.04);
	set(SP_METRIC_load_share, 0.3);
	set(SP_METRIC_loop_load_share, 0.3);
	ck_assert_str_eq(judge(), "load-bound");
	ck_assert(advises("load_ahead"));
	ck_assert(!advises("async_checkpoint"));
}
END_TEST

START_TEST(a_model_that_waits)
{
	set(SP_METRIC_blocked_share, 0.6);
	set(SP_METRIC_model_blocked_share, 0.6);
	set(SP_METRIC_core_share, 0.4);
	ck_assert_str_eq(judge(), "compute-bound");
	ck_assert_int_eq(v.confidence, SP_CONFIDENCE_MEDIUM);
	ck_assert(advises("blocked_model") && !advises("faster_model"));
}
END_TEST

/* Where the optimizer takes the time, the model is not the part to change. */
START_TEST(a_costly_optimizer)
{
	set(SP_METRIC_optimizer_share, 0.29);
	ck_assert_str_eq(judge(), "compute-bound");
	ck_assert(advises("faster_model") && !advises("cheaper_optimizer"));
	setup();
	set(SP_METRIC_optimizer_share, 0.31);
	ck_assert_str_eq(judge(), "compute-bound");
	ck_assert(!advises("faster_model") && advises("cheaper_optimizer"));
}
END_TEST

/* A small wait for input is the first gain, and not the only one. */
START_TEST(what_takes_the_time_beside_a_small_cost)
{
	set(SP_METRIC_lost_wait_share, 0.06);
	set(SP_METRIC_optimizer_share, _i ? 0.75 : 0.45);
	set(SP_METRIC_switches_on, _i);
	v.metrics.of[SP_METRIC_switches].is_known = true;
	ck_assert_str_eq(judge(), "input-bound");
	ck_assert_int_eq(advises("cheaper_optimizer"), _i);
	ck_assert_int_eq(advises("switches_off"), _i);
	ck_assert(!advises("faster_model"));
}
END_TEST

/* Code of the loop may make its batches, unless it sleeps or is rare. */
/* Nothing shows which of it is the loop's. */
START_TEST(code_of_keras_between_calls_of_pytorch)
{
	set(SP_METRIC_loop_share, 0.3);
	ck_assert_str_eq(judge(), "loop-bound");
	ck_assert_int_eq(v.confidence, SP_CONFIDENCE_HIGH);
	ck_assert(advises("loop_names"));
	setup();
	set(SP_METRIC_loop_share, 0.3);
	v.metrics.is_keras_on_torch = true;
	ck_assert_str_eq(judge(), "loop-bound");
	ck_assert_int_eq(v.confidence, SP_CONFIDENCE_LOW);
	ck_assert(!advises("loop_names"));
}
END_TEST

START_TEST(a_loop_without_a_loader)
{
	set(SP_METRIC_loop_share, 0.6);
	set(SP_METRIC_unfed_loop_share, 0.6);
	ck_assert_str_eq(judge(), "loop-bound");
	ck_assert_ptr_nonnull(strstr(v.text, "it may make batches"));
	ck_assert(advises("loop_batches"));
	for (uint32_t i = 0; i < v.evidence_count; i++) /* it is loop_share again */
		ck_assert_int_ne(v.evidence[i], SP_METRIC_unfed_loop_share);
	setup();
	set(SP_METRIC_loop_share, 0.6);
	set(SP_METRIC_unfed_loop_share, 0.6);
	set(SP_METRIC_rare_loop_share, 0.5);
	ck_assert_str_eq(judge(), "loop-bound");
	ck_assert(!advises("loop_batches"));
	setup();
	set(SP_METRIC_loop_share, 0.6);
	set(SP_METRIC_unfed_loop_share, 0.6);
	set(SP_METRIC_rare_loop_share, 0.5);
	set(SP_METRIC_hidden_loop_share, 0.5);
	ck_assert_str_eq(judge(), "unexplained");
	ck_assert_ptr_nonnull(strstr(v.text, "an evaluation, and no call of the model was seen"));
	ck_assert(advises("rare_loop"));
}
END_TEST

/* The blocked share is the least; sleeps may lie in known phases, and wake up late. */
START_TEST(a_loop_that_sleeps)
{
	set(SP_METRIC_loop_share, 0.8);
	set(SP_METRIC_blocked_share, 0.5);
	set(SP_METRIC_off_core_share, _i ? 0.9 : 0.6);
	ck_assert_str_eq(judge(), "loop-bound");
	ck_assert(advises("loop_blocked"));
	ck_assert_double_eq_tol(saved_by(SP_ADVICE_loop_blocked), _i ? 0.8 : 0.6, 3e-3);
}
END_TEST

/* Beside a thread that computes the loop's time may be a wait for the interpreter's lock. */
START_TEST(a_loop_beside_a_busy_thread)
{
	set(SP_METRIC_other_share, 0.2);
	v.metrics.is_fed_by_thread = true;
	ck_assert_str_eq(judge(), "unexplained");
	ck_assert_int_eq(v.confidence, SP_CONFIDENCE_HIGH);
	set(SP_METRIC_life_share, 0.05);
	ck_assert_str_eq(judge(), "unexplained");
	ck_assert(v.doubts[SP_DOUBT_short_window]);
}
END_TEST

/* Without a DataLoader the time between the model's call and its backward may make the batch. */
START_TEST(a_batch_may_be_made_before_the_backward)
{
	set(SP_METRIC_other_share, 0.09);
	ck_assert_str_eq(judge(), "compute-bound");
	setup();
	v.metrics.is_unfed = true;
	set(SP_METRIC_other_share, 0.09);
	ck_assert_str_eq(judge(), "unexplained");
	ck_assert_int_ne(v.confidence, SP_CONFIDENCE_HIGH);
	ck_assert(!advises("faster_model"));
	set(SP_METRIC_other_share, 0.04);
	ck_assert_str_eq(judge(), "compute-bound");
}
END_TEST

/* Threads of the model hold up each other while one of them waits for a core:
 * no wait shows that. */
START_TEST(a_model_beside_other_programs_is_not_said_to_be_slow)
{
	ck_assert_str_eq(judge(), "compute-bound");
	ck_assert(!advises("quiet_machine"));
	setup();
	set(SP_METRIC_contention_share, 0.5);
	set(SP_METRIC_wanted_per_core, 0.7);
	ck_assert_str_eq(judge(), "compute-bound");
	ck_assert_int_eq(v.confidence, SP_CONFIDENCE_LOW);
	ck_assert(advises("quiet_machine"));
	ck_assert(!advises("faster_model"));
}
END_TEST

/* A cost that other programs may have made, or hidden, is no verdict. */
START_TEST(other_programs_had_the_cores)
{
	set(SP_METRIC_loop_share, 0.07);
	set(SP_METRIC_contention_share, 0.45);
	set(SP_METRIC_wanted_per_core, 0.7);
	set(SP_METRIC_outside_share, 0.4);
	ck_assert_str_eq(judge(), "machine-busy");
	ck_assert_int_eq(v.confidence, SP_CONFIDENCE_LOW);
	ck_assert_uint_eq(v.advice_count, 1);
	ck_assert_int_eq(v.advice[0], SP_ADVICE_own_cores);
	setup();
	set(SP_METRIC_loop_share, 0.2);
	set(SP_METRIC_outside_share, 0.1);
	ck_assert_str_eq(judge(), "loop-bound");
	/* other programs take the core at random, and not in one part of a step alone */
	setup();
	set(SP_METRIC_loop_share, 0.1);
	set(SP_METRIC_outside_share, 0.14);
	ck_assert_str_eq(judge(), "loop-bound");
	setup();
	set(SP_METRIC_workers, 2);
	set_wait(0.3);
	set(SP_METRIC_worker_outside_share, 0.28);
	ck_assert_str_eq(judge(), "machine-busy");
	setup();
	set(SP_METRIC_workers, 2);
	set_wait(0.04);
	ck_assert_str_eq(judge(), "compute-bound");
	setup();
	set(SP_METRIC_workers, 2);
	set_wait(0.04);
	set(SP_METRIC_outside_share, 0.5);
	ck_assert_str_eq(judge(), "machine-busy");
	/* what computes is as much longer as the model is */
	setup();
	set_wait(0.04);
	set(SP_METRIC_loop_share, 0.04);
	set(SP_METRIC_outside_share, 0.5);
	ck_assert_str_eq(judge(), "compute-bound");
}
END_TEST

/* Threads that other programs keep from the cores want them for longer. */
START_TEST(a_crowd_of_other_programs_is_not_the_job)
{
	set(SP_METRIC_contention_share, 0.6);
	set(SP_METRIC_wanted_per_core, 1.6);
	ck_assert_str_eq(judge(), "cpu-oversubscribed");
	ck_assert_int_eq(v.confidence, SP_CONFIDENCE_HIGH);
	setup();
	set(SP_METRIC_contention_share, 0.6);
	set(SP_METRIC_wanted_per_core, 1.6);
	set(SP_METRIC_outside_share, 0.4);
	ck_assert_str_eq(judge(), "compute-bound");
	ck_assert(v.doubts[SP_DOUBT_outsiders]);
}
END_TEST

/* The calls say that the model computes, and the kernel that its thread was on no core. */
START_TEST(a_second_opinion_that_differs_is_a_doubt)
{
	char text[SP_DOUBT_TEXT_BYTES];

	set(SP_METRIC_core_share, 0.72);
	ck_assert_str_eq(judge(), "compute-bound");
	ck_assert(v.second.is_known && !v.second.differs);
	ck_assert_int_eq(v.confidence, SP_CONFIDENCE_HIGH);
	set(SP_METRIC_core_share, 0.6);
	judge();
	ck_assert(v.second.differs && v.doubts[SP_DOUBT_second]);
	ck_assert_int_eq(v.confidence, SP_CONFIDENCE_MEDIUM);
	sp_doubt_text(&v, SP_DOUBT_second, text, sizeof(text));
	ck_assert_ptr_nonnull(strstr(text, "90.0%"));
	ck_assert_ptr_nonnull(strstr(text, "60.0%"));
	/* with a device the thread waits for it */
	v.metrics.has_device = true;
	judge();
	ck_assert(!v.second.is_known && !v.doubts[SP_DOUBT_second]);
	setup();
	set_wait(0.4);
	set(SP_METRIC_wait_again_share, 0.38);
	ck_assert_str_eq(judge(), "input-bound");
	ck_assert(v.second.is_known && !v.second.differs);
	set(SP_METRIC_wait_again_share, 0.1);
	judge();
	ck_assert(v.doubts[SP_DOUBT_second]);
}
END_TEST

/* One of two ranks waits: half of all training threads' time is in collectives. */
START_TEST(a_late_rank_is_on_a_core)
{
	set(SP_METRIC_communication_share, 0.42);
	set(SP_METRIC_straggler_share, 0.84);
	set(SP_METRIC_compute_share, 0.1);
	set(SP_METRIC_off_core_share, 0.42);
	ck_assert_str_eq(judge(), "communication-bound");
	ck_assert_int_eq(v.id, SP_VERDICT_straggler);
	ck_assert(v.second.is_known && !v.second.differs);
	set(SP_METRIC_off_core_share, 0.1);
	judge();
	ck_assert(v.doubts[SP_DOUBT_second]);
}
END_TEST

START_TEST(more_time_without_a_backward)
{
	set_wait(0.1);
	set(SP_METRIC_other_share, 0.2);
	ck_assert_str_eq(judge(), "unexplained");
	set(SP_METRIC_loop_share, 0.01);
	ck_assert_str_eq(judge(), "input-bound");
	setup();
	set_wait(0.1);
	set(SP_METRIC_other_share, 0.08);
	ck_assert_str_eq(judge(), "input-bound");
	setup();
	set_wait(0.3);
	set(SP_METRIC_other_share, 0.4);
	ck_assert_str_eq(judge(), "input-bound");
}
END_TEST

/* Two pieces of advice about the same time: one is enough. */
START_TEST(one_advice_for_one_time)
{
	set(SP_METRIC_first_batch_share, 0.4);
	set(SP_METRIC_first_batch_ns, 1e8);
	set(SP_METRIC_restart_share, 0.4);
	set(SP_METRIC_worker_lives, 4);
	judge();
	ck_assert(advises("persistent_workers") && !advises("warm_start"));
	set(SP_METRIC_single_batch_share, 1);
	v.advice_count = 0;
	judge();
	ck_assert(advises("one_iterator") && !advises("persistent_workers"));
	ck_assert(!advises("warm_start"));
	v.advice_count = 0;
	setup();
	set_wait(0.3);
	set(SP_METRIC_worker_idle_share, 0.9);
	set(SP_METRIC_others_idle_share, 0.9);
	judge();
	ck_assert(advises("handover"));
	set(SP_METRIC_handover_wait_share, 0.6);
	set(SP_METRIC_handover_ns, 5e6);
	v.advice_count = 0;
	judge();
	ck_assert(advises("receive") && !advises("handover"));
	/* Fewer tensors take less time of the workers, too: all of the wait may go. */
	ck_assert_double_eq_tol(saved_by(SP_ADVICE_receive), 0.3, 1e-9);
	set(SP_METRIC_fetch_blocked_share, 0.85);
	ck_assert_double_eq_tol(saved_by(SP_ADVICE_receive), 0.6 * 0.3, 1e-9);
}
END_TEST

/* Batches that are sooner made than received want no worker, and no worker that stays. */
START_TEST(batches_that_are_sooner_made_than_received)
{
	double least;

	set_wait(0.5);
	set(SP_METRIC_steps, 100);
	set(SP_METRIC_step_mean_ns, 4e6);
	set(SP_METRIC_wait_mean_ns, 2e6);
	set(SP_METRIC_workers, 2);
	set(SP_METRIC_cores, 4);
	set(SP_METRIC_batches_per_step, 1);
	set(SP_METRIC_batch_work_ns, 5e5);
	set(SP_METRIC_handover_ns, 2e6);
	set(SP_METRIC_handover_wait_share, 1);
	set(SP_METRIC_workers_wanted, 0);
	set(SP_METRIC_first_batch_share, 0.2);
	set(SP_METRIC_first_batch_ns, 1e8);
	set(SP_METRIC_worker_lives, 4);
	ck_assert_str_eq(judge(), "input-bound");
	ck_assert(advises("no_workers") && advises("receive"));
	/* The starts of workers go with them, beside the steady steps. */
	set(SP_METRIC_steady_share, 0.5);
	least = sp_advice_saving(&v.metrics, SP_ADVICE_no_workers).least;
	set(SP_METRIC_first_batch_share, 0.4);
	set(SP_METRIC_first_made_share, 0.1);
	least = sp_advice_saving(&v.metrics, SP_ADVICE_no_workers).least - least;
	ck_assert_double_eq_tol(least, 0.08, 1e-9); /* four fifths of 0.3, not of 0.2 */
	set(SP_METRIC_first_batch_share, 0.2);
	ck_assert(!advises("persistent_workers") && !advises("add_workers"));
	v.advice_count = 0;
	v.metrics.has_device = true; /* whose work may hide the waits */
	judge();
	ck_assert(!advises("no_workers") && advises("persistent_workers"));
}
END_TEST

/* The middle of what pinned memory saves has to be worth it. */
START_TEST(a_small_gain_of_a_what_if_is_no_advice)
{
	set(SP_METRIC_step_mean_ns, 1e8);
	set(SP_METRIC_copy_share, 0.08);
	set(SP_METRIC_pageable_share, 0.7);
	judge();
	ck_assert(!advises("pin_memory")); /* 0 to 5.6% */
	set(SP_METRIC_copy_share, 0.2);
	v.advice_count = 0;
	judge();
	ck_assert(advises("pin_memory")); /* 0 to 14% */
}
END_TEST

/* The making of first batches, caches of the model's own, and what the loop gives back. */
START_TEST(a_bound_has_all_that_goes_with_the_wait)
{
	set_wait(0.5);
	set(SP_METRIC_decompress_work_share, 1);
	set(SP_METRIC_first_made_share, 0.02);
	ck_assert_double_eq_tol(saved_by(SP_ADVICE_decompress), 0.52, 1e-9);
	set(SP_METRIC_step_mean_ns, 1e7);
	set(SP_METRIC_batch_work_ns, 5e6);
	set(SP_METRIC_batch_cpu_ns, 5e6);
	set(SP_METRIC_trainer_cpu_ns, 6e6); /* 1 ms of it, a tenth of a step, is the rest's */
	ck_assert_double_eq_tol(saved_by(SP_ADVICE_decompress), 0.54, 1e-9);
	set(SP_METRIC_workers, 1);
	set(SP_METRIC_handover_wait_share, 1);
	set(SP_METRIC_release_ns, 3e5);
	ck_assert_double_eq_tol(saved_by(SP_ADVICE_receive), 0.55, 1e-9);
	set_wait(0); /* no cost, no saving */
	ck_assert_double_eq(saved_by(SP_ADVICE_receive), 0);
}
END_TEST

/* Unpacked data is given back in the code around the library, which is called a transform. */
/* The work that is left waits less for a core. */
START_TEST(waits_for_a_core_go_with_the_work)
{
	set_wait(0.6);
	set(SP_METRIC_workers, 0);
	set(SP_METRIC_decompress_work_share, 0.8);
	judge();
	ck_assert_double_eq_tol(saved_by(SP_ADVICE_decompress), 0.48, 1e-9);
	set(SP_METRIC_core_work_share, 0.1);
	ck_assert_double_eq_tol(saved_by(SP_ADVICE_decompress), 0.48 / 0.9, 1e-9);
	set(SP_METRIC_core_work_share, 0.5);
	ck_assert_double_eq_tol(saved_by(SP_ADVICE_decompress), 0.6, 1e-9);
}
END_TEST

START_TEST(code_around_a_library_goes_with_it)
{
	set_wait(0.6);
	set(SP_METRIC_decompress_work_share, 0.9);
	set(SP_METRIC_transform_work_share, 0.05);
	ck_assert_double_eq_tol(saved_by(SP_ADVICE_decompress), 0.57, 1e-9);
	ck_assert_double_eq_tol(saved_by(SP_ADVICE_transform), 0.03, 1e-9);
}
END_TEST

/* A save ends with an fsync, which the loop calls itself. */
START_TEST(a_save_takes_along_what_goes_with_it)
{
	set(SP_METRIC_save_share, 0.17);
	set(SP_METRIC_loop_save_share, 0.17);
	ck_assert_double_eq_tol(saved_by(SP_ADVICE_async_checkpoint), 0.17, 1e-9);
	set(SP_METRIC_beside_save_share, 0.2);
	ck_assert_double_eq_tol(saved_by(SP_ADVICE_async_checkpoint), 0.37, 1e-9);
}
END_TEST

/* A log is made, written and waited for; its calls are a part of what it costs. */
START_TEST(a_log_takes_along_what_goes_with_it)
{
	set(SP_METRIC_steps, 1e6);
	set(SP_METRIC_loop_share, 0.3);
	set(SP_METRIC_write_share, 0.04);
	set(SP_METRIC_fsync_share, 0.1);
	set(SP_METRIC_message_share, 0.08);
	set(SP_METRIC_log_code_share, 0.02);
	ck_assert_double_eq_tol(saved_by(SP_ADVICE_loop_fsync), 0.16, 1e-5);
	ck_assert_double_eq_tol(saved_by(SP_ADVICE_loop_writes), 0.16, 1e-5);
	ck_assert_double_eq_tol(saved_by(SP_ADVICE_loop_messages), 0.1, 1e-5);
	set(SP_METRIC_loop_share, 0.09); /* all of the loop's own code is no more */
	ck_assert_double_eq_tol(saved_by(SP_ADVICE_loop_messages), 0.09, 1e-5);
}
END_TEST

/* Ten steps have nine times the loop's code between them: 1 ms beside 1 ms is half of a step. */
START_TEST(the_last_step_is_followed_by_the_loop_too)
{
	set(SP_METRIC_steps, 10);
	set(SP_METRIC_loop_share, 9.0 / 19);
	ck_assert_double_eq_tol(saved_by(SP_ADVICE_loop_blocked), 0.5, 1e-9);
	set(SP_METRIC_workers, 2); /* whose work is no part of the loop */
	ck_assert_double_eq_tol(saved_by(SP_ADVICE_loop_blocked), 0.5, 1e-9);
	set(SP_METRIC_save_share, 9.0 / 19); /* a save after the last step is in its cost */
	ck_assert_double_eq_tol(saved_by(SP_ADVICE_async_checkpoint), 9.0 / 19, 1e-9);
}
END_TEST

/* Pieces of 4 KiB: the kernel reads ahead for the first of a file, or for none. */
START_TEST(reads_that_fetch_a_whole_file_are_large_enough)
{
	const struct sp_advice_rule *a = sp_advice_rule_of(SP_ADVICE_larger_reads);

	make_apply(a, 4096);
	set(SP_METRIC_reads_per_open, 4);
	judge();
	ck_assert(advises("larger_reads"));
	make_apply(a, 4096);
	set(SP_METRIC_reads_per_open, 1);
	v.advice_count = 0;
	judge();
	ck_assert(!advises("larger_reads"));
}
END_TEST

/* 30% of the work on batches, for which the trainer waits 6% of its time, is 1.8%. */
START_TEST(a_small_saving_is_no_advice)
{
	set_wait(0.06);
	set(SP_METRIC_transform_work_share, 0.3);
	judge();
	ck_assert(!advises("transform"));
	setup();
	set_wait(0.2);
	set(SP_METRIC_transform_work_share, 0.3);
	judge();
	ck_assert(advises("transform"));
}
END_TEST

/* Advice without a what-if saves at most the time that it is about. */
/* A step of 60 ms waits 40 ms for one worker: half of the work saves 30 ms. */
START_TEST(work_that_is_saved_shortens_the_whole_step)
{
	set_wait(0.667);
	set(SP_METRIC_transform_work_share, 0.5);
	set(SP_METRIC_workers, 1);
	judge();
	ck_assert(advises("transform"));
	ck_assert_double_eq_tol(saved_by(SP_ADVICE_transform), 0.5, 1e-9);
	set(SP_METRIC_transform_work_share, 0.9);
	ck_assert_double_eq_tol(saved_by(SP_ADVICE_transform), 0.667, 1e-9);
	set(SP_METRIC_workers, 0); /* the training thread makes batches, and nothing overlaps */
	ck_assert_double_eq_tol(saved_by(SP_ADVICE_transform), 0.6003, 1e-9);
}
END_TEST

START_TEST(advice_comes_in_the_order_of_its_saving)
{
	enum sp_advice_id order[SP_ADVICES];
	struct sp_saving saving;

	set(SP_METRIC_loop_share, 0.3);
	set(SP_METRIC_write_share, 0.05);
	set(SP_METRIC_save_share, 0.25);
	set(SP_METRIC_loop_save_share, 0.25);
	judge();
	ck_assert(advises("loop_writes"));
	ck_assert(advises("async_checkpoint"));
	sp_advice_by_saving(&v, order);
	ck_assert_int_eq(order[0], SP_ADVICE_loop_writes); /* of the verdict's own cost */
	ck_assert_int_eq(order[1], SP_ADVICE_async_checkpoint);
	ck_assert_int_eq(order[2], SP_ADVICE_loop_names);
	saving = sp_advice_saving(&v.metrics, SP_ADVICE_loop_writes);
	ck_assert(saving.is_known);
	ck_assert_int_eq(saving.what_if, SP_WHAT_IFS);
	ck_assert_double_eq_tol(saving.most, 0.0505,
				1e-4); /* the loop follows the last step, too */
	ck_assert_double_eq_tol(saving.least, 0, 1e-12);
	ck_assert(!sp_advice_saving(&v.metrics, SP_ADVICE_faster_model).is_known);
}
END_TEST

/* The waiting for cores is far longer than what is left of the wait for batches. */
START_TEST(threads_that_crowd_the_cores_come_first)
{
	enum sp_advice_id order[SP_ADVICES];

	set_wait(0.09);
	set(SP_METRIC_workers, 1);
	set(SP_METRIC_handover_ns, 1.3e6);
	set(SP_METRIC_handover_wait_share, 0.8);
	set(SP_METRIC_contention_share, 0.34);
	set(SP_METRIC_cores, 2);
	set(SP_METRIC_trainer_threads, 32);
	set(SP_METRIC_wanted_per_core, 3.3);
	judge();
	ck_assert(advises("receive") && advises("fewer_threads"));
	ck_assert(!sp_advice_saving(&v.metrics, SP_ADVICE_fewer_threads).is_known);
	sp_advice_by_saving(&v, order);
	ck_assert_int_eq(order[0], SP_ADVICE_fewer_threads);
}
END_TEST

/* Nothing bounds what names for the loop's parts save, but they are about the greatest cost. */
START_TEST(a_look_at_the_greatest_cost_comes_first)
{
	enum sp_advice_id order[SP_ADVICES];

	set(SP_METRIC_loop_share, 0.3);
	set(SP_METRIC_save_share, 0.08);
	set(SP_METRIC_loop_save_share, 0.08);
	ck_assert_str_eq(judge(), "loop-bound");
	ck_assert(advises("async_checkpoint"));
	sp_advice_by_saving(&v, order);
	ck_assert_int_eq(order[0], SP_ADVICE_loop_names);
	set(SP_METRIC_write_share, 0.05);
	v.advice_count = 0;
	judge();
	sp_advice_by_saving(&v, order);
	ck_assert_int_eq(order[0], SP_ADVICE_loop_writes);
	ck_assert_int_eq(order[1], SP_ADVICE_async_checkpoint);
}
END_TEST

/* Batches that the loop makes, or waits for in a sleep, have no call. */
START_TEST(a_loop_without_a_loader_is_doubted)
{
	set(SP_METRIC_loop_share, 0.3);
	judge();
	ck_assert_int_eq(v.confidence, SP_CONFIDENCE_HIGH);
	set(SP_METRIC_unfed_loop_share, 0.3);
	ck_assert_str_eq(judge(), "loop-bound");
	ck_assert_int_eq(v.confidence, SP_CONFIDENCE_MEDIUM);
	ck_assert(v.doubts[SP_DOUBT_unfed_loop]);
}
END_TEST

/* A {name} that is no measure would be left out of its sentence in silence. */
static void check_names(const char *text)
{
	for (const char *p = strchr(text, '{'); p; p = strchr(p + 1, '{')) {
		const char *end = strchr(p, '}');

		ck_assert_ptr_nonnull(end);
		ck_assert_msg(sp_metric_find(p + 1, (size_t)(end - p) - 1) < SP_METRICS, "%s", p);
	}
}

START_TEST(sentences_name_measures)
{
	for (int i = 0; i < SP_VERDICTS; i++)
		check_names(sp_rule_of((enum sp_verdict_id)i)->sentence);
	for (int i = 0; i < SP_ADVICES; i++)
		check_names(sp_advice_rule_of((enum sp_advice_id)i)->text);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("verdict");
	TCase *c = tcase_create("verdict");

	tcase_add_checked_fixture(c, setup, NULL);
	tcase_add_test(c, nothing_is_wrong);
	tcase_add_test(c, the_greatest_part_stands_first);
	tcase_add_loop_test(c, sentences_begin_with_their_word, 0, SP_VERDICTS);
	tcase_add_loop_test(c, each_cost_from_both_sides, 0, SP_VERDICTS);
	tcase_add_loop_test(c, each_sign_from_both_sides, 0, SP_VERDICTS);
	tcase_add_test(c, a_refinement_explains_and_the_later_line_wins);
	tcase_add_test(c, input_without_a_loader);
	tcase_add_test(c, the_greatest_cost_wins_and_the_other_is_a_doubt);
	tcase_add_test(c, thresholds_of_the_loader_wait_are_given);
	tcase_add_test(c, one_epoch_has_one_start);
	tcase_add_test(c, too_little_to_tell);
	tcase_add_test(c, confidence_falls_with_each_doubt);
	tcase_add_test(c, a_cost_just_below_its_threshold_is_a_doubt);
	tcase_add_test(c, visible_input_just_below_its_threshold_is_a_doubt);
	tcase_add_loop_test(c, each_advice_needs_its_evidence, 0, SP_ADVICES);
	tcase_add_test(c, a_first_epoch_asks_for_no_workers);
	tcase_add_test(c, no_advice_contradicts_another);
	tcase_add_test(c, workers_that_stay_are_not_advised);
	tcase_add_test(c, a_checkpoint_after_the_last_step);
	tcase_add_test(c, loads_are_no_saves);
	tcase_add_test(c, a_model_that_waits);
	tcase_add_test(c, a_costly_optimizer);
	tcase_add_loop_test(c, what_takes_the_time_beside_a_small_cost, 0, 2);
	tcase_add_test(c, a_loop_without_a_loader);
	tcase_add_test(c, code_of_keras_between_calls_of_pytorch);
	tcase_add_loop_test(c, a_loop_that_sleeps, 0, 2);
	tcase_add_test(c, a_loop_beside_a_busy_thread);
	tcase_add_test(c, a_batch_may_be_made_before_the_backward);
	tcase_add_test(c, one_advice_for_one_time);
	tcase_add_test(c, a_model_beside_other_programs_is_not_said_to_be_slow);
	tcase_add_test(c, other_programs_had_the_cores);
	tcase_add_test(c, a_crowd_of_other_programs_is_not_the_job);
	tcase_add_test(c, a_second_opinion_that_differs_is_a_doubt);
	tcase_add_test(c, a_late_rank_is_on_a_core);
	tcase_add_test(c, more_time_without_a_backward);
	tcase_add_test(c, batches_that_are_sooner_made_than_received);
	tcase_add_test(c, a_small_gain_of_a_what_if_is_no_advice);
	tcase_add_test(c, a_bound_has_all_that_goes_with_the_wait);
	tcase_add_test(c, waits_for_a_core_go_with_the_work);
	tcase_add_test(c, code_around_a_library_goes_with_it);
	tcase_add_test(c, a_save_takes_along_what_goes_with_it);
	tcase_add_test(c, a_log_takes_along_what_goes_with_it);
	tcase_add_test(c, the_last_step_is_followed_by_the_loop_too);
	tcase_add_test(c, reads_that_fetch_a_whole_file_are_large_enough);
	tcase_add_test(c, a_small_saving_is_no_advice);
	tcase_add_test(c, work_that_is_saved_shortens_the_whole_step);
	tcase_add_test(c, advice_comes_in_the_order_of_its_saving);
	tcase_add_test(c, threads_that_crowd_the_cores_come_first);
	tcase_add_test(c, a_look_at_the_greatest_cost_comes_first);
	tcase_add_test(c, a_loop_without_a_loader_is_doubted);
	tcase_add_test(c, sentences_name_measures);
	suite_add_tcase(suite, c);
	return sp_suite_run(suite);
}
