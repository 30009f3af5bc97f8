#include "analyzer/report.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

#include "analyzer/clock.h"
#include "analyzer/jobs.h"
#include "analyzer/thread_end.h"
#include "trace/columns.h"
#include "trace/events.h"

static const struct sp_host *host_of(const struct sp_report *report, uint32_t stream)
{
	const struct sp_index *index = &report->index;

	return &index->hosts[index->images[index->streams[stream]->image].host];
}

bool sp_report_selects(const struct sp_report *report, uint32_t stream)
{
	const struct sp_selection *selection = &report->selection;
	const struct sp_stream *s = report->index.streams[stream];

	return (!selection->pid || selection->pid == report->index.images[s->image].pid) &&
	       (!selection->tid || selection->tid == s->tid);
}

/* The run begins for all selections alike: with the first of all its files. */
static void find_begin(struct sp_report *report)
{
	bool found = false;

	for (uint32_t i = 0; i < report->index.host_count; i++) {
		const struct sp_clock *clock = &report->index.hosts[i].clock;
		int64_t begin = sp_clock_realtime_ns(clock, clock->first.ticks);

		if (clock->first.ticks && (!found || begin < report->begin_ns)) {
			report->begin_ns = begin;
			found = true;
		}
	}
	report->end_ns = report->begin_ns;
}

static bool has_marks(const struct sp_index *index)
{
	for (uint32_t i = 0; i < index->stream_count; i++)
		if (index->streams[i]->mark.what && !index->streams[i]->has_last)
			return true;
	return false;
}

int sp_report_scan(struct sp_report *report)
{
	int r = sp_index_read(&report->index, report->jobs);

	if (r < 0)
		return r;
	find_begin(report);
	/* What a hanging thread hangs on has a name. */
	if (report->naming == SP_NAMING_NONE && has_marks(&report->index))
		report->naming = SP_NAMING_PATH;
	return sp_facts_read(&report->facts, &report->index, report->jobs, report->naming,
			     report->names_max);
}

static int64_t add_clipped(int64_t a, int64_t b)
{
	int64_t sum;

	if (__builtin_add_overflow(a, b, &sum))
		return b < 0 ? INT64_MIN : INT64_MAX;
	return sum;
}

struct sp_span sp_report_span(const struct sp_report *report, uint32_t host)
{
	const struct sp_clock *clock = &report->index.hosts[host].clock;
	const struct sp_selection *s = &report->selection;
	struct sp_span span = {0, UINT64_MAX};

	if (s->from_ns != INT64_MIN)
		span.from_ticks = sp_clock_ticks(clock, add_clipped(report->begin_ns, s->from_ns));
	if (s->to_ns != INT64_MAX)
		span.to_ticks = sp_clock_ticks(clock, add_clipped(report->begin_ns, s->to_ns));
	return span;
}

struct worker {
	struct sp_reader reader;
	struct sp_fold fold;
	struct sp_fold_part part;
	struct folding *folding;
};

struct folding {
	struct sp_report *report;
	struct worker *workers;
	pthread_mutex_t damage_lock; /* streams of one concatenation share a file */
};

static void damaged(void *context, uint32_t file, uint64_t at, uint64_t bytes)
{
	struct worker *w = context;

	pthread_mutex_lock(&w->folding->damage_lock);
	sp_file_damaged(&w->folding->report->index.files[file],
			bytes ? SP_DAMAGE_PAYLOAD : SP_DAMAGE_READ, at, bytes);
	pthread_mutex_unlock(&w->folding->damage_lock);
}

static bool wants_block(void *context, const struct sp_block_header *block)
{
	const struct worker *w = context;

	if (w->fold.all || block->events == 0)
		return true;
	return block->begin_ticks < w->fold.span.to_ticks &&
	       block->end_ticks >= w->fold.span.from_ticks;
}

