#include "analyzer/view.h"

#include <string.h>

#include "analyzer/step_stats.h"
#include "analyzer/text.h"
#include "analyzer/translate.h"

enum { PART, TITLE, TIME, SHARE, STEP, GPU, SOURCE, WHY, TOLD, CELLS };

static const struct sp_column all_columns[CELLS] = {
	[PART] = {"part", NULL, SP_CELL_TEXT},
	[TITLE] = {NULL, N_("training"), SP_CELL_TEXT},
	[TIME] = {"ns", N_("time"), SP_CELL_NS},
	[SHARE] = {"share", N_("share"), SP_CELL_SHARE},
	[STEP] = {"step_mean_ns", N_("a step"), SP_CELL_NS},
	[GPU] = {"gpu_ns", N_("on the GPU"), SP_CELL_NS},
	[SOURCE] = {"source", NULL, SP_CELL_TEXT},
	[WHY] = {"reason", NULL, SP_CELL_TEXT},
	[TOLD] = {NULL, N_("source"), SP_CELL_TEXT},
};

static void count_json(struct sp_out *out, const char *key, uint64_t steps, uint64_t n)
{
	if (steps)
		sp_json_count(&out->json, key, n);
	else
		sp_json_null(&out->json, key);
}

/* Epochs of one trainer that selected steps lie in. */
static uint64_t trainer_epochs(const struct sp_report *report, const struct sp_trainer *trainer)
{
	uint64_t epochs = 0, last = UINT64_MAX;

	for (uint32_t i = 0; i < trainer->steps.count; i++) {
		if (!sp_step_is_selected(report, trainer, i))
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
		sp_out_line(out, "           each ends with its backward: no optimizer step was seen");
	if (end == SP_STEP_BY_GRAPH)
		sp_out_line(out, "           each ends with the launch of a CUDA graph, and what is in it is not told apart");
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

/* Calls of which this part would be made, whoever made them and when. */
static uint64_t calls_of_part(const struct sp_report *report, enum sp_account_part part)
{
	const struct sp_sums *stages = report->stages;

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

/* A step that is one graph has these parts, unseen. */
static const char *why_missing(const struct sp_report *report, enum sp_account_part part)
{
	bool is_inside = part == SP_ACCOUNT_forward || part == SP_ACCOUNT_backward || part == SP_ACCOUNT_optimizer ||
			 part == SP_ACCOUNT_zero_grad;

	if (is_inside && has_graph_steps(report))
		return _("inside a CUDA graph, where nothing is told apart");
	if (calls_of_part(report, part))
		return _("seen, but none on a training thread in a step");
	return sp_account_missing(part);
}

/* Where stretches were given up, a part without one is not known to have none. */
static struct sp_cell gpu_cell(enum sp_account_part part, const struct sp_gpu_sums *gpu, uint64_t dropped)
{
	bool is_known = gpu && sp_gpu_time_tells(part) && (gpu->launched.ns[part] || !dropped);

	return is_known ? sp_cell_count(gpu->launched.ns[part]) : sp_cell_null();
}

/* gpu: NULL where nothing is known of it. */
static int show_part(const struct sp_report *report, struct sp_out *out, enum sp_account_part part,
		     const struct sp_account *sum, const struct sp_gpu_sums *gpu, uint64_t dropped, uint64_t steps)
{
	enum sp_source_kind source = sp_training_source(&report->training, part);
	const char *missing = why_missing(report, part);
	struct sp_cell cells[CELLS] = {
		[PART] = sp_cell_text(sp_account_name(part)),
		[TITLE] = sp_cell_text(sp_account_title(part)),
		[TIME] = sp_cell_count(sum->ns[part]),
		[SHARE] = sp_cell_ratio(sum->ns[part], sp_account_total(sum)),
		[STEP] = sp_cell_count(sum->ns[part] / (steps ? steps : 1)),
		[GPU] = gpu_cell(part, gpu, dropped),
		[SOURCE] = sp_cell_text(sp_source_name(source)),
		[WHY] = sp_cell_null(),
		[TOLD] = sp_cell_text(sp_source_name(source)),
	};

	if (part == SP_ACCOUNT_loader_wait && sp_training_is_unfed(&report->training))
		cells[WHY] = cells[TOLD] = sp_cell_text(_("no DataLoader here: queues, pipes, reads, decoding"));
	if (source == SP_FROM_NOTHING) {
		cells[TIME] = cells[SHARE] = cells[STEP] = cells[GPU] = sp_cell_null();
		cells[WHY] = cells[TOLD] = sp_cell_text(missing);
	}
	return sp_out_row(out, cells);
}

/* Between graphs that are steps something may run, of which nothing is known: that is not idle. */
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
		sp_json_string(j, "reason", sp_gpu_time_missing(report),
			       strlen(sp_gpu_time_missing(report)));
	sp_json_close(j, '}');
}

static void busy_lines(struct sp_out *out, const struct sp_gpu_sums *gpu)
{
	char a[SP_NUMBER_BYTES], b[SP_NUMBER_BYTES], c[SP_NUMBER_BYTES];

	sp_out_line(out, "GPU        busy %s of %s in steps, idle %s",
		    sp_text_ns(a, gpu->busy_ns), sp_text_ns(b, gpu->wall_ns),
		    sp_text_ns(c, gpu->wall_ns - gpu->busy_ns));
	sp_out_line(out, "           of the loader wait %s lost: nothing ran; %s hidden behind work",
		    sp_text_ns(a, gpu->lost_wait_ns), sp_text_ns(b, gpu->hidden_wait_ns));
}

static void graph_lines(struct sp_out *out, const struct sp_gpu_sums *gpu)
{
	char a[SP_NUMBER_BYTES], b[SP_NUMBER_BYTES], c[SP_NUMBER_BYTES];

	sp_out_line(out, "GPU        in graphs %s of %s in steps, in none %s",
		    sp_text_ns(a, gpu->busy_ns), sp_text_ns(b, gpu->wall_ns),
		    sp_text_ns(c, gpu->wall_ns - gpu->busy_ns));
	sp_out_line(out, "           copies and kernels between graphs are not timed: in no graph is not idle");
	sp_out_line(out, "           of the loader wait %s with no graph running; %s hidden behind graphs",
		    sp_text_ns(a, gpu->lost_wait_ns), sp_text_ns(b, gpu->hidden_wait_ns));
}

static void gpu_lines(const struct sp_report *report, struct sp_out *out, const struct sp_gpu_sums *gpu,
		      uint64_t dropped)
{
	char a[SP_NUMBER_BYTES];

	if (!gpu)
		return;
	if (has_graph_steps(report))
		graph_lines(out, gpu);
	else
		busy_lines(out, gpu);
	if (gpu->graph_ns)
		sp_out_line(out, "           %s of the row other are CUDA graphs: forward, backward and optimizer in one",
			    sp_text_ns(a, gpu->graph_ns));
	if (dropped)
		sp_out_line(out, "           %s stretches of work could not be timed: all this is too low",
			    sp_text_count(a, dropped));
}

static int show_account(const struct sp_report *report, struct sp_out *out, uint64_t steps,
			const struct sp_gpu_sums *gpu, uint64_t dropped)
{
	struct sp_account sum = sp_training_account(report);
	struct sp_column columns[CELLS];
	int r;

	memcpy(columns, all_columns, sizeof(columns));
	if (!gpu)
		columns[GPU].title = NULL;
	r = sp_out_table(out, "account", NULL, columns, CELLS, false);

	for (int part = 0; r == 0 && steps && part < SP_ACCOUNT_PARTS; part++)
		r = show_part(report, out, (enum sp_account_part)part, &sum, gpu, dropped, steps);
	if (r == 0)
		sp_out_table_end(out);
	if (r == 0 && steps)
		sp_out_line(out, "share: part of the training threads' time, "
				 "from the first step's start to the last one's end\n");
	return r;
}

int sp_account_show(const struct sp_report *report, struct sp_out *out)
{
	struct sp_gpu_sums sums;
	uint64_t dropped;
	const struct sp_gpu_sums *gpu = sp_gpu_time_sum(report, &sums, &dropped) ? &sums : NULL;
	struct sp_step_stats all, steady;
	int r = sp_step_stats(report, SP_STEP_WALL, SP_STEP_KINDS_ALL, &all);

	if (r == 0)
		r = sp_step_stats(report, SP_STEP_WALL, 1u << SP_STEP_STEADY, &steady);
	if (r < 0)
		return r;
	steps_json(report, out, &all, &steady);
	gpu_json(report, out, gpu, dropped);
	steps_lines(report, out, &all, &steady);
	gpu_lines(report, out, gpu, dropped);
	if (all.count == 0 && sp_out_is_read(out)) {
		sp_out_line(out, "%s", "");
		return 0;
	}
	sp_out_line(out, "%s", "");
	return show_account(report, out, all.count, gpu, dropped);
}
