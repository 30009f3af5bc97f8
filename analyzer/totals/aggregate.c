/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/totals/aggregate.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

#include "analyzer/base/add_up.h"
#include "analyzer/reader/clock_convert.h"
#include "trace/columns.h"
#include "trace/events.h"

_Static_assert(SP_PHASES <= 64, "the phases of a stream are bits of one word");

/* The tables of events.def and stage.c in a form for the loop over events. */
struct kind_row {
	uint8_t stage[SP_FD_KINDS];
	uint8_t class;
	bool is_known;
	bool has_file;
	bool has_image;
	bool has_bytes;
	bool is_stream;
	bool is_copy; /* of CUDA */
};

static struct kind_row rows[SP_EVENT_KINDS];
static pthread_once_t rows_once = PTHREAD_ONCE_INIT;

static void rows_fill(void)
{
	for (uint32_t kind = 0; kind < SP_EVENT_KINDS; kind++) {
		const struct sp_event_info *info = sp_event_info(kind);
		struct kind_row *row = &rows[kind];

		for (int fd_kind = 0; fd_kind < SP_FD_KINDS; fd_kind++)
			row->stage[fd_kind] = (uint8_t)sp_stage_of(kind, (enum sp_fd_kind)fd_kind);
		row->class = info->class;
		row->is_known = info->name != NULL;
		row->is_stream = kind == SP_EV_fopen || kind == SP_EV_fopen_write;
		row->has_file = info->arg == SP_ARG_FILE;
		row->is_copy = info->name && (info->class == SP_CLASS_CUDA_COPY ||
					      info->class == SP_CLASS_GPU_COPY);
		row->has_image = info->value == SP_VALUE_LINES;
		row->has_bytes = info->value == SP_VALUE_BYTES || info->value == SP_VALUE_LENGTH;
	}
}

int sp_partial_sums_init(struct sp_partial_sums *partial, uint32_t file_count)
{
	pthread_once(&rows_once, rows_fill);
	*partial = (struct sp_partial_sums){.file_count = file_count};
	if (file_count)
		partial->files = calloc(file_count, sizeof(*partial->files));
	return file_count && !partial->files ? -ENOMEM : 0;
}

void sp_partial_sums_finish(struct sp_partial_sums *partial)
{
	free(partial->files);
	partial->files = NULL;
}

static void add_read(struct sp_file_sums *f, uint64_t bytes, uint64_t ns)
{
	f->reads++;
	f->read_ns += ns;
	f->read_bytes += bytes;
	if (sp_read_is_slow(ns, bytes)) {
		f->slow_reads++;
		f->slow_read_ns += ns;
		f->slow_read_bytes += bytes;
	}
}

void sp_partial_sums_merge(struct sp_partial_sums *into, const struct sp_partial_sums *from)
{
	for (int i = 0; i < SP_STAGES; i++)
		sp_hist_merge(&into->hists[i], &from->hists[i]);
	for (uint32_t i = 0; i < into->file_count; i++)
		SP_ADD_UP(&into->files[i], &from->files[i]);
}

static void add_file(struct sp_file_sums *f, const struct kind_row *row, int64_t value, uint64_t ns)
{
	uint64_t bytes = value > 0 ? (uint64_t)value : 0;

	switch (row->class) {
	case SP_CLASS_READ:
		add_read(f, bytes, ns);
		break;
	case SP_CLASS_WRITE:
		f->writes++;
		f->write_ns += ns;
		f->write_bytes += bytes;
		break;
	case SP_CLASS_MAP:
		f->maps++;
		f->mapped_bytes += bytes;
		f->other_ns += ns;
		break;
	case SP_CLASS_PAGE:
		f->mapped_reads++;
		f->mapped_read_ns += ns;
		break;
	case SP_CLASS_OPEN:
		f->opens++;
		f->streams += row->is_stream;
		f->other_ns += ns;
		break;
	case SP_CLASS_WAIT:
		f->wait_ns += ns;
		break;
	default:
		f->other_ns += ns;
	}
}

