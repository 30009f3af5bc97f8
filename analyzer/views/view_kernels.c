/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/views/view.h"

#include <errno.h>
#include <string.h>

#include "analyzer/symbols/demangle.h"
#include "analyzer/gpu/gpu_work.h"
#include "analyzer/text/text.h"

enum {
	NAME,
	SYMBOL,
	WHAT,
	CALLS,
	TOTAL,
	MEAN,
	MAX,
	SHARE,
	BYTES,
	FORWARD,
	BACKWARD,
	OPTIMIZER,
	OTHER,
	CELLS
};

static const struct sp_column columns[CELLS] = {
	[NAME] = {"name", N_("kernel"), SP_CELL_TEXT},
	[SYMBOL] = {"symbol", NULL, SP_CELL_TEXT},
	[WHAT] = {"stage", NULL, SP_CELL_TEXT},
	[CALLS] = {"calls", N_("calls"), SP_CELL_COUNT},
	[TOTAL] = {"total_ns", N_("total"), SP_CELL_NS},
	[MEAN] = {"mean_ns", N_("mean"), SP_CELL_NS},
	[MAX] = {"max_ns", N_("max"), SP_CELL_NS},
	[SHARE] = {"share", N_("of busy"), SP_CELL_SHARE},
	[BYTES] = {"bytes", N_("bytes"), SP_CELL_BYTES},
	[FORWARD] = {"forward_ns", N_("forward"), SP_CELL_NS},
	[BACKWARD] = {"backward_ns", N_("backward"), SP_CELL_NS},
	[OPTIMIZER] = {"optimizer_ns", N_("optimizer"), SP_CELL_NS},
	[OTHER] = {"other_ns", N_("other"), SP_CELL_NS},
};

enum { PID, DEVICE, BUSY, BUSY_SHARE, TRAINING_BUSY, TRAINING_SHARE, DEVICE_CELLS };

static const struct sp_column device_columns[DEVICE_CELLS] = {
	[PID] = {"pid", N_("pid"), SP_CELL_ID},
	[DEVICE] = {"device", N_("GPU"), SP_CELL_ID},
	[BUSY] = {"busy_ns", N_("busy"), SP_CELL_NS},
	[BUSY_SHARE] = {"busy_share", N_("of its time"), SP_CELL_SHARE},
	[TRAINING_BUSY] = {"training_busy_ns", N_("in training"), SP_CELL_NS},
	[TRAINING_SHARE] = {"training_busy_share", N_("of training"), SP_CELL_SHARE},
};

struct kernel_rows {
	const struct sp_report *report;
	const struct sp_gpu_work *work;
};

static uint64_t total_ns(const void *context, uint32_t i)
{
	const struct kernel_rows *list = context;

	return list->work->rows[i].total_ns;
}

static bool is_shown(const void *context, uint32_t i)
{
	const struct kernel_rows *list = context;

	return list->work->rows[i].calls > 0;
}

static void fill_names(const struct kernel_rows *list, uint32_t i, struct sp_cell *cells,
		       char room[SP_DEMANGLED_BYTES])
{
	size_t bytes;
	const char *text;

	cells[SYMBOL] = sp_cell_null();
	if (i >= list->work->labels) {
		cells[NAME] = sp_cell_text(sp_stage_title((enum sp_stage)(i - list->work->labels)));
		return;
	}
	if (i == SP_STRINGS_REST) {
		cells[NAME] = sp_cell_text(_("(other names)"));
		return;
	}
	text = sp_string_table_text(&list->report->run.metadata.labels, i, &bytes);
	cells[SYMBOL] = sp_cell_bytes(text, bytes);
	text = sp_demangle(text, &bytes, room);
	cells[NAME] = sp_cell_bytes(text, bytes);
}

static void fill_parts(const struct kernel_rows *list, const struct sp_gpu_row *row,
		       struct sp_cell *cells)
{
	uint64_t known = row->phase_ns[SP_ACCOUNT_forward] + row->phase_ns[SP_ACCOUNT_backward] +
			 row->phase_ns[SP_ACCOUNT_optimizer];

	for (int cell = FORWARD; cell <= OTHER; cell++)
		cells[cell] = sp_cell_null();
	if (!list->work->has_phases)
		return;
	cells[FORWARD] = sp_cell_count(row->phase_ns[SP_ACCOUNT_forward]);
	cells[BACKWARD] = sp_cell_count(row->phase_ns[SP_ACCOUNT_backward]);
	cells[OPTIMIZER] = sp_cell_count(row->phase_ns[SP_ACCOUNT_optimizer]);
	cells[OTHER] = sp_cell_count(row->total_ns - known);
}

