/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/views/view_whatif.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/text/text.h"
#include "analyzer/views/view.h"
#include "analyzer/verdict/whatif.h"
#include "analyzer/views/run_json.h"

enum { ID, CHANGE, NOW, LOW, HIGH, THEN, GAIN_LOW, GAIN_HIGH, GAIN, WORKERS, WHY, MISSING, CELLS };

static const struct sp_column columns[CELLS] = {
	[ID] = {"what_if", NULL, SP_CELL_TEXT},
	[CHANGE] = {NULL, N_("change"), SP_CELL_TEXT},
	[NOW] = {"now_ns", N_("step now"), SP_CELL_NS},
	[LOW] = {"low_ns", NULL, SP_CELL_NS},
	[HIGH] = {"high_ns", NULL, SP_CELL_NS},
	[THEN] = {NULL, N_("step then"), SP_CELL_WORD},
	[GAIN_LOW] = {"gain_least_share", NULL, SP_CELL_SHARE},
	[GAIN_HIGH] = {"gain_most_share", NULL, SP_CELL_SHARE},
	[GAIN] = {NULL, N_("saves"), SP_CELL_WORD},
	[WORKERS] = {"workers", NULL, SP_CELL_COUNT},
	[WHY] = {"reason", NULL, SP_CELL_TEXT},
	[MISSING] = {NULL, N_("why not known"), SP_CELL_TEXT},
};

#define RANGE_BYTES (2 * SP_NUMBER_BYTES + 8)

/* "4.00 ms", or "4.00 to 5.00 ms". */
static void range_of(char ret[RANGE_BYTES], double low_ns, double high_ns)
{
	char low[SP_NUMBER_BYTES], high[SP_NUMBER_BYTES];
	const char *unit_low, *unit_high;

	sp_text_ns(low, (uint64_t)low_ns);
	sp_text_ns(high, (uint64_t)high_ns);
	unit_low = strrchr(low, ' ');
	unit_high = strrchr(high, ' ');
	if (strcmp(low, high) == 0)
		snprintf(ret, RANGE_BYTES, "%s", low);
	else if (unit_low && unit_high && strcmp(unit_low, unit_high) == 0)
		snprintf(ret, RANGE_BYTES, _("%.*s to %s"), (int)(unit_low - low), low, high);
	else
		snprintf(ret, RANGE_BYTES, _("%.*s to %s"), (int)strlen(low), low, high);
}

static void gain_of(char ret[RANGE_BYTES], double least, double most)
{
	char low[SP_NUMBER_BYTES], high[SP_NUMBER_BYTES];

	snprintf(low, sizeof(low), "%.1f", least * 100);
	snprintf(high, sizeof(high), "%.1f", most * 100);
	if (strcmp(low, high) == 0)
		snprintf(ret, RANGE_BYTES, "%s%%", low);
	else
		snprintf(ret, RANGE_BYTES, _("%s to %s%%"), low, high);
}

static int show_row(const struct sp_metrics *e, struct sp_out *out, enum sp_what_if_id id,
		    const struct sp_what_if *w)
{
	char title[64], then[RANGE_BYTES], gain[RANGE_BYTES];
	struct sp_cell cells[CELLS] = {
		[ID] = sp_cell_text(sp_what_if_name(id)),
		[NOW] = sp_cell_null(),
		[LOW] = sp_cell_null(),
		[HIGH] = sp_cell_null(),
		[THEN] = sp_cell_null(),
		[GAIN_LOW] = sp_cell_null(),
		[GAIN] = sp_cell_null(),
		[GAIN_HIGH] = sp_cell_null(),
		[WORKERS] = sp_cell_null(),
		[WHY] = sp_cell_null(),
		[MISSING] = sp_cell_null(),
	};

	sp_what_if_change(id, w, title, sizeof(title));
	cells[CHANGE] = sp_cell_text(title);
	if (w->is_known) {
		cells[NOW] = sp_cell_count((uint64_t)w->now_ns);
		cells[LOW] = sp_cell_count((uint64_t)w->low_ns);
		cells[HIGH] = sp_cell_count((uint64_t)w->high_ns);
		cells[GAIN_LOW] = sp_cell_share(1 - w->high_ns / w->now_ns);
		cells[GAIN_HIGH] = sp_cell_share(1 - w->low_ns / w->now_ns);
		range_of(then, w->low_ns, w->high_ns);
		cells[THEN] = sp_cell_text(then);
		gain_of(gain, 1 - w->high_ns / w->now_ns, 1 - w->low_ns / w->now_ns);
		cells[GAIN] = sp_cell_text(gain);
		if (id == SP_WHAT_IF_workers)
			cells[WORKERS] = sp_cell_count(w->workers);
	} else {
		cells[WHY] = cells[MISSING] = sp_cell_text(sp_what_if_missing(e, id));
	}
	return sp_out_row(out, cells);
}

