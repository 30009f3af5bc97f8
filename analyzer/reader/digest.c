/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/reader/digest.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <xxhash.h>

#include "analyzer/base/order.h"
#include "analyzer/reader/unzstd.h"

_Static_assert(sizeof(struct sp_digest_head) == SP_DIGEST_HEAD_BYTES, "head size is the format");
_Static_assert(sizeof(struct sp_digest_record) == 104, "record size is the format");

int sp_digest_key_compare(const struct sp_digest_key *a, const struct sp_digest_key *b)
{
	return memcmp(a->host, b->host, sizeof(a->host)) ?: SP_COMPARE(a->start_ns, b->start_ns)
	       ?: SP_COMPARE(a->pid, b->pid);
}

uint64_t sp_digest_hash(const struct sp_digest_key *key, const void *stored, uint32_t bytes)
{
	return XXH64(stored, bytes, XXH64(key, sizeof(*key), 0));
}

static int read_at(struct sp_source *source, uint64_t at, void *ret, size_t bytes)
{
	const uint8_t *p;
	ssize_t n = sp_source_bytes(source, at, bytes, &p);

	if (n < 0)
		return (int)n;
	if ((size_t)n < bytes)
		return -ENODATA;
	memcpy(ret, p, bytes);
	return 0;
}

bool sp_digest_is(struct sp_source *source)
{
	char magic[8];

	return read_at(source, 0, magic, sizeof(magic)) == 0 &&
	       memcmp(magic, SP_DIGEST_MAGIC, sizeof(magic)) == 0;
}

/* Reads what is more than the source gives at once. */
static int read_stored(struct sp_source *source, uint64_t at, uint8_t *ret, uint32_t bytes)
{
	for (uint32_t n = 0; n < bytes;) {
		uint32_t part = bytes - n < SP_SOURCE_BYTES_MAX ? bytes - n : SP_SOURCE_BYTES_MAX;
		int r = read_at(source, at + n, ret + n, part);

		if (r < 0)
			return r;
		n += part;
	}
	return 0;
}

static bool record_is_right(const struct sp_digest_record *record)
{
	return record->stored_bytes && record->stored_bytes <= SP_DIGEST_RECORD_MAX &&
	       record->plain_bytes >= record->stored_bytes &&
	       record->plain_bytes / SP_DIGEST_RATIO_MAX <= record->stored_bytes &&
	       record->key.threads &&
	       record->key.threads <= record->stored_bytes / SP_DIGEST_THREAD_BYTES_MIN;
}

static int check_head(struct sp_source *source, struct sp_file *file, uint64_t schema)
{
	struct sp_digest_head head;
	int r = read_at(source, 0, &head, sizeof(head));

	if (r < 0) {
		sp_file_damaged(file, SP_DAMAGE_CUT, 0, source->size_bytes);
		return r == -ENODATA ? 0 : r;
	}
	if (head.version == SP_DIGEST_VERSION && head.schema == schema)
		return 1;
	sp_file_damaged(file, SP_DAMAGE_VERSION, 0, source->size_bytes);
	file->damage.version = head.version;
	return 0;
}

/* One record. Returns the bytes of it, 0 at the end, or -errno. */
static int64_t read_record(struct sp_source *source, struct sp_file *file, uint64_t at,
			   uint64_t count, struct sp_digest_record *ret, uint8_t **ret_stored)
{
	uint64_t left = source->size_bytes - at;
	int r = read_at(source, at, ret, sizeof(*ret));

	*ret_stored = NULL;
	if (r == -ENODATA) {
		sp_file_damaged(file, SP_DAMAGE_CUT, at, left);
		return 0;
	}
	if (r < 0)
		return r;
	if (!ret->stored_bytes && !ret->plain_bytes) {
		if (ret->key.slots != count || ret->hash != sp_digest_hash(&ret->key, "", 0) ||
		    left != sizeof(*ret))
			sp_file_damaged(file, SP_DAMAGE_PAYLOAD, at, left - sizeof(*ret));
		return 0;
	}
	if (!record_is_right(ret)) {
		sp_file_damaged(file, SP_DAMAGE_HEAD, at, left);
		return 0;
	}
	if (ret->stored_bytes > left - sizeof(*ret)) {
		sp_file_damaged(file, SP_DAMAGE_CUT, at, left);
		return 0;
	}
	*ret_stored = malloc(ret->stored_bytes);
	if (!*ret_stored)
		return -ENOMEM;
	r = read_stored(source, at + sizeof(*ret), *ret_stored, ret->stored_bytes);
	return r < 0 ? r : (int64_t)(sizeof(*ret) + ret->stored_bytes);
}

