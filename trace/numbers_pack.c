#include "trace/numbers.h"

/* What an exception takes beside its bits in the group, about: how wide the others are hardly depends on it. */
#define EXCEPTION_BITS 20u

static unsigned bits_of(uint64_t x)
{
	return x ? 64 - (unsigned)__builtin_clzll(x) : 0;
}

static int64_t least_of(const int64_t *numbers, uint32_t n)
{
	int64_t least = numbers[0];

	for (uint32_t i = 1; i < n; i++)
		least = numbers[i] < least ? numbers[i] : least;
	return least;
}

/* The width that takes the fewest bits. */
static unsigned width_for(const int64_t *numbers, uint32_t n, int64_t least)
{
	uint8_t of_bits[65] = {0};
	uint64_t any = 0;
	uint32_t wide = 0, cost_least = UINT32_MAX;
	unsigned best = 0, width;

	for (uint32_t i = 0; i < n; i++) {
		uint64_t x = (uint64_t)numbers[i] - (uint64_t)least;

		any |= x;
		of_bits[bits_of(x)]++;
	}
	for (width = bits_of(any); width > SP_NUMBERS_WIDTH_MAX; width--)
		wide += of_bits[width];
	for (;; width--) {
		uint32_t cost = n * width + wide * EXCEPTION_BITS;

		if (cost < cost_least) {
			cost_least = cost;
			best = width;
		}
		if (width == 0)
			return best;
		wide += of_bits[width];
	}
}

struct group {
	const int64_t *numbers;
	uint32_t n;
	unsigned width;
	uint64_t least;
	uint32_t exceptions;
	uint8_t positions[SP_NUMBERS_GROUP];
};

static uint8_t *put_bits(uint8_t *p, struct group *g)
{
	uint64_t mask = (UINT64_C(1) << g->width) - 1, bits = 0;
	unsigned fill = 0;

	for (uint32_t i = 0; i < g->n; i++) {
		uint64_t x = (uint64_t)g->numbers[i] - g->least;

		g->positions[g->exceptions] = (uint8_t)i;
		g->exceptions += x > mask;
		bits |= (x & mask) << fill;
		memcpy(p, &bits, sizeof(bits));
		fill += g->width;
		p += fill / 8;
		bits >>= fill & ~7u;
		fill &= 7;
	}
	return p + (fill > 0);
}

static uint8_t *put_exceptions(uint8_t *p, const struct group *g)
{
	memcpy(p, g->positions, g->exceptions);
	p += g->exceptions;
	for (uint32_t i = 0; i < g->exceptions; i++)
		p = sp_varint_put(p, ((uint64_t)g->numbers[g->positions[i]] - g->least) >> g->width);
	return p;
}

static uint8_t *put_group(uint8_t *p, const int64_t *numbers, uint32_t n)
{
	int64_t least = least_of(numbers, n);
	struct group g = {.numbers = numbers, .n = n, .width = width_for(numbers, n, least), .least = (uint64_t)least};
	uint8_t *head = p;

	p = sp_varint_put(p + 2, sp_zigzag(least));
	p = put_bits(p, &g);
	head[0] = (uint8_t)g.width;
	head[1] = (uint8_t)g.exceptions;
	return put_exceptions(p, &g);
}

uint8_t *sp_numbers_pack(uint8_t *out, const int64_t *numbers, uint32_t n)
{
	for (uint32_t i = 0; i < n; i += SP_NUMBERS_GROUP)
		out = put_group(out, numbers + i, n - i < SP_NUMBERS_GROUP ? n - i : SP_NUMBERS_GROUP);
	return out;
}
