/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/common/trace_maker.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>
#include <zstd.h>

#include "trace/codec.h"

#define BOOT_REALTIME_NS UINT64_C(1700000000000000000)

static void *must(void *p)
{
	if (!p)
		abort();
	return p;
}

/* An exact rate, so that sums in ns can be predicted. */
static struct sp_clock_point point_at(const struct sp_maker *m, uint64_t ticks)
{
	int counter = (m->header.flags & SP_HEADER_CLOCK_COUNTER) != 0;
	uint64_t ns = counter ? ticks / 3 : ticks;

	return (struct sp_clock_point){ticks, ns, BOOT_REALTIME_NS + ns + (uint64_t)m->ahead_ns};
}

void sp_maker_init(struct sp_maker *m, uint32_t pid, uint32_t tid, int counter)
{
	struct sp_file_header *h = &m->header;

	memset(m, 0, sizeof(*m));
	m->slots = must(calloc(SP_BLOCK_SLOTS_MAX, sizeof(*m->slots)));
	m->now_ticks = UINT64_C(3000000000000);
	h->frame = (struct sp_frame){SP_FRAME_HEADER, sizeof(*h) - sizeof(h->frame)};
	memcpy(h->tag, SP_TAG_HEADER, sizeof(h->tag));
	h->version = SP_FORMAT_VERSION;
	h->frame_bytes = SP_HEADER_FRAME_BYTES;
	h->flags = counter ? SP_HEADER_CLOCK_COUNTER : 0;
	h->stream_id = UINT64_C(0x9E3779B97F4A7C15) * (((uint64_t)pid << 32) + tid + 1);
	h->pid = pid;
	h->tid = tid;
	h->ppid = 1;
	h->image_start_ns = BOOT_REALTIME_NS + pid;
	h->ticks_per_second = counter ? UINT64_C(3000000000) : UINT64_C(1000000000);
	h->grain = 1;
	h->opened = point_at(m, m->now_ticks);
	strcpy(h->host, "host-a");
	strcpy(h->exe, "python3.11");
	strcpy(h->comm, "python3");
	h->process_lost = sp_checked_make(0);
}

void sp_maker_finish(struct sp_maker *m)
{
	free(m->bytes);
	free(m->slots);
	m->bytes = NULL;
	m->slots = NULL;
}

void sp_maker_append(struct sp_maker *m, const void *bytes, size_t n)
{
	if (m->size + n > m->room) {
		m->room = 2 * (m->size + n);
		m->bytes = must(realloc(m->bytes, m->room));
	}
	memcpy(m->bytes + m->size, bytes, n);
	m->size += n;
}

void sp_maker_header(struct sp_maker *m)
{
	m->header.opened = point_at(m, m->header.opened.ticks);
	m->header.header_hash = XXH64(&m->header, offsetof(struct sp_file_header, header_hash), 0);
	sp_maker_append(m, &m->header, sizeof(m->header));
}

static void add_slot(struct sp_maker *m, uint64_t start, uint64_t ticks, int64_t value,
		     uint64_t word)
{
	if (m->slot_count == SP_BLOCK_SLOTS_MAX)
		sp_maker_block(m, 0);
	m->slots[m->slot_count++] = (struct sp_slot){start, ticks, value, word};
}

void sp_maker_event(struct sp_maker *m, uint32_t kind, uint32_t arg, uint64_t ticks, int64_t value)
{
	uint64_t start = m->now_ticks + 10;

	m->now_ticks = start + ticks;
	add_slot(m, start, ticks, value, (uint64_t)arg << 32 | kind);
}

void sp_maker_around(struct sp_maker *m, uint32_t kind, uint32_t arg, uint64_t start_ticks,
		     int64_t value)
{
	add_slot(m, start_ticks, m->now_ticks - start_ticks, value, (uint64_t)arg << 32 | kind);
}

void sp_maker_span(struct sp_maker *m, uint32_t kind, uint32_t arg, uint64_t from, uint64_t to,
		   int64_t value)
{
	m->now_ticks = to;
	sp_maker_around(m, kind, arg, from, value);
}

