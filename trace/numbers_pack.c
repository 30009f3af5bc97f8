/* SPDX-License-Identifier: Apache-2.0 */
#include "trace/numbers.h"

#include "trace/simd.h"

/* The price of an exception in bits, in addition to its bits in the group: 16 bits of space, and
 * the time to read it. */
#define EXCEPTION_BITS 40u

#define WIDTH_FIRST 8
#define SEARCH_EVERY 4u	   /* groups; the groups between reuse the width */
#define EXCEPTIONS_KEPT 6u /* most exceptions of a group that reuses a width */
#define GROUP_VECTORS (SP_NUMBERS_GROUP / SP_SIMD_NUMBERS)

/* Packing works on numbers of 32 bits.
 * A group with a wider number is rare and takes the slow path. */
struct number_group {
	const int64_t *numbers; /* of a wide group */
	uint32_t n;
	unsigned width;
	uint64_t least;
	int wide; /* some number minus the least needs more than 32 bits */
	uint32_t exceptions;
	union {
		uint32_t low[SP_NUMBERS_GROUP]; /* minus the least, cut to 32 bits; 0 after the
						   last */
		sp_simd vectors[GROUP_VECTORS];
		sp_pairs pairs[GROUP_VECTORS];
	};
	uint8_t positions[SP_NUMBERS_GROUP];
};

static unsigned bits_of(uint64_t x)
{
	return x ? 64 - (unsigned)__builtin_clzll(x) : 0;
}

/* Fills `least` and `low`. Returns the OR of all numbers minus the least. */
static uint64_t group_open(struct number_group *g)
{
	int64_t least = g->numbers[0];
	uint64_t any = 0;

	for (uint32_t i = 1; i < g->n; i++)
		least = g->numbers[i] < least ? g->numbers[i] : least;
	for (uint32_t i = 0; i < g->n; i++) {
		uint64_t x = (uint64_t)g->numbers[i] - (uint64_t)least;

		any |= x;
		g->low[i] = (uint32_t)x;
	}
	for (uint32_t i = g->n; i < SP_NUMBERS_GROUP; i++)
		g->low[i] = 0;
	g->least = (uint64_t)least;
	return any;
}

/* As group_open(), for numbers of 32 bits; a whole group is readable at `numbers`. */
static uint32_t group_open_narrow(struct number_group *g, const int32_t *numbers)
{
	sp_simd_signed least = sp_simd_load(numbers);
	sp_simd any = {0};
	int32_t one;

	SP_ROLLED
	for (unsigned i = 1; i < GROUP_VECTORS; i++)
		least = sp_simd_lesser(sp_simd_load(numbers + SP_SIMD_NUMBERS * i), least);
	one = sp_simd_least(least);
	SP_ROLLED
	for (unsigned i = 0; i < GROUP_VECTORS; i++) {
		g->vectors[i] =
			(sp_simd)sp_simd_load(numbers + SP_SIMD_NUMBERS * i) - (uint32_t)one;
		any |= g->vectors[i];
	}
	g->least = (uint64_t)(int64_t)one;
	return any[0] | any[1] | any[2] | any[3];
}

/* The number of those with more than `width` bits; all have at most 32. */
static inline uint32_t count_wider(const struct number_group *g, unsigned width)
{
	sp_simd zeros = {0, 0, 0, 0};

	if (width >= 32)
		return 0;
	SP_ROLLED
	for (unsigned i = 0; i < GROUP_VECTORS; i++)
		zeros += (sp_simd)(g->vectors[i] >> width == 0);
	return SP_NUMBERS_GROUP + zeros[0] + zeros[1] + zeros[2] + zeros[3];
}

/* The width with the fewest bits in all. The search begins at another width, which is equal or
 * near. */
static unsigned width_near(const struct number_group *g, unsigned width)
{
	uint32_t wider = count_wider(g, width), next;

	while (width && (next = count_wider(g, width - 1) - wider) * EXCEPTION_BITS < g->n) {
		wider += next;
		width--;
	}
	while (wider && (next = count_wider(g, width + 1), wider - next) * EXCEPTION_BITS >= g->n) {
		wider = next;
		width++;
	}
	return width;
}