static void add_files(struct sp_aggregate *aggregate, const struct kind_row *row,
		      const struct sp_columns *c, uint32_t first, uint32_t limit)
{
	for (uint32_t i = first; i < limit; i++) {
		uint64_t ns =
			sp_clock_span_ns(aggregate->ns_per_tick, (uint64_t)c->ticks[i] * c->grain);

		add_file(&aggregate->partial->files[sp_process_file(aggregate->image, c->args[i])],
			 row, c->values[i], ns);
	}
}

static void add_times(struct sp_aggregate *aggregate, unsigned stage, const int64_t *ticks,
		      uint32_t n, uint64_t grain)
{
	struct sp_tick_unit unit = {grain, aggregate->ns_per_tick};

	sp_sums_add_times(&aggregate->sums->stages[stage], &aggregate->partial->hists[stage], ticks,
			  n, &unit);
}

static enum sp_fd_kind fd_kind_of(const struct sp_aggregate *aggregate, const struct kind_row *row,
				  uint32_t arg)
{
	if (row->has_file)
		return sp_process_fd_kind(aggregate->image, arg);
	return row->is_copy ? sp_fd_kind_of_copy(arg) : SP_FD_KIND_UNKNOWN;
}

/* The first event after `at` whose arg has another kind of descriptor. */
static uint32_t run_end(const struct sp_aggregate *aggregate, const struct kind_row *row,
			const uint32_t *args, uint32_t at, uint32_t limit)
{
	enum sp_fd_kind fd_kind = fd_kind_of(aggregate, row, args[at]);
	uint32_t arg = args[at];

	if (!row->has_file && !row->is_copy)
		return limit;
	for (at++; at < limit; at++) {
		if (args[at] == arg)
			continue;
		arg = args[at];
		if (fd_kind_of(aggregate, row, arg) != fd_kind)
			break;
	}
	return at;
}

static void take_plain(struct sp_aggregate *aggregate, const struct kind_row *row,
		       const struct sp_columns *c, uint32_t first, uint32_t limit)
{
	if (aggregate->partial->files && row->has_file)
		add_files(aggregate, row, c, first, limit);
	while (first < limit) {
		uint32_t end = run_end(aggregate, row, c->args, first, limit);
		unsigned stage = row->stage[fd_kind_of(aggregate, row, c->args[first])];

		add_times(aggregate, stage, c->ticks + first, end - first, c->grain);
		sp_sums_add_values(&aggregate->sums->stages[stage], c->values + first, end - first,
				   row->has_bytes);
		first = end;
	}
}

static void count_abandoned(struct sp_aggregate *aggregate, const struct kind_row *row,
			    const int64_t *values, uint32_t n)
{
	uint64_t abandoned = 0;

	for (uint32_t i = 0; i < n; i++)
		abandoned += values[i] == SP_VALUE_ABANDONED;
	aggregate->sums->stages[row->stage[SP_FD_KIND_UNKNOWN]].aborted += abandoned;
}

/* Counts an image by the words that the decoder reported: an abandoned one is counted already. */
static inline void count_reported(struct sp_aggregate *aggregate, const struct kind_row *row,
				  int64_t value, const int64_t extra[3])
{
	if (value == SP_VALUE_ABANDONED)
		return;
	if (extra[2] == SP_DECODE_ABORTED) {
		aggregate->sums->stages[row->stage[SP_FD_KIND_UNKNOWN]].aborted++;
	} else if (row->class == SP_CLASS_JPEG) {
		aggregate->sums->lines += value > 0 ? (uint64_t)value : 0;
		aggregate->sums->pixels +=
			((uint64_t)extra[1] >> 32) * ((uint64_t)extra[1] & UINT32_MAX);
	}
}

/* The time of a picture is the time inside the library; its slot spans from the first call to the
 * last. */
static void take_pictures(struct sp_aggregate *aggregate, const struct kind_row *row,
			  const struct sp_columns *c, uint32_t first, uint32_t limit)
{
	int64_t inside[SP_BLOCK_SLOTS_MAX];

	for (uint32_t i = first; i < limit; i++)
		inside[i - first] = (int64_t)((uint64_t)c->ticks[i] * c->grain);
	count_abandoned(aggregate, row, c->values + first, limit - first);
	for (uint32_t i = 0; i < c->extra_count; i++) {
		int64_t extra[3] = {c->extras[0][i], c->extras[1][i], c->extras[2][i]};
		uint32_t owner = c->owners[i];

		if (owner < first || owner >= limit)
			continue;
		inside[owner - first] = extra[0];
		count_reported(aggregate, row, c->values[owner], extra);
	}
	add_times(aggregate, row->stage[SP_FD_KIND_UNKNOWN], inside, limit - first, 1);
}

