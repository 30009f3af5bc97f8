/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The view `threads`: a row a thread, or a process.
 */
#include "analyzer/base/each.h"
#include "analyzer/views/view.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/totals/thread_end.h"
#include "analyzer/views/inflight.h"
#include "analyzer/workers/thread_role.h"

static struct sp_cell host_cell(const struct sp_report *report, uint32_t host)
{
	const char *name = report->run.index.hosts[host].name;

	return sp_cell_bytes(name, strnlen(name, sizeof(report->run.index.hosts[host].name)));
}

static const char *end_of(const struct sp_report *report, uint32_t i)
{
	const struct sp_stream *s = report->run.index.streams[i];
	enum sp_thread_end end = sp_thread_end_of(&report->run, &report->totals, i);

	if (end != SP_THREAD_END_NONE)
		return end == SP_THREAD_END_CLEAN ? _("clean") : _("with process");
	if (sp_inflight_ns(report, i))
		return _("in a call");
	if (sp_stream_tail_is_away(s))
		return _("not here");
	return s->has_window ? _("none") : _("cut");
}

static uint64_t total_of(const struct sp_report *report, uint32_t i)
{
	return SP_SUM(uint64_t, stage, SP_STAGE_off,
		      report->totals.streams[i].stages[stage].total_ns);
}

static int top_stage(const struct sp_sums *stages)
{
	int top = 0;

	for (int stage = 1; stage < SP_STAGE_off; stage++)
		if (!stages[top].calls || stages[stage].total_ns > stages[top].total_ns)
			top = stage;
	return top;
}

static int64_t begin_of(const struct sp_report *report, uint32_t i)
{
	int64_t begin, end;

	sp_stream_life(&report->run, &report->totals, i, &begin, &end);
	return begin;
}

static uint64_t lifetime_of(const struct sp_report *report, uint32_t i)
{
	int64_t begin, end;

	sp_stream_life(&report->run, &report->totals, i, &begin, &end);
	return (uint64_t)(end - begin);
}

/* The columns that a terminal without room for all keeps longest have the greatest number. */
#define THREAD_COLUMNS(X)                                                                          \
	X("host", NULL, TEXT, 0, host_cell(report, report->run.index.images[s->image].host))       \
	X("pid", N_("pid"), ID, 4, sp_cell_count(report->run.index.images[s->image].pid))          \
	X("tid", N_("thread"), ID, 4, sp_cell_count(s->tid))                                       \
	X("name", N_("name"), TEXT, 0, sp_cell_text(sp_run_thread_name(&report->run, i)))          \
	X("role", N_("role"), WORD, 3, sp_cell_text(_(sp_role_of(&report->training, i))))          \
	X("part", NULL, ID, 0, sp_cell_count(s->segment))                                          \
	X("start_ns", N_("start"), AT_NS, 1,                                                       \
	  sp_cell_signed(begin_of(report, i) - report->run.begin_ns))                              \
	X("dur_ns", N_("lifetime"), NS, 2, sp_cell_count(lifetime_of(report, i)))                  \
	X("events", N_("events"), COUNT, 1, sp_cell_count(sums->events))                           \
	X("total_ns", N_("in calls"), NS, 2, sp_cell_count(total_of(report, i)))                   \
	X("top_stage", NULL, TEXT, 0, sp_cell_text(sums->events ? sp_stage_name(top) : NULL))      \
	X(NULL, N_("most time in"), TEXT, 0,                                                       \
	  sp_cell_text(sums->events ? sp_stage_title(top) : NULL))                                 \
	X("top_stage_ns", NULL, NS, 0, sp_cell_count(sums->stages[top].total_ns))                  \
	X("read_bytes", N_("read"), BYTES, 0, sp_cell_count(traffic.read_bytes))                   \
	X("written_bytes", NULL, BYTES, 0, sp_cell_count(traffic.written_bytes))                   \
	X("events_lost", N_("lost"), COUNT, 3, sp_cell_count(s->lost))                             \
	X("end", N_("end"), WORD, 3, sp_cell_text(end_of(report, i)))                              \
	X("cpu_ns", NULL, NS, 0, sp_cell_if(use->is_known, use->whole.cpu_ns))                     \
	X("ready_ns", NULL, NS, 0,                                                                 \
	  sp_cell_if(use->is_known && use->whole.ready_ns != UINT64_MAX, use->whole.ready_ns))     \
	X("major_faults", NULL, COUNT, 0, sp_cell_if(use->is_known, use->whole.major_faults))

