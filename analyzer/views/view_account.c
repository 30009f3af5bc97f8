/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/views/view.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/gpu/gpu_sums.h"
#include "analyzer/training/life.h"
#include "analyzer/training/step_stats.h"
#include "analyzer/text/text.h"
#include "analyzer/text/translate.h"

enum { PART, TITLE, TIME, SHARE, STEP, GPU, ENDS, BESIDE, SOURCE, WHY, REPORTED, CELLS };

static const struct sp_column all_columns[CELLS] = {
	[PART] = {"part", NULL, SP_CELL_TEXT},
	[TITLE] = {NULL, N_("training"), SP_CELL_TEXT},
	[TIME] = {"ns", N_("time"), SP_CELL_NS},
	[SHARE] = {"share", N_("share"), SP_CELL_SHARE},
	[STEP] = {"step_mean_ns", N_("a step"), SP_CELL_NS},
	[GPU] = {"gpu_ns", N_("on the GPU"), SP_CELL_NS},
	[ENDS] = {"outside_steps_ns", NULL, SP_CELL_NS},
	[BESIDE] = {"beside_ns", NULL, SP_CELL_NS},
	[SOURCE] = {"source", NULL, SP_CELL_TEXT},
	[WHY] = {"reason", NULL, SP_CELL_TEXT},
	[REPORTED] = {NULL, N_("source"), SP_CELL_TEXT},
};

static void count_json(struct sp_out *out, const char *key, uint64_t steps, uint64_t n)
{
	if (steps)
		sp_json_count(&out->json, key, n);
	else
		sp_json_null(&out->json, key);
}

