/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/sections/account_section.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/base/each.h"
#include "analyzer/base/order.h"
#include "analyzer/gpu/gpu_sums.h"
#include "analyzer/metrics/cpu_sums.h"
#include "analyzer/sections/gpu_section.h"
#include "analyzer/sections/life_section.h"
#include "analyzer/sections/steps_section.h"
#include "analyzer/text/text.h"
#include "analyzer/text/translate.h"
#include "analyzer/training/step_stats.h"
#include "analyzer/training/training_account.h"

#define SOURCE_BYTES 128u

enum { PART, TITLE, TIME, SHARE, STEP, PER_STEP, GPU, ENDS, BESIDE, SOURCE, WHY, REPORTED, CELLS };

static const struct sp_column all_columns[CELLS] = {
	[PART] = {"part", NULL, SP_CELL_TEXT},
	[TITLE] = {NULL, N_("training"), SP_CELL_TEXT},
	[TIME] = {"ns", N_("time"), SP_CELL_NS},
	[SHARE] = {"share", N_("share"), SP_CELL_SHARE},
	[STEP] = {"step_mean_ns", N_("a step"), SP_CELL_NS},
	[PER_STEP] = {"per_step_ns", NULL, SP_CELL_NS}, /* of all time, in steps or not */
	[GPU] = {"gpu_ns", N_("on the GPU"), SP_CELL_NS},
	[ENDS] = {"outside_steps_ns", NULL, SP_CELL_NS},
	[BESIDE] = {"beside_ns", NULL, SP_CELL_NS},
	[SOURCE] = {"source", NULL, SP_CELL_TEXT},
	[WHY] = {"reason", NULL, SP_CELL_TEXT},
	[REPORTED] = {NULL, N_("source"), SP_CELL_TEXT},
};

static bool has_graph_steps(const struct sp_report *report)
{
	return sp_training_end(&report->training) == SP_STEP_BY_GRAPH;
}

/* Calls that belong to this phase, of any thread and time. */
static uint64_t calls_of_part(const struct sp_report *report, enum sp_account_phase part)
{
	const struct sp_sums *stages = report->totals.stages;

	switch (part) {
	case SP_ACCOUNT_h2d_copy:
		return stages[SP_STAGE_cuda_copy_h2d].calls;
	case SP_ACCOUNT_grad_sync:
		return stages[SP_STAGE_nccl].calls;
	case SP_ACCOUNT_sync_wait:
		return stages[SP_STAGE_cuda_sync].calls;
	default:
		return 0;
	}
}

/* A step that is one graph has these phases, but they are not recorded. */
static const char *why_missing(const struct sp_report *report, enum sp_account_phase part)
{
	bool is_inside = part == SP_ACCOUNT_forward || part == SP_ACCOUNT_backward ||
			 part == SP_ACCOUNT_optimizer || part == SP_ACCOUNT_zero_grad;

	if (is_inside && has_graph_steps(report))
		return _("inside a CUDA graph, where phases are not known");
	if (calls_of_part(report, part))
		return _("seen, but none on a training thread in a step");
	return sp_account_missing(part);
}

/* Where batches of work were given up, a phase without work is unknown and not 0. */
static struct sp_cell gpu_cell(enum sp_account_phase part, const struct sp_gpu_sums *gpu,
			       uint64_t dropped)
{
	bool is_known =
		gpu && sp_gpu_time_has_stretches(part) && (gpu->launched.ns[part] || !dropped);

	return is_known ? sp_cell_count(gpu->launched.ns[part]) : sp_cell_null();
}

static uint64_t saved_beside(const struct sp_training *training)
{
	return SP_SUM(uint64_t, t, training->count, training->trainers[t].steps.saved_beside_ns);
}

/* The part of communication that other threads' calls of NCCL made in backward. */
static uint64_t nccl_elsewhere(const struct sp_training *training)
{
	return SP_SUM(uint64_t, t, training->count, training->trainers[t].nccl_elsewhere_ns);
}

/* Validation lies between steps, never in one. */
static struct sp_cell step_cell(const struct sp_step_mean *mean, enum sp_account_phase part)
{
	bool is_known = mean->count && part != SP_ACCOUNT_validation;

	return is_known ? sp_cell_count(mean->account.ns[part] / mean->count) : sp_cell_null();
}

struct account {
	struct sp_account sum; /* of the training time */
	struct sp_step_mean mean;
	uint64_t steps;
	const struct sp_gpu_sums *gpu; /* NULL where the device's time is unknown */
	uint64_t dropped;
};

/* Waits for the interpreter's lock and for a core, which another thread has, are in other rows. */
static bool is_wait_short(const struct sp_report *report, enum sp_account_phase part)
{
	return part == SP_ACCOUNT_loader_wait && sp_training_is_unfed(&report->training) &&
	       sp_metrics_has_busy_thread(report);
}

static enum sp_source_kind source_of(const struct sp_report *report, enum sp_account_phase part)
{
	enum sp_source_kind source = sp_training_source(&report->training, part);

