/* SPDX-License-Identifier: Apache-2.0 */
#include "trace/encode_times.h"
#include "trace/simd.h"

/* A time fits 32 bits if it lies less than NEAR grains before or after the block's base; the
 * difference of two such times fits too. The check comes last; until then all numbers are modulo
 * 2^32. */
#define NEAR_BITS 30
#define NEAR (UINT64_C(1) << NEAR_BITS)

/* A number of 16 bits times ONE_OF_EACH is four copies of the number. */
#define ONE_OF_EACH UINT64_C(0x0001000100010001)
#define HAS_NO_KIND (ONE_OF_EACH << 15)

_Static_assert(SP_NO_KIND >> 15 == 1, "kinds of a block are counted below");

struct narrow {
	uint64_t base; /* in grains */
	unsigned shift;
	int32_t before; /* the end of the slot before, in grains from the base */
	uint64_t any;	/* all bits of the times */
	uint64_t far;	/* a bit above those of twice NEAR: some time is not near */
	int32_t first, last;
	sp_pairs any_pairs;
	sp_simd_signed far_vector, first_vector, last_vector, before_vector;
};

/* Four times, in grains from the base. */
static inline sp_simd_signed near_vector(struct narrow *n, sp_pairs first, sp_pairs second)
{
	sp_simd_signed a = (sp_simd_signed)((first >> n->shift) - n->base);
	sp_simd_signed b = (sp_simd_signed)((second >> n->shift) - n->base);
	sp_simd_signed low = SP_SIMD_OF(a, b, 0, 2, 4, 6), high = SP_SIMD_OF(a, b, 1, 3, 5, 7);

	n->far_vector |= high ^ (low >> NEAR_BITS);
	return low;
}

/* Gaps and ticks of four adjacent slots. */
static inline void four_times(struct narrow *n, const struct sp_slot *slots, sp_simd *ret_gaps,
			      sp_simd *ret_ticks)
{
	sp_pairs a = sp_pairs_load(&slots[0]), b = sp_pairs_load(&slots[1]);
	sp_pairs c = sp_pairs_load(&slots[2]), d = sp_pairs_load(&slots[3]);
	sp_pairs starts_ab = SP_PAIRS_OF(a, b, 0, 2), starts_cd = SP_PAIRS_OF(c, d, 0, 2);
	sp_pairs ends_ab = starts_ab + SP_PAIRS_OF(a, b, 1, 3),
		 ends_cd = starts_cd + SP_PAIRS_OF(c, d, 1, 3);
	sp_simd_signed starts = near_vector(n, starts_ab, starts_cd),
		       ends = near_vector(n, ends_ab, ends_cd);
	sp_simd_signed befores = SP_SIMD_OF(n->before_vector, ends, 3, 4, 5, 6);

	n->any_pairs |= a | b | c | d;
	n->first_vector = sp_simd_lesser(n->first_vector, starts);
	n->last_vector = sp_simd_greater(n->last_vector, ends);
	n->before_vector = ends;
	*ret_gaps = (sp_simd)starts - (sp_simd)befores;
	*ret_ticks = (sp_simd)ends - (sp_simd)starts;
}

/* Stores the times of four slots of different kinds. */
static inline void put_mixed(const struct sp_encode_work *w, const uint16_t *slot_kinds,
			     sp_simd gaps, sp_simd ticks)
{
	for (unsigned i = 0; i < SP_SIMD_NUMBERS; i++) {
		uint32_t at = w->kinds[slot_kinds[i]].at++;

		w->narrow_gaps[at] = (int32_t)gaps[i];
		w->narrow_ticks[at] = (int32_t)ticks[i];
	}
}

/* Stores times from slot `i` on, four at a time, until a slot has no times. Returns the index of
 * the first slot that is left. `at` is a copy of kind->at, because the compiler must assume that
 * each store changes kind->at. */
