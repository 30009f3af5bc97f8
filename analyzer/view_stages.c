#include "analyzer/view.h"

#include <errno.h>
#include <stdlib.h>

#include "analyzer/text.h"

enum {
	NAME, TITLE, CALLS, TOTAL, MEAN, P50, P95, P99, MAX, BYTES, RATE, SHARE, ERRORS,
	ABORTED, CELLS
};

static const struct sp_column columns[CELLS] = {
	[NAME] = {"stage", NULL, SP_CELL_TEXT},
	[TITLE] = {NULL, N_("stage"), SP_CELL_TEXT},
	[CALLS] = {"calls", N_("calls"), SP_CELL_COUNT},
	[TOTAL] = {"total_ns", N_("total"), SP_CELL_NS},
	[MEAN] = {"mean_ns", N_("mean"), SP_CELL_NS},
	[P50] = {"p50_ns", N_("p50"), SP_CELL_NS},
	[P95] = {"p95_ns", N_("p95"), SP_CELL_NS},
	[P99] = {"p99_ns", N_("p99"), SP_CELL_NS},
	[MAX] = {"max_ns", N_("max"), SP_CELL_NS},
	[BYTES] = {"bytes", N_("bytes"), SP_CELL_BYTES},
	[RATE] = {"bytes_per_s", N_("MB/s"), SP_CELL_RATE},
	[SHARE] = {"share", N_("share"), SP_CELL_SHARE},
	[ERRORS] = {"errors", NULL, SP_CELL_COUNT},
	[ABORTED] = {"aborted", NULL, SP_CELL_COUNT},
};

static uint64_t quantile(const struct sp_report *report, uint32_t stage, uint32_t permille)
{
	uint64_t ns = sp_hist_quantile(&report->part.hists[stage], permille);

	return ns < report->stages[stage].max_ns ? ns : report->stages[stage].max_ns;
}

static int show_row(const struct sp_report *report, struct sp_out *out, uint32_t stage)
{
	const struct sp_sums *s = &report->stages[stage];
	struct sp_cell cells[CELLS] = {
		[NAME] = sp_cell_text(sp_stage_name(stage)),
		[TITLE] = sp_cell_text(sp_stage_title(stage)),
		[CALLS] = sp_cell_count(s->calls),
		[TOTAL] = sp_cell_count(s->total_ns),
		[MEAN] = sp_cell_count(s->total_ns / s->calls),
		[P50] = sp_cell_count(quantile(report, stage, 500)),
		[P95] = sp_cell_count(quantile(report, stage, 950)),
		[P99] = sp_cell_count(quantile(report, stage, 990)),
		[MAX] = sp_cell_count(s->max_ns),
		[BYTES] = sp_cell_null(),
		[RATE] = sp_cell_null(),
		[SHARE] = sp_cell_ratio(s->total_ns, report->thread_ns),
		[ERRORS] = sp_cell_count(s->errors),
		[ABORTED] = sp_cell_count(s->aborted),
	};

	/*
	 * It may begin before the thread's file does; a GPU's time is no thread's; and ranges lie in each other, so that
	 * their sum may be more than all there is.
	 */
	if (stage == SP_STAGE_range || stage >= SP_STAGE_off || (stage >= SP_STAGE_gpu_kernel && stage <= SP_STAGE_gpu_lost))
		cells[SHARE] = sp_cell_null();
	if (sp_stage_has_bytes(stage))
		cells[BYTES] = sp_cell_count(s->bytes);
	if (sp_stage_has_rate(stage))
		cells[RATE] = sp_cell_rate(s->bytes, s->total_ns);
	return sp_out_row(out, cells);
}

static uint64_t by_total(const void *context, uint32_t i)
{
	return ((const struct sp_report *)context)->stages[i].total_ns;
}

static uint64_t by_calls(const void *context, uint32_t i)
{
	return ((const struct sp_report *)context)->stages[i].calls;
}

static uint64_t by_max(const void *context, uint32_t i)
{
	return ((const struct sp_report *)context)->stages[i].max_ns;
}

static uint64_t by_bytes(const void *context, uint32_t i)
{
	return ((const struct sp_report *)context)->stages[i].bytes;
}

static uint64_t by_mean(const void *context, uint32_t i)
{
	const struct sp_sums *s = &((const struct sp_report *)context)->stages[i];

	return s->calls ? s->total_ns / s->calls : 0;
}

static const struct sp_sort_key keys[] = {
	{"total", by_total}, {"calls", by_calls}, {"mean", by_mean},
	{"max", by_max},     {"bytes", by_bytes},
};

static void show_share(const struct sp_report *report, struct sp_out *out)
{
	char a[SP_NUMBER_BYTES];

	sp_out_line(out, "share: part of the lives of all threads added up, %s",
		    sp_text_ns(a, report->thread_ns));
}

int sp_stages_show(const struct sp_report *report, struct sp_out *out,
		   const struct sp_view_options *options)
{
	const struct sp_sort_key *key = SP_SORT_FIND(keys, options->sort);
	uint32_t *order = key ? sp_order_by(SP_STAGES, key->value, report) : NULL;
	int r = !key ? -EINVAL : !order ? -ENOMEM : 0;
	uint32_t shown = 0;

	if (r == 0)
		r = sp_out_table(out, "stages", NULL, columns, CELLS, true);
	for (uint32_t i = 0; r == 0 && i < SP_STAGES && shown < options->limit; i++) {
		if (report->stages[order[i]].calls == 0)
			continue;
		/* Samples are no calls: for a reader, and for the page that holds both, they are in other views. */
		if (order[i] == SP_STAGE_memory && (sp_out_is_read(out) || out->is_part))
			continue;
		r = show_row(report, out, order[i]);
		shown++;
	}
	if (order) {
		sp_out_table_end(out);
		show_share(report, out);
	}
	free(order);
	return r;
}

int sp_view_stages(const struct sp_report *report, struct sp_out *out,
		   const struct sp_view_options *options)
{
	sp_run_json(report, out);
	return sp_stages_show(report, out, options);
}