static void fold_begin(struct worker *w, uint32_t i)
{
	struct sp_report *report = w->folding->report;
	uint32_t image = report->index.streams[i]->image;

	w->fold = (struct sp_fold){
		.part = &w->part,
		.sums = &report->streams[i],
		.image = &report->facts.images[image],
		.ns_per_tick = host_of(report, i)->clock.ns_per_tick,
		.span = sp_report_span(report, report->index.images[image].host),
	};
	w->fold.all = w->fold.span.from_ticks == 0 && w->fold.span.to_ticks == UINT64_MAX;
	w->reader.starts_of = w->fold.all ? SP_EV_memory : SP_COLUMNS_ALL;
}

static int fold_stream(void *context, unsigned worker, uint32_t i)
{
	struct folding *folding = context;
	struct worker *w = &folding->workers[worker];
	struct sp_batch batch;

	if (!sp_report_selects(folding->report, i))
		return 0;
	fold_begin(w, i);
	sp_reader_open(&w->reader, &folding->report->index, folding->report->index.streams[i]);
	while (sp_reader_next(&w->reader, &batch))
		sp_fold_take(&w->fold, &batch);
	sp_fold_end(&w->fold);
	w->fold.sums->missing = sp_reader_missing(&w->reader);
	return 0;
}

static int workers_init(struct folding *f, unsigned jobs, uint32_t file_count)
{
	int r = 0;

	f->workers = calloc(jobs, sizeof(*f->workers));
	if (!f->workers)
		return -ENOMEM;
	for (unsigned i = 0; i < jobs; i++) {
		struct worker *w = &f->workers[i];

		w->folding = f;
		if (sp_reader_init(&w->reader) < 0 || sp_reader_by_kind(&w->reader) < 0 ||
		    sp_fold_part_init(&w->part, file_count) < 0)
			r = -ENOMEM;
		w->reader.want = wants_block;
		w->reader.damaged = damaged;
		w->reader.context = w;
	}
	return r;
}

static void workers_finish(struct folding *f, unsigned jobs)
{
	for (unsigned i = 0; f->workers && i < jobs; i++) {
		sp_reader_finish(&f->workers[i].reader);
		sp_fold_part_finish(&f->workers[i].part);
	}
	free(f->workers);
}

void sp_report_life(const struct sp_report *report, uint32_t stream, int64_t *ret_begin_ns,
		    int64_t *ret_end_ns)
{
	const struct sp_stream *s = report->index.streams[stream];
	const struct sp_clock *clock = &host_of(report, stream)->clock;
	uint64_t last = report->streams[stream].end_ticks;
	int64_t from = add_clipped(report->begin_ns, report->selection.from_ns);
	int64_t to = add_clipped(report->begin_ns, report->selection.to_ns);

	last = s->last_ticks > last ? s->last_ticks : last;
	*ret_begin_ns = sp_clock_realtime_ns(clock, s->opened_ticks ? s->opened_ticks : last);
	*ret_end_ns = sp_clock_realtime_ns(clock, last);
	if (report->selection.from_ns != INT64_MIN && *ret_begin_ns < from)
		*ret_begin_ns = from;
	if (report->selection.to_ns != INT64_MAX && *ret_end_ns > to)
		*ret_end_ns = to;
	if (*ret_end_ns < *ret_begin_ns)
		*ret_end_ns = *ret_begin_ns;
}

static void add_stream(struct sp_report *report, uint32_t i)
{
	const struct sp_stream *s = report->index.streams[i];
	const struct sp_stream_sums *sums = &report->streams[i];
	int64_t begin, end;

	for (int stage = 0; stage < SP_STAGES; stage++)
		sp_sums_merge(&report->stages[stage], &sums->stages[stage]);
	report->events += sums->events;
	report->holes += sums->holes;
	report->missing += sums->missing;
	report->unknown += sums->unknown;
	report->lines += sums->lines;
	report->pixels += sums->pixels;
	report->lost += s->lost;
	report->lost_full += s->lost_by[SP_LOST_FULL];
	report->lost_nested += s->lost_by[SP_LOST_NESTED];
	report->threads++;
	report->not_ended += sp_thread_end_of(report, i) == SP_THREAD_END_NONE;
	report->ended_with_process += sp_thread_end_of(report, i) == SP_THREAD_END_WITH_PROCESS;
	report->truncated += !s->has_last && !s->has_window && !s->write_mode;
	report->unfinished += s->unfinished;
	report->write_mode += s->write_mode;
	sp_report_life(report, i, &begin, &end);
	report->thread_ns += (uint64_t)(end - begin);
	if (end > report->end_ns)
		report->end_ns = end;
}

