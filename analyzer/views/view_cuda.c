/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/views/view.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/gpu/gpu_sums.h"
#include "analyzer/gpu/gpu_process.h"
#include "analyzer/training/step_stats.h"
#include "analyzer/text/text.h"
#include "analyzer/training/training_account.h"

enum {
	PID,
	PART,
	TITLE,
	LAUNCHES,
	COPIES,
	BYTES,
	SETS,
	SET_BYTES,
	SYNCS,
	BLOCKING,
	HOST,
	GPU,
	CELLS
};

static const struct sp_column all_columns[CELLS] = {
	[PID] = {"pid", N_("pid"), SP_CELL_ID},
	[PART] = {"part", NULL, SP_CELL_TEXT},
	[TITLE] = {NULL, N_("part of a step"), SP_CELL_TEXT},
	[LAUNCHES] = {"launches", N_("launches"), SP_CELL_COUNT},
	[COPIES] = {"copies", N_("copies"), SP_CELL_COUNT},
	[BYTES] = {"bytes", N_("bytes"), SP_CELL_BYTES},
	[SETS] = {"sets", NULL, SP_CELL_COUNT},
	[SET_BYTES] = {"set_bytes", NULL, SP_CELL_BYTES},
	[SYNCS] = {"syncs", N_("syncs"), SP_CELL_COUNT},
	[BLOCKING] = {"blocking_copies", N_("blocking copies"), SP_CELL_COUNT},
	[HOST] = {"host_ns", N_("in calls"), SP_CELL_NS},
	[GPU] = {"gpu_ns", N_("on the GPU"), SP_CELL_NS},
};

static uint64_t calls_of(const struct sp_gpu_call_sums *c)
{
	return c->launches + c->copies + c->sets + c->syncs + c->other;
}

static uint32_t pid_of(const struct sp_report *report, const struct sp_gpu_process *process)
{
	return report->run.index.images[process->image].pid;
}

static const char *row_name(const struct sp_gpu_process *process, unsigned part)
{
	if (part < SP_ACCOUNT_PHASES)
		return sp_account_name(part);
	return process->trainer ? "no_step" : "whole_run";
}

static const char *row_title(const struct sp_gpu_process *process, unsigned part)
{
	if (part < SP_ACCOUNT_PHASES)
		return sp_account_title(part);
	return process->trainer ? _("outside of steps") : _("whole run");
}

static int show_part(const struct sp_report *report, struct sp_out *out,
		     const struct sp_gpu_process *process, unsigned part)
{
	const struct sp_gpu_call_sums *c = &process->calls.phases[part];
	const struct sp_gpu_sums *gpu = &process->gpu;
	bool in_step = part < SP_ACCOUNT_PHASES;
	struct sp_cell cells[CELLS] = {
		[PID] = sp_cell_count(pid_of(report, process)),
		[PART] = sp_cell_text(row_name(process, part)),
		[TITLE] = sp_cell_text(row_title(process, part)),
		[LAUNCHES] = sp_cell_count(c->launches),
		[COPIES] = sp_cell_count(c->copies),
		[BYTES] = sp_cell_count(c->bytes),
		[SETS] = sp_cell_count(c->sets),
		[SET_BYTES] = sp_cell_count(c->set_bytes),
		[SYNCS] = sp_cell_count(c->syncs),
		[BLOCKING] = sp_cell_count(c->blocking),
		[HOST] = sp_cell_count(c->host_ns),
		[GPU] = sp_cell_null(),
	};

	/* Work outside of all batches was not timed, so its time is unknown and not 0. */
	if (in_step && gpu->spans &&
	    (gpu->launched.ns[part] || !(c->launches || c->copies || c->sets)))
		cells[GPU] = sp_cell_count(gpu->launched.ns[part]);
	if (!calls_of(c) && !(in_step && gpu->launched.ns[part]))
		return 0;
	return sp_out_row(out, cells);
}

enum { D_PID, D_DEVICE, D_STREAM, D_SPANS, D_BUSY, D_QUEUED, D_CELLS };

static const struct sp_column stream_columns[D_CELLS] = {
	[D_PID] = {"pid", N_("pid"), SP_CELL_ID},
	[D_DEVICE] = {"device", N_("device"), SP_CELL_ID},
	[D_STREAM] = {"stream", N_("stream"), SP_CELL_ID},
	[D_SPANS] = {"spans", N_("stretches"), SP_CELL_COUNT},
	[D_BUSY] = {"busy_ns", N_("busy"), SP_CELL_NS},
	[D_QUEUED] = {"queued_mean_ns", N_("behind the host"), SP_CELL_NS},
};

/* The spans of one stream, from span i on; 0 where an earlier span stands for the stream. */
static struct sp_gpu_sums stream_sums(const struct sp_gpu_time *gpu, uint32_t i)
{
	const struct sp_gpu_span *one = &gpu->spans[i];
	struct sp_gpu_sums sum = {.spans = 0};

