/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/views/view.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/metadata/gpu_kinds.h"
#include "analyzer/reader/clock_convert.h"
#include "analyzer/metadata/slow_calls.h"
#include "analyzer/symbols/stack_cells.h"
#include "analyzer/text/text.h"

enum { PID, EVENT, CALLS, TOTAL, MAX, LONGEST, FRAMES, FUNCTIONS, BRIEF, CELLS };

static const struct sp_column columns[CELLS] = {
	[PID] = {"pid", N_("pid"), SP_CELL_ID},
	[EVENT] = {"event", N_("event"), SP_CELL_TEXT},
	[CALLS] = {"calls", N_("calls"), SP_CELL_COUNT},
	[TOTAL] = {"total_ns", N_("total"), SP_CELL_NS},
	[MAX] = {"max_ns", N_("longest"), SP_CELL_NS},
	[LONGEST] = {"max_file", N_("in its longest call"), SP_CELL_TEXT},
	[FRAMES] = {"frames", NULL, SP_CELL_TEXT},
	[FUNCTIONS] = {"functions", NULL, SP_CELL_LIST},
	[BRIEF] = {NULL, N_("from (innermost first)"), SP_CELL_CHAIN},
};

/* In the order of the keys; only of the selected process. */
struct stack_rows {
	const struct sp_report *report;
	const struct sp_slow **calls;
	uint32_t n;
	struct sp_functions functions;
};

static uint64_t total_ns(const void *context, uint32_t i)
{
	const struct stack_rows *list = context;
	const struct sp_index *index = &list->report->run.index;
	const struct sp_slow *call = list->calls[i];

	return sp_clock_span_ns(index->hosts[index->images[call->key.image].host].clock.ns_per_tick,
				call->all.ticks);
}

static int show_row(const void *context, struct sp_out *out, uint32_t i)
{
	const struct stack_rows *list = context;
	const struct sp_report *report = list->report;
	const struct sp_slow *call = list->calls[i];
	const struct sp_process_image *image = &report->run.index.images[call->key.image];
	const struct sp_event_info *info = sp_event_info(call->key.kind);
	uint64_t ns_per_tick = report->run.index.hosts[image->host].clock.ns_per_tick;
	uint32_t file = SP_STRINGS_REST;
	struct sp_cell stack[SP_STACK_CELLS];
	struct sp_stack_text text;
	const char *name;
	size_t bytes;
	int r = sp_stack_cells_make(&list->functions, call->key.image, call->key.stack, &text,
				    stack);

	if (r < 0)
		return r;
	if (info->arg == SP_ARG_FILE)
		file = sp_process_file(&report->run.metadata.images[call->key.image],
				       call->max_arg);
	name = sp_string_table_text(&report->run.metadata.files, file, &bytes);
	struct sp_cell cells[CELLS] = {
		[PID] = sp_cell_count(image->pid),
		[EVENT] = sp_cell_text(info->name ? info->name : "?"),
		[CALLS] = sp_cell_count(call->all.calls),
		[TOTAL] = sp_cell_count(total_ns(list, i)),
		[MAX] = sp_cell_count(sp_clock_span_ns(ns_per_tick, call->all.max_ticks)),
		[LONGEST] = bytes ? sp_cell_bytes(name, bytes) : sp_cell_null(),
		[FRAMES] = stack[SP_STACK_FRAMES],
		[FUNCTIONS] = stack[SP_STACK_FUNCTIONS],
		[BRIEF] = stack[SP_STACK_BRIEF],
	};

	r = sp_out_row(out, cells);
	sp_stack_cells_finish(&text);
	return r;
}

static int make_list(struct stack_rows *list)
{
	const struct sp_report *report = list->report;
	const struct sp_slow *s;

	list->calls =
		calloc(HASH_COUNT(report->run.metadata.slow.by_key) + 1u, sizeof(*list->calls));
	if (!list->calls)
		return -ENOMEM;
	for (s = report->run.metadata.slow.by_key; s; s = s->hh.next)
		if (s->key.stack && s->all.calls &&
		    (!report->run.selection.pid ||
		     report->run.selection.pid == report->run.index.images[s->key.image].pid))
			list->calls[list->n++] = s;
	return 0;
}

enum {
	LINE_PID,
	LINE_EVENT,
	LINE_CALLS,
	LINE_TOTAL,
	LINE_MAX,
	LINE_PLACE,
	LINE_FUNCTION,
	LINE_CELLS
};