static int add_streams(struct sp_report *report)
{
	uint32_t last_image = UINT32_MAX;

	report->main_ends_ns = sp_main_ends_find(report);
	if (!report->main_ends_ns)
		return -ENOMEM;
	for (uint32_t i = 0; i < report->index.stream_count; i++) {
		uint32_t image = report->index.streams[i]->image;

		if (!sp_report_selects(report, i))
			continue;
		add_stream(report, i);
		if (image != last_image) { /* streams are in the order of their images */
			report->processes++;
			report->lost_no_file += report->index.images[image].process_lost;
			last_image = image;
		}
	}
	report->lost += report->lost_no_file;
	return 0;
}

int sp_report_fold(struct sp_report *report)
{
	struct folding f = {.report = report};
	uint32_t file_count = report->wants_files ? report->facts.files.count : 0;
	int r = sp_fold_part_init(&report->part, file_count);

	report->streams = calloc(report->index.stream_count + 1, sizeof(*report->streams));
	if (!report->streams || r < 0)
		return -ENOMEM;
	if (report->wants_steps)
		r = sp_training_read(&report->training, report);
	if (r == 0 && report->wants_ranges)
		r = sp_ranges_read(&report->ranges, report, report->wants_ranges);
	if (r < 0)
		return r;
	pthread_mutex_init(&f.damage_lock, NULL);
	r = workers_init(&f, report->jobs, file_count);
	if (r == 0)
		r = sp_jobs_run(report->jobs, report->index.stream_count, fold_stream, &f);
	for (unsigned i = 0; r == 0 && i < report->jobs; i++)
		sp_fold_part_merge(&report->part, &f.workers[i].part);
	workers_finish(&f, report->jobs);
	pthread_mutex_destroy(&f.damage_lock);
	if (r == 0)
		r = add_streams(report);
	if (r == 0 && report->wants_ranks)
		r = sp_ranks_read(&report->ranks, report);
	if (r == 0 && report->wants_workers)
		r = sp_workers_read(&report->workers, report);
	return r;
}

void sp_report_finish(struct sp_report *report)
{
	for (uint32_t i = 0; report->streams && i < report->index.stream_count; i++)
		sp_resident_finish(&report->streams[i].resident);
	free(report->streams);
	free(report->main_ends_ns);
	sp_ranges_finish(&report->ranges);
	sp_ranks_finish(&report->ranks);
	sp_workers_finish(&report->workers);
	sp_training_finish(&report->training);
	sp_facts_finish(&report->facts, &report->index);
	sp_index_finish(&report->index);
	sp_fold_part_finish(&report->part);
}

const char *sp_report_thread_name(const struct sp_report *report, uint32_t stream)
{
	const char *name = report->facts.thread_names[stream];

	return *name ? name : report->index.streams[stream]->comm;
}

struct sp_traffic sp_stages_traffic(const struct sp_sums stages[SP_STAGES])
{
	struct sp_traffic t = {0, 0};

	for (int i = 0; i < SP_STAGES; i++) {
		enum sp_traffic_way way = sp_stage_traffic((enum sp_stage)i);

		t.read_bytes += way == SP_TRAFFIC_READ ? stages[i].bytes : 0;
		t.written_bytes += way == SP_TRAFFIC_WRITTEN ? stages[i].bytes : 0;
	}
	return t;
}

bool sp_report_has_trace(const struct sp_report *report)
{
	if (report->index.stream_count)
		return true;
	for (uint32_t i = 0; i < report->index.file_count; i++)
		if (report->index.files[i].runs)
			return true;
	return false;
}
