/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/views/view.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "analyzer/metrics/metrics.h"
#include "analyzer/sections/account_section.h"
#include "analyzer/sections/coverage_section.h"
#include "analyzer/sections/ending.h"
#include "analyzer/sections/gpu_section.h"
#include "analyzer/sections/life_section.h"
#include "analyzer/sections/machine_section.h"
#include "analyzer/sections/run_section.h"
#include "analyzer/sections/wait_section.h"
#include "analyzer/text/text.h"
#include "analyzer/training/step_stats.h"
#include "analyzer/training/training_account.h"
#include "analyzer/views/short_summary.h"
#include "analyzer/views/inflight.h"
#include "analyzer/views/run_json.h"
#include "analyzer/views/view_stages.h"
#include "analyzer/views/view_verdict.h"

/* The lines that fit a terminal of 24, below the command and above the next prompt. */
#define BRIEF_LINES_MAX 22u
#define BRIEF_SHORT_LINES_MAX 11u /* longer advice is in -v */
#define LAUNCHED_LINES_MAX 16u	  /* the launcher adds four: where the trace is, and what is next */
#define PARTS_BYTES 512u

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
	int lines = sp_short_summary_show(report, out, options, BRIEF_SHORT_LINES_MAX);
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

#define MEMORY_COLUMNS(X)                                                                          \
	X("pid", NULL, ID, sp_cell_count(pid))                                                     \
	X("kind", NULL, TEXT, kind_cell(g))                                                        \
	X("private_growth_per_batch", NULL, BYTES, growth_cell(g))                                 \
	X("private_bytes", NULL, BYTES, known_cell(g->last.private_dirty_bytes))                   \
	X("resident_bytes", NULL, BYTES, known_cell(g->last.resident_bytes))                       \
	X("limit_bytes", NULL, BYTES, known_cell(g->last.limit_bytes))                             \
	X("left_bytes", NULL, BYTES, known_cell(g->last.left_bytes))                               \
	X("shm_bytes", NULL, BYTES, known_cell(g->shm_bytes))                                      \
	X("shm_free_least_bytes", NULL, BYTES, known_cell(g->shm_free_least))

static const struct sp_column memory_columns[] = {MEMORY_COLUMNS(SP_COLUMN)};

static struct sp_cell known_cell(uint64_t n)
{
	return sp_cell_if(n != UINT64_MAX, n);
}

static struct sp_cell kind_cell(const struct sp_memory_growth *g)
{
	const char *kind = sp_machine_memory_kind(g);

	return kind ? sp_cell_text(kind) : sp_cell_null();
}

static struct sp_cell growth_cell(const struct sp_memory_growth *g)
{
	return sp_cell_if(sp_memory_growth_kind(g) != SP_MEMORY_UNKNOWN,
			  (uint64_t)sp_memory_growth_a_batch(g));
}

static int put_memory(struct sp_out *out, const struct sp_memory_growth *g, uint32_t pid)
{
	const struct sp_cell cells[] = {MEMORY_COLUMNS(SP_CELL)};

	return sp_out_row(out, cells);
}

/* For programs; people read the section. Runs of older versions get no table. */
static void show_memory(const struct sp_report *report, struct sp_out *out)
{
	const struct sp_index *index = &report->run.index;
	bool is_open = false;
	int r = 0;

	for (uint32_t i = 0; r == 0 && i < index->image_count && !sp_out_is_read(out); i++) {
		const struct sp_memory_growth *g = &report->run.metadata.images[i].memory;

		if (!g->reports)
			continue;
		if (!is_open)
			r = sp_out_table(out, "memory", NULL, SP_COLUMNS_OF(memory_columns), false);
		is_open = true;
		if (r == 0)
			r = put_memory(out, g, index->images[i].pid);
	}
	if (is_open)
		sp_out_table_end(out);
}