	for (uint32_t k = 0; k < gpu->count; k++) {
		const struct sp_gpu_span *s = &gpu->spans[k];

		if (s->stream != one->stream || s->device != one->device || s->pool != one->pool)
			continue;
		if (k < i)
			return (struct sp_gpu_sums){.spans = 0};
		sum.spans++;
		sum.busy_ns += (uint64_t)(s->end_ns - s->start_ns);
		sum.queued_ns += (uint64_t)(s->start_ns - s->host_ns);
	}
	return sum;
}

static int show_streams_of(const struct sp_report *report, struct sp_out *out,
			   const struct sp_gpu_process *process, const struct sp_trainer *trainer)
{
	const struct sp_gpu_time *gpu = &trainer->gpu;
	uint32_t pools =
		0; /* pools that were reported: there are few, and each has a number below 8 */
	int r = 0;

	for (uint32_t i = 0; r == 0 && i < gpu->count && pools != 0xFF; i++) {
		uint32_t pool = 1u << (gpu->spans[i].pool & 7);
		struct sp_gpu_sums sum;

		if (pools & pool)
			continue;
		pools |= pool;
		sum = stream_sums(gpu, i);
		if (!sum.spans)
			continue;
		struct sp_cell cells[D_CELLS] = {
			[D_PID] = sp_cell_count(pid_of(report, process)),
			[D_DEVICE] = sp_cell_count(gpu->spans[i].device),
			[D_STREAM] = sp_cell_count(gpu->spans[i].stream),
			[D_SPANS] = sp_cell_count(sum.spans),
			[D_BUSY] = sp_cell_count(sum.busy_ns),
			[D_QUEUED] = sp_cell_count(sum.queued_ns / sum.spans),
		};

		r = sp_out_row(out, cells);
	}
	return r;
}

static int show_streams(const struct sp_report *report, struct sp_out *out,
			const struct sp_gpu_process *process)
{
	const struct sp_training *training = &report->training;
	int r = 0;

	for (uint32_t t = 0; r == 0 && t < training->count; t++)
		if (report->run.index.streams[training->trainers[t].stream]->image ==
		    process->image)
			r = show_streams_of(report, out, process, &training->trainers[t]);
	return r;
}

enum { M_PID, M_END, M_PEAK, M_PINNED, M_UNMATCHED, M_CELLS };

static const struct sp_column memory_columns[M_CELLS] = {
	[M_PID] = {"pid", N_("pid"), SP_CELL_ID},
	[M_END] = {"end_bytes", N_("device memory at the end"), SP_CELL_BYTES},
	[M_PEAK] = {"peak_bytes", N_("at most"), SP_CELL_BYTES},
	[M_PINNED] = {"pinned_peak_bytes", N_("pinned at most"), SP_CELL_BYTES},
	[M_UNMATCHED] = {"unmatched_frees", N_("frees of unseen memory"), SP_CELL_COUNT},
};

static int show_memory(const struct sp_report *report, struct sp_out *out,
		       const struct sp_gpu_process *process)
{
	const struct sp_gpu_calls *calls = &process->calls;
	struct sp_cell cells[M_CELLS] = {
		[M_PID] = sp_cell_count(pid_of(report, process)),
		[M_END] = sp_cell_count(calls->end_bytes),
		[M_PEAK] = sp_cell_count(calls->peak_bytes),
		[M_PINNED] = sp_cell_count(calls->pinned_peak_bytes),
		[M_UNMATCHED] = sp_cell_count(calls->unmatched),
	};

	return calls->steps ? sp_out_row(out, cells) : 0;
}

enum { S_PID, S_STEP, S_END, S_PEAK, S_CELLS };

static const struct sp_column step_columns[S_CELLS] = {
	[S_PID] = {"pid", NULL, SP_CELL_ID},
	[S_STEP] = {"step", NULL, SP_CELL_ID},
	[S_END] = {"end_bytes", NULL, SP_CELL_BYTES},
	[S_PEAK] = {"peak_bytes", NULL, SP_CELL_BYTES},
};

/* Only JSON has memory step by step. */
static int show_memory_steps(const struct sp_report *report, struct sp_out *out,
			     const struct sp_gpu_process *process)
{
	const struct sp_gpu_calls *calls = &process->calls;
	const struct sp_trainer *trainer = process->trainer;
	int r = 0;

	for (uint32_t i = 0; r == 0 && trainer && calls->steps && i < trainer->steps.count; i++) {
		struct sp_cell cells[S_CELLS] = {
			[S_PID] = sp_cell_count(pid_of(report, process)),
			[S_STEP] = sp_cell_count(sp_step_number(&trainer->steps, i)),
			[S_END] = sp_cell_count(calls->steps[i].end_bytes),
			[S_PEAK] = sp_cell_count(calls->steps[i].peak_bytes),
		};

		if (sp_step_is_selected(&report->training, trainer, i))
			r = sp_out_row(out, cells);
	}
	return r;
}

