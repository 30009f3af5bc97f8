/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/views/view.h"

#include <errno.h>
#include <stdlib.h>

#include "analyzer/metrics/metrics.h"
#include "analyzer/sections/account_section.h"
#include "analyzer/sections/coverage_section.h"
#include "analyzer/sections/ending.h"
#include "analyzer/sections/life_section.h"
#include "analyzer/sections/run_section.h"
#include "analyzer/sections/wait_section.h"
#include "analyzer/views/card.h"
#include "analyzer/views/inflight.h"

/* The lines that fit a terminal of 24, below the command and above the next prompt. */
#define BRIEF_LINES_MAX 22u
#define BRIEF_CARD_LINES_MAX 9u /* longer advice is in -v */

/* Writes what the account leaves out, and what the verdict leaves out of the account. */
static int show_sums(const struct sp_report *report, struct sp_out *out)
{
	struct sp_metrics *e = calloc(1, sizeof(*e));
	int r = e ? sp_metrics_gather(e, report) : -ENOMEM;

	if (r == 0) {
		sp_wait_section(e, out);
		r = sp_life_section(report, out, true);
	}
	free(e);
	return r;
}

static int show_brief(const struct sp_report *report, struct sp_out *out,
		      const struct sp_view_options *options)
{
	int lines = sp_card_show(report, out, options, BRIEF_CARD_LINES_MAX);
	int r = lines < 0 ? lines : 0;

	/* a blank line before the last one, and four below the account */
	if (r == 0)
		r = sp_account_section_brief(report, out, BRIEF_LINES_MAX - 6 - (unsigned)lines);
	if (r == 0)
		r = show_sums(report, out);
	if (r == 0)
		sp_out_line(out, "\nmore: -v; the views of --help; a page: html -o report.html");
	return r;
}

int sp_view_summary(const struct sp_report *report, struct sp_out *out,
		    const struct sp_view_options *options)
{
	int r;

	if (options->is_brief && !options->sort)
		return show_brief(report, out, options);
	r = sp_stages_check_sort(options);
	if (r == 0)
		r = sp_verdict_show(report, out);
	if (r < 0)
		return r;
	sp_run_json(report, out);
	sp_run_section(report, out);
	sp_gpu_show(report, out);
	r = sp_account_section(report, out);
	if (r == 0)
		r = sp_stages_show(report, out, options);
	if (r == 0)
		r = sp_inflight_show(report, out);
	if (r == 0)
		r = sp_ending_show(report, out);
	sp_coverage_section_json(report, out);
	return r;
}
