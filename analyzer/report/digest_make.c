/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/report/digest_make.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/base/grow.h"
#include "analyzer/base/order.h"
#include "analyzer/base/spill.h"
#include "analyzer/metadata/thread_about.h"
#include "analyzer/reader/unzstd.h"
#include "analyzer/report/report.h"
#include "analyzer/training/trainer_digest.h"
#include "analyzer/workers/thread_role.h"

#define MEMORY_BYTES ((size_t)32 << 20)

/* All segments of a thread as one. */
static struct sp_segment segment_of(const struct sp_stream *s, struct sp_digested *digested)
{
	struct sp_segment ret = {.stream_id = s->id,
				 .tid = s->tid,
				 .limit = s->limit,
				 .lost = s->lost,
				 .unfinished = s->unfinished,
				 .has_last = s->has_last,
				 .mark = s->mark,
				 .window_at = s->has_window ? 0 : UINT64_MAX,
				 .digested = digested};

	memcpy(ret.lost_by, s->lost_by, sizeof(ret.lost_by));
	for (const struct sp_segment *g = s->segments; g; g = g->next) {
		if (g->header && !ret.header)
			ret.header = g->header;
		if (!ret.pid || (g->header && g->header == ret.header)) {
			ret.pid = g->pid;
			memcpy(ret.host, g->host, sizeof(ret.host));
		}
		sp_clock_learn(&ret.clock, &g->clock.first);
		sp_clock_learn(&ret.clock, &g->clock.last);
	}
	return ret;
}

static int add_thread(const struct sp_digest_set *set, struct sp_digest_fields *f,
		      const struct sp_report *report, uint32_t stream)
{
	struct sp_digested digested = {
		.sums = report->totals.encoded[stream].bytes,
		.sums_bytes = report->totals.encoded[stream].size,
		.role = sp_role_number(sp_role_of(&report->training, stream)),
	};
	struct sp_segment segment = segment_of(report->run.index.streams[stream], &digested);
	struct sp_digest_fields steps = {.reads = false};
	struct sp_digest_fields about = {.reads = false};
	struct sp_digest_fields tail = {.reads = false};
	uint32_t tail_bytes;

	sp_thread_about_write(&about, &report->run.metadata, &report->run.index, stream,
			      report->totals.tops[stream].list, report->totals.tops[stream].count);
	set->write_tail(&tail, report, stream);
	tail_bytes = (uint32_t)tail.size;
	if (tail_bytes)
		sp_digest_bytes(&about, &tail.bytes, &tail_bytes);
	for (uint32_t t = 0; t < report->training.count; t++)
		if (report->training.trainers[t].stream == stream)
			sp_trainer_digest_fields(&steps, &report->training.trainers[t]);
	digested.steps = steps.bytes;
	digested.steps_bytes = (uint32_t)steps.size;
	digested.about = about.bytes;
	digested.about_bytes = (uint32_t)about.size;
	sp_digest_thread_fields(f, &segment);
	free(steps.bytes);
	free(about.bytes);
	free(tail.bytes);
	return f->is_bad || steps.is_bad || about.is_bad || tail.is_bad ? -ENOMEM : 0;
}

/* Compressed where that saves a byte, and where a reader can tell it from a bomb. */
static void compress(struct sp_digest_item *item, const struct sp_digest_fields *f)
{
	struct sp_digest_record *r = &item->record;
	size_t least = r->key.threads * (size_t)SP_DIGEST_THREAD_BYTES_MIN, n;

	n = sp_zstd_frame(item->stored, f->size, f->bytes, f->size);
	r->plain_bytes = (uint32_t)f->size;
	r->stored_bytes = (uint32_t)n;
	if (!n || n >= f->size || n < least || f->size / SP_DIGEST_RATIO_MAX > n) {
		memcpy(item->stored, f->bytes, f->size);
		r->stored_bytes = r->plain_bytes;
	}
	r->hash = sp_digest_hash(&r->key, item->stored, r->stored_bytes);
}

static struct sp_digest_item *add_item(struct sp_digest_set *set)
{
	struct sp_digest_item *item = SP_LIST_ADD(set->list, set->count, set->room);

	if (item && !set->spill)
		set->spill = sp_spill_create(MEMORY_BYTES);
	return item;
}

static int add_record(struct sp_digest_set *set, const struct sp_digest_key *key,
		      const struct sp_digest_fields *f)
{
	struct sp_digest_item *item = f->size <= SP_DIGEST_RECORD_MAX ? add_item(set) : NULL;

	if (!item)
		return -ENOMEM;
	item->record.key = *key;
	item->stored = malloc(f->size);
	if (!item->stored)
		return -ENOMEM;
	compress(item, f);
	item->stored = realloc(item->stored, item->record.stored_bytes);
	item->stored = sp_spill_keep(set->spill, item->stored, item->record.stored_bytes);
	return item->stored ? 0 : -ENOMEM;
}

