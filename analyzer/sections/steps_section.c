/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/sections/steps_section.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "analyzer/sections/section_json.h"
#include "analyzer/text/text.h"
#include "analyzer/text/translate.h"
#include "analyzer/training/training_account.h"

#define WARM_UP_SHOWN 0.2   /* of the steps' time: worth a number */
#define MEDIAN_DIFFERS 0.15 /* of the mean: less is not worth a second number */

/* The number of epochs of one trainer that contain selected steps. */
static uint64_t trainer_epochs(const struct sp_report *report, const struct sp_trainer *trainer)
{
	uint64_t epochs = 0, last = UINT64_MAX;

	if (trainer->is_digested)
		return trainer->steps.epoch_count;
	for (uint32_t i = 0; i < trainer->steps.count; i++) {
		if (!sp_step_is_selected(&report->training, trainer, i))
			continue;
		epochs += trainer->steps.steps[i].epoch != last;
		last = trainer->steps.steps[i].epoch;
	}
	return epochs;
}

static uint64_t epochs_of(const struct sp_report *report)
{
	uint64_t most = 0;

	for (uint32_t t = 0; t < report->training.count; t++) {
		uint64_t epochs = trainer_epochs(report, &report->training.trainers[t]);

		most = epochs > most ? epochs : most;
	}
	return most;
}

/* One epoch, where no loader makes the batches, is no count: nothing shows where one ends. */
static bool has_epochs(const struct sp_report *report, uint64_t steps)
{
	return steps && (epochs_of(report) > 1 || !sp_training_is_unfed(&report->training));
}

/* Steps in which a gradient scaler did not call the optimizer. False where steps are no list. */
static bool count_skipped(const struct sp_report *report, uint64_t *ret)
{
	*ret = 0;
	for (uint32_t t = 0; t < report->training.count; t++) {
		const struct sp_trainer *trainer = &report->training.trainers[t];

		if (trainer->is_digested || !trainer->steps.steps)
			return false;
		for (uint32_t i = 0; i < trainer->steps.count; i++)
			*ret += trainer->steps.steps[i].is_skipped &&
				sp_step_is_selected(&report->training, trainer, i);
	}
	return report->training.count > 0;
}

/* As in JSON. */
static const char *end_name(enum sp_step_end end)
{
	static const char *const names[] = {"optimizer", "backward", "graph", "batch", "backward"};

	return names[end];
}

static void show_end(struct sp_out *out, enum sp_step_end end)
{
	if (end == SP_STEP_BY_BACKWARD)
		sp_out_line(out, "           each ends with its backward: no optimizer step was "
				 "seen");
	if (end == SP_STEP_BY_BATCH)
		sp_out_line(out, "           each is a batch that the loop took from a DataLoader: "
				 "nothing that trains was seen");
	if (end == SP_STEP_BY_GRAPH)
		sp_out_line(out, "           each ends with the launch of a CUDA graph; the phases "
				 "inside it are not known");
}

static void show_json(const struct sp_report *report, struct sp_out *out,
		      const struct sp_step_stats *all, const struct sp_step_stats *steady,
		      const struct sp_step_mean *mean)
{
	const char *end = end_name(sp_training_end(&report->training));
	struct sp_json *j = &out->json;
	uint64_t skipped;
	bool has_skipped;

	if (out->format != SP_FORMAT_JSON)
		return;
	sp_json_open(j, "steps", '{');
	sp_json_count(j, "count", all->count);
	sp_json_count(j, "trainers", report->training.count);
	sp_section_count(out, "epochs", has_epochs(report, all->count), epochs_of(report));
	has_skipped = count_skipped(report, &skipped);
	sp_section_count(out, "skipped_updates", has_skipped && all->count, skipped);
	sp_section_count(out, "wall_ns_total", all->count, all->total_ns);
	sp_section_count(out, "wall_ns_p50", all->count, all->p50_ns);
	sp_section_count(out, "wall_ns_p95", all->count, all->p95_ns);
	sp_section_count(out, "wall_ns_p99", all->count, all->p99_ns);
	sp_section_count(out, "wall_ns_max", all->count, all->max_ns);
	sp_section_count(out, "step_mean_ns", mean->count, sp_step_mean_ns(mean));
	sp_section_count(out, "step_mean_of", mean->count, mean->count);
	sp_json_count(j, "steady_count", steady->count);
	sp_section_count(out, "steady_wall_ns_p50", steady->count, steady->p50_ns);
	if (all->count)
		sp_json_string(j, "end_with", end, strlen(end));
	else
		sp_json_null(j, "end_with");
	if (all->count)
		sp_json_null(j, "reason");
	else
		sp_json_string(j, "reason", "no optimizer step was seen", 26);
	sp_json_close(j, '}');
}