int sp_view_summary(const struct sp_report *report, struct sp_out *out,
		    const struct sp_view_options *options)
{
	int r;

	if (options->is_brief && !options->sort)
		return show_brief(report, out, options);
	r = sp_stages_check_sort(options);
	if (r == 0)
		r = sp_verdict_show(report, out, options->is_full);
	if (r < 0)
		return r;
	sp_run_json(report, out);
	sp_run_section(report, out);
	sp_machine_section(report, out);
	sp_machine_section_json(report, out);
	show_memory(report, out);
	sp_gpu_work_section(report, out);
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

/* Programs get the summary, which has all of it. */
int sp_view_card(const struct sp_report *report, struct sp_out *out,
		 const struct sp_view_options *options)
{
	int r;

	if (out->format != SP_FORMAT_TABLE)
		return sp_view_summary(report, out, options);
	r = options->sort ? -EINVAL
			  : sp_short_summary_show(report, out, options, LAUNCHED_LINES_MAX);
	return r < 0 ? r : 0;
}

/* The one line of --by=line. */
enum { FIRST, LAST, STEPS, STEP, MEAN, PARTS, CELLS = PARTS + SP_ACCOUNT_PHASES };

static const struct sp_column columns[CELLS] = {
	[FIRST] = {"first_step", NULL, SP_CELL_ID},  [LAST] = {"last_step", NULL, SP_CELL_ID},
	[STEPS] = {"steps", NULL, SP_CELL_COUNT},    [STEP] = {"wall_ns_p50", NULL, SP_CELL_NS},
	[MEAN] = {"step_mean_ns", NULL, SP_CELL_NS},
#define SP_ACCOUNT(name, title, missing, is)                                                       \
	[PARTS + SP_ACCOUNT_##name] = {#name "_share", NULL, SP_CELL_SHARE},
#include "analyzer/steps/account.def"
#undef SP_ACCOUNT
};

/* The numbers of the first and the last selected step of the main trainer, which has steps. */
static void find_ends(const struct sp_report *report, uint32_t *ret_first, uint32_t *ret_last)
{
	const struct sp_trainer *trainer = sp_training_main(&report->training);
	bool any = false;

	*ret_first = *ret_last = 0;
	for (uint32_t i = 0; i < trainer->steps.count; i++) {
		if (!sp_step_is_selected(&report->training, trainer, i))
			continue;
		*ret_last = sp_step_number(&trainer->steps, i);
		*ret_first = any ? *ret_first : *ret_last;
		any = true;
	}
}

/* "input wait 20.1%, forward …": the phases that were recorded. */
static const char *parts_text(char ret[PARTS_BYTES], const struct sp_report *report,
			      const struct sp_account *sum)
{
	uint64_t total = sp_account_total(sum);
	size_t used = 0;

	ret[0] = '\0';
	for (int i = 0; i < SP_ACCOUNT_PHASES && used < PARTS_BYTES; i++)
		if (total && sp_training_source(&report->training, (enum sp_account_phase)i))
			used += (size_t)snprintf(ret + used, PARTS_BYTES - used, "%s%s %.1f%%",
						 used ? _(", ") : "",
						 sp_account_title((enum sp_account_phase)i),
						 100.0 * (double)sum->ns[i] / (double)total);
	return ret;
}

static int show_table(const struct sp_report *report, struct sp_out *out,
		      const struct sp_account *sum, const struct sp_step_stats *stats,
		      uint32_t first, uint32_t last)
{
	struct sp_step_mean mean = sp_step_mean(&report->training);
	struct sp_cell cells[CELLS] = {
		[FIRST] = sp_cell_count(first),
		[LAST] = sp_cell_count(last),
		[STEPS] = sp_cell_count(stats->count),
		[STEP] = sp_cell_count(stats->p50_ns),
		[MEAN] = sp_cell_count(sp_step_mean_ns(&mean)),
	};
	int r = sp_out_table(out, "line", NULL, columns, CELLS, true);

	for (int i = 0; i < SP_ACCOUNT_PHASES; i++)
		cells[PARTS + i] = sp_training_source(&report->training, (enum sp_account_phase)i)
					   ? sp_cell_ratio(sum->ns[i], sp_account_total(sum))
					   : sp_cell_null();
	if (r == 0 && stats->count)
		r = sp_out_row(out, cells);
	sp_out_table_end(out);
	return r;
}

int sp_view_line(const struct sp_report *report, struct sp_out *out,
		 const struct sp_view_options *options)
{
	struct sp_account sum = sp_training_account(&report->training);
	struct sp_step_mean mean = sp_step_mean(&report->training);
	char step[SP_NUMBER_BYTES], parts[PARTS_BYTES];
	uint32_t first = 0, last = 0;
	struct sp_step_stats stats;
	int r = sp_step_stats(&report->training, SP_STEP_WALL, SP_STEP_KINDS_ALL, &stats);

	if (options->sort)
		return -EINVAL;
	out->width = 0; /* one line, as its name says */
	if (r < 0)
		return r;
	if (stats.count)
		find_ends(report, &first, &last);
	sp_run_json(report, out);
	if (!sp_out_is_read(out))
		return show_table(report, out, &sum, &stats, first, last);
	if (stats.count == 0)
		sp_out_line(out, "no steps: no optimizer step was seen");
	else
		sp_out_line(out, "steps %u to %u: %s a step; of the training time: %s", first, last,
			    sp_text_ns(step, sp_step_mean_ns(&mean)),
			    parts_text(parts, report, &sum));
	return 0;
}
