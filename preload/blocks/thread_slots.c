/* SPDX-License-Identifier: Apache-2.0 */
#include "preload/blocks/thread_slots.h"

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

/* The first slot is committed last, so that a reader sees a
 * record only when the record is whole. */
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
