#include "trace/numbers.h"

/* What an exception takes beside its bits in the group, about: how wide the others are hardly depends on it. */
#define EXCEPTION_BITS 20u

/* Packing works on numbers of 32 bits; a group with a wider one is rare, and takes the long way. */
typedef uint32_t lanes __attribute__((vector_size(16)));
#define LANES (sizeof(lanes) / sizeof(uint32_t))
#define GROUP_LANES (SP_NUMBERS_GROUP / LANES)

struct group {
	const int64_t *numbers;
	uint32_t n;
	unsigned width;
	uint64_t least;
	uint32_t exceptions;
	union {
		uint32_t low[SP_NUMBERS_GROUP]; /* above the least, cut to 32 bits; 0 behind the last */
		lanes lanes[GROUP_LANES];
	};
	uint8_t positions[SP_NUMBERS_GROUP];
};

static unsigned bits_of(uint64_t x)
{
	return x ? 64 - (unsigned)__builtin_clzll(x) : 0;
}

/* Of all numbers above the least the bits that any of them has; fills `least` and `low`. */
static uint64_t group_open(struct group *g)
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

/* How many have more than `width` bits; all have at most 32. */
static inline uint32_t count_wider(const struct group *g, unsigned width)
{
	lanes zeros = {0, 0, 0, 0};

	if (width >= 32)
		return 0;
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

/* `at_once` numbers are joined before they are stored: a byte's rest and they fit 64 bits. */
static inline __attribute__((always_inline)) uint8_t *put_joined(uint8_t *p, const struct group *g,
								  unsigned at_once)
{
	uint64_t mask = (UINT64_C(1) << g->width) - 1, bits = 0;
	unsigned fill = 0, width = g->width;

	for (uint32_t i = 0; i < g->n; i += at_once) {
		uint64_t x = g->low[i] & mask;

		for (unsigned k = 1; k < at_once; k++)
			x |= (g->low[i + k] & mask) << k * width;
		bits |= x << fill;
		memcpy(p, &bits, sizeof(bits));
		fill += at_once * width;
		p += fill / 8;
		bits >>= fill & ~7u;
		fill &= 7;
	}
	return p + (fill > 0);
}

static uint8_t *put_bits(uint8_t *p, const struct group *g)
{
	if (g->n % 4 == 0 && 4 * g->width <= 56)
		return put_joined(p, g, 4);
	return put_joined(p, g, 1);
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
	struct group g = {.numbers = numbers, .n = n};
	uint64_t any = group_open(&g);
	uint8_t *head = p;

	*width = any >> 32 ? width_wide(&g, bits_of(any)) : width_near(&g, *width);
	g.width = *width;
	if (any >> g.width)
		find_exceptions(&g);
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
