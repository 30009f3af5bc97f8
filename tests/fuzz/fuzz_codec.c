/*
 * The decoder of payloads. What it accepts must come back the same once encoded again.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "trace/codec.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define N 64u

static void commit_all(struct sp_slot *slots)
{
	for (uint32_t i = 0; i < N; i++)
		slots[i].commit = sp_commit_make(
			slots[i].start, slots[i].ticks, (uint64_t)slots[i].value,
			sp_commit_kind(slots[i].commit), sp_commit_arg(slots[i].commit), 0);
}

static void assert_same(const struct sp_slot *a, const struct sp_slot *b)
{
	if (sp_commit_kind(a->commit) == SP_KIND_HOLE)
		return;
	if (a->start != b->start || a->ticks != b->ticks || a->value != b->value)
		abort();
	if (sp_commit_kind(a->commit) != sp_commit_kind(b->commit))
		abort();
	if (sp_commit_kind(a->commit) != SP_KIND_EXTRA &&
	    sp_commit_arg(a->commit) != sp_commit_arg(b->commit))
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct sp_slot slots[N], back[N];
	struct sp_payload_facts facts;
	uint8_t *payload;
	size_t n;

	if (sp_payload_decode(slots, N, data, size) < 0)
		return 0;
	payload = malloc(sp_encode_scratch_bytes(N));
	commit_all(slots);
	n = sp_payload_encode(payload, slots, N, 0, N, 1, &facts);
	if (sp_payload_decode(back, N, payload, n) < 0)
		abort();
	for (uint32_t i = 0; i < N; i++)
		assert_same(&slots[i], &back[i]);
	free(payload);
	return 0;
}
