/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/totals/totals_read.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/base/add_up.h"
#include "analyzer/base/jobs.h"
#include "analyzer/base/order.h"
#include "analyzer/reader/clock_convert.h"
#include "analyzer/totals/stream_digest.h"
#include "analyzer/totals/thread_end.h"
#include "trace/columns.h"
#include "trace/events.h"

/* One thread of the analyzer. */
struct summer {
	struct sp_reader reader;
	struct sp_aggregate aggregate;
	struct sp_partial_sums partial; /* of one thread alone where threads are encoded */
	struct summing *summing;
};

struct summing {
	struct sp_run *run;
	struct sp_totals *totals;
	struct summer *summers;
	pthread_mutex_t damage_lock; /* streams of one concatenation share a file */
};

static void damaged(void *context, uint32_t file, uint64_t at, uint64_t bytes)
{
	struct summer *s = context;

	pthread_mutex_lock(&s->summing->damage_lock);
	sp_file_damaged(&s->summing->run->index.files[file],
			bytes ? SP_DAMAGE_PAYLOAD : SP_DAMAGE_READ, at, bytes);
	pthread_mutex_unlock(&s->summing->damage_lock);
}

static bool wants_block(void *context, const struct sp_block_header *block)
{
	const struct summer *s = context;

	if (s->aggregate.all || block->events == 0)
		return true;
	return block->begin_ticks < s->aggregate.span.to_ticks &&
	       block->end_ticks >= s->aggregate.span.from_ticks;
}

static void stream_begin(struct summer *s, uint32_t i)
{
	const struct sp_run *run = s->summing->run;
	uint32_t image = run->index.streams[i]->image;

	s->aggregate = (struct sp_aggregate){
		.partial = &s->partial,
		.sums = &s->summing->totals->streams[i],
		.image = &run->metadata.images[image],
		.ns_per_tick = sp_run_host(run, i)->clock.ns_per_tick,
		.span = sp_run_span(run, image),
	};
	s->aggregate.all =
		s->aggregate.span.from_ticks == 0 && s->aggregate.span.to_ticks == UINT64_MAX;
	s->reader.starts_of = s->aggregate.all ? SP_EV_memory : SP_COLUMNS_ALL;
}

/* A thread of a digest. */
static int take_digested(struct summer *s, uint32_t i)
{
	struct sp_stream *stream = s->summing->run->index.streams[i];
	struct sp_digested *digested = stream->digested;
	struct sp_digest_fields f = sp_digest_fields_of(digested->sums, digested->sums_bytes);

	sp_stream_digest_fields(&f, &s->summing->totals->streams[i], s->partial.hists);
	for (uint32_t k = 0; k <= digested->file_count && !f.is_bad; k++) {
		struct sp_file_sums sums = {.opens = 0};

		sp_file_digest_fields(&f, &sums);
		if (s->partial.files && !f.is_bad)
			SP_ADD_UP(&s->partial.files[k < digested->file_count ? digested->files[k]
									     : SP_STRINGS_REST],
				  &sums);
	}
	if (!sp_digest_is_read(&f))
		damaged(s, stream->segments->file, stream->segments->at, digested->sums_bytes);
	free(digested->sums);
	digested->sums = NULL;
	digested->sums_bytes = 0;
	return 0;
}

/* A file that the thread used. */
struct used_file {
	uint64_t ns;
	uint32_t number;
	const char *name;
};

SP_ORDER(compare_used, struct used_file, SP_DOWN(ns) ?: strcmp(x->name, y->name))

static bool is_used(const struct sp_file_sums *f)
{
	return f->opens || f->reads || f->writes || f->maps || f->other_ns || f->wait_ns ||
	       f->mapped_reads;
}

/* Files of the thread but the rest. */
static uint32_t list_used(const struct summer *s, const struct sp_process_metadata *image,
			  struct used_file *ret)
{
	uint32_t n = 0;

