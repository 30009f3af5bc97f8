/*
 * What the two halves of the encoder share: the slots of a block, its kinds, and the columns of times. Scratch is the
 * caller's; async-signal-safe.
 */
#ifndef STAGEPROF_TRACE_ENCODE_TIMES_H
#define STAGEPROF_TRACE_ENCODE_TIMES_H

#include <stdint.h>

#include "trace/format.h"

#define SP_NO_KIND 0xFFFFu /* of a slot whose times are not told */

/* One kind of this block. */
struct sp_encode_kind {
	int64_t value; /* of its last slot */
	uint32_t arg;  /* its last one that was not 0 */
	uint32_t kind;
	uint32_t slots;
	uint32_t at; /* where the next slot's times go */
};

/* Behind the payload in the scratch; what is filled in is touched, and no more. */
struct sp_encode_work {
	int64_t *gaps, *ticks, *thirds;
	int32_t *narrow_gaps, *narrow_ticks; /* in the place of gaps and ticks, where 32 bits are enough */
	struct sp_encode_kind *kinds;
	uint32_t kind_count;
	uint16_t *indices; /* of kinds, plus 1, by narrow number; 0: none yet */
	uint16_t *slot_kinds; /* of each slot, an index or SP_NO_KIND */
	uint8_t *tokens, *args, *values;
};

static inline int sp_kind_is_span(uint32_t kind)
{
	return kind != SP_KIND_HOLE && kind != SP_KIND_EXTRA && kind != SP_KIND_BLOB;
}

static inline int sp_kind_is_event(uint32_t kind)
{
	return kind - 1u < SP_KIND_DEFINE - 1u;
}

/* Slots that lie side by side and are of one generation: a block has one such stretch or two. */
struct sp_encode_stretch {
	const struct sp_slot *slots;
	uint32_t n, generation;
};

struct sp_encode_ring {
	struct sp_encode_stretch stretches[2];
};

/* Exact division by a constant found at run time: shift out the twos, multiply by the odd part's
 * inverse modulo 2^64, and check by multiplying back. */
struct sp_encode_divider {
	uint64_t grain, inverse;
	unsigned shift;
	uint64_t inexact; /* non-zero once a number was no multiple */
};

/* Where the columns of times have come to. */
struct sp_encode_times {
	struct sp_encode_divider divider;
	uint64_t end;	      /* of the slot before */
	uint64_t first, last; /* earliest start and latest end of an event */
	int narrow;
};

struct sp_encode_times sp_encode_times_from(uint64_t base, uint32_t grain);

/*
 * Gaps and ticks of all slots, as numbers in w->gaps and w->ticks, or where t->narrow is set in w->narrow_gaps and
 * w->narrow_ticks. Returns how many of each there are. `plain`: all are events. Divider's `inexact` is set where the
 * grain does not fit.
 */
uint32_t sp_encode_times(struct sp_encode_work *w, const struct sp_encode_ring *r, struct sp_encode_times *t,
			 int plain);

/* The same of events alone and a grain that is a power of two, where w->kinds have their places. Returns 0 and leaves `t`
 * as it was where a time is no multiple of the grain, or too far from the others for 32 bits. */
int sp_encode_times_narrow(struct sp_encode_work *w, const struct sp_encode_ring *r, struct sp_encode_times *t);

#endif