int sp_digest_records(struct sp_source *source, struct sp_file *file, uint64_t schema,
		      int (*take)(void *context, const struct sp_digest_record *record,
				  const uint8_t *stored, uint64_t at),
		      void *context)
{
	uint64_t at = SP_DIGEST_HEAD_BYTES, count = 0;
	int r = check_head(source, file, schema);

	if (r <= 0)
		return r;
	for (r = 0; r == 0;) {
		struct sp_digest_record record;
		uint8_t *stored;
		int64_t n = read_record(source, file, at, count, &record, &stored);

		if (n <= 0) {
			free(stored);
			return (int)n;
		}
		if (record.hash == sp_digest_hash(&record.key, stored, record.stored_bytes))
			r = take(context, &record, stored, at);
		else
			sp_file_damaged(file, SP_DAMAGE_PAYLOAD, at, (uint64_t)n);
		if (r == -EBADMSG) {
			sp_file_damaged(file, SP_DAMAGE_PAYLOAD, at, (uint64_t)n);
			r = 0;
		}
		free(stored);
		at += (uint64_t)n;
		count++;
	}
	return r;
}

/* The plain bytes of a record, which the caller frees; NULL: the record is none, or there is no
 * memory. */
static uint8_t *plain_of(const struct sp_digest_record *record, const uint8_t *stored)
{
	struct sp_unzstd *unzstd;
	uint8_t *plain = malloc(record->plain_bytes);
	int r = plain ? 0 : -ENOMEM;

	if (r == 0 && record->plain_bytes == record->stored_bytes) {
		memcpy(plain, stored, record->plain_bytes);
		return plain;
	}
	unzstd = sp_unzstd_create();
	if (r == 0)
		r = unzstd ? sp_unzstd_frame(unzstd, plain, record->plain_bytes, stored,
					     record->stored_bytes)
			   : -ENOMEM;
	sp_unzstd_destroy(unzstd);
	if (r == 0)
		return plain;
	free(plain);
	return NULL;
}

static void point_fields(struct sp_digest_fields *f, struct sp_clock_point *p)
{
	sp_digest_word(f, &p->ticks);
	sp_digest_word(f, &p->monotonic_ns);
	sp_digest_word(f, &p->realtime_ns);
}

static void header_fields(struct sp_digest_fields *f, struct sp_file_header *h)
{
	sp_digest_word(f, &h->run_token[0]);
	sp_digest_word(f, &h->run_token[1]);
	sp_digest_word(f, &h->image_start_ns);
	sp_digest_word(f, &h->parent_start_ns);
	point_fields(f, &h->opened);
	sp_digest_u32(f, &h->flags);
	sp_digest_u32(f, &h->pid);
	sp_digest_u32(f, &h->tid);
	sp_digest_u32(f, &h->ppid);
	sp_digest_u32(f, &h->segment);
	sp_digest_number(f, &h->ticks_per_second);
	sp_digest_u32(f, &h->grain);
	sp_digest_u32(f, &h->writer_version);
	sp_digest_text(f, h->exe, sizeof(h->exe));
	sp_digest_text(f, h->comm, sizeof(h->comm));
	sp_digest_number(f, &h->process_lost);
	sp_digest_number(f, &h->rank);
	sp_digest_number(f, &h->local_rank);
	sp_digest_number(f, &h->world_size);
	sp_digest_number(f, &h->event_ps);
	sp_digest_number(f, &h->own_ns);
	sp_digest_number(f, &h->stall_ns);
	sp_digest_number(f, &h->ending);
}

