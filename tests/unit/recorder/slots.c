/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/recorder/slots.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "trace/codec.h"

#define PARTS_MOST 4096u

/* Streams whose parts may follow: in write mode a thread's tail is written somewhere else. */
struct parts {
	unsigned count;
	uint64_t stream[PARTS_MOST], next[PARTS_MOST];
};

struct file {
	const char *name;
	struct parts *parts;
	unsigned part;
	uint8_t *bytes;
	size_t size;
	uint64_t next; /* slots numbered below are in blocks */
	uint64_t lost; /* as the last block or the window says */
	int64_t last_value;
	struct slots_count *count;
	slots_definition *each;
	void *argument;
	/* a definition being put together */
	struct sp_slot head;
	uint8_t blob[SP_NAME_BYTES_MAX];
	uint32_t have;
};

static int wrong(const struct file *f, size_t offset, const char *what)
{
	fprintf(stderr, "%s at %zu: %s\n", f->name, offset, what);
	return -1;
}

static void definition_close(struct file *f)
{
	if (f->head.commit && (uint64_t)f->head.value == f->have) {
		f->count->definitions++;
		if (f->each)
			f->each(f->argument, sp_commit_kind(f->head.commit) - SP_KIND_DEFINE,
				sp_commit_arg(f->head.commit), f->blob, f->have);
	}
	f->head.commit = 0;
	f->have = 0;
}

static void slot_take(struct file *f, const struct sp_slot *slot)
{
	uint32_t kind = sp_commit_kind(slot->commit);

	if (kind == SP_KIND_BLOB) {
		uint32_t bytes = sp_commit_arg(slot->commit);

		if (f->head.commit && f->have + bytes <= sizeof(f->blob)) {
			memcpy(f->blob + f->have, slot, bytes);
			f->have += bytes;
		}
		return;
	}
	definition_close(f);
	if (kind == SP_KIND_HOLE) {
		f->count->holes++;
	} else if (kind == SP_KIND_EXTRA) {
		f->count->extra_sum += slot->start;
	} else if (kind >= SP_KIND_DEFINE) {
		f->head = *slot;
	} else {
		f->count->events++;
		if (slot->value == SP_VALUE_ABANDONED)
			f->count->abandoned++;
		else
			f->count->value_sum += slot->value;
		if (slot->value < f->last_value)
			f->count->last_value_in_order = 0;
		f->last_value = slot->value;
	}
}

/* Returns the bytes of the zstd frame, or 0. */
static size_t block_read(struct file *f, size_t offset)
{
	static uint8_t payload[SP_PAYLOAD_BYTES_MAX];
	static struct sp_slot slots[SP_BLOCK_SLOTS_MAX];
	struct sp_block_header h;
	const uint8_t *frame = f->bytes + offset + sizeof(h);
	size_t n;

	if (offset + sizeof(h) > f->size)
		return 0;
	memcpy(&h, f->bytes + offset, sizeof(h));
	if (memcmp(h.tag, SP_TAG_BLOCK, 4) || h.slots > SP_BLOCK_SLOTS_MAX ||
	    offset + sizeof(h) + h.zstd_bytes > f->size)
		return 0;
	/* In write mode the blocks before it may lie in another file: those who compare counts see
	 * a gap. */
	if (h.first_index > f->next)
		f->next = h.first_index;
	n = ZSTD_decompress(payload, sizeof(payload), frame, h.zstd_bytes);
	if (ZSTD_isError(n) || n != h.payload_bytes ||
	    sp_payload_decode(slots, h.slots, payload, n) < 0)
		return 0;
	/* Slots that an earlier block had are duplicates. */
	for (uint64_t i = f->next - h.first_index; i < h.slots; i++)
		slot_take(f, &slots[i]);
	if (f->next < h.first_index + h.slots)
		f->next = h.first_index + h.slots;
	f->lost = h.lost;
	f->count->blocks++;
	f->count->ended += h.flags & SP_BLOCK_LAST;
	return h.zstd_bytes;
}

static int window_read(struct file *f, size_t offset)
{
	const struct sp_window_header *w = (const void *)(f->bytes + offset);
	const struct sp_slot *slots = (const void *)(f->bytes + offset + SP_WINDOW_HEAD_BYTES);
	uint64_t first = w->first_index > f->next ? w->first_index : f->next, last = first;

	f->count->windows++;
	if (memcmp(w->tag, SP_TAG_WINDOW, 4) || w->capacity > SP_WINDOW_SLOTS_MAX)
		return wrong(f, offset, "no window");
	for (uint64_t i = first; i < first + w->capacity; i++)
		if (sp_slot_valid(&slots[i % w->capacity], i / w->capacity))
			last = i + 1;
	for (uint64_t i = first; i < last; i++) {
		static const struct sp_slot hole;
		int valid = sp_slot_valid(&slots[i % w->capacity], i / w->capacity);

		slot_take(f, valid ? &slots[i % w->capacity] : &hole);
	}
	f->next = last;
	f->lost = 0;
	for (unsigned i = 0; i < SP_LOST_CAUSES; i++) {
		uint64_t lost;

		if (sp_checked_read(w->lost[i], &lost) < 0)
			return wrong(f, offset, "damaged loss counter");
		f->lost += lost;
	}
	return 0;
}

