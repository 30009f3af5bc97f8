#include "trace/encode_times.h"

static void divider_init(struct sp_encode_divider *d, uint32_t grain)
{
	uint64_t odd = grain >> __builtin_ctz(grain);

	d->grain = grain;
	d->shift = (unsigned)__builtin_ctz(grain);
	d->inverse = odd; /* right to 3 bits; each round doubles them */
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

/* Where each kind's times begin. Returns how many slots have times. */
static uint32_t kinds_place(struct sp_encode_work *w)
{
	uint32_t at = 0;

	for (uint32_t i = 0; i < w->kind_count; i++) {
		w->kinds[i].at = at;
		at += sp_kind_is_span(w->kinds[i].kind) ? w->kinds[i].slots : 0;
	}
	return at;
}

/* `end`: of the slot before. */
static void put_times(struct sp_encode_work *w, const struct sp_encode_stretch *s, const uint16_t *slot_kinds,
		      struct sp_encode_times *t)
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

/*
 * The same, quicker, of a block without definitions and with a grain that is a power of two. Locals, for all that the
 * compiler knows a number stored may change anything else; a kind stays for as long as the next slot has it, too.
 */
static void put_times_plain(struct sp_encode_work *w, const struct sp_encode_stretch *s,
			    const uint16_t *slot_kinds, struct sp_encode_times *times)
{
	unsigned shift = times->divider.shift, index = SP_NO_KIND;
	uint64_t before = times->end >> shift, any = 0, first = times->first, last = times->last;
	int64_t *gaps = w->gaps, *ticks = w->ticks;
	uint32_t at = 0;

	for (uint32_t i = 0; i < s->n; i++) {
		uint64_t start = s->slots[i].start, length = s->slots[i].ticks, end = start + length;

		if (slot_kinds[i] == SP_NO_KIND)
			continue;
		if (slot_kinds[i] != index) {
			if (index != SP_NO_KIND)
				w->kinds[index].at = at;
			index = slot_kinds[i];
			at = w->kinds[index].at;
		}
		any |= start | length;
		first = start < first ? start : first;
		last = end > last ? end : last;
		gaps[at] = (int64_t)((start >> shift) - before);
		before = end >> shift;
		ticks[at++] = (int64_t)(before - (start >> shift));
	}
	if (index != SP_NO_KIND)
		w->kinds[index].at = at;
	times->end = before << shift;
	times->first = first;
	times->last = last;
	times->divider.inexact |= any & (times->divider.grain - 1);
}

uint32_t sp_encode_times(struct sp_encode_work *w, const struct sp_encode_ring *r, struct sp_encode_times *t,
			 int plain)
{
	uint32_t n = kinds_place(w);
	const uint16_t *slot_kinds = w->slot_kinds;

	for (int i = 0; i < 2; i++) {
		const struct sp_encode_stretch *s = &r->stretches[i];

		if (plain && t->divider.inverse == 1)
			put_times_plain(w, s, slot_kinds, t);
		else
			put_times(w, s, slot_kinds, t);
		slot_kinds += s->n;
	}
	return n;
}
