#include "trace/numbers.h"

/* What an exception is taken for, beside its bits in the group: 16 bits, and the time that it takes to read. */
#define EXCEPTION_BITS 40u

/* Packing works on numbers of 32 bits; a group with a wider one is rare, and takes the long way. */
typedef uint32_t lanes __attribute__((vector_size(16)));
typedef int32_t signed_lanes __attribute__((vector_size(16)));
typedef uint64_t pairs __attribute__((vector_size(16)));
#define LANES (sizeof(lanes) / sizeof(uint32_t))
#define GROUP_LANES (SP_NUMBERS_GROUP / LANES)

/* Sixteen copies of a loop's body are no quicker, and push other code out of the cache. */
#ifdef __clang__
#define SP_ROLLED _Pragma("clang loop unroll_count(2)")
#else
#define SP_ROLLED _Pragma("GCC unroll 2")
#endif

struct group {
	const int64_t *numbers;
	uint32_t n;
	unsigned width;
	uint64_t least;
	uint32_t exceptions;
	union {
		uint32_t low[SP_NUMBERS_GROUP]; /* above the least, cut to 32 bits; 0 behind the last */
		lanes lanes[GROUP_LANES];
		signed_lanes narrow[GROUP_LANES];
		pairs pairs[GROUP_LANES];
	};
	uint8_t positions[SP_NUMBERS_GROUP];
};

static unsigned bits_of(uint64_t x)
{
	return x ? 64 - (unsigned)__builtin_clzll(x) : 0;
}

/* Four numbers cut to 32 bits; sets bits of `lost` where one has more. */
static inline signed_lanes narrow_four(const int64_t *numbers, signed_lanes *lost)
{
	signed_lanes first, second, low, high;

	memcpy(&first, numbers, sizeof(first));
	memcpy(&second, numbers + 2, sizeof(second));
#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "the halves of a number are taken for little-endian"
#endif
#ifdef __clang__
	low = __builtin_shufflevector(first, second, 0, 2, 4, 6);
	high = __builtin_shufflevector(first, second, 1, 3, 5, 7);
#else
	low = __builtin_shuffle(first, second, (signed_lanes){0, 2, 4, 6});
	high = __builtin_shuffle(first, second, (signed_lanes){1, 3, 5, 7});
#endif
	*lost |= high ^ (low >> 31);
	return low;
}

static inline signed_lanes lesser(signed_lanes a, signed_lanes b)
{
	signed_lanes is_less = a < b;

	return (a & is_less) | (b & ~is_less);
}

/* A whole group of numbers of 32 bits. Returns 0 where it is none; else fills `least` and `low`, and ret_any. */
static int group_open_narrow(struct group *g, uint64_t *ret_any)
{
	signed_lanes lost = {0}, least;
	lanes any = {0};
	int32_t one;

	least = g->narrow[0] = narrow_four(g->numbers, &lost);
	SP_ROLLED
	for (unsigned i = 1; i < GROUP_LANES; i++) {
		g->narrow[i] = narrow_four(g->numbers + LANES * i, &lost);
		least = lesser(g->narrow[i], least);
	}
	if (lost[0] | lost[1] | lost[2] | lost[3])
		return 0;
	one = least[0];
	for (unsigned i = 1; i < LANES; i++)
		one = least[i] < one ? least[i] : one;
	SP_ROLLED
	for (unsigned i = 0; i < GROUP_LANES; i++) {
		g->lanes[i] -= (uint32_t)one;
		any |= g->lanes[i];
	}
	g->least = (uint64_t)(int64_t)one;
	*ret_any = any[0] | any[1] | any[2] | any[3];
	return 1;
}