	for (uint32_t id = 0; image->files && id < image->file_room; id++) {
		uint32_t number = image->files[id];
		const struct sp_file_sums *f = &s->partial.files[number];
		size_t bytes;

		if (number == SP_STRINGS_REST || !is_used(f))
			continue;
		ret[n++] = (struct used_file){f->read_ns + f->mapped_read_ns + f->write_ns +
						      f->other_ns + f->wait_ns,
					      number,
					      sp_string_table_text(&s->summing->run->metadata.files,
								   number, &bytes)};
	}
	qsort(ret, n, sizeof(*ret), compare_used);
	return n;
}

/* The sums of the greatest files, then of all others together; they are 0 for the next thread. */
static void put_files(struct summer *s, const struct used_file *used, uint32_t n,
		      struct sp_top_files *top, struct sp_digest_fields *f)
{
	struct sp_file_sums *files = s->partial.files, rest = files[SP_STRINGS_REST];

	for (uint32_t i = 0; i < n; i++) {
		struct sp_file_sums *sums = &files[used[i].number];

		if (i && used[i].number == used[i - 1].number) /* two ids of one name */
			continue;
		if (top->count < SP_TOP_FILES) {
			top->list[top->count++] = used[i].number;
			sp_file_digest_fields(f, sums);
		} else {
			SP_ADD_UP(&rest, sums);
		}
		*sums = (struct sp_file_sums){.opens = 0};
	}
	sp_file_digest_fields(f, &rest);
	files[SP_STRINGS_REST] = (struct sp_file_sums){.opens = 0};
}

static int encode_files(struct summer *s, uint32_t i, struct sp_digest_fields *f)
{
	const struct sp_run *run = s->summing->run;
	const struct sp_process_metadata *image = sp_run_process(run, i);
	struct sp_top_files *top = &s->summing->totals->tops[i];
	struct used_file *used;
	uint32_t n;

	if (!s->partial.files)
		return -EINVAL; /* a digest asks for files */
	used = calloc(image->file_room + 1u, sizeof(*used));
	top->list = calloc(SP_TOP_FILES, sizeof(*top->list));
	if (used && top->list) {
		n = list_used(s, image, used);
		put_files(s, used, n, top, f);
	}
	free(used);
	return used && top->list ? 0 : -ENOMEM;
}

static int encode_stream(struct summer *s, uint32_t i)
{
	struct sp_totals *totals = s->summing->totals;
	struct sp_digest_fields f = {.reads = false};

	sp_stream_digest_fields(&f, &totals->streams[i], s->partial.hists);
	if (encode_files(s, i, &f) < 0)
		f.is_bad = true;
	memset(s->partial.hists, 0, sizeof(s->partial.hists));
	totals->encoded[i] = (struct sp_stream_bytes){f.bytes, (uint32_t)f.size};
	return f.is_bad ? -ENOMEM : 0;
}

static int sum_stream(void *context, unsigned job, uint32_t i)
{
	struct summing *summing = context;
	struct summer *s = &summing->summers[job];
	struct sp_batch batch;

	if (!sp_run_selects(summing->run, i))
		return 0;
	if (summing->run->index.streams[i]->digested)
		return take_digested(s, i);
	stream_begin(s, i);
	sp_reader_open(&s->reader, &summing->run->index, summing->run->index.streams[i]);
	while (sp_reader_next(&s->reader, &batch))
		sp_aggregate_take(&s->aggregate, &batch);
	sp_aggregate_end(&s->aggregate);
	s->aggregate.sums->missing = sp_reader_missing(&s->reader);
	return summing->totals->encoded ? encode_stream(s, i) : 0;
}

static int summers_init(struct summing *summing, unsigned jobs, uint32_t file_count)
{
	int r = 0;

	summing->summers = calloc(jobs, sizeof(*summing->summers));
	if (!summing->summers)
		return -ENOMEM;
	for (unsigned i = 0; i < jobs; i++) {
		struct summer *s = &summing->summers[i];

		s->summing = summing;
		if (sp_reader_init(&s->reader) < 0 || sp_reader_by_kind(&s->reader) < 0 ||
		    sp_partial_sums_init(&s->partial, file_count) < 0)
			r = -ENOMEM;
		s->reader.want = wants_block;
		s->reader.damaged = damaged;
		s->reader.context = s;
	}
	return r;
}