static int show_row(const void *context, struct sp_out *out, uint32_t i)
{
	const struct kernel_rows *list = context;
	const struct sp_gpu_row *row = &list->work->rows[i];
	bool is_kernel = i < list->work->labels;
	char room[SP_DEMANGLED_BYTES];
	enum sp_stage stage =
		is_kernel ? SP_STAGE_gpu_kernel : (enum sp_stage)(i - list->work->labels);
	struct sp_cell cells[CELLS] = {
		[WHAT] = sp_cell_text(sp_stage_name(stage)),
		[CALLS] = sp_cell_count(row->calls),
		[TOTAL] = sp_cell_count(row->total_ns),
		[MEAN] = sp_cell_count(row->total_ns / row->calls),
		[MAX] = sp_cell_count(row->max_ns),
		[SHARE] = sp_cell_ratio(row->total_ns, list->work->busy_ns),
		[BYTES] = is_kernel ? sp_cell_null() : sp_cell_count(row->bytes),
	};

	fill_names(list, i, cells, room);
	fill_parts(list, row, cells);
	return sp_out_row(out, cells);
}

static int show_devices(const struct kernel_rows *list, struct sp_out *out)
{
	int r = sp_out_table(out, "devices", NULL, device_columns, DEVICE_CELLS, false);

	for (uint32_t i = 0; r == 0 && i < list->work->device_count; i++) {
		const struct sp_gpu_device *device = &list->work->devices[i];
		const struct sp_gpu_busy *busy = &device->busy;
		struct sp_cell cells[DEVICE_CELLS] = {
			[PID] = sp_cell_count(list->report->run.index.images[device->image].pid),
			[DEVICE] = sp_cell_count(device->device),
			[BUSY] = sp_cell_count(busy->all.ns),
			[BUSY_SHARE] = sp_cell_ratio(busy->all.ns,
						     (uint64_t)(busy->last_ns - busy->first_ns)),
			[TRAINING_BUSY] =
				busy->window_ns ? sp_cell_count(busy->inside.ns) : sp_cell_null(),
			[TRAINING_SHARE] = sp_cell_ratio(busy->inside.ns, busy->window_ns),
		};

		r = sp_out_row(out, cells);
	}
	if (r == 0)
		r = sp_out_table_end(out);
	return r;
}

static void show_words(const struct kernel_rows *list, struct sp_out *out)
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
	struct kernel_rows list = {.report = report, .work = &report->gpu_work};
	struct sp_view_rows rows =
		{"kernels",	   columns,	    CELLS, .value = total_ns, .is_shown = is_shown,
		 .show = show_row, .context = &list};
	int r = 0;

	if (options->sort)
		return -EINVAL;
	rows.count = list.work->labels + SP_STAGES;
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

void sp_gpu_show(const struct sp_report *report, struct sp_out *out)
{
	const struct sp_gpu_work *work = &report->gpu_work;
	char a[SP_NUMBER_BYTES], b[SP_NUMBER_BYTES];

	if (!sp_gpu_work_is_known(report->totals.stages) || !(report->needs & SP_NEEDS_GPU_WORK))
		return; /* work that was not read is not 0 */
	if (work->training_ns)
		sp_out_line(out,
			    "gpu        busy %.1f%% of the time of training, with %s kernels "
			    "(CUPTI)",
			    100 * (double)work->inside_ns / (double)work->training_ns,
			    sp_text_count(a, work->kernels));
	else
		sp_out_line(out, "gpu        busy for %s, with %s kernels (CUPTI)",
			    sp_text_ns(a, work->busy_ns), sp_text_count(b, work->kernels));
	if (work->lost)
		sp_out_line(out, "           %s kernels and copies were not reported",
			    sp_text_count(a, work->lost));
	if (out->format == SP_FORMAT_JSON) {
		sp_json_open(&out->json, "gpu", '{');
		sp_json_count(&out->json, "kernels", work->kernels);
		sp_json_count(&out->json, "busy_ns", work->busy_ns);
		sp_json_count(&out->json, "training_busy_ns", work->inside_ns);
		sp_json_count(&out->json, "training_ns", work->training_ns);
		sp_json_count(&out->json, "work_lost", work->lost);
		sp_json_close(&out->json, '}');
	}
}