/* As width_near(), for a group with numbers of more than 32 bits. */
static unsigned width_wide(const struct number_group *g, unsigned widest)
{
	uint32_t of_bits[65] = {0}, wide = 0, cost_least = UINT32_MAX;
	unsigned best = 0, width;

	for (uint32_t i = 0; i < g->n; i++)
		of_bits[bits_of((uint64_t)g->numbers[i] - g->least)]++;
	for (width = widest; width > SP_NUMBERS_WIDTH_MAX; width--)
		wide += of_bits[width];
	for (;; width--) {
		uint32_t cost = g->n * width + wide * EXCEPTION_BITS;

		if (cost < cost_least) {
			cost_least = cost;
			best = width;
		}
		if (width == 0)
			return best;
		wide += of_bits[width];
	}
}

static void find_exceptions(struct number_group *g)
{
	for (uint32_t i = 0; i < g->n; i++) {
		g->positions[g->exceptions] = (uint8_t)i;
		g->exceptions += ((uint64_t)g->numbers[i] - g->least) >> g->width != 0;
	}
}

/* As find_exceptions(), if all have at most 32 bits: most groups of eight have no exception. `any`:
 * the OR of all numbers minus the least. */
static void find_exceptions_narrow(struct number_group *g, uint32_t any)
{
	g->exceptions = 0;
	if (g->width >= 32 || any >> g->width == 0)
		return;
	SP_ROLLED
	for (uint32_t i = 0; i < GROUP_VECTORS; i += 2) {
		sp_pairs wider = (sp_pairs)((g->vectors[i] | g->vectors[i + 1]) >> g->width);

		if ((wider[0] | wider[1]) == 0)
			continue;
		for (uint32_t k = SP_SIMD_NUMBERS * i; k < SP_SIMD_NUMBERS * (i + 2); k++) {
			g->positions[g->exceptions] = (uint8_t)k;
			g->exceptions += g->low[k] >> g->width != 0;
		}
	}
}

/* Bits that do not fill a byte yet, and the address of the next whole byte. */
struct bits {
	uint8_t *at;
	uint64_t rest;
	unsigned fill;
};

/* At most 56 bits a call, because these and the waiting bits must fit 64. */
static inline void put(struct bits *b, uint64_t x, unsigned width)
{
	b->rest |= x << b->fill;
	memcpy(b->at, &b->rest, sizeof(b->rest));
	b->fill += width;
	b->at += b->fill / 8;
	b->rest >>= b->fill & ~7u;
	b->fill &= 7;
}

/* Joins four numbers of at most 28 bits in pairs: the first two in one half, the others in the
 * other half. */
static inline sp_pairs join(sp_pairs four, uint64_t mask, unsigned width)
{
	return (four & mask) | (four >> 32 & mask) << width;
}

/* Packs numbers of at most 28 bits, four at a time, or eight at a time if eight fit. A group whose
 * length is no multiple of eight is padded with zeros. */
static uint8_t *put_joined(uint8_t *p, const struct number_group *g)
{
	uint64_t mask = (UINT64_C(1) << g->width) - 1;
	struct bits bits = {.at = p};
	unsigned width = g->width;

	for (uint32_t i = 0; i < (g->n + SP_SIMD_NUMBERS - 1) / SP_SIMD_NUMBERS; i += 2) {
		sp_pairs a = join(g->pairs[i], mask, width), b = join(g->pairs[i + 1], mask, width);
		sp_pairs firsts = SP_PAIRS_OF(a, b, 0, 2), seconds = SP_PAIRS_OF(a, b, 1, 3);

		if (width <= 14) {
			sp_pairs fours = firsts | seconds << 2 * width;

			if (width <= 7) {
				put(&bits, fours[0] | fours[1] << 4 * width, 8 * width);
			} else {
				put(&bits, fours[0], 4 * width);
				put(&bits, fours[1], 4 * width);
			}
		} else {
			put(&bits, firsts[0], 2 * width);
			put(&bits, seconds[0], 2 * width);
			put(&bits, firsts[1], 2 * width);
			put(&bits, seconds[1], 2 * width);
		}
	}
	return p + (g->n * width + 7) / 8;
}

