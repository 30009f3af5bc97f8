/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/totals/stream_digest.h"

static void sums_fields(struct sp_digest_fields *f, struct sp_sums *s)
{
	sp_digest_number(f, &s->calls);
	sp_digest_number(f, &s->total_ns);
	sp_digest_number(f, &s->max_ns);
	sp_digest_number(f, &s->bytes);
	sp_digest_number(f, &s->errors);
	sp_digest_number(f, &s->aborted);
}

static uint32_t next_bin(const struct sp_hist *h, uint32_t bin)
{
	while (bin < SP_HIST_BINS && !h->bins[bin])
		bin++;
	return bin;
}

/* Bins that are not empty: the distance to the one before, and the number. */
static void hist_fields(struct sp_digest_fields *f, struct sp_hist *h)
{
	uint32_t bins = 0, at = 0;

	for (uint32_t i = 0; !f->reads && i < SP_HIST_BINS; i++)
		bins += h->bins[i] != 0;
	sp_digest_u32(f, &bins);
	for (uint32_t i = 0; i < bins && !f->is_bad; i++) {
		uint32_t gap = f->reads ? 0 : next_bin(h, at) - at;
		uint64_t count = f->reads ? 0 : h->bins[at + gap];

		sp_digest_u32(f, &gap);
		sp_digest_number(f, &count);
		f->is_bad |= at >= SP_HIST_BINS || gap >= SP_HIST_BINS - at;
		if (f->is_bad)
			return;
		if (f->reads)
			h->bins[at + gap] += count;
		at += gap + 1;
	}
}

static void stage_fields(struct sp_digest_fields *f, struct sp_stream_sums *sums,
			 struct sp_hist *hists)
{
	uint32_t stages = 0, stage = 0;

	for (int i = 0; !f->reads && i < SP_STAGES; i++)
		stages += sums->stages[i].calls != 0;
	sp_digest_u32(f, &stages);
	f->is_bad |= stages > SP_STAGES;
	for (uint32_t i = 0; i < stages && !f->is_bad; i++) {
		while (!f->reads && !sums->stages[stage].calls)
			stage++;
		sp_digest_u32(f, &stage);
		f->is_bad |= stage >= SP_STAGES;
		if (f->is_bad)
			return;
		sums_fields(f, &sums->stages[stage]);
		hist_fields(f, &hists[stage]);
		stage++;
	}
}

/* The greatest and the last sample of memory. */
static void memory_fields(struct sp_digest_fields *f, struct sp_memory_samples *m)
{
	struct sp_memory_sample last = {0, 0};
	bool any = m->count > 0;

	sp_digest_bool(f, &any);
	if (!any)
		return;
	if (!f->reads)
		last = m->list[m->count - 1];
	sp_digest_number(f, &last.ticks);
	sp_digest_number(f, &last.bytes);
	sp_digest_number(f, &m->max_bytes);
	if (f->reads && !f->is_bad) {
		uint64_t max_bytes = m->max_bytes;

		sp_memory_put(m, last.ticks, last.bytes);
		m->max_bytes = max_bytes;
	}
}

void sp_stream_digest_fields(struct sp_digest_fields *f, struct sp_stream_sums *sums,
			     struct sp_hist *hists)
{
	sp_digest_number(f, &sums->events);
	sp_digest_number(f, &sums->holes);
	sp_digest_number(f, &sums->missing);
	sp_digest_number(f, &sums->unknown);
	sp_digest_number(f, &sums->end_ticks);
	sp_digest_number(f, &sums->lines);
	sp_digest_number(f, &sums->pixels);
	sp_digest_number(f, &sums->phases);
	memory_fields(f, &sums->resident);
	stage_fields(f, sums, hists);
}

void sp_file_digest_fields(struct sp_digest_fields *f, struct sp_file_sums *s)
{
	uint64_t *const numbers[] = {
		&s->opens,	     &s->reads,	      &s->writes,	&s->streams,
		&s->read_ns,	     &s->write_ns,    &s->other_ns,	&s->wait_ns,
		&s->read_bytes,	     &s->write_bytes, &s->slow_reads,	&s->slow_read_ns,
		&s->slow_read_bytes, &s->maps,	      &s->mapped_bytes, &s->mapped_reads,
		&s->mapped_read_ns,
	};

	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		sp_digest_number(f, numbers[i]);
}