static uint32_t put_fours(struct narrow *narrow, const struct sp_encode_work *w,
			  const struct sp_encode_stretch *s, const uint16_t *slot_kinds, uint32_t i)
{
	uint64_t kinds, same = slot_kinds[i] * ONE_OF_EACH;
	struct sp_encode_kind *kind = &w->kinds[slot_kinds[i]];
	int32_t *all_gaps = w->narrow_gaps, *all_ticks = w->narrow_ticks;
	uint32_t at = kind->at;
	struct narrow n = *narrow;

	n.before_vector[SP_SIMD_NUMBERS - 1] = n.before;
	for (; s->n - i >= SP_SIMD_NUMBERS; i += SP_SIMD_NUMBERS) {
		sp_simd gaps, ticks;

		memcpy(&kinds, slot_kinds + i, sizeof(kinds));
		if (kinds & HAS_NO_KIND)
			break;
		four_times(&n, s->slots + i, &gaps, &ticks);
		if (kinds != same) {
			kind->at = at;
			kind = &w->kinds[slot_kinds[i]];
			same = slot_kinds[i] * ONE_OF_EACH;
			if (kinds != same)
				put_mixed(w, slot_kinds + i, gaps, ticks);
			at = kind->at;
			if (kinds != same)
				continue;
		}
		memcpy(all_gaps + at, &gaps, sizeof(gaps));
		memcpy(all_ticks + at, &ticks, sizeof(ticks));
		at += SP_SIMD_NUMBERS;
	}
	kind->at = at;
	n.before = n.before_vector[SP_SIMD_NUMBERS - 1];
	*narrow = n;
	return i;
}

static void put_one(struct narrow *n, struct sp_encode_work *w, const struct sp_slot *slot,
		    uint32_t index)
{
	uint64_t from = (slot->start >> n->shift) - n->base;
	uint64_t to = ((slot->start + slot->ticks) >> n->shift) - n->base;
	uint32_t at = w->kinds[index].at++;

	n->any |= slot->start | slot->ticks;
	n->far |= (from + NEAR) | (to + NEAR);
	n->first = (int32_t)from < n->first ? (int32_t)from : n->first;
	n->last = (int32_t)to > n->last ? (int32_t)to : n->last;
	w->narrow_gaps[at] = (int32_t)((uint32_t)from - (uint32_t)n->before);
	w->narrow_ticks[at] = (int32_t)((uint32_t)to - (uint32_t)from);
	n->before = (int32_t)to;
}

static void put_stretch(struct narrow *n, struct sp_encode_work *w,
			const struct sp_encode_stretch *s, const uint16_t *slot_kinds)
{
	for (uint32_t i = 0; i < s->n; i++) {
		if (slot_kinds[i] != SP_NO_KIND)
			i = put_fours(n, w, s, slot_kinds, i);
		if (i < s->n && slot_kinds[i] != SP_NO_KIND)
			put_one(n, w, &s->slots[i], slot_kinds[i]);
	}
}

static int fits_narrow(const struct narrow *n, uint64_t grain)
{
	sp_simd_signed far = n->far_vector;

	return n->far < 2 * NEAR && !(far[0] | far[1] | far[2] | far[3]) &&
	       !((n->any | n->any_pairs[0] | n->any_pairs[1]) & (grain - 1));
}

int sp_encode_times_narrow(struct sp_encode_work *w, const struct sp_encode_ring *r,
			   struct sp_encode_times *t)
{
	struct narrow n = {.base = t->end >> t->divider.shift,
			   .shift = t->divider.shift,
			   .any = t->end,
			   .first = INT32_MAX,
			   .last = INT32_MIN};
	int32_t first, last;

	n.first_vector = n.first - (sp_simd_signed){0};
	n.last_vector = n.last - (sp_simd_signed){0};
	put_stretch(&n, w, &r->stretches[0], w->slot_kinds);
	put_stretch(&n, w, &r->stretches[1], w->slot_kinds + r->stretches[0].n);
	if (!fits_narrow(&n, t->divider.grain))
		return 0;
	first = sp_simd_least(n.first_vector);
	last = sp_simd_greatest(n.last_vector);
	first = n.first < first ? n.first : first;
	last = n.last > last ? n.last : last;
	if (first <= last) {
		t->first = (n.base + (uint64_t)(int64_t)first) << n.shift;
		t->last = (n.base + (uint64_t)(int64_t)last) << n.shift;
	}
	return 1;
}