/* The number of epochs of one trainer that contain selected steps. */
static uint64_t trainer_epochs(const struct sp_report *report, const struct sp_trainer *trainer)
{
	uint64_t epochs = 0, last = UINT64_MAX;

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

/* As in JSON. */
static const char *end_name(enum sp_step_end end)
{
	static const char *const names[] = {"optimizer", "backward", "graph"};

	return names[end];
}

static void show_end(struct sp_out *out, enum sp_step_end end)
{
	if (end == SP_STEP_BY_BACKWARD)
		sp_out_line(out, "           each ends with its backward: no optimizer step was "
				 "seen");
	if (end == SP_STEP_BY_GRAPH)
		sp_out_line(out, "           each ends with the launch of a CUDA graph; the phases "
				 "inside it are not known");
}

static void steps_json(const struct sp_report *report, struct sp_out *out,
		       const struct sp_step_stats *all, const struct sp_step_stats *steady)
{
	const char *end = end_name(sp_training_end(&report->training));
	struct sp_json *j = &out->json;

	if (out->format != SP_FORMAT_JSON)
		return;
	sp_json_open(j, "steps", '{');
	sp_json_count(j, "count", all->count);
	sp_json_count(j, "trainers", report->training.count);
	count_json(out, "epochs", all->count, epochs_of(report));
	count_json(out, "wall_ns_total", all->count, all->total_ns);
	count_json(out, "wall_ns_p50", all->count, all->p50_ns);
	count_json(out, "wall_ns_p95", all->count, all->p95_ns);
	count_json(out, "wall_ns_p99", all->count, all->p99_ns);
	count_json(out, "wall_ns_max", all->count, all->max_ns);
	sp_json_count(j, "steady_count", steady->count);
	count_json(out, "steady_wall_ns_p50", steady->count, steady->p50_ns);
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

static void steps_lines(const struct sp_report *report, struct sp_out *out,
			const struct sp_step_stats *all, const struct sp_step_stats *steady)
{
	char a[SP_NUMBER_BYTES], b[SP_NUMBER_BYTES], c[SP_NUMBER_BYTES], d[SP_NUMBER_BYTES];
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
	if (steady->count && steady->count != all->count)
		sp_out_line(out, "           %s of them steady, p50 %s",
			    sp_text_count(a, steady->count), sp_text_ns(b, steady->p50_ns));
	if (report->training.count > 1)
		sp_out_line(out, "           of %u training threads, added up",
			    report->training.count);
	show_end(out, sp_training_end(&report->training));
}

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
	bool is_known = gpu && sp_gpu_time_tells(part) && (gpu->launched.ns[part] || !dropped);

	return is_known ? sp_cell_count(gpu->launched.ns[part]) : sp_cell_null();
}

/* Parts that few jobs have: no row says that they are not there. */
static bool is_rare(enum sp_account_phase part)
{
	return part == SP_ACCOUNT_loss || part == SP_ACCOUNT_evaluation ||
	       part == SP_ACCOUNT_environment || part == SP_ACCOUNT_bookkeeping ||
	       part == SP_ACCOUNT_compile;
}

static uint64_t saved_beside(const struct sp_training *training)
{
	uint64_t ns = 0;

	for (uint32_t t = 0; t < training->count; t++)
		ns += training->trainers[t].steps.saved_beside_ns;
	return ns;
}

/* gpu: NULL where the device's time is unknown. */
static int show_part(const struct sp_report *report, struct sp_out *out, enum sp_account_phase part,
		     const struct sp_account *sum, const struct sp_gpu_sums *gpu, uint64_t dropped,
		     uint64_t steps)
{
	enum sp_source_kind source = sp_training_source(&report->training, part);
	const char *missing = why_missing(report, part);
	struct sp_account ends = sp_training_ends(&report->training);
	uint64_t beside_ns = saved_beside(&report->training);
	char beside[128], number[SP_NUMBER_BYTES];
	struct sp_cell cells[CELLS] = {
		[PART] = sp_cell_text(sp_account_name(part)),
		[TITLE] = sp_cell_text(sp_account_title(part)),
		[TIME] = sp_cell_count(sum->ns[part]),
		[SHARE] = sp_cell_ratio(sum->ns[part], sp_account_total(sum)),
		[STEP] = sp_cell_count(sum->ns[part] / (steps ? steps : 1)),
		[GPU] = gpu_cell(part, gpu, dropped),
		[ENDS] = sp_cell_count(ends.ns[part]),
		[BESIDE] = sp_cell_null(),
		[SOURCE] = sp_cell_text(sp_source_name(source)),
		[WHY] = sp_cell_null(),
		[REPORTED] = sp_cell_text(sp_source_name(source)),
	};

	if (part == SP_ACCOUNT_loader_wait && sp_training_is_unfed(&report->training))
		cells[WHY] = cells[REPORTED] = sp_cell_text(_("no DataLoader here: queues, pipes, "
							      "reads, decoding"));
	if (part == SP_ACCOUNT_loader_wait && sp_training_is_fed_by_thread(&report->training))
		cells[WHY] = cells[REPORTED] = sp_cell_text(_("for a DataLoader that another "
							      "thread "
							      "reads"));
	if (part == SP_ACCOUNT_checkpoint && beside_ns)
		cells[BESIDE] = sp_cell_count(beside_ns);
	if (part == SP_ACCOUNT_checkpoint && beside_ns && !sum->ns[part]) {
		source = SP_FROM_NOTHING;
		snprintf(beside, sizeof(beside), _("%s beside training, in another thread"),
			 sp_text_ns(number, beside_ns));
		missing = beside;
	}
	if (source == SP_FROM_NOTHING && is_rare(part) && sp_out_is_read(out))
		return 0;
	if (source == SP_FROM_NOTHING) {
		cells[TIME] = cells[SHARE] = cells[STEP] = cells[GPU] = cells[ENDS] =
			sp_cell_null();
		cells[WHY] = cells[REPORTED] = sp_cell_text(missing);
	}
	return sp_out_row(out, cells);
}

/* Unknown work may run between graphs that are steps, so that time is not idle. */
static void gpu_json(const struct sp_report *report, struct sp_out *out,
		     const struct sp_gpu_sums *gpu, uint64_t dropped)
{
	uint64_t rest_ns = gpu ? gpu->wall_ns - gpu->busy_ns : 0;
	bool is_graph = has_graph_steps(report);
	struct sp_json *j = &out->json;

	if (out->format != SP_FORMAT_JSON)
		return;
	sp_json_open(j, "gpu_time", '{');
	count_json(out, "busy_ns", gpu != NULL, gpu ? gpu->busy_ns : 0);
	count_json(out, "graph_ns", gpu != NULL, gpu ? gpu->graph_ns : 0);
	count_json(out, "idle_ns", gpu && !is_graph, rest_ns);
	count_json(out, "not_in_graph_ns", gpu && is_graph, rest_ns);
	count_json(out, "lost_wait_ns", gpu != NULL, gpu ? gpu->lost_wait_ns : 0);
	count_json(out, "hidden_wait_ns", gpu != NULL, gpu ? gpu->hidden_wait_ns : 0);
	count_json(out, "queued_mean_ns", gpu != NULL, gpu ? gpu->queued_ns / gpu->spans : 0);
	count_json(out, "spans", gpu != NULL, gpu ? gpu->spans : 0);
	count_json(out, "spans_given_up", gpu != NULL, dropped);
	if (gpu)
		sp_json_null(j, "reason");
	else
		sp_json_string(j, "reason",
			       sp_gpu_time_missing(&report->training, report->totals.stages),
			       strlen(sp_gpu_time_missing(&report->training,
							  report->totals.stages)));
	sp_json_close(j, '}');
}

static void busy_lines(struct sp_out *out, const struct sp_gpu_sums *gpu)
{
	char a[SP_NUMBER_BYTES], b[SP_NUMBER_BYTES], c[SP_NUMBER_BYTES];

	sp_out_line(out, "GPU        busy %s of %s in steps, idle %s", sp_text_ns(a, gpu->busy_ns),
		    sp_text_ns(b, gpu->wall_ns), sp_text_ns(c, gpu->wall_ns - gpu->busy_ns));
	sp_out_line(out, "           of the input wait %s lost: nothing ran; %s hidden by work",
		    sp_text_ns(a, gpu->lost_wait_ns), sp_text_ns(b, gpu->hidden_wait_ns));
}

static void graph_lines(struct sp_out *out, const struct sp_gpu_sums *gpu)
{
	char a[SP_NUMBER_BYTES], b[SP_NUMBER_BYTES], c[SP_NUMBER_BYTES];

	sp_out_line(out, "GPU        in graphs %s of %s in steps, in none %s",
		    sp_text_ns(a, gpu->busy_ns), sp_text_ns(b, gpu->wall_ns),
		    sp_text_ns(c, gpu->wall_ns - gpu->busy_ns));
	sp_out_line(out, "           copies and kernels between graphs are not timed: in no graph "
			 "is not idle");
	sp_out_line(out,
		    "           of the input wait %s with no graph running; %s hidden by graphs",
		    sp_text_ns(a, gpu->lost_wait_ns), sp_text_ns(b, gpu->hidden_wait_ns));
}

static void gpu_lines(const struct sp_report *report, struct sp_out *out,
		      const struct sp_gpu_sums *gpu, uint64_t dropped)
{
	char a[SP_NUMBER_BYTES];

	if (!gpu)
		return;
	if (has_graph_steps(report))
		graph_lines(out, gpu);
	else
		busy_lines(out, gpu);
	if (gpu->graph_ns)
		sp_out_line(out,
			    "           %s of the row other are CUDA graphs: forward, backward and "
			    "optimizer in one",
			    sp_text_ns(a, gpu->graph_ns));
	if (dropped)
		sp_out_line(out,
			    "           %s stretches of work could not be timed: all this is too "
			    "low",
			    sp_text_count(a, dropped));
}

/* For programs: people read life_line(). */
static int life_table(struct sp_out *out, const struct sp_life *life)
{
	static const struct sp_column columns[] = {
		{"part", NULL, SP_CELL_TEXT},
		{"ns", NULL, SP_CELL_NS},
		{"share", NULL, SP_CELL_SHARE},
	};
	int r = sp_out_table(out, "life", NULL, columns, 3, false);

	for (int part = 0; r == 0 && life->total_ns && part < SP_LIFE_PARTS; part++) {
		const struct sp_cell cells[] = {
			sp_cell_text(sp_life_name((enum sp_life_part)part)),
			sp_cell_count(life->ns[part]),
			sp_cell_ratio(life->ns[part], life->total_ns),
		};

		r = sp_out_row(out, cells);
	}
	return r < 0 ? r : sp_out_table_end(out);
}

static void life_line(struct sp_out *out, const struct sp_life *life)
{
	char line[256], ns[SP_NUMBER_BYTES];
	size_t n = 0;

	for (int part = 0; part < SP_LIFE_PARTS; part++) {
		int more = snprintf(line + n, sizeof(line) - n, "%s%s %s (%.1f %%)",
				    part ? ", " : "", sp_life_title((enum sp_life_part)part),
				    sp_text_ns(ns, life->ns[part]),
				    100 * (double)life->ns[part] / (double)life->total_ns);

		n += more > 0 && (size_t)more < sizeof(line) - n ? (size_t)more : 0;
	}
	sp_out_line(out, "life       of the training process %s:", sp_text_ns(ns, life->total_ns));
	sp_out_line(out, "           %s", line);
}

static int show_life(const struct sp_report *report, struct sp_out *out)
{
	struct sp_life life = sp_training_life(&report->training, &report->totals);

	if (!sp_out_is_read(out))
		return life_table(out, &life);
	if (life.total_ns)
		life_line(out, &life);
	return 0;
}

static int show_account(const struct sp_report *report, struct sp_out *out, uint64_t steps,
			const struct sp_gpu_sums *gpu, uint64_t dropped)
{
	struct sp_account sum = sp_training_account(&report->training);
	struct sp_column columns[CELLS];
	int r;

	memcpy(columns, all_columns, sizeof(columns));
	if (!gpu)
		columns[GPU].title = NULL;
	r = sp_out_table(out, "account", NULL, columns, CELLS, false);

	for (int part = 0; r == 0 && steps && part < SP_ACCOUNT_PHASES; part++)
		r = show_part(report, out, (enum sp_account_phase)part, &sum, gpu, dropped, steps);
	if (r == 0)
		sp_out_table_end(out);
	if (r == 0 && steps)
		sp_out_line(out, "share: part of the training threads' time, "
				 "from the first step's start to the last one's end, with "
				 "evaluation, "
				 "validation and checkpoints before and after\n");
	return r;
}

int sp_account_show(const struct sp_report *report, struct sp_out *out)
{
	struct sp_gpu_sums sums;
	uint64_t dropped;
	const struct sp_gpu_sums *gpu =
		sp_gpu_time_sum(&report->training, &sums, &dropped) ? &sums : NULL;
	struct sp_step_stats all, steady;
	int r = sp_step_stats(&report->training, SP_STEP_WALL, SP_STEP_KINDS_ALL, &all);

	if (r == 0)
		r = sp_step_stats(&report->training, SP_STEP_WALL, 1u << SP_STEP_STEADY, &steady);
	if (r < 0)
		return r;
	steps_json(report, out, &all, &steady);
	gpu_json(report, out, gpu, dropped);
	steps_lines(report, out, &all, &steady);
	gpu_lines(report, out, gpu, dropped);
	r = show_life(report, out);
	if (r < 0)
		return r;
	if (all.count == 0 && sp_out_is_read(out)) {
		sp_out_line(out, "%s", "");
		return 0;
	}
	sp_out_line(out, "%s", "");
	return show_account(report, out, all.count, gpu, dropped);
}

struct brief_row {
	const char *title;
	uint64_t ns;
};

static int by_time(const void *a, const void *b)
{
	const struct brief_row *x = a, *y = b;

	return x->ns < y->ns ? 1 : x->ns > y->ns ? -1 : 0;
}

static int show_brief_row(struct sp_out *out, const struct brief_row *row, uint64_t total,
			  uint64_t steps)
{
	struct sp_cell cells[] = {
		sp_cell_text(row->title),
		sp_cell_count(row->ns),
		sp_cell_ratio(row->ns, total),
		sp_cell_count(row->ns / steps),
	};

	return sp_out_row(out, cells);
}

int sp_account_show_brief(const struct sp_report *report, struct sp_out *out, unsigned lines_max)
{
	const struct sp_column columns[] = {all_columns[TITLE], all_columns[TIME],
					    all_columns[SHARE], all_columns[STEP]};
	struct sp_account sum = sp_training_account(&report->training);
	struct brief_row rows[SP_ACCOUNT_PHASES], more = {N_("the others"), 0};
	unsigned count = 0, shown;
	struct sp_step_stats all;
	int r = sp_step_stats(&report->training, SP_STEP_WALL, SP_STEP_KINDS_ALL, &all);

	if (r < 0 || !all.count || lines_max < 4)
		return r;
	for (int i = 0; i < SP_ACCOUNT_PHASES; i++)
		if (sum.ns[i])
			rows[count++] =
				(struct brief_row){sp_account_title((enum sp_account_phase)i),
						   sum.ns[i]};
	qsort(rows, count, sizeof(*rows), by_time);
	shown = count < lines_max ? count : lines_max - 2;
	sp_out_line(out, "%s", "");
	r = sp_out_table(out, "account", NULL, columns, 4, true);
	for (unsigned i = 0; r == 0 && i < count; i++) {
		if (i < shown)
			r = show_brief_row(out, &rows[i], sp_account_total(&sum), all.count);
		else
			more.ns += rows[i].ns;
	}
	more.title = _(more.title);
	if (r == 0 && more.ns)
		r = show_brief_row(out, &more, sp_account_total(&sum), all.count);
	if (r == 0)
		sp_out_table_end(out);
	return r;
}