static void summers_finish(struct summing *summing, unsigned jobs)
{
	for (unsigned i = 0; summing->summers && i < jobs; i++) {
		sp_reader_finish(&summing->summers[i].reader);
		sp_partial_sums_finish(&summing->summers[i].partial);
	}
	free(summing->summers);
}

static void add_stream(struct sp_totals *totals, const struct sp_run *run, uint32_t i)
{
	const struct sp_stream *s = run->index.streams[i];
	const struct sp_stream_sums *sums = &totals->streams[i];
	enum sp_thread_end thread_end = sp_thread_end_of(run, totals, i);
	int64_t begin, end;

	for (int stage = 0; stage < SP_STAGES; stage++)
		sp_sums_merge(&totals->stages[stage], &sums->stages[stage]);
	totals->events += sums->events;
	totals->holes += sums->holes;
	totals->missing += sums->missing;
	totals->unknown += sums->unknown;
	totals->lines += sums->lines;
	totals->pixels += sums->pixels;
	totals->phases |= sums->phases;
	totals->lost += s->lost;
	totals->lost_full += s->lost_by[SP_LOST_FULL];
	totals->lost_nested += s->lost_by[SP_LOST_NESTED];
	totals->threads++;
	totals->not_ended += thread_end == SP_THREAD_END_NONE;
	totals->ended_with_process += thread_end == SP_THREAD_END_WITH_PROCESS;
	totals->truncated += !s->has_last && !s->has_window && !s->write_mode;
	totals->unfinished += s->unfinished;
	totals->tails_away += sp_stream_tail_is_away(s);
	sp_stream_life(run, totals, i, &begin, &end);
	totals->thread_ns += (uint64_t)(end - begin);
	if (end > totals->end_ns)
		totals->end_ns = end;
}

static int add_streams(struct sp_totals *totals, const struct sp_run *run)
{
	uint32_t last_image = UINT32_MAX;

	totals->main_ends_ns = sp_main_ends_find(run, totals);
	if (!totals->main_ends_ns)
		return -ENOMEM;
	for (uint32_t i = 0; i < run->index.stream_count; i++) {
		uint32_t image = run->index.streams[i]->image;

		if (!sp_run_selects(run, i))
			continue;
		add_stream(totals, run, i);
		if (image != last_image) { /* streams are in the order of their images */
			totals->processes++;
			totals->lost_no_file += run->index.images[image].process_lost;
			last_image = image;
		}
	}
	totals->lost += totals->lost_no_file;
	return 0;
}

int sp_totals_read(struct sp_totals *totals, struct sp_run *run, bool wants_files)
{
	struct summing summing = {.run = run, .totals = totals};
	uint32_t file_count = wants_files ? run->metadata.files.count : 0;
	int r = sp_partial_sums_init(&totals->partial, file_count);

	totals->streams = calloc(run->index.stream_count + 1u, sizeof(*totals->streams));
	if (!totals->streams || r < 0)
		return -ENOMEM;
	if (totals->encodes_streams) {
		totals->encoded = calloc(run->index.stream_count + 1u, sizeof(*totals->encoded));
		totals->tops = calloc(run->index.stream_count + 1u, sizeof(*totals->tops));
		if (!totals->encoded || !totals->tops)
			return -ENOMEM;
	}
	totals->end_ns = run->begin_ns;
	pthread_mutex_init(&summing.damage_lock, NULL);
	r = summers_init(&summing, run->jobs, file_count);
	if (r == 0)
		r = sp_jobs_run(run->jobs, run->index.stream_count, sum_stream, &summing);
	for (unsigned i = 0; r == 0 && i < run->jobs; i++)
		sp_partial_sums_merge(&totals->partial, &summing.summers[i].partial);
	summers_finish(&summing, run->jobs);
	pthread_mutex_destroy(&summing.damage_lock);
	return r < 0 ? r : add_streams(totals, run);
}
