/* SPDX-License-Identifier: Apache-2.0 */
#include "trace/numbers.h"

/* Padding, so that eight bytes can be read from any byte of a group. */
#define BITS_BYTES_MAX (SP_NUMBERS_GROUP * SP_NUMBERS_WIDTH_MAX / 8 + 8)

#define TOP_BITS UINT64_C(0x8080808080808080)

/* Joins the lower seven bits of each byte. */
static inline uint64_t compact(uint64_t x)
{
	x = (x & 0x007F007F007F007F) | (x >> 1 & 0x3F803F803F803F80);
	x = (x & 0x00003FFF00003FFF) | (x >> 2 & 0x0FFFC0000FFFC000);
	return (x & 0x000000000FFFFFFF) | (x >> 4 & 0x00FFFFFFF0000000);
}

/* No branch on the length, because the length is unpredictable. The last bytes of a column, and
 * numbers of more than eight bytes, are read byte by byte. */
uint64_t sp_varint_get_long(struct sp_input *in)
{
	uint64_t x = 0, word, stop = 0;

	if (in->end - in->at >= 8) {
		memcpy(&word, in->at, sizeof(word));
		stop = ~word & TOP_BITS;
	}
	if (stop) {
		in->at += ((unsigned)__builtin_ctzll(stop) >> 3) + 1;
		return compact(word & (stop ^ (stop - 1)) & ~TOP_BITS);
	}

	for (unsigned shift = 0; shift < 64 && in->at < in->end; shift += 7) {
		uint64_t byte = *in->at++;

		x |= (byte & 0x7F) << shift;
		if (byte < 0x80) {
			in->bad |= shift == 63 && byte > 1;
			return x;
		}
	}
	in->bad = 1;
	return 0;
}

/* Eight numbers take `width` bytes. With a constant width each number is a load, a shift and a
 * mask. */
static inline __attribute__((always_inline)) void unpack_eight(int64_t *ret, const uint8_t *bits,
							       uint64_t least, unsigned width)
{
#define UNPACK(i)                                                                                  \
	memcpy(&word, bits + (i)*width / 8, sizeof(word));                                         \
	ret[i] = (int64_t)(least + (word >> (i)*width % 8 & ((UINT64_C(1) << width) - 1)));
	uint64_t word;

	UNPACK(0)
	UNPACK(1)
	UNPACK(2)
	UNPACK(3)
	UNPACK(4)
	UNPACK(5)
	UNPACK(6)
	UNPACK(7)
}

#define CASE_WIDTH(n)                                                                              \
	case n:                                                                                    \
		for (unsigned i = 0; i < SP_NUMBERS_GROUP / 8; i++)                                \
			unpack_eight(ret + 8 * i, bits + (n)*i, least, n);                         \
		break;
#define CASE_WIDTHS(n)                                                                             \
	CASE_WIDTH(n)                                                                              \
	CASE_WIDTH(n + 1)                                                                          \
	CASE_WIDTH(n + 2)                                                                          \
	CASE_WIDTH(n + 3) CASE_WIDTH(n + 4) CASE_WIDTH(n + 5) CASE_WIDTH(n + 6) CASE_WIDTH(n + 7)

/* Unpacks a whole group. Reads up to eight bytes past the bits. */
static void unpack_bits(int64_t *ret, const uint8_t *bits, uint64_t least, unsigned width)
{
	switch (width) {
		CASE_WIDTHS(0)
		CASE_WIDTHS(8)
		CASE_WIDTHS(16)
		CASE_WIDTHS(24)
		CASE_WIDTH(32)
	}
}

static void add_exceptions(int64_t *ret, uint32_t n, struct sp_input *in, unsigned width,
			   unsigned exceptions)
{
	const uint8_t *positions = in->at;

	if ((size_t)(in->end - in->at) < exceptions) {
		in->bad = 1;
		return;
	}
	in->at += exceptions;
	for (unsigned i = 0; i < exceptions; i++) {
		uint64_t rest = sp_varint_get(in);
		int64_t *to;

		in->bad |= positions[i] >= n;
		to = &ret[positions[i] % SP_NUMBERS_GROUP];
		*to = (int64_t)((uint64_t)*to + (rest << width));
	}
}

static void unpack_group(int64_t *ret, uint32_t n, struct sp_input *in)
{
	uint8_t near_end[BITS_BYTES_MAX];
	const uint8_t *bits;
	unsigned width, exceptions;
	uint64_t least;
	size_t bytes;

	if (in->end - in->at < 2 || in->at[0] > SP_NUMBERS_WIDTH_MAX) {
		in->bad = 1;
		return;
	}
	width = in->at[0];
	exceptions = in->at[1];
	in->at += 2;
	least = (uint64_t)sp_unzigzag(sp_varint_get(in));
	bytes = (n * width + 7) / 8;
	if ((size_t)(in->end - in->at) < bytes) {
		in->bad = 1;
		return;
	}
	bits = in->at;
	if ((size_t)(in->end - in->at) < BITS_BYTES_MAX) {
		memset(near_end, 0, sizeof(near_end));
		memcpy(near_end, bits, bytes);
		bits = near_end;
	}
	unpack_bits(ret, bits, least, width);
	in->at += bytes;
	add_exceptions(ret, n, in, width, exceptions);
}

void sp_numbers_unpack(int64_t *ret, uint32_t n, struct sp_input *in)
{
	for (uint32_t i = 0; i < n && !in->bad; i += SP_NUMBERS_GROUP)
		unpack_group(ret + i, n - i < SP_NUMBERS_GROUP ? n - i : SP_NUMBERS_GROUP, in);
}