/* A terminal has no room for reasons in the table. */
static void show_reasons(const struct sp_metrics *e, struct sp_out *out,
			 const struct sp_what_if all[SP_WHAT_IFS])
{
	const char *head = _("not known  ");

	for (int i = 0; i < SP_WHAT_IFS; i++) {
		char title[64], text[256];

		if (all[i].is_known)
			continue;
		sp_what_if_change((enum sp_what_if_id)i, &all[i], title, sizeof(title));
		snprintf(text, sizeof(text), _("%s: %s"), title,
			 sp_what_if_missing(e, (enum sp_what_if_id)i));
		sp_out_wrapped(out, head, text);
		head = "           ";
	}
}

static void show_one(const struct sp_metrics *e, enum sp_what_if_id id, struct sp_out *out)
{
	struct sp_what_if w = {.is_known = false};
	char title[SP_WHAT_IF_TEXT_BYTES], text[2 * SP_WHAT_IF_TEXT_BYTES];
	char now[SP_NUMBER_BYTES], low[SP_NUMBER_BYTES], high[SP_NUMBER_BYTES];

	if (id != SP_WHAT_IFS)
		w = sp_what_if_make(e, id, SP_WORKERS_UNASKED);
	if (!w.is_known)
		return;
	sp_what_if_title(e, id, &w, title);
	sp_text_ns(low, (uint64_t)w.low_ns);
	sp_text_ns(high, (uint64_t)w.high_ns);
	sp_text_ns(now, (uint64_t)w.now_ns);
	if (strcmp(low, high) == 0)
		snprintf(text, sizeof(text), _("%s: a step would take %s, not %s"), title, low,
			 now);
	else
		snprintf(text, sizeof(text), _("%s: a step would take %s to %s, not %s"), title,
			 low, high, now);
	sp_out_wrapped(out, "what if    ", text);
}

/* For people, rows that the run cannot answer are left out, unless all of them are asked for. */
static int show_all(const struct sp_metrics *e, struct sp_out *out, uint32_t workers, bool is_main,
		    bool is_full)
{
	struct sp_what_if all[SP_WHAT_IFS];
	struct sp_column shown[CELLS];
	unsigned unknown = 0;
	bool lists;
	int r;

	for (int i = 0; i < SP_WHAT_IFS; i++) {
		all[i] = sp_what_if_make(e, (enum sp_what_if_id)i, workers);
		unknown += !all[i].is_known;
	}
	/* With no answer at all, the reasons are what there is to say. */
	is_full |= !sp_out_is_read(out) || unknown == SP_WHAT_IFS;
	memcpy(shown, columns, sizeof(columns));
	lists = out->format == SP_FORMAT_TABLE && is_full;
	if (!is_full || unknown == 0 || lists)
		shown[MISSING].title = NULL;
	r = sp_out_table(out, "what_if", NULL, shown, CELLS, is_main);
	for (int i = 0; r == 0 && i < SP_WHAT_IFS; i++)
		if (all[i].is_known || (is_full && !lists))
			r = show_row(e, out, (enum sp_what_if_id)i, &all[i]);
	if (r == 0)
		sp_out_table_end(out);
	if (r == 0 && is_main && unknown < SP_WHAT_IFS)
		sp_out_line(out, "of a steady step's mean time; docs/VERDICT.md has the "
				 "computation");
	if (r == 0 && is_main)
		show_one(e, SP_WHAT_IF_line, out);
	if (r == 0 && lists)
		show_reasons(e, out, all);
	if (r == 0 && !is_full && unknown)
		sp_out_line(out,
			    sp_translate_plural("%u more does not apply to this run (--all)",
						"%u more do not apply to this run (--all)",
						unknown),
			    unknown);
	return r;
}

int sp_what_if_show(const struct sp_metrics *e, struct sp_out *out)
{
	if (out->format == SP_FORMAT_JSON)
		return show_all(e, out, SP_WORKERS_UNASKED, false, true);
	show_one(e, sp_what_if_best(e), out);
	show_one(e, SP_WHAT_IF_line, out);
	return 0;
}

int sp_view_whatif(const struct sp_report *report, struct sp_out *out,
		   const struct sp_view_options *options)
{
	struct sp_metrics *e;
	int r;

	if (options->sort)
		return -EINVAL;
	e = calloc(1, sizeof(*e));
	r = e ? sp_metrics_gather(e, report) : -ENOMEM;
	sp_run_json(report, out);
	if (r == 0)
		r = show_all(e, out,
			     report->asks_workers ? report->workers_asked : SP_WORKERS_UNASKED,
			     true, options->is_full);
	free(e);
	return r;
}