	return source != SP_FROM_NOTHING && is_wait_short(report, part) ? SP_FROM_RESIDUAL : source;
}

/* More about the part's source than its name; NULL: nothing. */
static const char *source_text(char ret[SOURCE_BYTES], const struct sp_training *training,
			       enum sp_account_phase part, enum sp_source_kind source)
{
	uint64_t elsewhere_ns = nccl_elsewhere(training);
	char number[SP_NUMBER_BYTES];

	if (part == SP_ACCOUNT_loader_wait && sp_training_is_fed_by_thread(training))
		return _("residual: another thread reads the DataLoader");
	if (part == SP_ACCOUNT_loader_wait && source == SP_FROM_RESIDUAL)
		return _("residual: another thread computes");
	if (part == SP_ACCOUNT_loader_wait && sp_training_is_unfed(training))
		return _("no DataLoader here: queues, pipes, reads, decoding");
	if (part != SP_ACCOUNT_grad_sync || !elsewhere_ns)
		return NULL;
	snprintf(ret, SOURCE_BYTES, _("%s of it NCCL calls in backward, on other threads"),
		 sp_text_ns(number, elsewhere_ns));
	return ret;
}

static int show_part(const struct sp_report *report, struct sp_out *out, enum sp_account_phase part,
		     const struct account *account)
{
	const struct sp_account *sum = &account->sum;
	enum sp_source_kind source = source_of(report, part);
	const char *missing = why_missing(report, part);
	struct sp_account ends = sp_training_ends(&report->training);
	uint64_t beside_ns = saved_beside(&report->training);
	char more[SOURCE_BYTES], beside[SOURCE_BYTES], number[SP_NUMBER_BYTES];
	const char *source_more = source_text(more, &report->training, part, source);
	struct sp_cell cells[CELLS] = {
		[PART] = sp_cell_text(sp_account_name(part)),
		[TITLE] = sp_cell_text(sp_account_title(part)),
		[TIME] = sp_cell_count(sum->ns[part]),
		[SHARE] = sp_cell_ratio(sum->ns[part], sp_account_total(sum)),
		[STEP] = step_cell(&account->mean, part),
		[PER_STEP] = sp_cell_count(sum->ns[part] / account->steps),
		[GPU] = gpu_cell(part, account->gpu, account->dropped),
		[ENDS] = sp_cell_count(ends.ns[part]),
		[BESIDE] = sp_cell_null(),
		[SOURCE] = sp_cell_text(sp_source_name(source)),
		[WHY] = sp_cell_null(),
		[REPORTED] = sp_cell_text(sp_source_name(source)),
	};

	if (source_more)
		cells[WHY] = cells[REPORTED] = sp_cell_text(source_more);
	if (part == SP_ACCOUNT_checkpoint && beside_ns)
		cells[BESIDE] = sp_cell_count(beside_ns);
	if (part == SP_ACCOUNT_checkpoint && beside_ns && !sum->ns[part]) {
		source = SP_FROM_NOTHING;
		snprintf(beside, sizeof(beside),
			 _("%s beside training, in another thread or process"),
			 sp_text_ns(number, beside_ns));
		missing = beside;
	}
	if (source == SP_FROM_NOTHING && sp_account_is(part, SP_IS_RARE) && sp_out_is_read(out))
		return 0;
	if (source == SP_FROM_NOTHING) {
		cells[TIME] = cells[SHARE] = cells[STEP] = cells[PER_STEP] = cells[GPU] =
			cells[ENDS] = sp_cell_null();
		cells[WHY] = cells[REPORTED] = sp_cell_text(missing);
	}
	return sp_out_row(out, cells);
}

/* The last row, for people: the sum of the others. */
static int show_sum(struct sp_out *out, const struct account *account)
{
	struct sp_cell cells[CELLS];

	if (!sp_out_is_read(out))
		return 0;
	for (int i = 0; i < CELLS; i++)
		cells[i] = sp_cell_text("");
	cells[TITLE] = sp_cell_text(_("together"));
	cells[TIME] = sp_cell_count(sp_account_total(&account->sum));
	cells[SHARE] = sp_cell_share(1);
	cells[STEP] = sp_cell_count(sp_step_mean_ns(&account->mean));
	cells[GPU] = account->gpu ? sp_cell_count(account->gpu->busy_ns) : sp_cell_null();
	return sp_out_row(out, cells);
}

static void show_notes(struct sp_out *out, const struct sp_step_mean *mean)
{
	sp_out_wrapped(out, "share: ",
		       _("part of the training time: from the first step's start to the last one's "
			 "end, with validation, evaluation and checkpoints before and after"));
	if (mean->of_steady)
		sp_out_wrapped(out, "a step: ",
			       _("mean of the steady steps, so rows of other steps, and of the "
				 "time "
				 "between steps, have little or none of it"));
	sp_out_line(out, "%s", "");
}

