/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/views/view.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/sections/top_stages.h"
#include "analyzer/text/text.h"
#include "analyzer/workers/thread_role.h"

enum {
	NAME,
	TITLE,
	CALLS,
	TOTAL,
	MEAN,
	P50,
	P95,
	P99,
	MAX,
	BYTES,
	RATE,
	SHARE,
	ERRORS,
	ABORTED,
	TRAINER_NS,
	TRAINER,
	WORKER_NS,
	WORKER,
	CELLS
};

static const struct sp_column all_columns[CELLS] = {
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
	[TRAINER_NS] = {"trainer_ns", NULL, SP_CELL_NS},
	[TRAINER] = {"trainer_share", N_("trainer"), SP_CELL_SHARE},
	[WORKER_NS] = {"worker_ns", NULL, SP_CELL_NS},
	[WORKER] = {"worker_share", N_("workers"), SP_CELL_SHARE},
	[ERRORS] = {"errors", NULL, SP_CELL_COUNT},
	[ABORTED] = {"aborted", NULL, SP_CELL_COUNT},
};

#define FOLDED_SHARE 0.01 /* of the table's time: rows below it fold into one */

/* Calls on the threads of a role, and their lives. */
struct role {
	uint64_t ns[SP_STAGES];
	uint64_t life_ns;
};

struct stages {
	const struct sp_report *report;
	struct role trainer, worker;
	bool is_brief; /* for people, without the rows that --all adds */
};

static void add_stream(struct role *role, const struct sp_report *report, uint32_t stream)
{
	int64_t begin, end;

	for (int i = 0; i < SP_STAGES; i++)
		role->ns[i] += report->totals.streams[stream].stages[i].total_ns;
	sp_stream_life(&report->run, &report->totals, stream, &begin, &end);
	role->life_ns += end > begin ? (uint64_t)(end - begin) : 0;
}

static void sum_roles(struct stages *v)
{
	const struct sp_report *report = v->report;

	for (uint32_t i = 0; i < report->run.index.stream_count; i++) {
		const char *role =
			sp_run_selects(&report->run, i) ? sp_role_of(&report->training, i) : "";

		if (strcmp(role, "trainer") == 0)
			add_stream(&v->trainer, report, i);
		else if (strcmp(role, "worker") == 0)
			add_stream(&v->worker, report, i);
	}
}

/* With trainers, shares of their time take the place of shares of all threads' lives. */
static void choose_columns(const struct stages *v, struct sp_column columns[CELLS])
{
	memcpy(columns, all_columns, sizeof(all_columns));
	if (v->trainer.life_ns)
		columns[SHARE].title = NULL;
	else
		columns[TRAINER].title = NULL;
	if (!v->trainer.life_ns || !v->worker.life_ns)
		columns[WORKER].title = NULL;
}

/* Idle threads wait, and ranges contain the other rows: their sums answer nothing. */
static bool is_apart(uint32_t stage)
{
	return stage == SP_STAGE_wait || stage == SP_STAGE_range;
}

static uint64_t quantile(const struct sp_report *report, uint32_t stage, uint32_t permille)
{
	uint64_t ns = sp_hist_quantile(&report->totals.partial.hists[stage], permille);

	return ns < report->totals.stages[stage].max_ns ? ns : report->totals.stages[stage].max_ns;
}

static void role_cells(struct sp_cell cells[2], const struct role *role, uint32_t stage)
{
	cells[0] = role->life_ns ? sp_cell_count(role->ns[stage]) : sp_cell_null();
	cells[1] = sp_stage_is_of_threads(stage) ? sp_cell_ratio(role->ns[stage], role->life_ns)
						 : sp_cell_null();
}