/* Streams [from, to) are those of one image. */
static int add_image(struct sp_digest_set *set, const struct sp_report *report, uint32_t from,
		     uint32_t to)
{
	const struct sp_index *index = &report->run.index;
	const struct sp_process_image *image = &index->images[index->streams[from]->image];
	struct sp_digest_fields f = {.reads = false};
	struct sp_digest_key key = {.start_ns = image->start_ns,
				    .pid = image->pid,
				    .threads = to - from};
	int r = 0;

	memcpy(key.host, index->hosts[image->host].name, sizeof(key.host));
	for (uint32_t i = from; r == 0 && i < to; i++) {
		key.slots += index->streams[i]->limit;
		r = add_thread(set, &f, report, i);
	}
	if (r == 0)
		r = add_record(set, &key, &f);
	free(f.bytes);
	return r;
}

int sp_digest_set_add(struct sp_digest_set *set, const struct sp_report *report)
{
	const struct sp_index *index = &report->run.index;
	int r = 0;

	for (uint32_t from = 0, to; r == 0 && from < index->stream_count; from = to) {
		for (to = from + 1; to < index->stream_count; to++)
			if (index->streams[to]->image != index->streams[from]->image)
				break;
		r = add_image(set, report, from, to);
	}
	return r;
}

static int take_record(void *context, const struct sp_digest_record *record, const uint8_t *stored,
		       uint64_t at)
{
	struct sp_digest_set *set = context;
	struct sp_digest_item *item = add_item(set);

	(void)at;
	if (!item)
		return -ENOMEM;
	item->record = *record;
	item->stored = malloc(record->stored_bytes);
	if (!item->stored)
		return -ENOMEM;
	memcpy(item->stored, stored, record->stored_bytes);
	item->stored = sp_spill_keep(set->spill, item->stored, record->stored_bytes);
	return 0;
}

int sp_digest_set_add_file(struct sp_digest_set *set, const char *path, struct sp_file *ret_file)
{
	struct sp_source source;
	int r = sp_source_init(&source);

	*ret_file = (struct sp_file){.memory_fd = -1};
	if (r == 0)
		r = sp_source_open(&source, path, SP_SOURCE_BYTES_MAX);
	if (r < 0 || !sp_digest_is(&source)) {
		sp_source_finish(&source);
		return r == -ENOMEM ? r : 0; /* a folder is a run, and a file may be one */
	}
	ret_file->size_bytes = source.size_bytes;
	ret_file->is_digest = true;
	r = sp_digest_records(&source, ret_file, sp_digest_schema(), take_record, set);
	sp_source_finish(&source);
	return r < 0 ? r : 1;
}

/* By key; of one key the record that goes furthest comes first, whatever the files' order was. */
SP_ORDER(compare_items, struct sp_digest_item,
	 sp_digest_key_compare(&x->record.key, &y->record.key) ?: SP_DOWN(record.key.slots)
	 ?: SP_DOWN(record.stored_bytes) ?: memcmp(x->stored, y->stored, x->record.stored_bytes))

static void leave_out_repeated(struct sp_digest_set *set)
{
	uint32_t n = 0;

	qsort(set->list, set->count, sizeof(*set->list), compare_items);
	for (uint32_t i = 0; i < set->count; i++) {
		if (n && sp_digest_key_compare(&set->list[n - 1].record.key,
					       &set->list[i].record.key) == 0)
			sp_spill_free(set->spill, set->list[i].stored);
		else
			set->list[n++] = set->list[i];
	}
	set->repeated += set->count - n;
	set->count = n;
}

static int write_item(FILE *file, const struct sp_digest_item *item)
{
	if (fwrite(&item->record, sizeof(item->record), 1, file) != 1)
		return -EIO;
	if (item->record.stored_bytes &&
	    fwrite(item->stored, item->record.stored_bytes, 1, file) != 1)
		return -EIO;
	return 0;
}

int sp_digest_set_write(struct sp_digest_set *set, FILE *file)
{
	struct sp_digest_head head = {.version = SP_DIGEST_VERSION, .schema = sp_digest_schema()};
	struct sp_digest_item end = {.stored = NULL};
	int r;

	if (set->count)
		leave_out_repeated(set);
	memcpy(head.magic, SP_DIGEST_MAGIC, sizeof(head.magic));
	r = fwrite(&head, sizeof(head), 1, file) == 1 ? 0 : -EIO;
	for (uint32_t i = 0; r == 0 && i < set->count; i++)
		r = write_item(file, &set->list[i]);
	end.record.key.slots = set->count;
	end.record.hash = sp_digest_hash(&end.record.key, "", 0);
	return r < 0 ? r : write_item(file, &end);
}

void sp_digest_set_finish(struct sp_digest_set *set)
{
	for (uint32_t i = 0; i < set->count; i++)
		sp_spill_free(set->spill, set->list[i].stored);
	sp_spill_destroy(set->spill);
	free(set->list);
	*set = (struct sp_digest_set){.list = NULL};
}
