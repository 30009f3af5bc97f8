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
#include "analyzer/verdict/metrics.h"

#define LIFE_BYTES 512u

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
	static const char *const names[] = {"optimizer", "backward", "graph", "batch"};

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

static void steps_json(const struct sp_report *report, struct sp_out *out,
		       const struct sp_step_stats *all, const struct sp_step_stats *steady,
		       const struct sp_step_mean *mean)
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
	count_json(out, "step_mean_ns", mean->count, sp_step_mean_ns(mean));
	count_json(out, "step_mean_of", mean->count, mean->count);
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
			const struct sp_step_stats *all, const struct sp_step_mean *mean)
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
	sp_step_text(step, mean);
	sp_out_line(out, "a step     %s", step);
}

void sp_step_text(char ret[SP_STEP_TEXT_BYTES], const struct sp_step_mean *mean)
{
	char ns[SP_NUMBER_BYTES], count[SP_NUMBER_BYTES];

	snprintf(ret, SP_STEP_TEXT_BYTES,
		 mean->of_steady ? _("%s, the mean of the %s steady steps")
				 : _("%s, the mean of all %s steps"),
		 sp_text_ns(ns, sp_step_mean_ns(mean)), sp_text_count(count, mean->count));
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

/* The part of communication that other threads' calls of NCCL made in backward. */
static uint64_t nccl_aside(const struct sp_training *training)
{
	uint64_t ns = 0;

	for (uint32_t t = 0; t < training->count; t++)
		for (uint32_t i = 0; i < training->trainers[t].steps.count; i++)
			if (sp_step_is_selected(training, &training->trainers[t], i))
				ns += training->trainers[t].steps.steps[i].nccl_aside_ns;
	return ns;
}

/* Validation lies between steps, never in one. */
static struct sp_cell step_cell(const struct sp_step_mean *mean, enum sp_account_phase part)
{
	bool is_known = mean->count && part != SP_ACCOUNT_validation;

	return is_known ? sp_cell_count(mean->account.ns[part] / mean->count) : sp_cell_null();
}

struct told {
	struct sp_account sum; /* of the training time */
	struct sp_step_mean mean;
	uint64_t steps;
	const struct sp_gpu_sums *gpu; /* NULL where the device's time is unknown */
	uint64_t dropped;
};

static int show_part(const struct sp_report *report, struct sp_out *out, enum sp_account_phase part,
		     const struct told *told)
{
	const struct sp_account *sum = &told->sum;
	enum sp_source_kind source = sp_training_source(&report->training, part);
	const char *missing = why_missing(report, part);
	struct sp_account ends = sp_training_ends(&report->training);
	uint64_t beside_ns = saved_beside(&report->training);
	uint64_t aside_ns = nccl_aside(&report->training);
	char beside[128], number[SP_NUMBER_BYTES];
	struct sp_cell cells[CELLS] = {
		[PART] = sp_cell_text(sp_account_name(part)),
		[TITLE] = sp_cell_text(sp_account_title(part)),
		[TIME] = sp_cell_count(sum->ns[part]),
		[SHARE] = sp_cell_ratio(sum->ns[part], sp_account_total(sum)),
		[STEP] = step_cell(&told->mean, part),
		[PER_STEP] = sp_cell_count(sum->ns[part] / told->steps),
		[GPU] = gpu_cell(part, told->gpu, told->dropped),
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
	if (part == SP_ACCOUNT_grad_sync && aside_ns) {
		snprintf(beside, sizeof(beside),
			 _("%s of it NCCL calls in backward, on other "
			   "threads"),
			 sp_text_ns(number, aside_ns));
		cells[WHY] = cells[REPORTED] = sp_cell_text(beside);
	}
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
		cells[TIME] = cells[SHARE] = cells[STEP] = cells[PER_STEP] = cells[GPU] =
			cells[ENDS] = sp_cell_null();
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

/* For programs: people read a line. */
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

int sp_life_show(const struct sp_report *report, struct sp_out *out, bool is_brief)
{
	struct sp_life life = sp_training_life(&report->training, &report->totals);
	char line[LIFE_BYTES], ns[SP_NUMBER_BYTES], share[SP_NUMBER_BYTES] = "";
	const char *between = "";
	size_t n;

	if (!sp_out_is_read(out))
		return life_table(out, &life);
	if (!life.total_ns)
		return 0;
	sp_text_ns(ns, life.total_ns);
	n = (size_t)(life.processes == 1
			     ? snprintf(line, sizeof(line), _("%s of the training process: "), ns)
			     : snprintf(line, sizeof(line), _("%s of %u training processes: "), ns,
					life.processes));
	for (int part = 0; part < SP_LIFE_PARTS && n < sizeof(line); part++) {
		if (!life.ns[part])
			continue;
		if (!is_brief)
			snprintf(share, sizeof(share), " (%.1f%%)",
				 100 * (double)life.ns[part] / (double)life.total_ns);
		n += (size_t)snprintf(line + n, sizeof(line) - n, "%s%s %s%s", between,
				      sp_life_title((enum sp_life_part)part),
				      sp_text_ns(ns, life.ns[part]), share);
		between = _(", ");
	}
	sp_out_wrapped(out, "life       ", line);
	return 0;
}

/* The last row, for people: the sum of the others. */
static int show_sum(struct sp_out *out, const struct told *told)
{
	struct sp_cell cells[CELLS];

	if (!sp_out_is_read(out))
		return 0;
	for (int i = 0; i < CELLS; i++)
		cells[i] = sp_cell_text("");
	cells[TITLE] = sp_cell_text(_("together"));
	cells[TIME] = sp_cell_count(sp_account_total(&told->sum));
	cells[SHARE] = sp_cell_share(1);
	cells[STEP] = sp_cell_count(sp_step_mean_ns(&told->mean));
	cells[GPU] = told->gpu ? sp_cell_count(told->gpu->busy_ns) : sp_cell_null();
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

static int show_account(const struct sp_report *report, struct sp_out *out, const struct told *told)
{
	struct sp_column columns[CELLS];
	int r;

	memcpy(columns, all_columns, sizeof(columns));
	if (!told->gpu)
		columns[GPU].title = NULL;
	r = sp_out_table(out, "account", NULL, columns, CELLS, false);

	for (int part = 0; r == 0 && told->steps && part < SP_ACCOUNT_PHASES; part++)
		r = show_part(report, out, (enum sp_account_phase)part, told);
	if (r == 0 && told->steps)
		r = show_sum(out, told);
	if (r == 0)
		sp_out_table_end(out);
	if (r == 0 && told->steps)
		show_notes(out, &told->mean);
	return r;
}

int sp_account_show(const struct sp_report *report, struct sp_out *out)
{
	struct told told = {
		.sum = sp_training_account(&report->training),
		.mean = sp_step_mean(&report->training),
	};
	struct sp_step_stats all, steady;
	struct sp_gpu_sums sums;
	int r = sp_step_stats(&report->training, SP_STEP_WALL, SP_STEP_KINDS_ALL, &all);

	if (r == 0)
		r = sp_step_stats(&report->training, SP_STEP_WALL, 1u << SP_STEP_STEADY, &steady);
	if (r < 0)
		return r;
	told.steps = all.count;
	if (sp_gpu_time_sum(&report->training, &sums, &told.dropped))
		told.gpu = &sums;
	steps_json(report, out, &all, &steady, &told.mean);
	gpu_json(report, out, told.gpu, told.dropped);
	steps_lines(report, out, &all, &told.mean);
	gpu_lines(report, out, told.gpu, told.dropped);
	r = sp_life_show(report, out, false);
	if (r < 0)
		return r;
	if (all.count == 0 && sp_out_is_read(out)) {
		sp_out_line(out, "%s", "");
		return 0;
	}
	sp_out_line(out, "%s", "");
	return show_account(report, out, &told);
}

struct brief_row {
	const char *title;
	uint64_t ns, step_ns;
	bool is_outside; /* of any step */
};

static int by_time(const void *a, const void *b)
{
	const struct brief_row *x = a, *y = b;

	return x->ns < y->ns ? 1 : x->ns > y->ns ? -1 : 0;
}

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
			};
	qsort(rows, count, sizeof(*rows), by_time);
	return count;
}

int sp_account_show_brief(const struct sp_report *report, struct sp_out *out, unsigned lines_max)
{
	const struct sp_column columns[] = {all_columns[TITLE], all_columns[TIME],
					    all_columns[SHARE], all_columns[STEP]};
	struct sp_account sum = sp_training_account(&report->training);
	struct sp_step_mean mean = sp_step_mean(&report->training);
	struct brief_row rows[SP_ACCOUNT_PHASES], more = {_("the others"), 0, 0, false};
	struct brief_row all = {_("together"), sp_account_total(&sum), sp_step_mean_ns(&mean),
				false};
	unsigned count, shown;
	int r;

	/* a blank line, the head, and the sum */
	if (!mean.count || lines_max < 5)
		return 0;
	count = brief_rows(&sum, &mean, rows);
	shown = count <= lines_max - 3 ? count : lines_max - 4;
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

#define STARTS_LEAST 0.0005 /* a smaller share is shown as 0.0% */

/* Says how the account's input wait becomes the verdict's; nothing where they are the same. */
void sp_wait_show(const struct sp_metrics *e, struct sp_out *out)
{
	double first = sp_metrics_value(e, SP_METRIC_first_wait_share);
	double hidden = sp_metrics_value(e, SP_METRIC_hidden_wait_share);
	char text[256];
	size_t n;

	if (!e->of[SP_METRIC_input_wait_share].is_known ||
	    !e->of[SP_METRIC_lost_wait_share].is_known ||
	    (first < STARTS_LEAST && hidden < STARTS_LEAST))
		return;
	n = (size_t)snprintf(text, sizeof(text), _("%.1f%% = %.1f%% that costs time"),
			     100 * sp_metrics_value(e, SP_METRIC_input_wait_share),
			     100 * sp_metrics_value(e, SP_METRIC_lost_wait_share));
	if (first >= STARTS_LEAST)
		n += (size_t)snprintf(text + n, sizeof(text) - n,
				      _(" + %.1f%% for first batches of epochs"), 100 * first);
	if (hidden >= STARTS_LEAST)
		snprintf(text + n, sizeof(text) - n, _(" + %.1f%% that the GPU's queue hides"),
			 100 * hidden);
	sp_out_wrapped(out, "input wait ", text);
}