#define THREAD_COLUMN(key, title, type, importance, cell) SP_COLUMN(key, title, type, cell)
#define THREAD_IMPORTANCE(key, title, type, importance, cell) importance,
#define THREAD_CELL(key, title, type, importance, cell) cell,
static const struct sp_column thread_columns[] = {THREAD_COLUMNS(THREAD_COLUMN)};
static const unsigned char importance[] = {THREAD_COLUMNS(THREAD_IMPORTANCE)};

static int show_thread(const void *context, struct sp_out *out, uint32_t i)
{
	const struct sp_report *report = context;
	const struct sp_stream *s = report->run.index.streams[i];
	const struct sp_stream_sums *sums = &report->totals.streams[i];
	const struct sp_thread_usage *use = &report->run.metadata.usages[i];
	struct sp_traffic traffic = sp_stages_traffic(sums->stages);
	int top = top_stage(sums->stages);
	const struct sp_cell cells[] = {THREAD_COLUMNS(THREAD_CELL)};

	return sp_out_row(out, cells);
}

static bool is_selected(const void *context, uint32_t i)
{
	return sp_run_selects(&((const struct sp_report *)context)->run, i);
}

SP_VALUE(by_start, struct sp_report, UINT64_MAX - (uint64_t)begin_of(rows, i))
SP_VALUE(by_events, struct sp_report, rows->totals.streams[i].events)
SP_VALUE(by_lifetime, struct sp_report, lifetime_of(rows, i))
SP_VALUE(by_total, struct sp_report, total_of(rows, i))

static const struct sp_sort_key thread_keys[] = {{"at", "start_ns", N_("start"), by_start},
						 {"events", "events", N_("events"), by_events},
						 {"lived", "dur_ns", N_("lifetime"), by_lifetime},
						 {"total", "total_ns", N_("in calls"), by_total}};

int sp_view_threads(const struct sp_report *report, struct sp_out *out,
		    const struct sp_view_options *options)
{
	struct sp_view_rows rows = {"threads",
				    SP_COLUMNS_OF(thread_columns),
				    SP_KEYS(thread_keys),
				    .count = report->run.index.stream_count,
				    .is_shown = is_selected,
				    .show = show_thread,
				    .context = report};
	int r;

	out->importance = importance;
	r = sp_view_sorted_show(&rows, report, out, options);
	return r == 0 ? sp_inflight_show(report, out) : r;
}

struct process {
	uint32_t image;
	uint32_t threads, not_ended;
	int64_t begin_ns, end_ns;
	uint64_t events, lost;
	uint64_t rss_max_bytes; /* 0: no sample */
	struct sp_memory_sample rss_last;
	struct sp_traffic traffic;
};

struct processes {
	const struct sp_report *report;
	struct process *list;
	uint32_t count;
};

static void add_memory(struct process *p, const struct sp_memory_samples *r)
{
	p->rss_max_bytes = r->max_bytes > p->rss_max_bytes ? r->max_bytes : p->rss_max_bytes;
	if (r->count && r->list[r->count - 1].ticks >= p->rss_last.ticks)
		p->rss_last = r->list[r->count - 1];
}

static void add_stream(const struct sp_report *report, struct process *p, uint32_t i)
{
	const struct sp_stream *s = report->run.index.streams[i];
	struct sp_traffic traffic = sp_stages_traffic(report->totals.streams[i].stages);
	int64_t begin, end;

	sp_stream_life(&report->run, &report->totals, i, &begin, &end);
	p->begin_ns = p->threads == 0 || begin < p->begin_ns ? begin : p->begin_ns;
	p->end_ns = p->threads == 0 || end > p->end_ns ? end : p->end_ns;
	p->threads++;
	p->not_ended += sp_thread_end_of(&report->run, &report->totals, i) == SP_THREAD_END_NONE;
	p->events += report->totals.streams[i].events;
	p->lost += s->lost;
	add_memory(p, &report->totals.streams[i].resident);
	p->traffic.read_bytes += traffic.read_bytes;
	p->traffic.written_bytes += traffic.written_bytes;
}

