#include "analyzer/fold.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/clock.h"
#include "trace/columns.h"
#include "trace/events.h"

/* events.def and stage.c, brought into the shape that the loop over events wants. */
struct kind_row {
	uint8_t stage[SP_PLACES];
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

		for (int place = 0; place < SP_PLACES; place++)
			row->stage[place] = (uint8_t)sp_stage_of(kind, (enum sp_place)place);
		row->class = info->class;
		row->is_known = info->name != NULL;
		row->is_stream = kind == SP_EV_fopen;
		row->has_file = info->arg == SP_ARG_FILE;
		row->is_copy = info->name && (info->class == SP_CLASS_CUDA_COPY ||
					      info->class == SP_CLASS_GPU_COPY);
		row->has_image = info->value == SP_VALUE_LINES;
		row->has_bytes = info->value == SP_VALUE_BYTES || info->value == SP_VALUE_LENGTH;
	}
}

int sp_fold_part_init(struct sp_fold_part *part, uint32_t file_count)
{
	pthread_once(&rows_once, rows_fill);
	*part = (struct sp_fold_part){.file_count = file_count};
	if (file_count)
		part->files = calloc(file_count, sizeof(*part->files));
	return file_count && !part->files ? -ENOMEM : 0;
}

void sp_fold_part_finish(struct sp_fold_part *part)
{
	free(part->files);
	part->files = NULL;
}

