/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The view `stacks`: slow calls and their call sites, or the calls that waited for the GPU.
 */
#include "analyzer/views/view.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/metadata/gpu_kinds.h"
#include "analyzer/metadata/slow_calls.h"
#include "analyzer/metadata/source_lines.h"
#include "analyzer/metadata/stage.h"
#include "analyzer/reader/clock_convert.h"
#include "analyzer/symbols/stack_cells.h"

#define FOR_BYTES 64u

/* Calls of one kind and way from one stack, or one line of Python, or both. */
struct site {
	const struct sp_line *line; /* NULL: there is none */
	uint32_t image, kind, way, stack;
	uint64_t calls, ticks, max_ticks; /* max_ticks 0: not known */
	uint32_t max_arg;		  /* of the longest call */
};

/* Only of the selected process. */
struct sites {
	const struct sp_report *report;
	struct site *list;
	uint32_t count;
	bool has_rest;	/* one has no line */
	bool are_syncs; /* calls that waited for the GPU */
	struct sp_functions functions;
};

static int sites_make(struct sites *sites)
{
	const struct sp_slow_calls *calls = &sites->report->run.metadata.slow;

	sites->functions.calls = calls;
	sites->list = calloc(HASH_COUNT(calls->lines.by_key) + HASH_COUNT(calls->by_key) + 1u,
			     sizeof(*sites->list));
	return sites->list ? 0 : -ENOMEM;
}

static void add(struct sites *sites, struct site site)
{
	const struct sp_run *run = &sites->report->run;

	if (!site.calls ||
	    (run->selection.pid && run->selection.pid != run->index.images[site.image].pid))
		return;
	sites->list[sites->count++] = site;
	sites->has_rest |= !site.line;
}

static struct site site_of_line(const struct sp_line *line)
{
	return (struct site){line,	    line->key.image, line->key.kind,
			     line->key.way, line->stack,     line->calls,
			     line->ticks,   line->max_ticks, 0};
}

static struct site site_of_stack(const struct sp_slow *slow)
{
	return (struct site){NULL,
			     slow->key.image,
			     slow->key.kind,
			     slow->key.way,
			     slow->key.stack,
			     slow->all.calls,
			     slow->all.ticks,
			     slow->all.max_ticks,
			     slow->max_arg};
}

/* The calls without a line; calls is 0 where all have one. */
static struct site site_of_rest(const struct sp_slow *slow)
{
	const struct sp_slow_sum *all = &slow->all, *known = &slow->with_line;
	struct site rest = site_of_stack(slow);

	rest.calls = all->calls > known->calls ? all->calls - known->calls : 0;
	rest.ticks = all->ticks > known->ticks ? all->ticks - known->ticks : 0;
	rest.max_ticks = all->max_ticks > known->max_ticks ? all->max_ticks : 0;
	return rest;
}

static uint64_t ns_of(const struct sites *sites, uint32_t i, uint64_t ticks)
{
	const struct sp_index *index = &sites->report->run.index;
	uint32_t host = index->images[sites->list[i].image].host;

	return sp_clock_span_ns(index->hosts[host].clock.ns_per_tick, ticks);
}

SP_VALUE(by_total, struct sites, ns_of(rows, i, rows->list[i].ticks))

/* The place, or the function, of a line "place\tfunction". */
static struct sp_cell line_cell(const struct sp_line *line, bool is_function)
{
	const char *tab = line ? memchr(line->key.text, '\t', line->text_bytes) : NULL;
	size_t place = tab ? (size_t)(tab - line->key.text) : line ? line->text_bytes : 0;

	if (!line || (is_function && !tab))
		return sp_cell_null();
	return is_function ? sp_cell_bytes(tab + 1, line->text_bytes - place - 1)
			   : sp_cell_bytes(line->key.text, place);
}

/* The file of the longest call. */
static struct sp_cell file_cell(const struct sp_report *report, const struct site *site)
{
	const struct sp_metadata *metadata = &report->run.metadata;
	uint32_t file = SP_STRINGS_REST;
	const char *name;
	size_t bytes;

	if (sp_event_info(site->kind)->arg == SP_ARG_FILE)
		file = sp_process_file(&metadata->images[site->image], site->max_arg);
	name = sp_string_table_text(&metadata->files, file, &bytes);
	return bytes ? sp_cell_bytes(name, bytes) : sp_cell_null();
}

/* A stream, the device, an event; else the stage. */
static const char *waited_for(const struct site *site)
{
	switch (site->kind) {
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
		return sp_stage_name(sp_stage_of(site->kind, sp_fd_kind_of_copy(site->way)));
	}
}

/* For people: "D2H pageable", "stream", "malloc"; an asynchronous call on a stream is not a wait
 * for it. */