/* rss: from the samples of memory; null where there is none. */
#define PROCESS_COLUMNS(X)                                                                         \
	X("host", NULL, TEXT, host_cell(report, image->host))                                      \
	X("pid", N_("pid"), ID, sp_cell_count(image->pid))                                         \
	X("ppid", N_("parent"), ID, sp_cell_if(image->ppid, image->ppid))                          \
	X("exe", N_("program"), TEXT,                                                              \
	  sp_cell_bytes(image->exe, strnlen(image->exe, sizeof(image->exe))))                      \
	X("begin", N_("began by"), TEXT,                                                           \
	  sp_cell_text(!image->start_ns ? NULL                                                     \
		       : image->forked	? "fork"                                                   \
					: "exec"))                                                  \
	X("start_ns", N_("at"), AT_NS, sp_cell_signed(p->begin_ns - report->run.begin_ns))         \
	X("dur_ns", N_("lifetime"), NS, sp_cell_count((uint64_t)(p->end_ns - p->begin_ns)))        \
	X("threads", N_("threads"), COUNT, sp_cell_count(p->threads))                              \
	X("events", N_("events"), COUNT, sp_cell_count(p->events))                                 \
	X("read_bytes", N_("read"), BYTES, sp_cell_count(p->traffic.read_bytes))                   \
	X("written_bytes", N_("written"), BYTES, sp_cell_count(p->traffic.written_bytes))          \
	X("rss_max_bytes", N_("memory"), BYTES, sp_cell_if(p->rss_max_bytes, p->rss_max_bytes))    \
	X("rss_last_bytes", NULL, BYTES, sp_cell_if(p->rss_max_bytes, p->rss_last.bytes))          \
	X("events_lost", N_("lost"), COUNT, sp_cell_count(p->lost + image->process_lost))          \
	X("threads_not_ended", N_("not ended"), COUNT, sp_cell_count(p->not_ended))

static const struct sp_column process_columns[] = {PROCESS_COLUMNS(SP_COLUMN)};

static int show_process(const void *context, struct sp_out *out, uint32_t i)
{
	const struct sp_report *report = ((const struct processes *)context)->report;
	const struct process *p = &((const struct processes *)context)->list[i];
	const struct sp_process_image *image = &report->run.index.images[p->image];
	const struct sp_cell cells[] = {PROCESS_COLUMNS(SP_CELL)};

	return sp_out_row(out, cells);
}

SP_VALUE(by_process_start, struct processes, UINT64_MAX - (uint64_t)rows->list[i].begin_ns)
SP_VALUE(by_process_events, struct processes, rows->list[i].events)
SP_VALUE(by_process_lifetime, struct processes,
	 (uint64_t)(rows->list[i].end_ns - rows->list[i].begin_ns))
SP_VALUE(by_read, struct processes, rows->list[i].traffic.read_bytes)

static const struct sp_sort_key process_keys[] = {{"at", "start_ns", N_("at"), by_process_start},
						  {"events", "events", N_("events"),
						   by_process_events},
						  {"lived", "dur_ns", N_("lifetime"),
						   by_process_lifetime},
						  {"read", "read_bytes", N_("read"), by_read}};

static int gather_processes(struct processes *all)
{
	const struct sp_report *report = all->report;

	all->list = calloc(report->run.index.image_count + 1u, sizeof(*all->list));
	for (uint32_t i = 0; all->list && i < report->run.index.stream_count; i++) {
		uint32_t image = report->run.index.streams[i]->image;

		if (!sp_run_selects(&report->run, i))
			continue;
		/* streams come in the order of their images */
		if (all->count == 0 || all->list[all->count - 1].image != image)
			all->list[all->count++].image = image;
		add_stream(report, &all->list[all->count - 1], i);
	}
	return all->list ? 0 : -ENOMEM;
}

int sp_view_processes(const struct sp_report *report, struct sp_out *out,
		      const struct sp_view_options *options)
{
	struct processes all = {.report = report};
	struct sp_view_rows rows = {"processes", SP_COLUMNS_OF(process_columns),
				    SP_KEYS(process_keys), .show = show_process, .context = &all};
	int r = gather_processes(&all);

	rows.count = all.count;
	if (r == 0)
		r = sp_view_sorted_show(&rows, report, out, options);
	free(all.list);
	return r;
}
