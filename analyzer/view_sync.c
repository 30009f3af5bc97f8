#include "analyzer/view.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/clock.h"
#include "analyzer/lines.h"

enum { PID, LINE, FUNCTION, EVENT, CALLS, TOTAL, MAX, CELLS };

static const struct sp_column columns[CELLS] = {
	[PID] = {"pid", N_("pid"), SP_CELL_ID},
	[LINE] = {"line", N_("line"), SP_CELL_TEXT},
	[FUNCTION] = {"function", N_("function"), SP_CELL_TEXT},
	[EVENT] = {"event", N_("waited in"), SP_CELL_TEXT},
	[CALLS] = {"calls", N_("calls"), SP_CELL_COUNT},
	[TOTAL] = {"total_ns", N_("total"), SP_CELL_NS},
	[MAX] = {"max_ns", N_("longest"), SP_CELL_NS},
};

/* The process that is selected only. */
struct list {
	const struct sp_report *report;
	const struct sp_line **lines;
	uint32_t n;
};

static uint64_t span_ns(const struct sp_report *report, const struct sp_line *line, uint64_t ticks)
{
	const struct sp_index *index = &report->index;
	uint32_t host = index->images[line->key.image].host;

	return sp_clock_span_ns(index->hosts[host].clock.ns_per_tick, ticks);
}

static uint64_t total_ns(const void *context, uint32_t i)
{
	const struct list *list = context;

	return span_ns(list->report, list->lines[i], list->lines[i]->ticks);
}

static int show_row(const void *context, struct sp_out *out, uint32_t i)
{
	const struct list *list = context;
	const struct sp_report *report = list->report;
	const struct sp_line *line = list->lines[i];
	const struct sp_event_info *info = sp_event_info(line->key.kind);
	const char *text = line->key.text, *tab = memchr(text, '\t', line->text_bytes);
	size_t place = tab ? (size_t)(tab - text) : line->text_bytes;
	struct sp_cell cells[CELLS] = {
		[PID] = sp_cell_count(report->index.images[line->key.image].pid),
		[LINE] = sp_cell_bytes(text, place),
		[FUNCTION] = tab ? sp_cell_bytes(tab + 1, line->text_bytes - place - 1) : sp_cell_null(),
		[EVENT] = sp_cell_text(info->name ? info->name : "?"),
		[CALLS] = sp_cell_count(line->calls),
		[TOTAL] = sp_cell_count(total_ns(list, i)),
		[MAX] = sp_cell_count(span_ns(report, line, line->max_ticks)),
	};

	return sp_out_row(out, cells);
}

static int make_list(struct list *list)
{
	const struct sp_report *report = list->report;
	const struct sp_line *line;

	list->lines = calloc(HASH_COUNT(report->facts.slow.lines.by_key) + 1u, sizeof(*list->lines));
	if (!list->lines)
		return -ENOMEM;
	for (line = report->facts.slow.lines.by_key; line; line = line->hh.next)
		if (!report->selection.pid ||
		    report->selection.pid == report->index.images[line->key.image].pid)
			list->lines[list->n++] = line;
	return 0;
}

int sp_view_sync(const struct sp_report *report, struct sp_out *out,
		 const struct sp_view_options *options)
{
	struct list list = {.report = report};
	struct sp_view_rows rows = {
		"lines", columns, CELLS, .value = total_ns, .show = show_row, .context = &list};
	int r;

	if (options->sort)
		return -EINVAL;
	r = make_list(&list);
	rows.count = list.n;
	sp_run_json(report, out);
	if (r == 0)
		r = sp_view_rows_show(&rows, out, options->limit);
	if (r == 0 && list.n == 0)
		sp_out_line(out, "No Python line waited 1 ms or longer for CUDA (STAGEPROF_LINES).");
	free(list.lines);
	return r;
}