static const struct sp_column line_columns[LINE_CELLS] = {
	[LINE_PID] = {"pid", N_("pid"), SP_CELL_ID},
	[LINE_EVENT] = {"event", N_("event"), SP_CELL_TEXT},
	[LINE_CALLS] = {"calls", N_("calls"), SP_CELL_COUNT},
	[LINE_TOTAL] = {"total_ns", N_("total"), SP_CELL_NS},
	[LINE_MAX] = {"max_ns", N_("longest"), SP_CELL_NS},
	[LINE_PLACE] = {"line", N_("line"), SP_CELL_TEXT},
	[LINE_FUNCTION] = {"function", N_("function"), SP_CELL_TEXT},
};

/* Lines of calls that are not those of the view sync; only of the selected process. */
struct line_rows {
	const struct sp_report *report;
	const struct sp_line **lines;
	uint32_t n;
};

static uint64_t line_ns(const struct line_rows *list, const struct sp_line *line, uint64_t ticks)
{
	const struct sp_index *index = &list->report->run.index;
	uint32_t host = index->images[line->key.image].host;

	return sp_clock_span_ns(index->hosts[host].clock.ns_per_tick, ticks);
}

static uint64_t line_total_ns(const void *context, uint32_t i)
{
	const struct line_rows *list = context;

	return line_ns(list, list->lines[i], list->lines[i]->ticks);
}

static int show_line(const void *context, struct sp_out *out, uint32_t i)
{
	const struct line_rows *list = context;
	const struct sp_line *line = list->lines[i];
	const char *tab = memchr(line->key.text, '\t', line->text_bytes);
	size_t place = tab ? (size_t)(tab - line->key.text) : line->text_bytes;
	const struct sp_cell cells[LINE_CELLS] = {
		[LINE_PID] = sp_cell_count(list->report->run.index.images[line->key.image].pid),
		[LINE_EVENT] = sp_cell_text(sp_event_info(line->key.kind)->name),
		[LINE_CALLS] = sp_cell_count(line->calls),
		[LINE_TOTAL] = sp_cell_count(line_total_ns(list, i)),
		[LINE_MAX] = sp_cell_count(line_ns(list, line, line->max_ticks)),
		[LINE_PLACE] = sp_cell_bytes(line->key.text, place),
		[LINE_FUNCTION] =
			tab ? sp_cell_bytes(tab + 1, line->text_bytes - place - 1) : sp_cell_null(),
	};

	return sp_out_row(out, cells);
}

static int show_lines(const struct sp_report *report, struct sp_out *out, uint32_t limit)
{
	const struct sp_line *line = report->run.metadata.slow.lines.by_key;
	struct line_rows list = {.report = report,
				 .lines = calloc(HASH_COUNT(line) + 1u, sizeof(*list.lines))};
	struct sp_view_rows rows = {"lines",	       line_columns,
				    LINE_CELLS,	       .value = line_total_ns,
				    .show = show_line, .context = &list};
	int r = list.lines ? 0 : -ENOMEM;

	for (; r == 0 && line; line = line->hh.next)
		if (!sp_gpu_call_is_kept(line->key.kind) &&
		    (!report->run.selection.pid ||
		     report->run.selection.pid == report->run.index.images[line->key.image].pid))
			list.lines[list.n++] = line;
	rows.count = list.n;
	if (r == 0 && (list.n || out->format == SP_FORMAT_JSON))
		r = sp_view_rows_show(&rows, out, limit);
	free(list.lines);
	return r;
}

int sp_view_stacks(const struct sp_report *report, struct sp_out *out,
		   const struct sp_view_options *options)
{
	struct stack_rows list = {.report = report,
				  .functions = {.calls = &report->run.metadata.slow}};
	struct sp_view_rows rows = {"slow_calls",      columns,		 CELLS,
				    .value = total_ns, .show = show_row, .context = &list};
	int r;

	if (options->sort)
		return -EINVAL;
	r = make_list(&list);
	rows.count = list.n;
	if (r == 0)
		r = sp_view_rows_show_named(&rows, &list.functions, report, out, options);
	if (r == 0 && list.n == 0)
		sp_out_line(out, "The trace has no stacks; STAGEPROF_STACKS=file_read>10ms records "
				 "them.");
	if (r == 0)
		r = show_lines(report, out, options->limit);
	if (r == 0 && list.n && !options->symbols)
		sp_out_line(out, "--symbols names functions.");
	sp_functions_finish(&list.functions);
	free(list.calls);
	return r;
}
