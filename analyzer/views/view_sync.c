/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/views/view.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/reader/clock_convert.h"
#include "analyzer/gpu/gpu_calls.h"
#include "analyzer/metadata/gpu_kinds.h"
#include "analyzer/metadata/source_lines.h"
#include "analyzer/metadata/slow_calls.h"
#include "analyzer/symbols/stack_cells.h"
#include "analyzer/metadata/stage.h"

#define FOR_BYTES 64u

enum {
	PID,
	LINE,
	FUNCTION,
	EVENT,
	FOR,
	WAITED_FOR,
	MEMORY,
	CALLS,
	TOTAL,
	MAX,
	FRAMES,
	FUNCTIONS,
	CELLS
};

static const struct sp_column columns[CELLS] = {
	[PID] = {"pid", N_("pid"), SP_CELL_ID},
	[LINE] = {"line", N_("line"), SP_CELL_TEXT},
	[FUNCTION] = {"function", N_("function"), SP_CELL_TEXT},
	[EVENT] = {"event", N_("waited in"), SP_CELL_TEXT},
	[FOR] = {NULL, N_("for"), SP_CELL_TEXT},
	[WAITED_FOR] = {"waited_for", NULL, SP_CELL_TEXT},
	[MEMORY] = {"host_memory", NULL, SP_CELL_TEXT},
	[CALLS] = {"calls", N_("calls"), SP_CELL_COUNT},
	[TOTAL] = {"total_ns", N_("total"), SP_CELL_NS},
	[MAX] = {"max_ns", N_("longest"), SP_CELL_NS},
	[FRAMES] = {"frames", NULL, SP_CELL_TEXT},
	[FUNCTIONS] = {"functions", NULL, SP_CELL_LIST},
};

/* Calls of one kind from one line, or, without a line, from one stack. */
struct wait {
	const struct sp_line *line; /* NULL: there is none */
	uint32_t image, kind, way, stack;
	uint64_t calls, ticks, max_ticks; /* max_ticks 0: not known */
};

/* Only of the selected process. */
struct sync_rows {
	const struct sp_report *report;
	struct wait *waits;
	uint32_t n;
	bool has_rest; /* one has no line */
	struct sp_functions functions;
};

static struct wait wait_of_line(const struct sp_line *line)
{
	return (struct wait){line,	  line->key.image, line->key.kind, line->key.way,
			     line->stack, line->calls,	   line->ticks,	   line->max_ticks};
}

/* The calls without a line; calls is 0 where all have one. */
static struct wait wait_of_rest(const struct sp_slow *slow)
{
	const struct sp_slow_sum *all = &slow->all, *known = &slow->with_line;
	struct wait rest =
		{NULL, slow->key.image, slow->key.kind, slow->key.way, slow->key.stack, 0, 0, 0};

	if (all->calls <= known->calls)
		return rest;
	rest.calls = all->calls - known->calls;
	rest.ticks = all->ticks > known->ticks ? all->ticks - known->ticks : 0;
	rest.max_ticks = all->max_ticks > known->max_ticks ? all->max_ticks : 0;
	return rest;
}

static uint64_t span_ns(const struct sp_report *report, const struct wait *wait, uint64_t ticks)
{
	const struct sp_index *index = &report->run.index;
	uint32_t host = index->images[wait->image].host;

	return sp_clock_span_ns(index->hosts[host].clock.ns_per_tick, ticks);
}

static uint64_t total_ns(const void *context, uint32_t i)
{
	const struct sync_rows *list = context;

	return span_ns(list->report, &list->waits[i], list->waits[i].ticks);
}

/* A stream, the device, an event; else the stage. */
static const char *waited_for(const struct wait *wait)
{
	switch (wait->kind) {
	case SP_EV_cudaStreamSynchronize:
	case SP_EV_cuStreamSynchronize:
	case SP_EV_hipStreamSynchronize:
		return "stream";
	case SP_EV_cudaDeviceSynchronize:
	case SP_EV_cuCtxSynchronize:
	case SP_EV_hipDeviceSynchronize:
		return "device";
	case SP_EV_cudaEventSynchronize:
	case SP_EV_cuEventSynchronize:
	case SP_EV_hipEventSynchronize:
		return "event";
	default:
		return sp_stage_name(sp_stage_of(wait->kind, sp_fd_kind_of_copy(wait->way)));
	}
}

/* For people: "D2H pageable", "stream", "malloc"; an asynchronous call on a stream is not a wait
 * for it. */
static const char *for_text(const struct wait *wait, char ret[FOR_BYTES])
{
	static const char *const directions[SP_COPY_DIRECTIONS] = {"H2H", "H2D", "D2H", "D2D",
								   "copy"};
	const char *memory = sp_gpu_copy_host_memory(wait->way), *name = waited_for(wait);

	if (sp_event_info(wait->kind)->class == SP_CLASS_CUDA_COPY)
		name = directions[sp_fd_kind_of_copy(wait->way)];
	else if (strncmp(name, "cuda_", 5) == 0 &&
		 sp_event_info(wait->kind)->class != SP_CLASS_CUDA_STREAM)
		name += 5;
	snprintf(ret, FOR_BYTES, "%s%s%s", name, memory ? " " : "", memory ? memory : "");
	return ret;
}

