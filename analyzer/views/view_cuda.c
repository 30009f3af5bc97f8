/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The view `cuda`: calls of CUDA and HIP by phase of a step; or the GPU's work, by kernel.
 */
#include "analyzer/views/view.h"

#include <errno.h>
#include <string.h>

#include "analyzer/gpu/gpu_process.h"
#include "analyzer/gpu/gpu_sums.h"
#include "analyzer/gpu/gpu_work.h"
#include "analyzer/symbols/demangle.h"
#include "analyzer/text/text.h"
#include "analyzer/training/step_stats.h"
#include "analyzer/training/training_account.h"
#include "analyzer/views/run_json.h"

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

/* Work outside of all batches was not timed, so its time is unknown and not 0. */
static bool is_timed(const struct sp_gpu_process *process, unsigned part)
{
	const struct sp_gpu_call_sums *c = &process->calls.phases[part];
	const struct sp_gpu_sums *gpu = &process->gpu;

	return part < SP_ACCOUNT_PHASES && gpu->spans &&
	       (gpu->launched.ns[part] || !(c->launches || c->copies || c->sets));
}

#define PART_COLUMNS(X)                                                                            \
	X("pid", N_("pid"), ID, sp_cell_count(pid_of(report, process)))                            \
	X("part", NULL, TEXT, sp_cell_text(row_name(process, part)))                               \
	X(NULL, N_("part of a step"), TEXT, sp_cell_text(row_title(process, part)))                \
	X("launches", N_("launches"), COUNT, sp_cell_count(c->launches))                           \
	X("copies", N_("copies"), COUNT, sp_cell_count(c->copies))                                 \
	X("bytes", N_("bytes"), BYTES, sp_cell_count(c->bytes))                                    \
	X("sets", NULL, COUNT, sp_cell_count(c->sets))                                             \
	X("set_bytes", NULL, BYTES, sp_cell_count(c->set_bytes))                                   \
	X("syncs", N_("syncs"), COUNT, sp_cell_count(c->syncs))                                    \
	X("blocking_copies", N_("blocking copies"), COUNT, sp_cell_count(c->blocking))             \
	X("host_ns", N_("in calls"), NS, sp_cell_count(c->host_ns))                                \
	X("gpu_ns", N_("on the GPU"), NS,                                                          \
	  is_timed(process, part) ? sp_cell_count(process->gpu.launched.ns[part])                  \
				  : sp_cell_null())

static const struct sp_column part_columns[] = {PART_COLUMNS(SP_COLUMN)};

static int show_part(const struct sp_report *report, struct sp_out *out,
		     const struct sp_gpu_process *process, unsigned part)
{
	const struct sp_gpu_call_sums *c = &process->calls.phases[part];
	const struct sp_cell cells[] = {PART_COLUMNS(SP_CELL)};

	if (!calls_of(c) && !(part < SP_ACCOUNT_PHASES && process->gpu.launched.ns[part]))
		return 0;
	return sp_out_row(out, cells);
}

#define STREAM_COLUMNS(X)                                                                          \
	X("pid", N_("pid"), ID, sp_cell_count(pid_of(report, process)))                            \
	X("device", N_("device"), ID, sp_cell_count(gpu->spans[i].device))                         \
	X("stream", N_("stream"), ID, sp_cell_count(gpu->spans[i].stream))                         \
	X("spans", N_("stretches"), COUNT, sp_cell_count(sum.spans))                               \
	X("busy_ns", N_("busy"), NS, sp_cell_count(sum.busy_ns))                                   \
	X("queued_mean_ns", N_("behind the host"), NS, sp_cell_count(sum.queued_ns / sum.spans))

static const struct sp_column stream_columns[] = {STREAM_COLUMNS(SP_COLUMN)};

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
		const struct sp_cell cells[] = {STREAM_COLUMNS(SP_CELL)};

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

#define MEMORY_COLUMNS(X)                                                                          \
	X("pid", N_("pid"), ID, sp_cell_count(pid_of(report, process)))                            \
	X("end_bytes", N_("device memory at the end"), BYTES, sp_cell_count(calls->end_bytes))     \
	X("peak_bytes", N_("at most"), BYTES, sp_cell_count(calls->peak_bytes))                    \
	X("pinned_peak_bytes", N_("pinned at most"), BYTES,                                        \
	  sp_cell_count(calls->pinned_peak_bytes))                                                 \
	X("unmatched_frees", N_("frees of unseen memory"), COUNT, sp_cell_count(calls->unmatched))

static const struct sp_column memory_columns[] = {MEMORY_COLUMNS(SP_COLUMN)};

