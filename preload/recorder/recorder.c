/* SPDX-License-Identifier: Apache-2.0 */
#include "preload/recorder/recorder.h"

__thread struct sp_tls sp_tls;

static uint32_t blob_bytes(const struct sp_new_record *record)
{
	return record->metadata_bytes + record->text_bytes;
}

/* Copies bytes of a definition: its metadata, then its text. */
static void blob_copy(uint8_t *to, const struct sp_new_record *record, uint32_t from,
		      uint32_t bytes)
{
	for (uint32_t i = 0; i < bytes; i++)
		to[i] = from + i < record->metadata_bytes
				? ((const uint8_t *)record->metadata)[from + i]
				: (uint8_t)record->text[from + i - record->metadata_bytes];
}

static void blob_store(struct sp_thread *t, const struct sp_new_record *record, uint64_t number,
		       uint32_t from)
{
	uint32_t left = blob_bytes(record) - from;
	uint32_t bytes = left < SP_SLOT_BLOB_BYTES ? left : SP_SLOT_BLOB_BYTES;
	uint64_t words[3] = {0, 0, 0};

	blob_copy((uint8_t *)words, record, from, bytes);
	sp_slot_store(t, number, words[0], words[1], (int64_t)words[2],
		      sp_what_make(SP_KIND_BLOB, bytes));
}

/* The first slot is committed last, so that a reader sees a record only when the record is whole.
 */
void sp_record_store(struct sp_thread *t, const struct sp_new_record *record, uint32_t slots,
		     uint64_t number)
{
	for (uint32_t i = 1; i < slots; i++) {
		if (record->extra)
			sp_slot_store(t, number + i, record->extra[0], record->extra[1],
				      (int64_t)record->extra[2], sp_what_make(SP_KIND_EXTRA, 0));
		else
			blob_store(t, record, number + i, (i - 1) * SP_SLOT_BLOB_BYTES);
	}
	sp_slot_store(t, number, record->start, record->ticks, record->value, record->what);
}

static void record(struct sp_thread *t, const struct sp_new_record *what, uint32_t slots)
{
	uint64_t number;

	sp_inside_begin(t);
	number = sp_slots_take(&t->head, slots);
	if (number + slots <= t->limit)
		sp_record_store(t, what, slots, number);
	else
		sp_record_slow(t, what, slots, number);
	sp_inside_end(t);
}

void sp_emit_extra(struct sp_thread *t, uint32_t kind, uint32_t arg, uint64_t start, uint64_t ticks,
		   int64_t value, const uint64_t extra[3])
{
	struct sp_new_record what = {.start = start,
				     .ticks = ticks,
				     .value = value,
				     .what = sp_what_make(kind, arg),
				     .extra = extra};

	record(t, &what, 2);
}

void sp_define(struct sp_thread *t, enum sp_define what, uint32_t id, const void *metadata,
	       uint32_t metadata_bytes, const char *text, size_t text_bytes)
{
	size_t most = SP_NAME_BYTES_MAX - metadata_bytes;
	struct sp_new_record definition = {.start = sp_clock_ticks(),
					   .what = sp_what_make(SP_KIND_DEFINE + what, id),
					   .metadata = metadata,
					   .metadata_bytes = metadata_bytes,
					   .text = text,
					   .text_bytes = (uint32_t)(text_bytes < most ? text_bytes
										      : most)};
	uint32_t bytes = blob_bytes(&definition);

	definition.value = bytes;
	record(t, &definition, 1 + (bytes + SP_SLOT_BLOB_BYTES - 1) / SP_SLOT_BLOB_BYTES);
}

void sp_span_abandon(struct sp_thread *t, uint64_t what, uint64_t start)
{
	struct sp_open_span span = {.thread = t, .start = start, .what = what};

	sp_span_end(&span, SP_VALUE_ABANDONED);
}
