#include "analyzer/fold.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/clock.h"
#include "trace/events.h"

/* events.def and stage.c, brought into the shape that the loop over events wants. */
struct kind_row {
	uint8_t stage[SP_PLACES];
	uint8_t class;
	bool slow; /* unknown, or with EXTRA slots */
	bool has_file;
	bool has_image;
	bool has_bytes;
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
		row->slow = !info->name || info->extra || info->class == SP_CLASS_MEMORY;
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
	into->reads += from->reads;
	into->writes += from->writes;
	into->read_ns += from->read_ns;
	into->write_ns += from->write_ns;
	into->other_ns += from->other_ns;
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

void sp_sums_merge(struct sp_sums *into, const struct sp_sums *from)
{
	into->calls += from->calls;
	into->total_ns += from->total_ns;
	into->max_ns = from->max_ns > into->max_ns ? from->max_ns : into->max_ns;
	into->bytes += from->bytes;
	into->errors += from->errors;
	into->aborted += from->aborted;
}

static void add_file(struct sp_fold *fold, const struct kind_row *row, const struct sp_slot *slot,
		     uint64_t ns)
{
	uint32_t number = sp_image_file(fold->image, sp_commit_arg(slot->commit));
	struct sp_file_sums *f = &fold->part->files[number];
	uint64_t bytes = slot->value > 0 ? (uint64_t)slot->value : 0;

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
		f->other_ns += ns;
		break;
	default:
		f->other_ns += ns;
	}
}

static inline struct sp_sums *add_span(struct sp_fold *fold, unsigned stage, uint64_t ns)
{
	struct sp_sums *s = &fold->sums->stages[stage];

	s->calls++;
	s->total_ns += ns;
	s->max_ns = ns > s->max_ns ? ns : s->max_ns;
	sp_hist_add(&fold->part->hists[stage], ns);
	return s;
}

static inline void note_end(struct sp_fold *fold, const struct sp_slot *slot)
{
	uint64_t end = slot->start + slot->ticks;

	if (end > fold->sums->end_ticks)
		fold->sums->end_ticks = end;
}

static inline bool is_in_span(const struct sp_fold *fold, const struct sp_slot *slot)
{
	return slot->start >= fold->span.from_ticks && slot->start < fold->span.to_ticks;
}

/* Where events of one commit word go: found anew only where the word is another than that of the slot before. */
struct target {
	uint64_t commit;
	const struct kind_row *row; /* NULL: none yet */
	struct sp_sums *sums;
	struct sp_hist *hist;
	uint64_t value_mask; /* all bits where values are bytes */
};

static struct target find_target(const struct sp_fold *fold, uint64_t commit)
{
	const struct kind_row *row = &rows[sp_commit_kind(commit)];
	enum sp_place place = SP_PLACE_UNKNOWN;
	unsigned stage;

	if (row->has_file)
		place = sp_image_place(fold->image, sp_commit_arg(commit));
	else if (row->is_copy)
		place = sp_place_of_copy(sp_commit_arg(commit));
	stage = row->stage[place];
	return (struct target){commit, row, &fold->sums->stages[stage], &fold->part->hists[stage],
			       row->has_bytes ? UINT64_MAX : 0};
}

static inline __attribute__((always_inline)) void
fold_plain(struct sp_fold *fold, const struct target *t, const struct sp_slot *slot, uint64_t *end, bool simple)
{
	uint64_t slot_end = slot->start + slot->ticks, ns;
	struct sp_sums *s = t->sums;

	if (!simple && !fold->all && !is_in_span(fold, slot))
		return;
	ns = sp_clock_span_ns(fold->ns_per_tick, slot->ticks);
	s->calls++;
	s->total_ns += ns;
	s->max_ns = ns > s->max_ns ? ns : s->max_ns;
	sp_hist_add(t->hist, ns);
	if (__builtin_expect(slot->value < 0, 0)) {
		s->errors += slot->value != SP_VALUE_ABANDONED;
		s->aborted += slot->value == SP_VALUE_ABANDONED;
	} else {
		s->bytes += (uint64_t)slot->value & t->value_mask;
	}
	*end = slot_end > *end ? slot_end : *end;
	if (!simple && fold->part->files && t->row->has_file)
		add_file(fold, t->row, slot, ns);
}

/* The time of an image is what it spent inside its library; its slot spans from the first call to the
 * last. */