static uint8_t *put_bits(uint8_t *p, const struct number_group *g)
{
	uint64_t mask = (UINT64_C(1) << g->width) - 1;
	struct bits bits = {.at = p};

	if (2 * g->width <= 56)
		return put_joined(p, g);
	for (uint32_t i = 0; i < g->n; i++)
		put(&bits, g->low[i] & mask, g->width);
	return bits.at + (bits.fill > 0);
}

static uint8_t *put_exceptions(uint8_t *p, const struct number_group *g)
{
	memcpy(p, g->positions, g->exceptions);
	p += g->exceptions;
	for (uint32_t i = 0; i < g->exceptions; i++) {
		uint32_t at = g->positions[i];

		p = sp_varint_put(p, (g->wide ? (uint64_t)g->numbers[at] - g->least : g->low[at]) >>
					     g->width);
	}
	return p;
}

static uint8_t *put_group(uint8_t *p, struct number_group *g)
{
	uint8_t *head = p;

	p = sp_varint_put(p + 2, sp_zigzag((int64_t)g->least));
	p = put_bits(p, g);
	head[0] = (uint8_t)g->width;
	head[1] = (uint8_t)g->exceptions;
	return put_exceptions(p, g);
}

/* The start of the search for a group's width. */
struct widths {
	unsigned before; /* of the group before */
	uint32_t group;
};

/* True if the previous group's width is tried without a search:
 * a search costs as much as packing. */
static int is_kept(const struct widths *widths, uint32_t any)
{
	return widths->group % SEARCH_EVERY && widths->before && widths->before < 32 &&
	       any >> (widths->before - 1);
}

/* `any`: the OR of all numbers minus the least. */
static void set_width(struct number_group *g, uint32_t any, struct widths *widths)
{
	int kept = is_kept(widths, any);

	g->wide = 0;
	g->width = kept ? widths->before : width_near(g, widths->before);
	find_exceptions_narrow(g, any);
	if (kept && g->exceptions > EXCEPTIONS_KEPT) {
		g->width = width_near(g, widths->before);
		find_exceptions_narrow(g, any);
	}
	widths->before = g->width;
	widths->group++;
}

static void set_width_wide(struct number_group *g, uint64_t any, struct widths *widths)
{
	g->wide = 1;
	g->exceptions = 0;
	g->width = widths->before = width_wide(g, bits_of(any));
	find_exceptions(g);
	widths->group++;
}

uint8_t *sp_numbers_pack(uint8_t *out, const int64_t *numbers, uint32_t n)
{
	struct widths widths = {.before = WIDTH_FIRST};
	struct number_group g;

	for (uint32_t i = 0; i < n; i += SP_NUMBERS_GROUP) {
		uint64_t any;

		g.numbers = numbers + i;
		g.n = n - i < SP_NUMBERS_GROUP ? n - i : SP_NUMBERS_GROUP;
		any = group_open(&g);
		if (any >> 32)
			set_width_wide(&g, any, &widths);
		else
			set_width(&g, (uint32_t)any, &widths);
		out = put_group(out, &g);
	}
	return out;
}

/* Copies a group's numbers, and pads the group with its least number. */
static void fill_up(int32_t ret[SP_NUMBERS_GROUP], const int32_t *numbers, uint32_t n)
{
	int32_t least = numbers[0];

	for (uint32_t i = 1; i < n; i++)
		least = numbers[i] < least ? numbers[i] : least;
	for (uint32_t i = 0; i < SP_NUMBERS_GROUP; i++)
		ret[i] = i < n ? numbers[i] : least;
}

uint8_t *sp_numbers_pack_narrow(uint8_t *out, const int32_t *numbers, uint32_t n)
{
	int32_t filled[SP_NUMBERS_GROUP];
	struct widths widths = {.before = WIDTH_FIRST};
	struct number_group g;

	for (uint32_t i = 0; i < n; i += SP_NUMBERS_GROUP) {
		const int32_t *from = numbers + i;

		g.n = n - i < SP_NUMBERS_GROUP ? n - i : SP_NUMBERS_GROUP;
		if (g.n < SP_NUMBERS_GROUP) {
			fill_up(filled, from, g.n);
			from = filled;
		}
		set_width(&g, group_open_narrow(&g, from), &widths);
		out = put_group(out, &g);
	}
	return out;
}