void sp_maker_extra(struct sp_maker *m, uint64_t a, uint64_t b, uint64_t c)
{
	add_slot(m, a, b, (int64_t)c, SP_KIND_EXTRA);
}

void sp_maker_hole(struct sp_maker *m)
{
	add_slot(m, 0, 0, 0, SP_KIND_HOLE);
}

void sp_maker_jpeg(struct sp_maker *m, uint64_t inside_ticks, uint32_t width, uint32_t height,
		   enum sp_decode_end end)
{
	sp_maker_event(m, SP_EV_jpeg_decode, 0, inside_ticks * 2, height);
	sp_maker_extra(m, inside_ticks, (uint64_t)width << 32 | height, end);
}

void sp_maker_define(struct sp_maker *m, enum sp_define what, uint32_t id, const void *blob,
		     size_t bytes)
{
	const uint8_t *p = blob;

	add_slot(m, m->now_ticks, 0, (int64_t)bytes, (uint64_t)id << 32 | (SP_KIND_DEFINE + what));
	while (bytes) {
		size_t n = bytes < SP_SLOT_BLOB_BYTES ? bytes : SP_SLOT_BLOB_BYTES;
		struct sp_slot slot = {0, 0, 0, 0};

		memcpy(&slot, p, n);
		add_slot(m, slot.start, slot.ticks, slot.value, (uint64_t)n << 32 | SP_KIND_BLOB);
		p += n;
		bytes -= n;
	}
}

void sp_maker_file(struct sp_maker *m, uint32_t id, enum sp_file_type type, const char *path)
{
	uint8_t blob[SP_NAME_BYTES_MAX];
	struct sp_file_metadata facts = {.type = type, .fd = 3, .inode = id};
	size_t n = strlen(path);

	memcpy(blob, &facts, sizeof(facts));
	memcpy(blob + sizeof(facts), path, n);
	sp_maker_define(m, SP_DEFINE_FILE, id, blob, sizeof(facts) + n);
}

uint8_t *sp_maker_compress(const void *bytes, size_t n, size_t *ret_bytes)
{
	ZSTD_CCtx *context = must(ZSTD_createCCtx());
	size_t room = ZSTD_compressBound(n);
	uint8_t *out = must(malloc(room));

	ZSTD_CCtx_setParameter(context, ZSTD_c_compressionLevel, 1);
	ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, 1);
	*ret_bytes = ZSTD_compress2(context, out, room, bytes, n);
	if (ZSTD_isError(*ret_bytes))
		abort();
	ZSTD_freeCCtx(context);
	return out;
}

static void add_block(struct sp_maker *m, struct sp_block_header *b, const void *zstd)
{
	static const uint8_t zeros[16];
	size_t pad;

	b->frame = (struct sp_frame){SP_FRAME_BLOCK, sizeof(*b) - sizeof(b->frame)};
	memcpy(b->tag, SP_TAG_BLOCK, sizeof(b->tag));
	b->version = SP_FORMAT_VERSION;
	b->stream_id = m->header.stream_id;
	b->pid = m->header.pid;
	b->tid = m->header.tid;
	memcpy(b->host, m->header.host, sizeof(b->host) - 1);
	b->published = point_at(m, m->now_ticks);
	b->lost = m->lost;
	b->zstd_hash = XXH64(zstd, b->zstd_bytes, 0);
	b->header_hash = XXH64(b, offsetof(struct sp_block_header, header_hash), 0);
	sp_maker_append(m, b, sizeof(*b));
	sp_maker_append(m, zstd, b->zstd_bytes);
	pad = -m->size % 8;
	if (pad) {
		struct sp_frame frame = {SP_FRAME_FREE, (uint32_t)pad};

		sp_maker_append(m, &frame, sizeof(frame));
		sp_maker_append(m, zeros, pad);
	}
}