enum { W_PID, W_EVENT, W_CALLS, W_TOTAL, W_MAX, W_CELLS };

static const struct sp_column stall_columns[W_CELLS] = {
	[W_PID] = {"pid", N_("pid"), SP_CELL_ID},
	[W_EVENT] = {"event", N_("may wait for the GPU, in steps if any"), SP_CELL_TEXT},
	[W_CALLS] = {"calls", N_("calls"), SP_CELL_COUNT},
	[W_TOTAL] = {"total_ns", N_("total"), SP_CELL_NS},
	[W_MAX] = {"max_ns", N_("longest"), SP_CELL_NS},
};

static int show_stalls(const struct sp_report *report, struct sp_out *out,
		       const struct sp_gpu_process *process)
{
	int r = 0;

	for (unsigned i = 0; r == 0 && i < SP_GPU_STALL_KINDS; i++) {
		const struct sp_gpu_stall *stall = &process->calls.stalls[i];
		struct sp_cell cells[W_CELLS] = {
			[W_PID] = sp_cell_count(pid_of(report, process)),
			[W_EVENT] = sp_cell_text(sp_event_info(stall->kind)->name),
			[W_CALLS] = sp_cell_count(stall->calls),
			[W_TOTAL] = sp_cell_count(stall->total_ns),
			[W_MAX] = sp_cell_count(stall->max_ns),
		};

		if (stall->calls)
			r = sp_out_row(out, cells);
	}
	return r;
}

struct cuda_table {
	const char *name;
	const struct sp_column *columns;
	unsigned cells;
	int (*show)(const struct sp_report *report, struct sp_out *out,
		    const struct sp_gpu_process *process);
	bool is_json; /* and not for people */
};

static const struct cuda_table tables[] = {
	{"streams", stream_columns, D_CELLS, show_streams, false},
	{"memory", memory_columns, M_CELLS, show_memory, false},
	{"memory_steps", step_columns, S_CELLS, show_memory_steps, true},
	{"allocations", stall_columns, W_CELLS, show_stalls, false},
};

static int show_table(const struct sp_report *report, struct sp_out *out,
		      const struct sp_gpu_processes *p, const struct cuda_table *table)
{
	int r = sp_out_table(out, table->name, NULL, table->columns, table->cells, false);

	for (uint32_t i = 0; r == 0 && i < p->count && !(table->is_json && sp_out_is_read(out));
	     i++)
		r = table->show(report, out, &p->list[i]);
	sp_out_table_end(out);
	return r;
}

static int show_parts(const struct sp_report *report, struct sp_out *out,
		      const struct sp_gpu_processes *p)
{
	struct sp_column columns[CELLS];
	int r;

	memcpy(columns, all_columns, sizeof(columns));
	if (p->count < 2)
		columns[PID].title = NULL;
	r = sp_out_table(out, "parts", NULL, columns, CELLS, true);
	for (uint32_t i = 0; r == 0 && i < p->count; i++)
		for (unsigned part = 0; r == 0 && part < SP_GPU_CALL_ROWS; part++)
			r = show_part(report, out, &p->list[i], part);
	sp_out_table_end(out);
	return r;
}

/* Writes the tables, each over all processes. */
static int show_all(const struct sp_report *report, struct sp_out *out,
		    const struct sp_gpu_processes *p)
{
	int r = show_parts(report, out, p);

	for (unsigned i = 0; r == 0 && i < sizeof(tables) / sizeof(tables[0]); i++)
		r = show_table(report, out, p, &tables[i]);
	return r;
}

static void show_notes(const struct sp_report *report, struct sp_out *out)
{
	struct sp_gpu_sums gpu;
	uint64_t dropped;

	if (!sp_stages_have_cuda(report->totals.stages)) {
		sp_out_line(out, "no calls of CUDA or HIP: none was seen, or none is selected");
		return;
	}
	if (!sp_gpu_time_sum(&report->training, &gpu, &dropped))
		sp_out_line(out, "No time on the GPU: %s.",
			    _(sp_gpu_time_missing(&report->training, report->totals.stages)));
	sp_out_line(out, "on the GPU: time of a stream from a phase's first work to its last, gaps "
			 "included.");
	if (sp_training_end(&report->training) == SP_STEP_BY_GRAPH)
		sp_out_line(out, "Steps are CUDA graphs; copies and kernels between graphs are not "
				 "timed: in no graph is not idle.");
	sp_out_line(out, "Memory counts allocations: with PyTorch's caching allocator, the memory "
			 "that it holds.");
}

int sp_view_cuda(const struct sp_report *report, struct sp_out *out,
		 const struct sp_view_options *options)
{
	int r;

	if (options->sort)
		return -EINVAL;
	sp_run_json(report, out);
	r = show_all(report, out, &report->gpu_processes);
	if (r == 0)
		show_notes(report, out);
	return r;
}
