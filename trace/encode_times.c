/* SPDX-License-Identifier: Apache-2.0 */
#include "trace/encode_times.h"

static void divider_init(struct sp_encode_divider *d, uint32_t grain)
{
	uint64_t odd = grain >> __builtin_ctz(grain);

	d->grain = grain;
	d->shift = (unsigned)__builtin_ctz(grain);
	d->inverse = odd; /* correct in 3 bits; each round doubles the correct bits */
	for (int i = 0; i < 5; i++)
		d->inverse *= 2 - odd * d->inverse;
	d->inexact = 0;
}

static inline int64_t divide(struct sp_encode_divider *d, int64_t x)
{
	uint64_t q = (uint64_t)(x >> d->shift) * d->inverse;

	d->inexact |= q * d->grain ^ (uint64_t)x;
	return (int64_t)q;
}

struct sp_encode_times sp_encode_times_from(uint64_t base, uint32_t grain)
{
	struct sp_encode_times t = {.end = base, .first = UINT64_MAX};

	divider_init(&t.divider, grain);
	return t;
}

/* Sets the index of each kind's first times. Returns the number of slots with times. */
static uint32_t kinds_place(struct sp_encode_work *w)
{
	uint32_t at = 0;

	for (uint32_t i = 0; i < w->kind_count; i++) {
		w->kinds[i].at = at;
		at += sp_kind_is_span(w->kinds[i].kind) ? w->kinds[i].slots : 0;
	}
	return at;
}

/* `end`: the end of the slot before. */
static void put_times(struct sp_encode_work *w, const struct sp_encode_stretch *s,
		      const uint16_t *slot_kinds, struct sp_encode_times *t)
{
	for (uint32_t i = 0; i < s->n; i++) {
		uint64_t start = s->slots[i].start, length = s->slots[i].ticks;
		struct sp_encode_kind *kind = &w->kinds[slot_kinds[i]];
		uint32_t at;

		if (slot_kinds[i] == SP_NO_KIND)
			continue;
		at = kind->at++;
		w->gaps[at] = divide(&t->divider, (int64_t)(start - t->end));
		w->ticks[at] = divide(&t->divider, (int64_t)length);
		t->end = start + length;
		if (sp_kind_is_event(kind->kind)) {
			t->first = start < t->first ? start : t->first;
			t->last = t->end > t->last ? t->end : t->last;
		}
	}
}

uint32_t sp_encode_times(struct sp_encode_work *w, const struct sp_encode_ring *r,
			 struct sp_encode_times *t, int plain)
{
	uint32_t n = kinds_place(w);

	t->narrow = plain && t->divider.inverse == 1 && sp_encode_times_narrow(w, r, t);
	if (t->narrow)
		return n;
	kinds_place(w);
	put_times(w, &r->stretches[0], w->slot_kinds, t);
	put_times(w, &r->stretches[1], w->slot_kinds + r->stretches[0].n, t);
	return n;
}