static const char *for_text(const struct site *site, char ret[FOR_BYTES])
{
	static const char *const directions[SP_COPY_DIRECTIONS] = {"H2H", "H2D", "D2H", "D2D",
								   "copy"};
	const char *memory = sp_gpu_copy_host_memory(site->way), *name = waited_for(site);

	if (sp_event_info(site->kind)->class == SP_CLASS_CUDA_COPY)
		name = directions[sp_fd_kind_of_copy(site->way)];
	else if (strncmp(name, "cuda_", 5) == 0 &&
		 sp_event_info(site->kind)->class != SP_CLASS_CUDA_STREAM)
		name += 5;
	snprintf(ret, FOR_BYTES, "%s%s%s", name, memory ? " " : "", memory ? memory : "");
	return ret;
}

#define PID_COLUMN(X)                                                                              \
	X("pid", N_("pid"), ID, sp_cell_count(report->run.index.images[site->image].pid))
#define TIME_COLUMNS(X)                                                                            \
	X("calls", N_("calls"), COUNT, sp_cell_count(site->calls))                                 \
	X("total_ns", N_("total"), NS, sp_cell_count(by_total(sites, i)))
#define STACK_COLUMNS(X)                                                                           \
	X("frames", NULL, TEXT, stack[SP_STACK_FRAMES])                                            \
	X("functions", NULL, LIST, stack[SP_STACK_FUNCTIONS])

#define CALL_COLUMNS(X)                                                                            \
	PID_COLUMN(X)                                                                              \
	X("event", N_("event"), TEXT, sp_cell_text(event ? event : "?"))                           \
	TIME_COLUMNS(X)                                                                            \
	X("max_ns", N_("longest"), NS, sp_cell_count(ns_of(sites, i, site->max_ticks)))            \
	X("max_file", N_("in its longest call"), TEXT, file_cell(report, site))                    \
	STACK_COLUMNS(X)                                                                           \
	X(NULL, N_("from (innermost first)"), CHAIN, stack[SP_STACK_BRIEF])

#define LINE_COLUMNS(X)                                                                            \
	PID_COLUMN(X)                                                                              \
	X("event", N_("event"), TEXT, sp_cell_text(event))                                         \
	TIME_COLUMNS(X)                                                                            \
	X("max_ns", N_("longest"), NS, sp_cell_count(ns_of(sites, i, site->max_ticks)))            \
	X("line", N_("line"), TEXT, line_cell(site->line, false))                                  \
	X("function", N_("function"), TEXT, line_cell(site->line, true))

#define SYNC_COLUMNS(X)                                                                            \
	PID_COLUMN(X)                                                                              \
	X("line", N_("line"), TEXT, line_cell(site->line, false))                                  \
	X("function", N_("function"), TEXT, line_cell(site->line, true))                           \
	X("event", N_("waited in"), TEXT, sp_cell_text(event))                                     \
	X(NULL, N_("for"), TEXT, sp_cell_text(for_text(site, both)))                               \
	X("waited_for", NULL, TEXT, sp_cell_text(waited_for(site)))                                \
	X("host_memory", NULL, TEXT, sp_cell_text(sp_gpu_copy_host_memory(site->way)))             \
	TIME_COLUMNS(X)                                                                            \
	X("max_ns", N_("longest"), NS,                                                             \
	  sp_cell_if(site->max_ticks, ns_of(sites, i, site->max_ticks)))                           \
	STACK_COLUMNS(X)

static const struct sp_column call_columns[] = {CALL_COLUMNS(SP_COLUMN)};
static const struct sp_column line_columns[] = {LINE_COLUMNS(SP_COLUMN)};
static const struct sp_column sync_columns[] = {SYNC_COLUMNS(SP_COLUMN)};

static int show_call(const void *context, struct sp_out *out, uint32_t i)
{
	const struct sites *sites = context;
	const struct sp_report *report = sites->report;
	const struct site *site = &sites->list[i];
	const char *event = sp_event_info(site->kind)->name;
	struct sp_cell stack[SP_STACK_CELLS];
	struct sp_stack_text text;
	char both[FOR_BYTES];
	int r = sp_stack_cells_make(&sites->functions, site->image, site->stack, &text, stack);

	if (r < 0)
		return r;
	const struct sp_cell calls[] = {CALL_COLUMNS(SP_CELL)}, syncs[] = {SYNC_COLUMNS(SP_CELL)};

	r = sp_out_row(out, sites->are_syncs ? syncs : calls);
	sp_stack_cells_finish(&text);
	return r;
}