static int show_account(const struct sp_report *report, struct sp_out *out,
			const struct account *account)
{
	struct sp_column columns[CELLS];
	int r;

	memcpy(columns, all_columns, sizeof(columns));
	if (!account->gpu)
		columns[GPU].title = NULL;
	r = sp_out_table(out, "account", NULL, columns, CELLS, false);

	for (int part = 0; r == 0 && account->steps && part < SP_ACCOUNT_PHASES; part++)
		r = show_part(report, out, (enum sp_account_phase)part, account);
	if (r == 0 && account->steps)
		r = show_sum(out, account);
	if (r == 0)
		sp_out_table_end(out);
	if (r == 0 && account->steps)
		show_notes(out, &account->mean);
	return r;
}

int sp_account_section(const struct sp_report *report, struct sp_out *out)
{
	struct account account = {
		.sum = sp_training_account(&report->training),
		.mean = sp_step_mean(&report->training),
	};
	struct sp_gpu_sums sums;
	int r;

	if (sp_gpu_time_sum(&report->training, &sums, &account.dropped))
		account.gpu = &sums;
	r = sp_steps_section(report, out, &account.steps);
	if (r < 0)
		return r;
	sp_gpu_section(report, out, account.gpu, account.dropped);
	r = sp_life_section(report, out, false);
	if (r < 0)
		return r;
	sp_out_line(out, "%s", "");
	if (account.steps == 0 && sp_out_is_read(out))
		return 0;
	return show_account(report, out, &account);
}

struct brief_row {
	const char *title;
	uint64_t ns, step_ns;
	bool is_outside; /* of any step */
	bool is_wait;	 /* for input */
};

SP_ORDER(by_time, struct brief_row, SP_DOWN(ns))

static int show_brief_row(struct sp_out *out, const struct brief_row *row, uint64_t total)
{
	struct sp_cell cells[] = {
		sp_cell_text(row->title),
		sp_cell_count(row->ns),
		sp_cell_ratio(row->ns, total),
		row->is_outside ? sp_cell_null() : sp_cell_count(row->step_ns),
	};

	return sp_out_row(out, cells);
}

/* Returns the number of phases that took time, the longest first. */
static unsigned brief_rows(const struct sp_account *sum, const struct sp_step_mean *mean,
			   struct brief_row rows[SP_ACCOUNT_PHASES])
{
	unsigned count = 0;

	for (int i = 0; i < SP_ACCOUNT_PHASES; i++)
		if (sum->ns[i])
			rows[count++] = (struct brief_row){
				sp_account_title((enum sp_account_phase)i),
				sum->ns[i],
				mean->account.ns[i] / mean->count,
				i == SP_ACCOUNT_validation,
				i == SP_ACCOUNT_loader_wait,
			};
	qsort(rows, count, sizeof(*rows), by_time);
	return count;
}

#define WAIT_LEAST 20 /* one in so many parts of the time has a row of its own */

/* The line below the table divides the input wait, and most verdicts are about it: where the rows
 * are few, it takes the place of the last one. */
static void keep_wait(struct brief_row *rows, unsigned count, unsigned shown, uint64_t total)
{
	struct brief_row wait;
	unsigned i = shown;

	while (i < count && !rows[i].is_wait)
		i++;
	if (!shown || i >= count || rows[i].ns * WAIT_LEAST < total)
		return;
	wait = rows[i];
	memmove(&rows[shown], &rows[shown - 1], (i - shown + 1) * sizeof(*rows));
	rows[shown - 1] = wait;
}

int sp_account_section_brief(const struct sp_report *report, struct sp_out *out, unsigned lines_max)
{
	const struct sp_column columns[] = {all_columns[TITLE], all_columns[TIME],
					    all_columns[SHARE], all_columns[STEP]};
	struct sp_account sum = sp_training_account(&report->training);
	struct sp_step_mean mean = sp_step_mean(&report->training);
	struct brief_row rows[SP_ACCOUNT_PHASES], more = {_("the others"), 0, 0, false, false};
	struct brief_row all = {_("together"), sp_account_total(&sum), sp_step_mean_ns(&mean),
				false, false};
	unsigned count, shown;
	int r;

	/* a blank line, the head, and the sum */
	if (!mean.count || lines_max < 5)
		return 0;
	count = brief_rows(&sum, &mean, rows);
	shown = count <= lines_max - 3 ? count : lines_max - 4;
	keep_wait(rows, count, shown, all.ns);
	sp_out_line(out, "%s", "");
	r = sp_out_table(out, "account", NULL, columns, 4, true);
	for (unsigned i = 0; r == 0 && i < count; i++) {
		if (i < shown) {
			r = show_brief_row(out, &rows[i], all.ns);
		} else {
			more.ns += rows[i].ns;
			more.step_ns += rows[i].step_ns;
		}
	}
	if (r == 0 && more.ns)
		r = show_brief_row(out, &more, all.ns);
	if (r == 0)
		r = show_brief_row(out, &all, all.ns);
	if (r == 0)
		sp_out_table_end(out);
	return r;
}