static void merge_file(struct sp_file_sums *into, const struct sp_file_sums *from)
{
	into->opens += from->opens;
	into->streams += from->streams;
	into->reads += from->reads;
	into->writes += from->writes;
	into->read_ns += from->read_ns;
	into->write_ns += from->write_ns;
	into->other_ns += from->other_ns;
	into->wait_ns += from->wait_ns;
	into->read_bytes += from->read_bytes;
	into->write_bytes += from->write_bytes;
	into->slow_reads += from->slow_reads;
	into->slow_read_ns += from->slow_read_ns;
	into->slow_read_bytes += from->slow_read_bytes;
	into->maps += from->maps;
	into->mapped_bytes += from->mapped_bytes;
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

void sp_fold_part_merge(struct sp_fold_part *into, const struct sp_fold_part *from)
{
	for (int i = 0; i < SP_STAGES; i++)
		sp_hist_merge(&into->hists[i], &from->hists[i]);
	for (uint32_t i = 0; i < into->file_count; i++)
		merge_file(&into->files[i], &from->files[i]);
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

static void add_files(struct sp_fold *fold, const struct kind_row *row, const struct sp_columns *c, uint32_t first,
		      uint32_t limit)
{
	for (uint32_t i = first; i < limit; i++) {
		uint64_t ns = sp_clock_span_ns(fold->ns_per_tick, (uint64_t)c->ticks[i] * c->grain);

		add_file(&fold->part->files[sp_image_file(fold->image, c->args[i])], row, c->values[i], ns);
	}
}

static void add_times(struct sp_fold *fold, unsigned stage, const int64_t *ticks, uint32_t n, uint64_t grain)
{
	struct sp_tick_unit unit = {grain, fold->ns_per_tick};

	sp_sums_add_times(&fold->sums->stages[stage], &fold->part->hists[stage], ticks, n, &unit);
}

static enum sp_place place_of(const struct sp_fold *fold, const struct kind_row *row, uint32_t arg)
{
	if (row->has_file)
		return sp_image_place(fold->image, arg);
	return row->is_copy ? sp_place_of_copy(arg) : SP_PLACE_UNKNOWN;
}

/* The first behind `at` whose arg leads to another place. */
static uint32_t run_end(const struct sp_fold *fold, const struct kind_row *row, const uint32_t *args, uint32_t at,
			uint32_t limit)
{
	enum sp_place place = place_of(fold, row, args[at]);
	uint32_t arg = args[at];

	if (!row->has_file && !row->is_copy)
		return limit;
	for (at++; at < limit; at++) {
		if (args[at] == arg)
			continue;
		arg = args[at];
		if (place_of(fold, row, arg) != place)
			break;
	}
	return at;
}

static void fold_plain(struct sp_fold *fold, const struct kind_row *row, const struct sp_columns *c,
		       uint32_t first, uint32_t limit)
{
	if (fold->part->files && row->has_file)
		add_files(fold, row, c, first, limit);
	while (first < limit) {
		uint32_t end = run_end(fold, row, c->args, first, limit);
		unsigned stage = row->stage[place_of(fold, row, c->args[first])];

		add_times(fold, stage, c->ticks + first, end - first, c->grain);
		sp_sums_add_values(&fold->sums->stages[stage], c->values + first, end - first, row->has_bytes);
		first = end;
	}
}

/* extra: what the decoder told; NULL: nothing. */
static inline void end_image(struct sp_fold *fold, const struct kind_row *row, int64_t value, const int64_t *extra)
{
	bool aborted = value == SP_VALUE_ABANDONED || (extra && extra[2] == SP_DECODE_ABORTED);

	fold->sums->stages[row->stage[SP_PLACE_UNKNOWN]].aborted += aborted;
	if (!aborted && extra && row->class == SP_CLASS_JPEG) {
		fold->sums->lines += value > 0 ? (uint64_t)value : 0;
		fold->sums->pixels += ((uint64_t)extra[1] >> 32) * ((uint64_t)extra[1] & UINT32_MAX);
	}
}

/* The time of an image is what it spent inside its library; its slot spans from the first call to the last. */
static void fold_images(struct sp_fold *fold, const struct kind_row *row, const struct sp_columns *c,
			uint32_t first, uint32_t limit)
{
	int64_t inside[SP_BLOCK_SLOTS_MAX];
	bool is_told[SP_BLOCK_SLOTS_MAX] = {false};

	for (uint32_t i = first; i < limit; i++)
		inside[i - first] = (int64_t)((uint64_t)c->ticks[i] * c->grain);
	for (uint32_t i = 0; i < c->extra_count; i++) {
		int64_t extra[3] = {c->extras[0][i], c->extras[1][i], c->extras[2][i]};
		uint32_t owner = c->owners[i];

		if (owner < first || owner >= limit)
			continue;
		inside[owner - first] = extra[0];
		is_told[owner - first] = true;
		end_image(fold, row, c->values[owner], extra);
	}
	for (uint32_t i = first; i < limit; i++)
		if (!is_told[i - first])
			end_image(fold, row, c->values[i], NULL);
	add_times(fold, row->stage[SP_PLACE_UNKNOWN], inside, limit - first, 1);
}

/* Samples take no time. */
static void fold_memory(struct sp_fold *fold, const struct sp_columns *c, uint32_t first, uint32_t limit)
{
	const int64_t none = 0;

	for (uint32_t i = first; i < limit; i++) {
		add_times(fold, SP_STAGE_memory, &none, 1, 1);
		if (c->values[i] >= 0)
			sp_resident_put(&fold->sums->resident, c->starts[i], (uint64_t)c->values[i]);
	}
}

static void fold_kind(struct sp_fold *fold, const struct sp_columns *c, const struct sp_column_kind *kind)
{
	const struct kind_row *row = &rows[kind->kind < SP_EVENT_KINDS ? kind->kind : 0];
	uint32_t first = kind->first, limit = kind->limit;

	if (kind->kind >= SP_KIND_DEFINE || first == limit)
		return;
	if (!row->is_known) {
		fold->sums->unknown += limit - first;
		add_times(fold, SP_STAGE_other, c->ticks + first, limit - first, c->grain);
	} else if (row->class == SP_CLASS_MEMORY) {
		fold_memory(fold, c, first, limit);
	} else if (row->has_image) {
		if (c->last == limit - 1) {
			uint64_t ticks = (uint64_t)c->ticks[--limit] * c->grain;

			fold->carry = (struct sp_fold_image){kind->kind, ticks, c->values[limit]};
			fold->has_carry = true;
		}
		fold_images(fold, row, c, first, limit);
	} else {
		fold_plain(fold, row, c, first, limit);
	}
}

/* batch: what comes next; NULL: nothing. */
static void settle_carry(struct sp_fold *fold, const struct sp_batch *batch)
{
	const struct sp_columns *c = batch && batch->number == fold->number ? batch->columns : NULL;
	bool fits = c && c->extra_count && c->owners[0] == SP_COLUMNS_BEFORE;
	const struct kind_row *row = &rows[fold->carry.kind];
	int64_t ticks = (int64_t)fold->carry.ticks, extra[3];

	if (!fold->has_carry)
		return;
	fold->has_carry = false;
	for (int i = 0; fits && i < 3; i++)
		extra[i] = c->extras[i][0];
	add_times(fold, row->stage[SP_PLACE_UNKNOWN], fits ? &extra[0] : &ticks, 1, 1);
	end_image(fold, row, fold->carry.value, fits ? extra : NULL);
}

void sp_fold_take(struct sp_fold *fold, const struct sp_batch *batch)
{
	struct sp_columns *c = batch->columns;

	settle_carry(fold, batch);
	if (!fold->all)
		sp_columns_keep(c, fold->span.from_ticks, fold->span.to_ticks);
	for (uint32_t i = 0; i < c->kind_count; i++)
		fold_kind(fold, c, &c->kinds[i]);
	fold->sums->holes += c->holes;
	if (c->end_ticks > fold->sums->end_ticks)
		fold->sums->end_ticks = c->end_ticks;
	fold->number = batch->number + batch->n;
}

void sp_fold_end(struct sp_fold *fold)
{
	settle_carry(fold, NULL);
	fold->sums->events = 0;
	for (int i = 0; i < SP_STAGES; i++)
		fold->sums->events += fold->sums->stages[i].calls;
}