static int show_line(const void *context, struct sp_out *out, uint32_t i)
{
	const struct sites *sites = context;
	const struct sp_report *report = sites->report;
	const struct site *site = &sites->list[i];
	const char *event = sp_event_info(site->kind)->name;
	const struct sp_cell cells[] = {LINE_COLUMNS(SP_CELL)};

	return sp_out_row(out, cells);
}

/* The rows of the sites, with names of their functions if --symbols asks. */
static int show_sites(struct sites *sites, struct sp_view_rows *rows, struct sp_out *out,
		      const struct sp_view_options *options)
{
	const struct sp_run *run = &sites->report->run;
	int r = options->symbols
			? sp_functions_find(&sites->functions, &run->metadata.slow, &run->index)
			: 0;

	rows->count = sites->count;
	rows->value = by_total;
	rows->context = sites;
	return r ? r : sp_view_sorted_show(rows, sites->report, out, options);
}

/* Lines of calls that are not those of --by=sync. */
static int show_lines(const struct sp_report *report, struct sp_out *out, uint32_t limit)
{
	struct sites sites = {.report = report};
	struct sp_view_rows rows = {"lines", SP_COLUMNS_OF(line_columns), .value = by_total,
				    .show = show_line, .context = &sites};
	int r = sites_make(&sites);

	for (const struct sp_line *line = report->run.metadata.slow.lines.by_key; r == 0 && line;
	     line = line->hh.next)
		if (!sp_gpu_call_is_kept(line->key.kind))
			add(&sites, site_of_line(line));
	rows.count = sites.count;
	if (r == 0 && (sites.count || out->format == SP_FORMAT_JSON))
		r = sp_view_rows_show(&rows, out, limit);
	free(sites.list);
	return r;
}

int sp_view_stacks(const struct sp_report *report, struct sp_out *out,
		   const struct sp_view_options *options)
{
	struct sites sites = {.report = report};
	struct sp_view_rows rows = {"slow_calls", SP_COLUMNS_OF(call_columns), .show = show_call};
	int r = sites_make(&sites);

	for (const struct sp_slow *slow = report->run.metadata.slow.by_key; r == 0 && slow;
	     slow = slow->hh.next)
		if (slow->key.stack)
			add(&sites, site_of_stack(slow));
	if (r == 0)
		r = show_sites(&sites, &rows, out, options);
	if (r == 0 && sites.count == 0)
		sp_out_line(out, "The trace has no stacks; STAGEPROF_STACKS=file_read>10ms records "
				 "them.");
	if (r == 0)
		r = show_lines(report, out, options->limit);
	if (r == 0 && sites.count && !options->symbols)
		sp_out_line(out, "--symbols names functions.");
	sp_functions_finish(&sites.functions);
	free(sites.list);
	return r;
}

static int find_syncs(struct sites *sites)
{
	const struct sp_slow_calls *calls = &sites->report->run.metadata.slow;
	int r = sites_make(sites);

	for (const struct sp_line *line = calls->lines.by_key; r == 0 && line; line = line->hh.next)
		if (sp_gpu_call_is_kept(line->key.kind))
			add(sites, site_of_line(line));
	for (const struct sp_slow *slow = calls->by_key; r == 0 && slow; slow = slow->hh.next)
		if (sp_gpu_call_is_kept(slow->key.kind))
			add(sites, site_of_rest(slow));
	return r;
}

int sp_view_sync(const struct sp_report *report, struct sp_out *out,
		 const struct sp_view_options *options)
{
	struct sites sites = {.report = report, .are_syncs = true};
	struct sp_view_rows rows = {"lines", SP_COLUMNS_OF(sync_columns), .show = show_call};
	uint64_t turned_away =
		report->run.metadata.slow.turned_away + report->run.metadata.slow.lines.turned_away;
	int r = find_syncs(&sites);

	if (r == 0)
		r = show_sites(&sites, &rows, out, options);
	if (r == 0 && sites.count == 0 && !sp_stages_have_cuda(report->totals.stages))
		sp_out_line(out, "no calls of CUDA or HIP: none was seen, or none is selected");
	else if (r == 0 && sites.count == 0)
		sp_out_line(out, "No call of CUDA or NCCL was kept: none took 1 ms or longer, or "
				 "STAGEPROF_WITHOUT has lines.");
	if (r == 0 && sites.has_rest)
		sp_out_line(out, "Calls without a line were made by other threads than the main "
				 "one, or not from Python: the view stacks has their native "
				 "stacks.");
	if (r == 0 && turned_away)
		sp_out_line(out,
			    sp_translate_plural("%llu more call did not fit into this view.",
						"%llu more calls did not fit into this view.",
						(unsigned long)turned_away),
			    (unsigned long long)turned_away);
	sp_functions_finish(&sites.functions);
	free(sites.list);
	return r;
}