void sp_maker_block(struct sp_maker *m, unsigned flags)
{
	struct sp_block_header b = {.flags = (uint16_t)flags, .first_index = m->first_index};
	uint8_t *payload = must(malloc(sp_encode_scratch_bytes(SP_BLOCK_SLOTS_MAX))), *zstd;
	struct sp_payload_metadata facts;
	size_t n, zstd_bytes;

	/* the encoder wants a ring: generation 0, that of numbers from 0 on */
	n = sp_payload_encode(payload, m->slots, SP_BLOCK_SLOTS_MAX, 0, m->slot_count,
			      m->header.grain, &facts);
	zstd = sp_maker_compress(payload, n, &zstd_bytes);
	b.slots = m->slot_count;
	b.events = facts.events;
	b.begin_ticks = facts.begin_ticks;
	b.end_ticks = facts.end_ticks;
	b.payload_bytes = (uint32_t)n;
	b.zstd_bytes = (uint32_t)zstd_bytes;
	add_block(m, &b, zstd);
	m->first_index += m->slot_count;
	m->slot_count = 0;
	free(zstd);
	free(payload);
}

void sp_maker_block_raw(struct sp_maker *m, const void *zstd, size_t zstd_bytes, uint32_t slots,
			uint32_t payload_bytes)
{
	struct sp_block_header b = {
		.first_index = m->first_index,
		.slots = slots,
		.payload_bytes = payload_bytes,
		.zstd_bytes = (uint32_t)zstd_bytes,
	};

	add_block(m, &b, zstd);
	m->first_index += slots;
}

void sp_maker_free(struct sp_maker *m, size_t bytes, uint8_t fill)
{
	struct sp_frame frame = {SP_FRAME_FREE, (uint32_t)(bytes - sizeof(frame))};

	sp_maker_append(m, &frame, sizeof(frame));
	for (size_t i = sizeof(frame); i < bytes; i++)
		sp_maker_append(m, &fill, 1);
}

size_t sp_maker_window(struct sp_maker *m, uint32_t capacity)
{
	struct sp_window_header w = {
		.frame = {SP_FRAME_WINDOW, SP_WINDOW_HEAD_BYTES - sizeof(w.frame) +
						   capacity * (uint32_t)sizeof(struct sp_slot)},
		.version = SP_FORMAT_VERSION,
		.head_bytes = SP_WINDOW_HEAD_BYTES,
		.stream_id = m->header.stream_id,
		.pid = m->header.pid,
		.tid = m->header.tid,
		.capacity = capacity,
		.made = point_at(m, m->header.opened.ticks),
	};
	struct sp_slot *ring = must(calloc(capacity, sizeof(*ring)));
	size_t at = m->size;

	memcpy(w.tag, SP_TAG_WINDOW, sizeof(w.tag));
	w.header_hash = XXH64(&w, offsetof(struct sp_window_header, header_hash), 0);
	w.lost[SP_LOST_FULL] = sp_checked_make(m->lost);
	w.lost[SP_LOST_NESTED] = sp_checked_make(0);
	for (uint32_t i = 0; i < m->slot_count; i++) {
		uint64_t number = m->first_index + i;
		struct sp_slot s = m->slots[i];

		if (sp_commit_kind(s.commit) == SP_KIND_HOLE)
			continue;
		s.commit = sp_commit_make(s.start, s.ticks, (uint64_t)s.value,
					  sp_what_make(sp_commit_kind(s.commit),
						       sp_commit_arg(s.commit)),
					  number / capacity);
		ring[number % capacity] = s;
	}
	sp_maker_append(m, &w, sizeof(w));
	sp_maker_append(m, ring, capacity * sizeof(*ring));
	m->first_index += m->slot_count;
	m->slot_count = 0;
	free(ring);
	return at;
}

int sp_maker_write(const char *directory, const char *name, const void *bytes, size_t n)
{
	char path[4096];
	ssize_t done;
	int fd;

	if (mkdir(directory, 0700) < 0 && errno != EEXIST)
		return -errno;
	snprintf(path, sizeof(path), "%s/%s", directory, name);
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (fd < 0)
		return -errno;
	done = write(fd, bytes, n);
	close(fd);
	return done == (ssize_t)n ? 0 : -EIO;
}

void sp_maker_put(struct sp_maker *m, const char *directory, const char *name)
{
	sp_maker_block(m, SP_BLOCK_LAST);
	if (sp_maker_write(directory, name, m->bytes, m->size) < 0)
		abort();
	sp_maker_finish(m);
}