static int show_row(const void *context, struct sp_out *out, uint32_t i)
{
	const struct sync_rows *list = context;
	const struct sp_report *report = list->report;
	const struct wait *wait = &list->waits[i];
	const char *text = wait->line ? wait->line->key.text : NULL;
	const char *tab = text ? memchr(text, '\t', wait->line->text_bytes) : NULL;
	size_t place = tab ? (size_t)(tab - text) : text ? wait->line->text_bytes : 0;
	struct sp_cell stack[SP_STACK_CELLS];
	struct sp_stack_text native;
	char both[FOR_BYTES];
	int r = sp_stack_cells_make(&list->functions, wait->image, wait->stack, &native, stack);

	if (r < 0)
		return r;
	struct sp_cell cells[CELLS] = {
		[PID] = sp_cell_count(report->run.index.images[wait->image].pid),
		[LINE] = text ? sp_cell_bytes(text, place) : sp_cell_null(),
		[FUNCTION] = tab ? sp_cell_bytes(tab + 1, wait->line->text_bytes - place - 1)
				 : sp_cell_null(),
		[EVENT] = sp_cell_text(sp_event_info(wait->kind)->name),
		[FOR] = sp_cell_text(for_text(wait, both)),
		[WAITED_FOR] = sp_cell_text(waited_for(wait)),
		[MEMORY] = sp_cell_text(sp_gpu_copy_host_memory(wait->way)),
		[CALLS] = sp_cell_count(wait->calls),
		[TOTAL] = sp_cell_count(total_ns(list, i)),
		[MAX] = wait->max_ticks ? sp_cell_count(span_ns(report, wait, wait->max_ticks))
					: sp_cell_null(),
		[FRAMES] = stack[SP_STACK_FRAMES],
		[FUNCTIONS] = stack[SP_STACK_FUNCTIONS],
	};

	r = sp_out_row(out, cells);
	sp_stack_cells_finish(&native);
	return r;
}

static void add(struct sync_rows *list, struct wait wait)
{
	const struct sp_report *report = list->report;

	if (!wait.calls || (report->run.selection.pid &&
			    report->run.selection.pid != report->run.index.images[wait.image].pid))
		return;
	list->waits[list->n++] = wait;
	list->has_rest |= !wait.line;
}

static int make_list(struct sync_rows *list)
{
	const struct sp_slow_calls *calls = &list->report->run.metadata.slow;
	const struct sp_line *line;
	const struct sp_slow *slow;

	list->waits = calloc(HASH_COUNT(calls->lines.by_key) + HASH_COUNT(calls->by_key) + 1u,
			     sizeof(*list->waits));
	if (!list->waits)
		return -ENOMEM;
	for (line = calls->lines.by_key; line; line = line->hh.next)
		if (sp_gpu_call_is_kept(line->key.kind))
			add(list, wait_of_line(line));
	for (slow = calls->by_key; slow; slow = slow->hh.next)
		if (sp_gpu_call_is_kept(slow->key.kind))
			add(list, wait_of_rest(slow));
	return 0;
}

int sp_view_sync(const struct sp_report *report, struct sp_out *out,
		 const struct sp_view_options *options)
{
	struct sync_rows list = {.report = report,
				 .functions = {.calls = &report->run.metadata.slow}};
	struct sp_view_rows rows = {"lines",	       columns,		 CELLS,
				    .value = total_ns, .show = show_row, .context = &list};
	uint64_t turned_away =
		report->run.metadata.slow.turned_away + report->run.metadata.slow.lines.turned_away;
	int r;

	if (options->sort)
		return -EINVAL;
	r = make_list(&list);
	rows.count = list.n;
	if (r == 0)
		r = sp_view_rows_show_named(&rows, &list.functions, report, out, options);
	if (r == 0 && list.n == 0 && !sp_stages_have_cuda(report->totals.stages))
		sp_out_line(out, "no calls of CUDA or HIP: none was seen, or none is selected");
	else if (r == 0 && list.n == 0)
		sp_out_line(out, "No call of CUDA or NCCL was kept: none took STAGEPROF_LINES (1ms "
				 "unless set; 0: none is) or longer.");
	if (r == 0 && list.has_rest)
		sp_out_line(out, "Calls without a line were made by other threads than the main "
				 "one, or not from Python: the view stacks has their native "
				 "stacks.");
	if (r == 0 && turned_away)
		sp_out_line(out,
			    sp_translate_plural("%llu more call did not fit into this view.",
						"%llu more calls did not fit into this view.",
						(unsigned long)turned_away),
			    (unsigned long long)turned_away);
	sp_functions_finish(&list.functions);
	free(list.waits);
	return r;
}