/* Of all numbers above the least the bits that any of them has; fills `least` and `low`. */
static uint64_t group_open(struct group *g)
{
	int64_t least = g->numbers[0];
	uint64_t any = 0;

	if (g->n == SP_NUMBERS_GROUP && group_open_narrow(g, &any))
		return any;
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

/* How many have more than `width` bits; all have at most 32. */
static inline uint32_t count_wider(const struct group *g, unsigned width)
{
	lanes zeros = {0, 0, 0, 0};

	if (width >= 32)
		return 0;
	SP_ROLLED
	for (unsigned i = 0; i < GROUP_LANES; i++)
		zeros += (lanes)(g->lanes[i] >> width == 0);
	return SP_NUMBERS_GROUP + zeros[0] + zeros[1] + zeros[2] + zeros[3];
}

/* The width that takes the fewest bits, looked for from that of the group before on: it is the same, or near. */
static unsigned width_near(const struct group *g, unsigned width)
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

/* The same for a group with numbers of more than 32 bits. */
static unsigned width_wide(const struct group *g, unsigned widest)
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

static void find_exceptions(struct group *g)
{
	for (uint32_t i = 0; i < g->n; i++) {
		g->positions[g->exceptions] = (uint8_t)i;
		g->exceptions += ((uint64_t)g->numbers[i] - g->least) >> g->width != 0;
	}
}

/* The same where all have at most 32 bits: most fours have none. */
static void find_exceptions_narrow(struct group *g)
{
	SP_ROLLED
	for (uint32_t i = 0; i < GROUP_LANES; i++) {
		pairs wider = (pairs)(g->lanes[i] >> g->width);

		if ((wider[0] | wider[1]) == 0)
			continue;
		for (uint32_t k = LANES * i; k < LANES * (i + 1); k++) {
			g->positions[g->exceptions] = (uint8_t)k;
			g->exceptions += g->low[k] >> g->width != 0;
		}
	}
}

/* A byte's rest, and where the next whole one goes. */
struct bits {
	uint8_t *at;
	uint64_t rest;
	unsigned fill;
};

/* At most 56 bits at once: a byte's rest and they fit 64. */
static inline void put(struct bits *b, uint64_t x, unsigned width)
{
	b->rest |= x << b->fill;
	memcpy(b->at, &b->rest, sizeof(b->rest));
	b->fill += width;
	b->at += b->fill / 8;
	b->rest >>= b->fill & ~7u;
	b->fill &= 7;
}

/* Numbers of at most 28 bits, joined by twos, and by fours where those fit; groups that are no multiple of four
 * take zeros with them. */
static uint8_t *put_joined(uint8_t *p, const struct group *g)
{
	uint64_t mask = (UINT64_C(1) << g->width) - 1;
	struct bits bits = {.at = p};
	unsigned width = g->width;

	for (uint32_t i = 0; i < (g->n + LANES - 1) / LANES; i++) {
		pairs low = g->pairs[i] & mask, high = (g->pairs[i] >> 32 & mask) << width, two = low | high;

		if (4 * width <= 56) {
			put(&bits, two[0] | two[1] << 2 * width, 4 * width);
		} else {
			put(&bits, two[0], 2 * width);
			put(&bits, two[1], 2 * width);
		}
	}
	return p + (g->n * width + 7) / 8;
}

static uint8_t *put_bits(uint8_t *p, const struct group *g)
{
	uint64_t mask = (UINT64_C(1) << g->width) - 1;
	struct bits bits = {.at = p};

	if (2 * g->width <= 56)
		return put_joined(p, g);
	for (uint32_t i = 0; i < g->n; i++)
		put(&bits, g->low[i] & mask, g->width);
	return bits.at + (bits.fill > 0);
}

static uint8_t *put_exceptions(uint8_t *p, const struct group *g)
{
	memcpy(p, g->positions, g->exceptions);
	p += g->exceptions;
	for (uint32_t i = 0; i < g->exceptions; i++)
		p = sp_varint_put(p, ((uint64_t)g->numbers[g->positions[i]] - g->least) >> g->width);
	return p;
}

static uint8_t *put_group(uint8_t *p, const int64_t *numbers, uint32_t n, unsigned *width)
{
	struct group g;
	uint64_t any;
	uint8_t *head = p;

	g.numbers = numbers;
	g.n = n;
	g.exceptions = 0;
	any = group_open(&g);
	*width = any >> 32 ? width_wide(&g, bits_of(any)) : width_near(&g, *width);
	g.width = *width;
	if (any >> 32)
		find_exceptions(&g);
	else if (any >> g.width)
		find_exceptions_narrow(&g);
	p = sp_varint_put(p + 2, sp_zigzag((int64_t)g.least));
	p = put_bits(p, &g);
	head[0] = (uint8_t)g.width;
	head[1] = (uint8_t)g.exceptions;
	return put_exceptions(p, &g);
}

uint8_t *sp_numbers_pack(uint8_t *out, const int64_t *numbers, uint32_t n)
{
	unsigned width = 8;

	for (uint32_t i = 0; i < n; i += SP_NUMBERS_GROUP)
		out = put_group(out, numbers + i, n - i < SP_NUMBERS_GROUP ? n - i : SP_NUMBERS_GROUP, &width);
	return out;
}