static int show_row(const struct stages *v, struct sp_out *out, uint32_t stage)
{
	const struct sp_report *report = v->report;
	const struct sp_sums *s = &report->totals.stages[stage];
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
		[SHARE] = sp_cell_ratio(s->total_ns, report->totals.thread_ns),
		[ERRORS] = sp_cell_count(s->errors),
		[ABORTED] = sp_cell_count(s->aborted),
	};

	role_cells(&cells[TRAINER_NS], &v->trainer, stage);
	role_cells(&cells[WORKER_NS], &v->worker, stage);
	if (!sp_stage_is_of_threads(stage))
		cells[SHARE] = sp_cell_null();
	if (sp_stage_has_bytes(stage))
		cells[BYTES] = sp_cell_count(s->bytes);
	if (sp_stage_has_rate(stage))
		cells[RATE] = sp_cell_rate(s->bytes, s->total_ns);
	return sp_out_row(out, cells);
}

static uint64_t by_total(const void *context, uint32_t i)
{
	return ((const struct sp_report *)context)->totals.stages[i].total_ns;
}

static uint64_t by_calls(const void *context, uint32_t i)
{
	return ((const struct sp_report *)context)->totals.stages[i].calls;
}

static uint64_t by_max(const void *context, uint32_t i)
{
	return ((const struct sp_report *)context)->totals.stages[i].max_ns;
}

static uint64_t by_bytes(const void *context, uint32_t i)
{
	return ((const struct sp_report *)context)->totals.stages[i].bytes;
}

static uint64_t by_p50(const void *context, uint32_t i)
{
	return quantile(context, i, 500);
}

static uint64_t by_p95(const void *context, uint32_t i)
{
	return quantile(context, i, 950);
}

static uint64_t by_p99(const void *context, uint32_t i)
{
	return quantile(context, i, 990);
}

static uint64_t by_mean(const void *context, uint32_t i)
{
	const struct sp_sums *s = &((const struct sp_report *)context)->totals.stages[i];

	return s->calls ? s->total_ns / s->calls : 0;
}

/* Waits and ranges come last. */
static uint64_t by_rank(const void *context, uint32_t i)
{
	return is_apart(i) ? 0 : by_total(context, i);
}

static const struct sp_sort_key keys[] = {
	{"total", "total_ns", N_("total"), by_rank}, {"calls", "calls", N_("calls"), by_calls},
	{"mean", "mean_ns", N_("mean"), by_mean},    {"p50", "p50_ns", N_("p50"), by_p50},
	{"p95", "p95_ns", N_("p95"), by_p95},	     {"p99", "p99_ns", N_("p99"), by_p99},
	{"max", "max_ns", N_("max"), by_max},	     {"bytes", "bytes", N_("bytes"), by_bytes},
};

static bool is_shown(const struct stages *v, const struct sp_out *out, uint32_t stage)
{
	if (v->report->totals.stages[stage].calls == 0)
		return false;
	/* Samples are no calls: for a reader, and for the page, they are in other views. */
	if (stage == SP_STAGE_memory && (sp_out_is_read(out) || out->is_part))
		return false;
	return !(v->is_brief && is_apart(stage));
}

static uint64_t shown_ns(const struct stages *v, const struct sp_out *out)
{
	uint64_t ns = 0;

	for (uint32_t i = 0; i < SP_STAGES; i++)
		ns += is_shown(v, out, i) ? v->report->totals.stages[i].total_ns : 0;
	return ns;
}

static void show_waits(const struct stages *v, struct sp_out *out)
{
	const struct sp_sums *waits = &v->report->totals.stages[SP_STAGE_wait];
	char a[SP_NUMBER_BYTES], b[SP_NUMBER_BYTES];

	if (v->is_brief && waits->calls)
		sp_out_line(out,
			    "not in the table (--all): waits of all threads, also idle ones: %s in "
			    "%s calls",
			    sp_text_ns(a, waits->total_ns), sp_text_count(b, waits->calls));
}

static void show_none(const struct stages *v, struct sp_out *out)
{
	sp_out_line(out, "no stages: no read, decoding or call of a GPU was seen, or none is "
			 "selected");
	show_waits(v, out);
}