static void show_lines(const struct sp_report *report, struct sp_out *out,
		       const struct sp_step_stats *all)
{
	char a[SP_NUMBER_BYTES], b[SP_NUMBER_BYTES], c[SP_NUMBER_BYTES], d[SP_NUMBER_BYTES];
	char step[SP_STEP_TEXT_BYTES];
	uint64_t epochs = epochs_of(report);

	if (all->count == 0) {
		sp_out_line(out, "steps      none: no optimizer step was seen");
		return;
	}
	sp_text_count(a, all->count);
	sp_text_ns(b, all->p50_ns);
	sp_text_ns(c, all->p95_ns);
	sp_text_ns(d, all->max_ns);
	if (epochs > 1)
		sp_out_line(out, "steps      %s in %llu epochs: p50 %s, p95 %s, max %s", a,
			    (unsigned long long)epochs, b, c, d);
	else
		sp_out_line(out, "steps      %s: p50 %s, p95 %s, max %s", a, b, c, d);
	if (report->training.count > 1)
		sp_out_line(out, "           of %u training threads, added up",
			    report->training.count);
	show_end(out, sp_training_end(&report->training));
	sp_step_text(step, report, false);
	sp_out_line(out, "a step     %s", step);
}

static void add_threads(char ret[SP_STEP_TEXT_BYTES], const struct sp_report *report)
{
	char count[SP_NUMBER_BYTES];
	size_t used = strlen(ret);

	if (report->training.count > 1)
		snprintf(ret + used, SP_STEP_TEXT_BYTES - used, _(" of %s training threads"),
			 sp_text_count(count, report->training.count));
}

/* Few long steps make the mean; the steps that a user sees are the others. */
static void add_median(char ret[SP_STEP_TEXT_BYTES], const struct sp_report *report, unsigned kinds,
		       double mean_ns)
{
	char ns[SP_NUMBER_BYTES];
	struct sp_step_stats stats;
	size_t used = strlen(ret);

	if (sp_step_stats(&report->training, SP_STEP_WALL, kinds, &stats) < 0 ||
	    fabs(mean_ns - (double)stats.p50_ns) < MEDIAN_DIFFERS * mean_ns)
		return;
	snprintf(ret + used, SP_STEP_TEXT_BYTES - used, _("; median %s"),
		 sp_text_ns(ns, stats.p50_ns));
}

/* The first steps are none of the mean; where they take much, the rows of the account have it. */
static void add_warm_up(char ret[SP_STEP_TEXT_BYTES], const struct sp_report *report)
{
	char ns[SP_NUMBER_BYTES], count[SP_NUMBER_BYTES];
	struct sp_step_stats all, first;
	size_t used = strlen(ret);

	if (sp_step_stats(&report->training, SP_STEP_WALL, SP_STEP_KINDS_ALL, &all) < 0 ||
	    sp_step_stats(&report->training, SP_STEP_WALL, 1u << SP_STEP_WARMUP, &first) < 0 ||
	    (double)first.total_ns < WARM_UP_SHOWN * (double)all.total_ns)
		return;
	snprintf(ret + used, SP_STEP_TEXT_BYTES - used,
		 sp_translate_plural("; %s warm-up step took %s", "; %s warm-up steps took %s",
				     first.count),
		 sp_text_count(count, first.count), sp_text_ns(ns, first.total_ns));
}

void sp_step_text(char ret[SP_STEP_TEXT_BYTES], const struct sp_report *report, bool has_threads)
{
	struct sp_step_mean mean = sp_step_mean(&report->training);
	char ns[SP_NUMBER_BYTES], count[SP_NUMBER_BYTES];
	uint64_t mean_ns = sp_step_mean_ns(&mean);

	*ret = '\0';
	if (!mean.count)
		return;
	snprintf(ret, SP_STEP_TEXT_BYTES,
		 mean.of_steady
			 ? sp_translate_plural("%s, the %s steady step",
					       "%s, the mean of the %s steady steps", mean.count)
			 : sp_translate_plural("%s, the %s step", "%s, the mean of all %s steps",
					       mean.count),
		 sp_text_ns(ns, mean_ns), sp_text_count(count, mean.count));
	if (has_threads)
		add_threads(ret, report);
	add_median(ret, report, mean.of_steady ? 1u << SP_STEP_STEADY : SP_STEP_KINDS_ALL,
		   (double)mean_ns);
	if (mean.of_steady)
		add_warm_up(ret, report);
}

int sp_steps_section(const struct sp_report *report, struct sp_out *out, uint64_t *ret_count)
{
	struct sp_step_mean mean = sp_step_mean(&report->training);
	struct sp_step_stats all, steady;
	int r = sp_step_stats(&report->training, SP_STEP_WALL, SP_STEP_KINDS_ALL, &all);

	if (r == 0)
		r = sp_step_stats(&report->training, SP_STEP_WALL, 1u << SP_STEP_STEADY, &steady);
	if (r < 0)
		return r;
	show_json(report, out, &all, &steady, &mean);
	show_lines(report, out, &all);
	*ret_count = all.count;
	return 0;
}