static void fold_image(struct sp_fold *fold, const struct sp_slot *slot, const struct sp_slot *extra)
{
	const struct kind_row *row = &rows[sp_commit_kind(slot->commit)];
	uint64_t ticks = extra ? extra->start : slot->ticks;
	bool aborted = slot->value == SP_VALUE_ABANDONED ||
		       (extra && extra->value == SP_DECODE_ABORTED);
	struct sp_sums *s;

	if (!fold->all && !is_in_span(fold, slot))
		return;
	s = add_span(fold, row->stage[SP_PLACE_UNKNOWN], sp_clock_span_ns(fold->ns_per_tick, ticks));
	s->aborted += aborted;
	if (!aborted && extra && row->class == SP_CLASS_JPEG) {
		fold->sums->lines += slot->value > 0 ? (uint64_t)slot->value : 0;
		fold->sums->pixels += (extra->ticks >> 32) * (extra->ticks & UINT32_MAX);
	}
	note_end(fold, slot);
}

static void fold_unknown(struct sp_fold *fold, const struct sp_slot *slot)
{
	if (!fold->all && !is_in_span(fold, slot))
		return;
	fold->sums->unknown++;
	add_span(fold, SP_STAGE_other, sp_clock_span_ns(fold->ns_per_tick, slot->ticks));
	note_end(fold, slot);
}

static void fold_memory(struct sp_fold *fold, const struct sp_slot *slot)
{
	if (!fold->all && !is_in_span(fold, slot))
		return;
	add_span(fold, SP_STAGE_memory, 0);
	note_end(fold, slot);
	if (slot->value >= 0)
		sp_resident_put(&fold->sums->resident, slot->start, (uint64_t)slot->value);
}

static void fold_extra(struct sp_fold *fold, const struct sp_slot *slot, const struct sp_slot *extra)
{
	fold->has_carry = false;
	if (rows[sp_commit_kind(slot->commit)].has_image) {
		fold_image(fold, slot, extra);
	} else {
		struct target target = find_target(fold, slot->commit);

		fold_plain(fold, &target, slot, &fold->sums->end_ticks, false);
	}
}

static void fold_slow(struct sp_fold *fold, const struct sp_batch *batch, uint32_t i)
{
	const struct sp_slot *slot = &batch->slots[i];
	uint32_t kind = sp_commit_kind(slot->commit);

	if (kind == SP_KIND_HOLE) {
		fold->sums->holes++;
	} else if (kind >= SP_KIND_DEFINE) {
		return;
	} else if (!sp_event_info(kind)->name) {
		fold_unknown(fold, slot);
	} else if (kind == SP_EV_memory) {
		fold_memory(fold, slot);
	} else if (i + 1 < batch->n) {
		bool has_extra = sp_commit_kind(slot[1].commit) == SP_KIND_EXTRA;

		fold_extra(fold, slot, has_extra ? slot + 1 : NULL);
	} else {
		fold->carry = *slot;
		fold->has_carry = true;
	}
}

static inline __attribute__((always_inline)) void
fold_batch(struct sp_fold *fold, const struct sp_batch *batch, bool simple)
{
	const struct sp_slot *slots = batch->slots;
	struct target target = {.row = NULL};
	uint64_t end = 0;

	for (uint32_t i = 0; i < batch->n; i++) {
		uint32_t kind = sp_commit_kind(slots[i].commit);

		if (slots[i].commit != target.commit || !target.row) {
			if (kind >= SP_EVENT_KINDS || rows[kind].slow) {
				fold_slow(fold, batch, i);
				continue;
			}
			target = find_target(fold, slots[i].commit);
		}
		fold_plain(fold, &target, &slots[i], &end, simple);
	}
	fold->sums->end_ticks = end > fold->sums->end_ticks ? end : fold->sums->end_ticks;
}

static void settle_carry(struct sp_fold *fold, const struct sp_batch *batch)
{
	bool fits = batch && batch->number == fold->number && batch->n &&
		    sp_commit_kind(batch->slots[0].commit) == SP_KIND_EXTRA;

	if (fold->has_carry)
		fold_extra(fold, &fold->carry, fits ? &batch->slots[0] : NULL);
}

void sp_fold_take(struct sp_fold *fold, const struct sp_batch *batch)
{
	settle_carry(fold, batch);
	if (fold->all && !fold->part->files)
		fold_batch(fold, batch, true);
	else
		fold_batch(fold, batch, false);
	fold->number = batch->number + batch->n;
}

void sp_fold_end(struct sp_fold *fold)
{
	settle_carry(fold, NULL);
	fold->sums->events = 0;
	for (int i = 0; i < SP_STAGES; i++)
		fold->sums->events += fold->sums->stages[i].calls;
}