static void show_shares(const struct stages *v, struct sp_out *out)
{
	char a[SP_NUMBER_BYTES], b[SP_NUMBER_BYTES];

	if (!v->trainer.life_ns)
		sp_out_line(out, "share: of the lifetimes of all threads together, %s",
			    sp_text_ns(a, v->report->totals.thread_ns));
	else if (v->worker.life_ns)
		sp_out_line(out,
			    "trainer, workers: share of the training threads' lifetime, %s, and of "
			    "the workers', %s",
			    sp_text_ns(a, v->trainer.life_ns), sp_text_ns(b, v->worker.life_ns));
	else
		sp_out_line(out, "trainer: share of the training threads' lifetime, %s",
			    sp_text_ns(a, v->trainer.life_ns));
	show_waits(v, out);
}

/* The rows that fold into one line. */
struct folded {
	uint32_t rows;
	uint64_t ns, calls;
};

static void show_folded(struct sp_out *out, const struct folded *f)
{
	char a[SP_NUMBER_BYTES], b[SP_NUMBER_BYTES];

	if (f->rows)
		sp_out_line(out,
			    sp_translate_plural("%u more below 1%%: %s in %s calls (--all)",
						"%u more below 1%% each: %s in %s calls (--all)",
						f->rows),
			    f->rows, sp_text_ns(a, f->ns), sp_text_count(b, f->calls));
}

static int show_rows(const struct stages *v, struct sp_out *out,
		     const struct sp_view_options *options, const uint32_t *order)
{
	bool folds = v->is_brief && !options->sort && options->limit >= SP_STAGES;
	uint64_t least_ns = folds ? (uint64_t)((double)shown_ns(v, out) * FOLDED_SHARE) : 0;
	struct sp_column columns[CELLS];
	struct folded folded = {.rows = 0};
	uint32_t shown = 0;
	int r;

	choose_columns(v, columns);
	r = sp_out_table(out, "stages", NULL, columns, CELLS, true);
	for (uint32_t i = 0; r == 0 && i < SP_STAGES && shown < options->limit; i++) {
		const struct sp_sums *s = &v->report->totals.stages[order[i]];

		if (!is_shown(v, out, order[i]))
			continue;
		if (s->total_ns < least_ns) {
			folded.rows++;
			folded.ns += s->total_ns;
			folded.calls += s->calls;
			continue;
		}
		r = show_row(v, out, order[i]);
		shown++;
	}
	sp_out_table_end(out);
	show_folded(out, &folded);
	if (shown)
		show_shares(v, out);
	else
		show_none(v, out);
	return r;
}

/* A stage is made of a library's calls; a wheel hides its libraries. */
static void show_wrapped_decoders(const struct sp_report *report, struct sp_out *out)
{
	static const unsigned decodes = 1u << SP_PHASE_decode_image | 1u << SP_PHASE_decode_png |
					1u << SP_PHASE_decode_video;

	if (report->totals.phases & decodes)
		sp_out_line(out, "decoding that Python calls began is in the view ranges; a stage "
				 "counts the calls of a library");
}

int sp_stages_check_sort(const struct sp_view_options *options)
{
	return SP_SORT_FIND(keys, options) ? 0 : -EINVAL;
}

int sp_stages_show(const struct sp_report *report, struct sp_out *out,
		   const struct sp_view_options *options)
{
	const struct sp_sort_key *key = SP_SORT_FIND(keys, options);
	uint32_t *order = key ? sp_order_by(SP_STAGES, key->value, report) : NULL;
	int r = !key ? -EINVAL : !order ? -ENOMEM : 0;
	struct stages *v = calloc(1, sizeof(*v));

	r = r == 0 && !v ? -ENOMEM : r;
	if (r == 0) {
		v->report = report;
		v->is_brief = sp_out_is_read(out) && !out->is_part && !options->is_full;
		sum_roles(v);
		r = show_rows(v, out, options, order);
		show_wrapped_decoders(report, out);
	}
	free(v);
	free(order);
	return r;
}

int sp_view_stages(const struct sp_report *report, struct sp_out *out,
		   const struct sp_view_options *options)
{
	sp_run_json(report, out);
	return sp_stages_show(report, out, options);
}