static int show_memory(const struct sp_report *report, struct sp_out *out,
		       const struct sp_gpu_process *process)
{
	const struct sp_gpu_calls *calls = &process->calls;
	const struct sp_cell cells[] = {MEMORY_COLUMNS(SP_CELL)};

	return calls->steps ? sp_out_row(out, cells) : 0;
}

#define STEP_COLUMNS(X)                                                                            \
	X("pid", NULL, ID, sp_cell_count(pid_of(report, process)))                                 \
	X("step", NULL, ID, sp_cell_count(sp_step_number(&trainer->steps, i)))                     \
	X("end_bytes", NULL, BYTES, sp_cell_count(calls->steps[i].end_bytes))                      \
	X("peak_bytes", NULL, BYTES, sp_cell_count(calls->steps[i].peak_bytes))

static const struct sp_column step_columns[] = {STEP_COLUMNS(SP_COLUMN)};

/* Only JSON has memory step by step. */
static int show_memory_steps(const struct sp_report *report, struct sp_out *out,
			     const struct sp_gpu_process *process)
{
	const struct sp_gpu_calls *calls = &process->calls;
	const struct sp_trainer *trainer = process->trainer;
	int r = 0;

	for (uint32_t i = 0; r == 0 && trainer && calls->steps && i < trainer->steps.count; i++) {
		const struct sp_cell cells[] = {STEP_COLUMNS(SP_CELL)};

		if (sp_step_is_selected(&report->training, trainer, i))
			r = sp_out_row(out, cells);
	}
	return r;
}

#define STALL_COLUMNS(X)                                                                           \
	X("pid", N_("pid"), ID, sp_cell_count(pid_of(report, process)))                            \
	X("event", N_("may wait for the GPU, in steps if any"), TEXT,                              \
	  sp_cell_text(sp_event_info(stall->kind)->name))                                          \
	X("calls", N_("calls"), COUNT, sp_cell_count(stall->calls))                                \
	X("total_ns", N_("total"), NS, sp_cell_count(stall->total_ns))                             \
	X("max_ns", N_("longest"), NS, sp_cell_count(stall->max_ns))

static const struct sp_column stall_columns[] = {STALL_COLUMNS(SP_COLUMN)};

