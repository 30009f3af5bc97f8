/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/views/view.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/totals/thread_end.h"

enum {
	HOST,
	PID,
	PPID,
	EXE,
	BEGIN,
	START,
	LIFE,
	THREADS,
	EVENTS,
	READ,
	WRITTEN,
	MEMORY,
	MEMORY_LAST,
	LOST,
	ENDED,
	CELLS
};

static const struct sp_column columns[CELLS] = {
	[HOST] = {"host", NULL, SP_CELL_TEXT},
	[PID] = {"pid", N_("pid"), SP_CELL_ID},
	[PPID] = {"ppid", N_("parent"), SP_CELL_ID},
	[EXE] = {"exe", N_("program"), SP_CELL_TEXT},
	[BEGIN] = {"begin", N_("began by"), SP_CELL_TEXT},
	[START] = {"start_ns", N_("at"), SP_CELL_AT_NS},
	[LIFE] = {"dur_ns", N_("lifetime"), SP_CELL_NS},
	[THREADS] = {"threads", N_("threads"), SP_CELL_COUNT},
	[EVENTS] = {"events", N_("events"), SP_CELL_COUNT},
	[READ] = {"read_bytes", N_("read"), SP_CELL_BYTES},
	[WRITTEN] = {"written_bytes", N_("written"), SP_CELL_BYTES},
	/* From the samples of memory; null where there is none. */
	[MEMORY] = {"rss_max_bytes", N_("memory"), SP_CELL_BYTES},
	[MEMORY_LAST] = {"rss_last_bytes", NULL, SP_CELL_BYTES},
	[LOST] = {"events_lost", N_("lost"), SP_CELL_COUNT},
	[ENDED] = {"threads_not_ended", N_("not ended"), SP_CELL_COUNT},
};

struct process {
	uint32_t image;
	uint32_t threads, not_ended;
	int64_t begin_ns, end_ns;
	uint64_t events, lost;
	uint64_t rss_max_bytes; /* 0: no sample */
	struct sp_memory_sample rss_last;
	struct sp_traffic traffic;
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

static int show_row(const struct sp_report *report, struct sp_out *out, const struct process *p)
{
	const struct sp_process_image *image = &report->run.index.images[p->image];
	const struct sp_host *host = &report->run.index.hosts[image->host];
	struct sp_cell cells[CELLS] = {
		[HOST] = sp_cell_bytes(host->name, strnlen(host->name, sizeof(host->name))),
		[PID] = sp_cell_count(image->pid),
		[PPID] = image->ppid ? sp_cell_count(image->ppid) : sp_cell_null(),
		[EXE] = sp_cell_bytes(image->exe, strnlen(image->exe, sizeof(image->exe))),
		[BEGIN] = image->start_ns ? sp_cell_text(image->forked ? "fork" : "exec")
					  : sp_cell_null(),
		[START] = sp_cell_signed(p->begin_ns - report->run.begin_ns),
		[LIFE] = sp_cell_count((uint64_t)(p->end_ns - p->begin_ns)),
		[THREADS] = sp_cell_count(p->threads),
		[EVENTS] = sp_cell_count(p->events),
		[READ] = sp_cell_count(p->traffic.read_bytes),
		[WRITTEN] = sp_cell_count(p->traffic.written_bytes),
		[MEMORY] = p->rss_max_bytes ? sp_cell_count(p->rss_max_bytes) : sp_cell_null(),
		[MEMORY_LAST] =
			p->rss_max_bytes ? sp_cell_count(p->rss_last.bytes) : sp_cell_null(),
		[LOST] = sp_cell_count(p->lost + image->process_lost),
		[ENDED] = sp_cell_count(p->not_ended),
	};

	return sp_out_row(out, cells);
}

static uint64_t by_start(const void *context, uint32_t i)
{
	return UINT64_MAX - (uint64_t)((const struct process *)context)[i].begin_ns;
}

static uint64_t by_events(const void *context, uint32_t i)
{
	return ((const struct process *)context)[i].events;
}

static uint64_t by_life(const void *context, uint32_t i)
{
	const struct process *p = &((const struct process *)context)[i];

	return (uint64_t)(p->end_ns - p->begin_ns);
}

static uint64_t by_read(const void *context, uint32_t i)
{
	return ((const struct process *)context)[i].traffic.read_bytes;
}

static const struct sp_sort_key keys[] = {{"at", "start_ns", N_("at"), by_start},
					  {"events", "events", N_("events"), by_events},
					  {"lived", "dur_ns", N_("lifetime"), by_life},
					  {"read", "read_bytes", N_("read"), by_read}};

static struct process *gather(const struct sp_report *report, uint32_t *ret_n)
{
	struct process *all = calloc(report->run.index.image_count + 1u, sizeof(*all));
	uint32_t n = 0;

	for (uint32_t i = 0; all && i < report->run.index.stream_count; i++) {
		uint32_t image = report->run.index.streams[i]->image;

		if (!sp_run_selects(&report->run, i))
			continue;
		/* streams come in the order of their images */
		if (n == 0 || all[n - 1].image != image)
			all[n++].image = image;
		add_stream(report, &all[n - 1], i);
	}
	*ret_n = n;
	return all;
}

int sp_view_processes(const struct sp_report *report, struct sp_out *out,
		      const struct sp_view_options *options)
{
	const struct sp_sort_key *key = SP_SORT_FIND(keys, options);
	uint32_t n = 0, *order = NULL;
	struct process *all;
	int r;

	if (!key)
		return -EINVAL;
	all = gather(report, &n);
	order = all ? sp_order_by(n, key->value, all) : NULL;
	sp_run_json(report, out);
	r = order ? sp_out_table(out, "processes", NULL, columns, CELLS, true) : -ENOMEM;
	for (uint32_t i = 0; r == 0 && i < n && i < options->limit; i++)
		r = show_row(report, out, &all[order[i]]);
	if (order) {
		sp_out_table_end(out);
		sp_view_more(out, n > options->limit ? n - options->limit : 0);
	}
	free(order);
	free(all);
	return r;
}
