/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/report/report.h"

#include <errno.h>

#include "analyzer/report/step_windows.h"
#include "analyzer/totals/totals_read.h"
#include "analyzer/training/trainer_digest.h"

#define TIMELINE_EVENTS_MAX 8000u

static int read_ranges(struct sp_report *report)
{
	const struct {
		unsigned needs;
		struct sp_range_request request;
	} trees[SP_RANGE_REQUESTS_MAX] = {
		{SP_NEEDS_RANGES, {&report->ranges, SP_RANGES_ALL}},
		{SP_NEEDS_MODULES, {&report->modules, SP_RANGES_MODULES}},
		{SP_NEEDS_OPS, {&report->ops, SP_RANGES_OPS}},
	};
	struct sp_range_request requests[SP_RANGE_REQUESTS_MAX];
	unsigned count = 0;

	for (unsigned i = 0; i < SP_RANGE_REQUESTS_MAX; i++)
		if (report->needs & trees[i].needs)
			requests[count++] = trees[i].request;
	return sp_ranges_read(requests, count, &report->training);
}

static int read_training(struct sp_report *report)
{
	int r;

	report->training.keeps_steps = (report->needs & SP_NEEDS_STEPS) != 0;
	report->training.keeps_timeline = (report->needs & SP_NEEDS_PHASES) != 0;
	report->training.keeps_series = (report->needs & SP_NEEDS_RANKS) != 0;
	r = sp_training_read(&report->training);
	if (r < 0 || sp_step_selection_is_all(&report->training.selection))
		return r;
	report->run.windows = sp_step_windows_make(&report->training);
	return report->run.windows ? 0 : -ENOMEM;
}

#define SP_PASS(name, needs, after, read)                                                          \
	static int read_##name##_pass(struct sp_report *report)                                    \
	{                                                                                          \
		return read;                                                                       \
	}
#include "analyzer/report/passes.def"
#undef SP_PASS

static const struct {
	unsigned needs, after;
	int (*read)(struct sp_report *report);
} passes[] = {
#define SP_PASS(name, needs, after, read) {needs, after, read_##name##_pass},
#include "analyzer/report/passes.def"
#undef SP_PASS
};
#define PASSES (sizeof(passes) / sizeof(passes[0]))

/* Adds the results that these results are made from. */
static unsigned complete(unsigned needs)
{
	needs |= SP_NEEDS_TOTALS;
	for (unsigned i = PASSES; i > 0; i--)
		if (needs & passes[i - 1].needs)
			needs |= passes[i - 1].after;
	return needs;
}

unsigned sp_report_passes(unsigned needs)
{
	unsigned n = 0;

	needs = complete(needs);
	for (unsigned i = 0; i < PASSES; i++)
		n += (needs & passes[i].needs) != 0;
	return n;
}

int sp_report_scan(struct sp_report *report)
{
	int r;

	report->run.index.digest_schema = sp_digest_schema();
	report->totals.encodes_streams = report->is_for_digest;
	report->training.keeps_pauses = report->is_for_digest;
	report->ranks.keeps_lateness = (report->needs & SP_NEEDS_HEAT) != 0;
	report->run.metadata.keeps_reported = report->is_for_digest;
	r = sp_run_read(&report->run);
	report->training.run = &report->run;
	report->totals.end_ns = report->run.begin_ns;
	return r;
}

int sp_report_read(struct sp_report *report)
{
	int r = 0;

	if (!sp_step_selection_is_all(&report->training.selection))
		report->needs |= SP_NEEDS_STEPS;
	report->needs = complete(report->needs);
	for (unsigned i = 0; r == 0 && i < PASSES; i++)
		if (report->needs & passes[i].needs)
			r = passes[i].read(report);
	return r;
}

void sp_report_finish(struct sp_report *report)
{
	sp_samples_finish(&report->samples);
	sp_timeline_finish(&report->timeline);
	sp_gpu_work_finish(&report->gpu_work);
	sp_gpu_processes_finish(&report->gpu_processes);
	sp_ranges_finish(&report->ranges);
	sp_ranges_finish(&report->modules);
	sp_ranges_finish(&report->ops);
	sp_ranks_finish(&report->ranks);
	sp_workers_finish(&report->workers);
	sp_training_finish(&report->training);
	sp_totals_finish(&report->totals, &report->run);
	sp_run_finish(&report->run);
}
