/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/base/each.h"
#include "analyzer/views/view.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/sections/steps_section.h"
#include "analyzer/workers/process_memory.h"
#include "analyzer/training/step_rows.h"
#include "analyzer/training/step_stats.h"
#include "analyzer/training/training_account.h"
#include "analyzer/text/text.h"
#include "analyzer/views/run_json.h"

#define MUCH_SHARE 0.1 /* of the training time */

enum {
	PID,
	TID,
	INDEX,
	EPOCH,
	START,
	KIND,
	WALL,
	MEMORY,
	WORKERS,
	PARTS,
	GPU = PARTS + SP_ACCOUNT_PHASES,
	CELLS = GPU + 4
};
enum { GPU_BUSY = GPU, GPU_IDLE, LOST_WAIT, HIDDEN_WAIT };

static const struct sp_column all_columns[CELLS] = {
	[PID] = {"pid", N_("pid"), SP_CELL_ID},
	[TID] = {"tid", N_("thread"), SP_CELL_ID},
	[INDEX] = {"index", N_("step"), SP_CELL_ID},
	[EPOCH] = {"epoch", N_("epoch"), SP_CELL_ID},
	[START] = {"start_ns", N_("at"), SP_CELL_AT_NS},
	[KIND] = {"kind", N_("kind"), SP_CELL_WORD},
	[WALL] = {"wall_ns", N_("wall"), SP_CELL_NS},
	[MEMORY] = {"rss_bytes", N_("memory"), SP_CELL_BYTES},
	[WORKERS] = {"workers_rss_bytes", N_("of workers"), SP_CELL_BYTES},
#define SP_ACCOUNT(name, title, missing, is)                                                       \
	[PARTS + SP_ACCOUNT_##name] = {#name "_ns", title, SP_CELL_NS},
#include "analyzer/steps/account.def"
#undef SP_ACCOUNT
	[GPU_BUSY] = {"gpu_busy_ns", N_("GPU busy"), SP_CELL_NS},
	[GPU_IDLE] = {"gpu_idle_ns", N_("GPU idle"), SP_CELL_NS},
	[LOST_WAIT] = {"lost_wait_ns", N_("wait lost"), SP_CELL_NS},
	[HIDDEN_WAIT] = {"hidden_wait_ns", N_("wait hidden"), SP_CELL_NS},
};

static struct sp_cell part_cell(const struct sp_step_row *row, int part)
{
	/* Validation lies between steps, never in one. */
	if (part == SP_ACCOUNT_validation || row->trainer->steps.sources[part] == SP_FROM_NOTHING)
		return sp_cell_null();
	return sp_cell_count(sp_step_of_row(row)->account.ns[part]);
}

/* The memory of the trainer's process, and the sum of its workers. */
static void fill_memory(const struct sp_report *report, const struct sp_step *step,
			const struct sp_memory_streams *memory, struct sp_cell cells[CELLS])
{
	uint64_t sums[2] = {0, 0}, bytes;

	for (uint32_t i = 0; i < memory->count; i++)
		if (sp_memory_in(&report->run, &report->totals, memory->list[i], step->start_ns,
				 step->end_ns, &bytes))
			sums[i >= memory->own] = i < memory->own ? bytes : sums[1] + bytes;
	cells[MEMORY] = sums[0] ? sp_cell_count(sums[0]) : sp_cell_null();
	cells[WORKERS] = sums[1] ? sp_cell_count(sums[1]) : sp_cell_null();
}

static void fill_gpu(const struct sp_step_row *row, struct sp_cell cells[CELLS])
{
	const struct sp_gpu_sums *steps = row->trainer->gpu.steps;
	const struct sp_gpu_sums *gpu = steps ? &steps[row->step] : NULL;

	for (int i = GPU; i < CELLS; i++)
		cells[i] = sp_cell_null();
	if (!gpu)
		return;
	cells[GPU_BUSY] = sp_cell_count(gpu->busy_ns);
	/* Unknown work may run between graphs that are steps. */
	if (row->trainer->steps.end != SP_STEP_BY_GRAPH)
		cells[GPU_IDLE] = sp_cell_count(gpu->wall_ns - gpu->busy_ns);
	cells[LOST_WAIT] = sp_cell_count(gpu->lost_wait_ns);
	cells[HIDDEN_WAIT] = sp_cell_count(gpu->hidden_wait_ns);
}

static void fill(const struct sp_report *report, const struct sp_step_row *row,
		 struct sp_cell cells[CELLS])
{
	const struct sp_stream *stream = report->run.index.streams[row->trainer->stream];
	const struct sp_step *step = sp_step_of_row(row);

	cells[PID] = sp_cell_count(report->run.index.images[stream->image].pid);
	cells[TID] = sp_cell_count(stream->tid);
	cells[INDEX] = sp_cell_count(sp_step_number(&row->trainer->steps, row->step));
	cells[EPOCH] = sp_cell_count(step->epoch);
	cells[START] = sp_cell_signed(step->start_ns - report->run.begin_ns);
	cells[KIND] = sp_cell_text(sp_step_kind_name(step->kind));
	cells[WALL] = sp_cell_count(sp_step_wall_ns(step));
	for (int part = 0; part < SP_ACCOUNT_PHASES; part++)
		cells[PARTS + part] = part_cell(row, part);
	fill_gpu(row, cells);
}

static void count_or_null(struct sp_json *j, const char *key, const struct sp_cell *cell)
{
	if (cell->is_null)
		sp_json_null(j, key);
	else
		sp_json_count(j, key, cell->count);
}

static void memory_json(struct sp_json *j, const struct sp_report *report,
			const struct sp_step *step, const struct sp_memory_streams *memory)
{
	uint64_t bytes;

	sp_json_open(j, "memory", '[');
	for (uint32_t i = 0; i < memory->count; i++) {
		const struct sp_stream *stream = report->run.index.streams[memory->list[i]];

		if (!sp_memory_in(&report->run, &report->totals, memory->list[i], step->start_ns,
				  step->end_ns, &bytes))
			continue;
		sp_json_open(j, NULL, '{');
		sp_json_count(j, "pid", report->run.index.images[stream->image].pid);
		sp_json_string(j, "role", i < memory->own ? "trainer" : "worker",
			       i < memory->own ? 7 : 6);
		sp_json_count(j, "rss_bytes", bytes);
		sp_json_close(j, '}');
	}
	sp_json_close(j, ']');
}

/* Like a row of the table, but phases and memory are nested objects. */
static void step_json(struct sp_out *out, const struct sp_report *report,
		      const struct sp_step *step, const struct sp_memory_streams *memory,
		      const struct sp_cell cells[CELLS])
{
	struct sp_json *j = &out->json;

	sp_json_open(j, NULL, '{');
	sp_json_count(j, "index", cells[INDEX].count);
	sp_json_count(j, "epoch", cells[EPOCH].count);
	sp_json_signed(j, "start_ns", cells[START].value);
	sp_json_count(j, "wall_ns", cells[WALL].count);
	sp_json_string(j, "kind", cells[KIND].text, cells[KIND].bytes);
	sp_json_count(j, "pid", cells[PID].count);
	sp_json_count(j, "tid", cells[TID].count);
	count_or_null(j, "rss_bytes", &cells[MEMORY]);
	count_or_null(j, "workers_rss_bytes", &cells[WORKERS]);
	memory_json(j, report, step, memory);
	sp_json_open(j, "parts", '{');
	for (int part = 0; part < SP_ACCOUNT_PHASES; part++)
		count_or_null(j, sp_account_name((enum sp_account_phase)part),
			      &cells[PARTS + part]);
	sp_json_close(j, '}');
	for (int i = GPU; i < CELLS; i++) {
		if (cells[i].is_null)
			sp_json_null(j, all_columns[i].key);
		else
			sp_json_count(j, all_columns[i].key, cells[i].count);
	}
	sp_json_close(j, '}');
}

static bool has_gpu(const struct sp_training *training)
{
	return SP_ANY(t, training->count, training->trainers[t].gpu.steps);
}

/* A terminal gets only the phases that the run has. */
static void choose_columns(const struct sp_report *report, struct sp_column columns[CELLS])
{
	const struct sp_training *training = &report->training;

	memcpy(columns, all_columns, sizeof(all_columns));
	for (int part = 0; part < SP_ACCOUNT_PHASES; part++)
		if (sp_training_source(training, (enum sp_account_phase)part) == SP_FROM_NOTHING)
			columns[PARTS + part].title = NULL;
	columns[PARTS + SP_ACCOUNT_validation].title = NULL;
	if (!report->totals.stages[SP_STAGE_memory].calls)
		columns[MEMORY].title = NULL;
	if (!report->totals.stages[SP_STAGE_memory].calls || report->totals.processes < 2)
		columns[WORKERS].title = NULL;
	for (int i = GPU; i < CELLS && !has_gpu(training); i++)
		columns[i].title = NULL;
	if (sp_training_end(training) == SP_STEP_BY_GRAPH)
		columns[GPU_IDLE].title = NULL;
	if (training->count < 2)
		columns[PID].title = columns[TID].title = NULL;
}

/* The phases of every training, and those that take much of this one, stay longest. */
static unsigned char importance_of(enum sp_account_phase part, const struct sp_account *sum)
{
	if (part == SP_ACCOUNT_loader_wait || part == SP_ACCOUNT_forward ||
	    part == SP_ACCOUNT_backward || part == SP_ACCOUNT_optimizer)
		return 3;
	return (double)sum->ns[part] >= MUCH_SHARE * (double)sp_account_total(sum) ? 2 : 0;
}

static void choose_importance(const struct sp_report *report, unsigned char ret[CELLS])
{
	struct sp_account sum = sp_training_account(&report->training);

	memset(ret, 0, CELLS);
	ret[PID] = ret[TID] = ret[INDEX] = ret[WALL] = 4;
	ret[GPU_BUSY] = ret[LOST_WAIT] = 1;
	for (int part = 0; part < SP_ACCOUNT_PHASES; part++)
		ret[PARTS + part] = importance_of((enum sp_account_phase)part, &sum);
}

SP_VALUE(by_index, struct sp_step_rows, UINT64_MAX - i)
SP_VALUE(by_wall, struct sp_step_rows, sp_step_wall_ns(sp_step_of_row(&rows->list[i])))
#define SP_ACCOUNT(name, title, missing, is)                                                       \
	SP_VALUE(by_##name, struct sp_step_rows,                                                   \
		 sp_step_of_row(&rows->list[i])->account.ns[SP_ACCOUNT_##name])
#include "analyzer/steps/account.def"
#undef SP_ACCOUNT

static const struct sp_sort_key keys[] = {
	{"index", "index", N_("step"), by_index},
	{"wall", "wall_ns", N_("wall"), by_wall},
#define SP_ACCOUNT(name, title, missing, is) {#name, #name "_ns", title, by_##name},
#include "analyzer/steps/account.def"
#undef SP_ACCOUNT
};

/* Rows are mostly grouped by trainer: *of is the trainer whose processes are in `memory`. */
static int find_memory(const struct sp_report *report, const struct sp_trainer *trainer,
		       const struct sp_trainer **of, struct sp_memory_streams *memory)
{
	if (*of == trainer)
		return 0;
	sp_memory_streams_finish(memory);
	*of = trainer;
	return sp_memory_find(memory, &report->totals, &report->training,
			      report->run.index.streams[trainer->stream]->image);
}

static int show_rows(const struct sp_report *report, const struct sp_step_rows *rows,
		     struct sp_out *out, const uint32_t *order, uint32_t limit)
{
	struct sp_memory_streams memory = {.list = NULL};
	const struct sp_trainer *of = NULL;
	unsigned char importance[CELLS];
	struct sp_column columns[CELLS];
	int r;

	choose_columns(report, columns);
	choose_importance(report, importance);
	out->importance = importance;
	r = sp_out_table(out, "steps", NULL, columns, CELLS, true);

	for (uint32_t i = 0; r == 0 && i < rows->count && i < limit; i++) {
		const struct sp_step_row *row = &rows->list[order[i]];
		struct sp_cell cells[CELLS];

		r = find_memory(report, row->trainer, &of, &memory);
		if (r < 0)
			break;
		fill(report, row, cells);
		fill_memory(report, sp_step_of_row(row), &memory, cells);
		if (out->format == SP_FORMAT_JSON)
			step_json(out, report, sp_step_of_row(row), &memory, cells);
		else
			r = sp_out_row(out, cells);
	}
	sp_memory_streams_finish(&memory);
	sp_out_table_end(out);
	sp_view_more(out, rows->count > limit ? rows->count - limit : 0);
	return r;
}

#define QUANTILE_COLUMNS(X)                                                                        \
	X("part", NULL, TEXT, sp_cell_text(wall ? "wall" : sp_account_name(part)))                 \
	X(NULL, N_("of all steps"), TEXT, sp_cell_text(wall ? _("wall") : sp_account_title(part))) \
	X("mean_ns", N_("mean"), NS, sp_cell_count(s->total_ns / s->count))                        \
	X("p50_ns", N_("p50"), NS, sp_cell_count(s->p50_ns))                                       \
	X("p95_ns", N_("p95"), NS, sp_cell_count(s->p95_ns))                                       \
	X("p99_ns", N_("p99"), NS, sp_cell_count(s->p99_ns))                                       \
	X("max_ns", N_("max"), NS, sp_cell_count(s->max_ns))                                       \
	X("step_mean_ns", N_("steady mean"), NS,                                                   \
	  sp_cell_count((wall ? mean->total_ns : mean->account.ns[part]) / count))

static const struct sp_column quantile_columns[] = {QUANTILE_COLUMNS(SP_COLUMN)};
#define Q_CELLS (sizeof(quantile_columns) / sizeof(quantile_columns[0]))

/* `mean`: "a step" of all views. */
static int show_quantile(struct sp_out *out, unsigned part, const struct sp_step_stats *s,
			 const struct sp_step_mean *mean)
{
	bool wall = part == SP_STEP_WALL;
	uint64_t count = mean->count ? mean->count : 1;
	const struct sp_cell cells[] = {QUANTILE_COLUMNS(SP_CELL)};

	return sp_out_row(out, cells);
}

static int show_quantiles(const struct sp_report *report, struct sp_out *out)
{
	struct sp_step_mean mean = sp_step_mean(&report->training);
	struct sp_column columns[Q_CELLS];
	int r;

	memcpy(columns, quantile_columns, sizeof(columns));
	if (!mean.of_steady) /* then it is the mean of all steps */
		columns[Q_CELLS - 1].title = NULL;
	r = sp_out_table(out, "quantiles", NULL, columns, Q_CELLS, false);
	for (int part = SP_STEP_WALL; r == 0 && part >= 0; part--) {
		unsigned which = part == SP_STEP_WALL ? SP_STEP_WALL
						      : SP_ACCOUNT_PHASES - 1 - (unsigned)part;
		struct sp_step_stats stats;

		if (which == SP_ACCOUNT_validation)
			continue;
		r = sp_step_stats(&report->training, which, SP_STEP_KINDS_ALL, &stats);
		if (r == 0 && stats.count)
			r = show_quantile(out, which, &stats, &mean);
	}
	sp_out_table_end(out);
	return r;
}

static void show_slow(const struct sp_report *report, const struct sp_step_rows *rows,
		      struct sp_out *out)
{
	struct sp_step_stats stats;
	char a[SP_NUMBER_BYTES], b[SP_NUMBER_BYTES], step[SP_STEP_TEXT_BYTES];
	uint64_t slow = 0;

	if (sp_step_stats(&report->training, SP_STEP_WALL, SP_STEP_KINDS_ALL, &stats) < 0)
		return;
	for (uint32_t i = 0; i < rows->count; i++)
		slow += by_wall(rows, i) > SP_STEP_SLOW_FACTOR * stats.p50_ns;
	if (rows->count == 0) {
		sp_out_line(out, "no steps: no optimizer step was seen, or none is selected");
		return;
	}
	sp_step_text(step, report, false);
	sp_out_line(out, "a step     %s", step);
	sp_text_count(a, slow);
	sp_text_count(b, rows->count);
	if (out->format == SP_FORMAT_HTML) /* its columns sort by a click */
		sp_out_line(out, "%s of %s steps took over twice the median\n", a, b);
	else
		sp_out_line(out, "%s of %s steps took over twice the median (--sort=wall)\n", a, b);
}

/* The caller that thins rows out reports it. */
static int show_list(const struct sp_report *report, struct sp_out *out, struct sp_step_rows *rows,
		     const struct sp_view_options *options, const struct sp_sort_key *key)
{
	uint32_t *order;
	int r;

	if (options->thin)
		sp_step_rows_thin(rows, options->limit);
	order = sp_order_by(rows->count, key->value, rows);
	r = order ? show_rows(report, rows, out, order, options->limit) : -ENOMEM;
	free(order);
	return r;
}

int sp_view_steps(const struct sp_report *report, struct sp_out *out,
		  const struct sp_view_options *options)
{
	const struct sp_sort_key *key = SP_SORT_FIND(keys, options);
	struct sp_step_rows rows;
	int r;

	if (!key)
		return -EINVAL;
	r = sp_step_rows_gather(&rows, &report->training);
	if (r == 0) {
		sp_run_json(report, out);
		r = show_quantiles(report, out);
		show_slow(report, &rows, out);
	}
	if (r == 0 && rows.folded)
		sp_out_line(out,
			    sp_translate_plural("%u more trainer has no rows here: its steps are "
						"in "
						"the quantiles (--process=PID)\n",
						"%u more trainers have no rows here: their steps "
						"are in the quantiles (--process=PID)\n",
						rows.folded),
			    rows.folded);
	if (r == 0)
		r = show_list(report, out, &rows, options, key);
	sp_step_rows_finish(&rows);
	return r;
}