static int header_words_read(struct file *f, size_t offset, const struct sp_file_header *h)
{
	struct slots_count *c = f->count;
	uint64_t own, stall;

	if (sp_checked_read(h->rank, &c->rank) < 0 ||
	    sp_checked_read(h->local_rank, &c->local_rank) < 0 ||
	    sp_checked_read(h->world_size, &c->world_size) < 0 ||
	    sp_checked_read(h->event_ps, &c->event_ps) < 0 ||
	    sp_checked_read(h->own_ns, &own) < 0 || sp_checked_read(h->stall_ns, &stall) < 0)
		return wrong(f, offset, "a damaged word in the header");
	c->own_ns = own > c->own_ns ? own : c->own_ns;
	c->stall_ns = stall > c->stall_ns ? stall : c->stall_ns;
	return 0;
}

static void part_leave(struct file *f)
{
	f->parts->next[f->part] = f->next;
}

static void part_begin(struct file *f, uint64_t stream)
{
	struct parts *p = f->parts;

	part_leave(f);
	for (f->part = 0; f->part < p->count && p->stream[f->part] != stream; f->part++)
		;
	if (f->part == p->count && p->count + 1 < PARTS_MOST) {
		p->stream[p->count] = stream;
		p->next[p->count++] = 0;
	}
	f->next = p->next[f->part];
}

static int header_read(struct file *f, size_t offset)
{
	struct sp_file_header h;
	uint64_t lost;

	memcpy(&h, f->bytes + offset, sizeof(h));
	if (memcmp(h.tag, SP_TAG_HEADER, 8) || sp_checked_read(h.process_lost, &lost) < 0)
		return wrong(f, offset, "no header");
	definition_close(f);
	f->count->streams++;
	f->count->lost += f->lost + lost;
	part_begin(f, h.stream_id);
	f->lost = 0;
	f->last_value = INT64_MIN;
	return header_words_read(f, offset, &h);
}

static int frames_read(struct file *f)
{
	size_t offset = 0;

	while (offset < f->size) {
		struct sp_frame frame;
		size_t more = 0;
		int ret = 0;

		if (f->size - offset < sizeof(frame))
			return wrong(f, offset, "truncated frame");
		memcpy(&frame, f->bytes + offset, sizeof(frame));
		if (frame.size > f->size - offset - sizeof(frame))
			return wrong(f, offset, "frame beyond the end");
		if (frame.magic == SP_FRAME_HEADER)
			ret = header_read(f, offset);
		else if (frame.magic == SP_FRAME_WINDOW)
			ret = window_read(f, offset);
		else if (frame.magic == SP_FRAME_BLOCK) {
			more = block_read(f, offset);
			ret = more ? 0 : wrong(f, offset, "damaged block");
		} else if (frame.magic != SP_FRAME_FREE && frame.magic != SP_FRAME_RUN)
			return wrong(f, offset, "unknown frame");
		if (ret)
			return ret;
		offset += sizeof(frame) + frame.size + more;
	}
	definition_close(f);
	f->count->lost += f->lost;
	return 0;
}

static int file_read(struct file *f, const char *path)
{
	FILE *in = fopen(path, "rb");
	int ret;

	if (!in)
		return wrong(f, 0, "cannot open");
	fseek(in, 0, SEEK_END);
	f->size = (size_t)ftell(in);
	rewind(in);
	f->bytes = malloc(f->size + 8);
	ret = fread(f->bytes, 1, f->size, in) == f->size ? 0 : wrong(f, 0, "short read");
	fclose(in);
	if (!ret)
		ret = frames_read(f);
	part_leave(f);
	free(f->bytes);
	return ret;
}

int slots_read_directory(const char *directory, struct slots_count *ret, slots_definition *each,
			 void *argument)
{
	static struct parts parts;
	struct dirent **entries = NULL;
	int failed = 0, count = scandir(directory, &entries, NULL, alphasort);

	parts.count = 0;
	*ret = (struct slots_count){.last_value_in_order = 1};
	for (int i = 0; i < count; i++) {
		struct file f = {.name = entries[i]->d_name,
				 .parts = &parts,
				 .part = PARTS_MOST - 1,
				 .last_value = INT64_MIN,
				 .count = ret,
				 .each = each,
				 .argument = argument};
		char path[4096];

		snprintf(path, sizeof(path), "%s/%s", directory, f.name);
		if (f.name[0] != '.') {
			failed |= file_read(&f, path);
			ret->files++;
		}
		free(entries[i]);
	}
	free(entries);
	ret->files -= count > 0; /* the run's marker */
	return count >= 0 && !failed ? 0 : -1;
}
