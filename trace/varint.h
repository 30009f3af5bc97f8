/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Variable-length numbers: base-128, low groups first, at most ten bytes. Signed numbers are
 * zigzag.
 */
#ifndef STAGEPROF_TRACE_VARINT_H
#define STAGEPROF_TRACE_VARINT_H

#include <stdint.h>
#include <string.h>

static inline uint64_t sp_zigzag(int64_t x)
{
	return (uint64_t)x << 1 ^ -(uint64_t)(x < 0);
}

static inline int64_t sp_unzigzag(uint64_t x)
{
	return (int64_t)(x >> 1 ^ -(x & 1));
}

/* Returns the end of the varint. Two bytes are always stored, because nearly all varints have one
 * or two, and no branch predictor knows which. */
static inline uint8_t *sp_varint_put(uint8_t *p, uint64_t x)
{
	uint32_t low = (uint32_t)x, more = (0x7F - low) >> 31,
		 two = low + (low & 0x3F80) + more * 0x80;

	if (__builtin_expect(x < 0x4000, 1)) {
		memcpy(p, &two, 2);
		return p + 1 + more;
	}
	while (x >= 0x80) {
		*p++ = (uint8_t)x | 0x80;
		x >>= 7;
	}
	*p++ = (uint8_t)x;
	return p;
}

/* A column while it is read. A read past its end sets `bad` and yields 0, so that the loops stay
 * simple. */
struct sp_input {
	const uint8_t *at, *end;
	int bad;
};

/* Reads a varint of any length. Not inline, because long varints are rare. */
uint64_t sp_varint_get_long(struct sp_input *in);

/* Reads up to four bytes without a branch on the length, because the length is unpredictable. */
static inline uint64_t sp_varint_get(struct sp_input *in)
{
	uint32_t word, stop;

	if (__builtin_expect(in->end - in->at < 4, 0))
		return sp_varint_get_long(in);
	memcpy(&word, in->at, sizeof(word));
	stop = ~word & 0x80808080;
	if (__builtin_expect(!stop, 0))
		return sp_varint_get_long(in);
	in->at += ((unsigned)__builtin_ctz(stop) >> 3) + 1;
	word &= (stop ^ (stop - 1)) & 0x7F7F7F7F;
	word = (word & 0x007F007F) | (word >> 1 & 0x3F803F80);
	return (word & 0x3FFF) | (word >> 2 & 0x0FFFC000);
}

#endif