/* Samples take no time. */
static void take_memory(struct sp_aggregate *aggregate, const struct sp_columns *c, uint32_t first,
			uint32_t limit)
{
	const int64_t none = 0;

	for (uint32_t i = first; i < limit; i++) {
		add_times(aggregate, SP_STAGE_memory, &none, 1, 1);
		if (c->values[i] >= 0)
			sp_memory_put(&aggregate->sums->resident, c->starts[i],
				      (uint64_t)c->values[i]);
	}
}

static void add_phases(struct sp_stream_sums *sums, const int64_t *values, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		if (values[i] > 0 && values[i] < SP_PHASES)
			sums->phases |= UINT64_C(1) << values[i];
}

static void take_kind(struct sp_aggregate *aggregate, const struct sp_columns *c,
		      const struct sp_column_kind *kind)
{
	const struct kind_row *row = &rows[kind->kind < SP_EVENT_KINDS ? kind->kind : 0];
	uint32_t first = kind->first, limit = kind->limit;

	if (kind->kind >= SP_KIND_DEFINE || first == limit)
		return;
	if (!row->is_known) {
		aggregate->sums->unknown += limit - first;
		add_times(aggregate, SP_STAGE_other, c->ticks + first, limit - first, c->grain);
	} else if (row->class == SP_CLASS_MEMORY) {
		take_memory(aggregate, c, first, limit);
	} else if (row->has_image) {
		if (c->last == limit - 1) {
			uint64_t ticks = (uint64_t)c->ticks[--limit] * c->grain;

			aggregate->carry =
				(struct sp_aggregate_picture){kind->kind, ticks, c->values[limit]};
			aggregate->has_carry = true;
		}
		take_pictures(aggregate, row, c, first, limit);
	} else {
		if (kind->kind == SP_EV_python_call)
			add_phases(aggregate->sums, c->values + first, limit - first);
		if (kind->kind == SP_EV_torch_backward)
			aggregate->sums->nodes += limit - first;
		take_plain(aggregate, row, c, first, limit);
	}
}

/* batch: the next batch of the stream; NULL: none. */
static void finish_carry(struct sp_aggregate *aggregate, const struct sp_batch *batch)
{
	const struct sp_columns *c =
		batch && batch->number == aggregate->number ? batch->columns : NULL;
	bool fits = c && c->extra_count && c->owners[0] == SP_COLUMNS_BEFORE;
	const struct kind_row *row = &rows[aggregate->carry.kind];
	int64_t ticks = (int64_t)aggregate->carry.ticks, extra[3];

	if (!aggregate->has_carry)
		return;
	aggregate->has_carry = false;
	for (int i = 0; fits && i < 3; i++)
		extra[i] = c->extras[i][0];
	add_times(aggregate, row->stage[SP_FD_KIND_UNKNOWN], fits ? &extra[0] : &ticks, 1, 1);
	count_abandoned(aggregate, row, &aggregate->carry.value, 1);
	if (fits)
		count_reported(aggregate, row, aggregate->carry.value, extra);
}

void sp_aggregate_take(struct sp_aggregate *aggregate, const struct sp_batch *batch)
{
	struct sp_columns *c = batch->columns;

	finish_carry(aggregate, batch);
	if (!aggregate->all)
		sp_columns_keep(c, aggregate->span.from_ticks, aggregate->span.to_ticks);
	for (uint32_t i = 0; i < c->kind_count; i++)
		take_kind(aggregate, c, &c->kinds[i]);
	aggregate->sums->holes += c->holes;
	if (c->end_ticks > aggregate->sums->end_ticks)
		aggregate->sums->end_ticks = c->end_ticks;
	aggregate->number = batch->number + batch->n;
}

void sp_aggregate_end(struct sp_aggregate *aggregate)
{
	finish_carry(aggregate, NULL);
	aggregate->sums->events = 0;
	for (int i = 0; i < SP_STAGES; i++)
		aggregate->sums->events += aggregate->sums->stages[i].calls;
}
