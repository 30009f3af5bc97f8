/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/sections/top_stages.h"

#include <stdio.h>

#include "analyzer/report/report.h"
#include "analyzer/text/text.h"
#include "analyzer/text/translate.h"

#define SHOWN_MAX 4u
#define SHARE_LEAST 0.01 /* of the threads' time */

bool sp_stage_is_of_threads(uint32_t stage)
{
	return !(stage == SP_STAGE_range || stage >= SP_STAGE_off ||
		 (stage >= SP_STAGE_gpu_kernel && stage <= SP_STAGE_gpu_lost));
}

/* Idle threads wait, too, so the sum of all waits answers nothing. */
static bool is_candidate(uint32_t stage)
{
	return stage != SP_STAGE_wait && stage != SP_STAGE_sleep && sp_stage_is_of_threads(stage);
}

/* In the order of their time, the longest first; SP_STAGES is before all. */
static bool is_after(const struct sp_sums *sums, uint32_t stage, uint32_t last)
{
	if (last >= SP_STAGES)
		return true;
	if (sums[stage].total_ns != sums[last].total_ns)
		return sums[stage].total_ns < sums[last].total_ns;
	return stage > last;
}

/* The stage after `last` in that order; SP_STAGES: there is none. */
static uint32_t next_stage(const struct sp_report *report, uint32_t last)
{
	const struct sp_sums *sums = report->totals.stages;
	uint32_t next = SP_STAGES;

	for (uint32_t i = 0; i < SP_STAGES; i++)
		if (is_candidate(i) && is_after(sums, i, last) &&
		    (next >= SP_STAGES || is_after(sums, next, i)))
			next = i;
	return next;
}

static size_t put_stage(const struct sp_report *report, uint32_t stage, char *ret, size_t ret_bytes)
{
	const struct sp_sums *sums = &report->totals.stages[stage];
	char ns[SP_NUMBER_BYTES], calls[SP_NUMBER_BYTES];

	/* Translators: a stage, its time, its calls. */
	return (size_t)snprintf(ret, ret_bytes,
				sp_translate_plural("%s %s in %s call; ", "%s %s in %s calls; ",
						    sums->calls),
				sp_stage_title(stage), sp_text_ns(ns, sums->total_ns),
				sp_text_count(calls, sums->calls));
}

void sp_top_stages_text(const struct sp_report *report, char *ret, size_t ret_bytes)
{
	double threads_ns = (double)report->totals.thread_ns;
	char ns[SP_NUMBER_BYTES];
	uint32_t stage = SP_STAGES;
	size_t used = 0;

	*ret = '\0';
	if (threads_ns <= 0)
		return;
	for (uint32_t i = 0; i < SHOWN_MAX && used < ret_bytes; i++) {
		stage = next_stage(report, stage);
		if (stage == SP_STAGES ||
		    (double)report->totals.stages[stage].total_ns < SHARE_LEAST * threads_ns)
			break;
		used += put_stage(report, stage, ret + used, ret_bytes - used);
	}
	sp_text_ns(ns, report->totals.thread_ns);
	if (used < ret_bytes)
		snprintf(ret + used, ret_bytes - used,
			 used ? _("of the threads' %s") : _("none takes 1%% of the threads' %s"),
			 ns);
}
