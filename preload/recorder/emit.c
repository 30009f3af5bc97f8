/* SPDX-License-Identifier: Apache-2.0 */
#include "preload/recorder/emit.h"

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
	uint32_t bytes = definition.metadata_bytes + definition.text_bytes;

	definition.value = bytes;
	record(t, &definition, 1 + (bytes + SP_SLOT_BLOB_BYTES - 1) / SP_SLOT_BLOB_BYTES);
}

void sp_span_abandon(struct sp_thread *t, uint64_t what, uint64_t start)
{
	struct sp_open_span span = {.thread = t, .start = start, .what = what};

	sp_span_end(&span, SP_VALUE_ABANDONED);
}
