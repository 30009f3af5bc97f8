/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The shared part of the two halves of the encoder: the slots of a block, its kinds, and the
 * columns of times. The scratch is the caller's; async-signal-safe.
 */
#ifndef STAGEPROF_TRACE_ENCODE_TIMES_H
#define STAGEPROF_TRACE_ENCODE_TIMES_H

#include <stdint.h>

#include "trace/format.h"

#define SP_NO_KIND 0xFFFFu /* of a slot whose times are not encoded */

/* One kind of this block. */
struct sp_encode_kind {
	int64_t value; /* of its last slot */
	uint32_t arg;  /* of its last slot whose arg was not 0 */
	uint32_t kind;
	uint32_t slots;
	uint32_t at; /* index of the next slot's times */
};

/* The part of the scratch after the payload. Unused pages of it are never touched. */
struct sp_encode_work {
	int64_t *gaps, *ticks, *thirds;
	/* In the memory of gaps and ticks, if 32 bits are enough. */
	int32_t *narrow_gaps, *narrow_ticks;
	struct sp_encode_kind *kinds;
	uint32_t kind_count;
	uint16_t *indices;    /* index of a kind plus 1, by its dense number; 0: none yet */
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

/* Adjacent slots of one generation. A block has one or two such stretches. */
struct sp_encode_stretch {
	const struct sp_slot *slots;
	uint32_t n, generation;
};

struct sp_encode_ring {
	struct sp_encode_stretch stretches[2];
};

/* Exact division by a number that is known at run time: shift out the twos, multiply by the odd
 * part's inverse modulo 2^64, and check by multiplying back. */
struct sp_encode_divider {
	uint64_t grain, inverse;
	unsigned shift;
	uint64_t inexact; /* non-zero once a number was no multiple */
};

/* The progress of the columns of times. */
struct sp_encode_times {
	struct sp_encode_divider divider;
	uint64_t end;	      /* of the slot before */
	uint64_t first, last; /* earliest start and latest end of an event */
	int narrow;
};

struct sp_encode_times sp_encode_times_from(uint64_t base, uint32_t grain);

/*
 * Writes gaps and ticks of all slots to w->gaps and w->ticks, or to w->narrow_gaps and
 * w->narrow_ticks if t->narrow is set. Returns the number of each. `plain`: all slots are events.
 * Sets the divider's `inexact` if a time is no multiple of the grain.
 */
uint32_t sp_encode_times(struct sp_encode_work *w, const struct sp_encode_ring *r,
			 struct sp_encode_times *t, int plain);

/* As sp_encode_times(), for events alone and a grain that is a power of two; w->kinds have their
 * indexes. Returns 0 and leaves `t` unchanged if a time is no multiple of the grain, or too far
 * from the others for 32 bits. */
int sp_encode_times_narrow(struct sp_encode_work *w, const struct sp_encode_ring *r,
			   struct sp_encode_times *t);

#endif