static void segment_fields(struct sp_digest_fields *f, struct sp_segment *s)
{
	bool has_window = s->window_at != UINT64_MAX;

	sp_digest_text(f, s->host, sizeof(s->host));
	sp_digest_u32(f, &s->pid);
	sp_digest_u32(f, &s->tid);
	sp_digest_number(f, &s->limit);
	sp_digest_number(f, &s->lost);
	for (int i = 0; i < SP_LOST_CAUSES; i++)
		sp_digest_number(f, &s->lost_by[i]);
	sp_digest_u32(f, &s->unfinished);
	sp_digest_bool(f, &s->has_last);
	sp_digest_bool(f, &has_window);
	sp_digest_number(f, &s->mark.start_ticks);
	sp_digest_number(f, &s->mark.what);
	point_fields(f, &s->clock.first);
	point_fields(f, &s->clock.last);
	if (f->reads)
		s->window_at = has_window ? 0 : UINT64_MAX;
}

void sp_digest_thread_fields(struct sp_digest_fields *f, struct sp_segment *s)
{
	bool has_header = s->header != NULL;

	sp_digest_word(f, &s->stream_id);
	sp_digest_bool(f, &has_header);
	if (f->reads && has_header)
		s->header = calloc(1, sizeof(*s->header));
	if (f->reads)
		s->digested = calloc(1, sizeof(*s->digested));
	if ((has_header && !s->header) || !s->digested) {
		f->is_bad = true;
		return;
	}
	segment_fields(f, s);
	if (has_header)
		header_fields(f, s->header);
	sp_digest_u32(f, &s->digested->role);
	sp_digest_bytes(f, &s->digested->about, &s->digested->about_bytes);
	sp_digest_bytes(f, &s->digested->sums, &s->digested->sums_bytes);
	sp_digest_bytes(f, &s->digested->steps, &s->digested->steps_bytes);
	if (f->reads && s->header) {
		s->header->stream_id = s->stream_id;
		memcpy(s->header->host, s->host, sizeof(s->host));
	}
}

struct digest_reading {
	struct sp_index *index;
	struct sp_file *file;
};

static void add_segment(struct sp_file *file, struct sp_segment *s)
{
	if (file->last_segment)
		file->last_segment->next = s;
	else
		file->segments = s;
	file->last_segment = s;
}

/* A text has room for its end. */
static void end_texts(struct sp_segment *s)
{
	s->host[sizeof(s->host) - 1] = '\0';
	if (!s->header)
		return;
	s->header->exe[sizeof(s->header->exe) - 1] = '\0';
	s->header->comm[sizeof(s->header->comm) - 1] = '\0';
}

static bool thread_is_of(const struct sp_digest_key *key, const struct sp_segment *s)
{
	return strncmp(key->host, s->host, sizeof(s->host) - 1) == 0 &&
	       (!s->header ||
		(s->header->pid == key->pid && s->header->image_start_ns == key->start_ns));
}

static void keep_steps(struct sp_spill *spill, struct sp_digested *digested)
{
	if (!digested)
		return;
	digested->spill = spill;
	digested->steps = sp_spill_keep(spill, digested->steps, digested->steps_bytes);
}

static int take_record(void *context, const struct sp_digest_record *record, const uint8_t *stored,
		       uint64_t at)
{
	struct digest_reading *reading = context;
	struct sp_digest_fields f = {.reads = true};
	uint8_t *plain = plain_of(record, stored);
	uint32_t threads = 0;

	if (!plain)
		return -EBADMSG;
	f.in = (struct sp_input){plain, plain + record->plain_bytes, 0};
	while (!f.is_bad && f.in.at < f.in.end && threads < record->key.threads) {
		struct sp_segment *s = calloc(1, sizeof(*s));

		if (!s) {
			free(plain);
			return -ENOMEM;
		}
		sp_digest_thread_fields(&f, s);
		keep_steps(reading->index->spill, s->digested);
		s->file = (uint32_t)(reading->file - reading->index->files);
		s->at = at;
		if (f.is_bad || !s->digested || !thread_is_of(&record->key, s)) {
			sp_segment_free(s);
			f.is_bad = true;
			break;
		}
		end_texts(s);
		if (s->header && s->header->writer_version > reading->file->newest_writer)
			reading->file->newest_writer = s->header->writer_version;
		add_segment(reading->file, s);
		threads++;
	}
	free(plain);
	return sp_digest_is_read(&f) && threads == record->key.threads ? 0 : -EBADMSG;
}

int sp_digest_read(struct sp_index *index, struct sp_file *file, struct sp_source *source)
{
	struct digest_reading reading = {index, file};

	return sp_digest_records(source, file, index->digest_schema, take_record, &reading);
}
