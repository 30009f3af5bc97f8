/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The decoders of payloads. A payload that they accept must be the same after encoding it again.
 * Both accept the same payloads and find the same number of events.
 */
#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "trace/columns.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define N 64u

static void commit_all(struct sp_slot *slots)
{
	for (uint32_t i = 0; i < N; i++)
		slots[i].commit =
			sp_commit_make(slots[i].start, slots[i].ticks, (uint64_t)slots[i].value,
				       sp_what_make(sp_commit_kind(slots[i].commit),
						    sp_commit_arg(slots[i].commit)),
				       0);
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

static uint32_t count_events(const struct sp_columns *c)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < c->kind_count; i++)
		n += c->kinds[i].kind < SP_KIND_DEFINE ? c->kinds[i].limit - c->kinds[i].first : 0;
	return n;
}

/* result: what decoding into slots came to. */
static void assert_columns(const struct sp_slot *slots, int result, const uint8_t *data,
			   size_t size)
{
	static struct sp_columns direct, taken;

	if (sp_payload_columns(&direct, SP_COLUMNS_ALL, N, data, size) != result ||
	    sp_payload_columns(&taken, 1, N, data, size) != result)
		abort();
	if (result < 0)
		return;
	sp_columns_take(&taken, slots, N);
	if (count_events(&direct) != count_events(&taken) || direct.end_ticks != taken.end_ticks ||
	    direct.extra_count != taken.extra_count || direct.holes != taken.holes)
		abort();
	sp_columns_keep(&direct, slots[0].start, slots[N - 1].start);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct sp_slot slots[N], back[N];
	struct sp_payload_metadata facts;
	int result = sp_payload_decode(slots, N, data, size);
	uint8_t *payload;
	size_t n;

	assert_columns(slots, result, data, size);
	if (result < 0)
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
