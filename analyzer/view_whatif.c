#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/text.h"
#include "analyzer/view.h"
#include "analyzer/whatif.h"

enum { ID, TITLE, NOW, LOW, HIGH, GAIN_LOW, GAIN_HIGH, WORKERS, WHY, TOLD, CELLS };

static const struct sp_column columns[CELLS] = {
	[ID] = {"what_if", NULL, SP_CELL_TEXT},
	[TITLE] = {NULL, N_("what if"), SP_CELL_TEXT},
	[NOW] = {"now_ns", N_("a step"), SP_CELL_NS},
	[LOW] = {"low_ns", N_("from"), SP_CELL_NS},
	[HIGH] = {"high_ns", N_("to"), SP_CELL_NS},
	[GAIN_LOW] = {"gain_least_share", N_("gain from"), SP_CELL_SHARE},
	[GAIN_HIGH] = {"gain_most_share", N_("to"), SP_CELL_SHARE},
	[WORKERS] = {"workers", NULL, SP_CELL_COUNT},
	[WHY] = {"reason", NULL, SP_CELL_TEXT},
	[TOLD] = {NULL, "", SP_CELL_TEXT},
};

static int show_row(struct sp_out *out, enum sp_what_if_id id, const struct sp_what_if *w)
{
	char title[64];
	struct sp_cell cells[CELLS] = {
		[ID] = sp_cell_text(sp_what_if_name(id)),
		[NOW] = sp_cell_null(),
		[LOW] = sp_cell_null(),
		[HIGH] = sp_cell_null(),
		[GAIN_LOW] = sp_cell_null(),
		[GAIN_HIGH] = sp_cell_null(),
		[WORKERS] = sp_cell_null(),
		[WHY] = sp_cell_null(),
		[TOLD] = sp_cell_null(),
	};

	sp_what_if_title(id, w, title, sizeof(title));
	cells[TITLE] = sp_cell_text(title);
	if (w->is_known) {
		cells[NOW] = sp_cell_count((uint64_t)w->now_ns);
		cells[LOW] = sp_cell_count((uint64_t)w->low_ns);
		cells[HIGH] = sp_cell_count((uint64_t)w->high_ns);
		cells[GAIN_LOW] = sp_cell_share(1 - w->high_ns / w->now_ns);
		cells[GAIN_HIGH] = sp_cell_share(1 - w->low_ns / w->now_ns);
		if (id == SP_WHAT_IF_workers)
			cells[WORKERS] = sp_cell_count(w->workers);
	} else {
		cells[WHY] = cells[TOLD] = sp_cell_text(sp_what_if_missing(id));
	}
	return sp_out_row(out, cells);
}

static int show_all(const struct sp_evidence *e, struct sp_out *out, uint32_t workers, bool is_main)
{
	int r = sp_out_table(out, "what_if", NULL, columns, CELLS, is_main);

	for (int i = 0; r == 0 && i < SP_WHAT_IFS; i++) {
		struct sp_what_if w = sp_what_if_make(e, (enum sp_what_if_id)i, workers);

		r = show_row(out, (enum sp_what_if_id)i, &w);
	}
	if (r == 0)
		sp_out_table_end(out);
	return r;
}

static void show_best(const struct sp_evidence *e, struct sp_out *out)
{
	enum sp_what_if_id best = sp_what_if_best(e);
	struct sp_what_if w;
	char title[64], now[SP_NUMBER_BYTES], low[SP_NUMBER_BYTES], high[SP_NUMBER_BYTES];

	if (best == SP_WHAT_IFS)
		return;
	w = sp_what_if_make(e, best, SP_WORKERS_UNASKED);
	sp_what_if_title(best, &w, title, sizeof(title));
	sp_text_ns(low, (uint64_t)w.low_ns);
	sp_text_ns(high, (uint64_t)w.high_ns);
	sp_text_ns(now, (uint64_t)w.now_ns);
	if (strcmp(low, high) == 0)
		sp_out_line(out, "what if    %s: a step would take %s, not %s", title, low, now);
	else
		sp_out_line(out, "what if    %s: a step would take %s to %s, not %s", title, low,
			    high, now);
}

int sp_what_if_show(const struct sp_evidence *e, struct sp_out *out)
{
	if (out->format == SP_FORMAT_JSON)
		return show_all(e, out, SP_WORKERS_UNASKED, false);
	show_best(e, out);
	return 0;
}

int sp_view_whatif(const struct sp_report *report, struct sp_out *out,
		   const struct sp_view_options *options)
{
	struct sp_evidence *e;
	int r;

	if (options->sort)
		return -EINVAL;
	e = calloc(1, sizeof(*e));
	r = e ? sp_evidence_gather(e, report) : -ENOMEM;
	sp_run_json(report, out);
	if (r == 0)
		r = show_all(e, out, report->asks_workers ? report->workers_asked : SP_WORKERS_UNASKED,
			     true);
	if (r == 0)
		sp_out_line(out, "of a steady step's mean time; how it is reckoned: docs/VERDICT.md");
	free(e);
	return r;
}