static int show_stalls(const struct sp_report *report, struct sp_out *out,
		       const struct sp_gpu_process *process)
{
	int r = 0;

	for (unsigned i = 0; r == 0 && i < SP_GPU_STALL_KINDS; i++) {
		const struct sp_gpu_stall *stall = &process->calls.stalls[i];
		const struct sp_cell cells[] = {STALL_COLUMNS(SP_CELL)};

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
	{"streams", SP_COLUMNS_OF(stream_columns), show_streams, false},
	{"memory", SP_COLUMNS_OF(memory_columns), show_memory, false},
	{"memory_steps", SP_COLUMNS_OF(step_columns), show_memory_steps, true},
	{"allocations", SP_COLUMNS_OF(stall_columns), show_stalls, false},
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
	struct sp_column columns[sizeof(part_columns) / sizeof(part_columns[0])];
	int r;

	memcpy(columns, part_columns, sizeof(columns));
	if (p->count < 2)
		columns[0].title = NULL; /* pid */
	r = sp_out_table(out, "parts", NULL, SP_COLUMNS_OF(columns), true);
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

struct kernels {
	const struct sp_report *report;
	const struct sp_gpu_work *work;
};

SP_VALUE(by_total, struct kernels, rows->work->rows[i].total_ns)

static bool has_calls(const void *context, uint32_t i)
{
	return ((const struct kernels *)context)->work->rows[i].calls > 0;
}

/* The name as the GPU's program has it, or for people; symbol: the first of these. */
static struct sp_cell name_cell(const struct kernels *list, uint32_t i, bool is_symbol,
				char room[SP_DEMANGLED_BYTES])
{
	size_t bytes;
	const char *text = sp_string_table_text(&list->report->run.metadata.labels, i, &bytes);

	if (i >= list->work->labels || i == SP_STRINGS_REST) {
		if (is_symbol)
			return sp_cell_null();
		return sp_cell_text(i < list->work->labels
					    ? _("(other names)")
					    : sp_stage_title(i - list->work->labels));
	}
	if (!is_symbol)
		text = sp_demangle(text, &bytes, room);
	return sp_cell_bytes(text, bytes);
}

#define PHASE_CELL(phase) sp_cell_if(list->work->has_phases, row->phase_ns[SP_ACCOUNT_##phase])
#define KERNEL_COLUMNS(X)                                                                          \
	X("name", N_("kernel"), TEXT, name_cell(list, i, false, room))                             \
	X("symbol", NULL, TEXT, name_cell(list, i, true, NULL))                                    \
	X("stage", NULL, TEXT, sp_cell_text(sp_stage_name(stage)))                                 \
	X("calls", N_("calls"), COUNT, sp_cell_count(row->calls))                                  \
	X("total_ns", N_("total"), NS, sp_cell_count(row->total_ns))                               \
	X("mean_ns", N_("mean"), NS, sp_cell_count(row->total_ns / row->calls))                    \
	X("max_ns", N_("max"), NS, sp_cell_count(row->max_ns))                                     \
	X("share", N_("of busy"), SHARE, sp_cell_ratio(row->total_ns, list->work->busy_ns))        \
	X("bytes", N_("bytes"), BYTES, sp_cell_if(!is_kernel, row->bytes))                         \
	X("forward_ns", N_("forward"), NS, PHASE_CELL(forward))                                    \
	X("backward_ns", N_("backward"), NS, PHASE_CELL(backward))                                 \
	X("optimizer_ns", N_("optimizer"), NS, PHASE_CELL(optimizer))                              \
	X("other_ns", N_("other"), NS, sp_cell_if(list->work->has_phases, row->total_ns - known))

static const struct sp_column kernel_columns[] = {KERNEL_COLUMNS(SP_COLUMN)};

static int show_kernel(const void *context, struct sp_out *out, uint32_t i)
{
	const struct kernels *list = context;
	const struct sp_gpu_row *row = &list->work->rows[i];
	bool is_kernel = i < list->work->labels;
	char room[SP_DEMANGLED_BYTES];
	enum sp_stage stage =
		is_kernel ? SP_STAGE_gpu_kernel : (enum sp_stage)(i - list->work->labels);
	uint64_t known = row->phase_ns[SP_ACCOUNT_forward] + row->phase_ns[SP_ACCOUNT_backward] +
			 row->phase_ns[SP_ACCOUNT_optimizer];
	const struct sp_cell cells[] = {KERNEL_COLUMNS(SP_CELL)};

	return sp_out_row(out, cells);
}

#define DEVICE_COLUMNS(X)                                                                          \
	X("pid", N_("pid"), ID, sp_cell_count(list->report->run.index.images[device->image].pid))  \
	X("device", N_("GPU"), ID, sp_cell_count(device->device))                                  \
	X("busy_ns", N_("busy"), NS, sp_cell_count(busy->all.ns))                                  \
	X("busy_share", N_("of its time"), SHARE,                                                  \
	  sp_cell_ratio(busy->all.ns, (uint64_t)(busy->last_ns - busy->first_ns)))                 \
	X("training_busy_ns", N_("in training"), NS, sp_cell_if(busy->window_ns, busy->inside.ns)) \
	X("training_busy_share", N_("of training"), SHARE,                                         \
	  sp_cell_ratio(busy->inside.ns, busy->window_ns))

static const struct sp_column device_columns[] = {DEVICE_COLUMNS(SP_COLUMN)};

static int show_devices(const struct kernels *list, struct sp_out *out)
{
	int r = sp_out_table(out, "devices", NULL, SP_COLUMNS_OF(device_columns), false);

	for (uint32_t i = 0; r == 0 && i < list->work->device_count; i++) {
		const struct sp_gpu_device *device = &list->work->devices[i];
		const struct sp_gpu_busy *busy = &device->busy;
		const struct sp_cell cells[] = {DEVICE_COLUMNS(SP_CELL)};

		r = sp_out_row(out, cells);
	}
	if (r == 0)
		r = sp_out_table_end(out);
	return r;
}

static void show_words(const struct kernels *list, struct sp_out *out)
{
	char a[SP_NUMBER_BYTES];

	if (!sp_gpu_work_is_known(list->report->totals.stages))
		sp_out_line(out, "The trace has no kernels of a GPU: STAGEPROF_CUPTI=1 records "
				 "them.");
	if (list->work->lost)
		sp_out_line(out,
			    "%s kernels and copies are in no row: CUPTI dropped them, or reported "
			    "no time",
			    sp_text_count(a, list->work->lost));
}

int sp_view_kernels(const struct sp_report *report, struct sp_out *out,
		    const struct sp_view_options *options)
{
	struct kernels list = {.report = report, .work = &report->gpu_work};
	struct sp_view_rows rows = {"kernels",
				    SP_COLUMNS_OF(kernel_columns),
				    .count = list.work->labels + SP_STAGES,
				    .value = by_total,
				    .is_shown = has_calls,
				    .show = show_kernel,
				    .context = &list};
	int r = 0;

	if (options->sort)
		return -EINVAL;
	sp_run_json(report, out);
	if (out->format == SP_FORMAT_JSON)
		sp_json_count(&out->json, "gpu_work_lost", list.work->lost);
	if (list.work->device_count)
		r = show_devices(&list, out);
	if (r == 0)
		r = sp_view_rows_show(&rows, out, options->limit);
	if (r == 0)
		show_words(&list, out);
	return r;
}
