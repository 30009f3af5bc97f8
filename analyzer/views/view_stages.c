/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/views/view_stages.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/base/each.h"
#include "analyzer/sections/top_stages.h"
#include "analyzer/text/text.h"
#include "analyzer/views/run_json.h"
#include "analyzer/workers/thread_role.h"

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

/* Idle threads wait and sleep, and ranges contain the other rows, as calls contain times without a
 * core: their sums answer nothing. */
static bool is_apart(uint32_t stage)
{
	return stage == SP_STAGE_wait || stage == SP_STAGE_sleep || stage == SP_STAGE_range ||
	       stage == SP_STAGE_off_core;
}

static uint64_t quantile(const struct sp_report *report, uint32_t stage, uint32_t permille)
{
	uint64_t ns = sp_hist_quantile(&report->totals.partial.hists[stage], permille);

	return ns < report->totals.stages[stage].max_ns ? ns : report->totals.stages[stage].max_ns;
}

/* Null where the time is not that of a thread. */
static struct sp_cell share_cell(uint32_t stage, uint64_t ns, uint64_t of_ns)
{
	return sp_stage_is_of_threads(stage) ? sp_cell_ratio(ns, of_ns) : sp_cell_null();
}

#define COLUMNS(X)                                                                                 \
	X("stage", NULL, TEXT, sp_cell_text(sp_stage_name(stage)))                                 \
	X(NULL, N_("stage"), TEXT, sp_cell_text(sp_stage_title(stage)))                            \
	X("calls", N_("calls"), COUNT, sp_cell_count(s->calls))                                    \
	X("total_ns", N_("total"), NS, sp_cell_count(s->total_ns))                                 \
	X("mean_ns", N_("mean"), NS, sp_cell_count(s->total_ns / s->calls))                        \
	X("p50_ns", N_("p50"), NS, sp_cell_count(quantile(report, stage, 500)))                    \
	X("p95_ns", N_("p95"), NS, sp_cell_count(quantile(report, stage, 950)))                    \
	X("p99_ns", N_("p99"), NS, sp_cell_count(quantile(report, stage, 990)))                    \
	X("max_ns", N_("max"), NS, sp_cell_count(s->max_ns))                                       \
	X("bytes", N_("bytes"), BYTES, sp_cell_if(sp_stage_has_bytes(stage), s->bytes))            \
	X("bytes_per_s", N_("MB/s"), RATE,                                                         \
	  sp_stage_has_rate(stage) ? sp_cell_rate(s->bytes, s->total_ns) : sp_cell_null())         \
	X("share", N_("share"), SHARE, share_cell(stage, s->total_ns, report->totals.thread_ns))   \
	X("errors", NULL, COUNT, sp_cell_count(s->errors))                                         \
	X("aborted", NULL, COUNT, sp_cell_count(s->aborted))                                       \
	X("trainer_ns", NULL, NS, sp_cell_if(v->trainer.life_ns, v->trainer.ns[stage]))            \
	X("trainer_share", N_("trainer"), SHARE,                                                   \
	  share_cell(stage, v->trainer.ns[stage], v->trainer.life_ns))                             \
	X("worker_ns", NULL, NS, sp_cell_if(v->worker.life_ns, v->worker.ns[stage]))               \
	X("worker_share", N_("workers"), SHARE,                                                    \
	  share_cell(stage, v->worker.ns[stage], v->worker.life_ns))

static const struct sp_column all_columns[] = {COLUMNS(SP_COLUMN)};
#define CELLS (sizeof(all_columns) / sizeof(all_columns[0]))

static void hide(struct sp_column columns[CELLS], const char *key)
{
	for (size_t i = 0; i < CELLS; i++)
		if (columns[i].key && strcmp(columns[i].key, key) == 0)
			columns[i].title = NULL;
}

/* With trainers, shares of their time take the place of shares of all threads' lives. */
static void choose_columns(const struct stages *v, struct sp_column columns[CELLS])
{
	memcpy(columns, all_columns, sizeof(all_columns));
	hide(columns, v->trainer.life_ns ? "share" : "trainer_share");
	if (!v->trainer.life_ns || !v->worker.life_ns)
		hide(columns, "worker_share");
}

static int show_row(const struct stages *v, struct sp_out *out, uint32_t stage)
{
	const struct sp_report *report = v->report;
	const struct sp_sums *s = &report->totals.stages[stage];
	const struct sp_cell cells[] = {COLUMNS(SP_CELL)};

	return sp_out_row(out, cells);
}

SP_VALUE(by_total, struct sp_report, rows->totals.stages[i].total_ns)
SP_VALUE(by_calls, struct sp_report, rows->totals.stages[i].calls)
SP_VALUE(by_max, struct sp_report, rows->totals.stages[i].max_ns)
SP_VALUE(by_bytes, struct sp_report, rows->totals.stages[i].bytes)
SP_VALUE(by_p50, struct sp_report, quantile(rows, i, 500))
SP_VALUE(by_p95, struct sp_report, quantile(rows, i, 950))
SP_VALUE(by_p99, struct sp_report, quantile(rows, i, 990))
SP_VALUE(by_mean, struct sp_report,
	 rows->totals.stages[i].calls
		 ? rows->totals.stages[i].total_ns / rows->totals.stages[i].calls
		 : 0)

/* Waits and ranges come last. */
SP_VALUE(by_rank, struct sp_report, is_apart(i) ? 0 : by_total(rows, i))

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
	return SP_SUM(uint64_t, i, SP_STAGES,
		      is_shown(v, out, i) ? v->report->totals.stages[i].total_ns : 0);
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
