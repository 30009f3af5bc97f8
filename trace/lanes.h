/*
 * Four numbers of 32 bits, or two of 64, in one register that every x86-64 and every AArch64 has. As gcc's and
 * clang's vectors: +, -, &, |, ^, <<, >> work number by number, and a < b gives all ones or 0.
 */
#ifndef STAGEPROF_TRACE_LANES_H
#define STAGEPROF_TRACE_LANES_H

#include <stdint.h>
#include <string.h>

typedef uint32_t sp_lanes __attribute__((vector_size(16)));
typedef int32_t sp_signed_lanes __attribute__((vector_size(16)));
typedef uint64_t sp_pairs __attribute__((vector_size(16)));

#define SP_LANES (sizeof(sp_lanes) / sizeof(uint32_t))

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "the halves of a number are taken for little-endian"
#endif

/* Numbers of both, a's before b's, by their places: constants. */
#ifdef __clang__
#define SP_LANES_OF(a, b, ...) __builtin_shufflevector(a, b, __VA_ARGS__)
#define SP_PAIRS_OF(a, b, ...) __builtin_shufflevector(a, b, __VA_ARGS__)
#else
#define SP_LANES_OF(a, b, ...) __builtin_shuffle(a, b, (sp_signed_lanes){__VA_ARGS__})
#define SP_PAIRS_OF(a, b, ...) __builtin_shuffle(a, b, (sp_pairs){__VA_ARGS__})
#endif

/* Sixteen copies of a loop's body are no quicker, and push other code out of the cache. */
#ifdef __clang__
#define SP_ROLLED _Pragma("clang loop unroll_count(2)")
#else
#define SP_ROLLED _Pragma("GCC unroll 2")
#endif

static inline sp_pairs sp_pairs_load(const void *from)
{
	sp_pairs ret;

	memcpy(&ret, from, sizeof(ret));
	return ret;
}

static inline sp_signed_lanes sp_lanes_load(const void *from)
{
	sp_signed_lanes ret;

	memcpy(&ret, from, sizeof(ret));
	return ret;
}

static inline sp_signed_lanes sp_lanes_lesser(sp_signed_lanes a, sp_signed_lanes b)
{
	sp_signed_lanes is_less = a < b;

	return (a & is_less) | (b & ~is_less);
}

static inline sp_signed_lanes sp_lanes_greater(sp_signed_lanes a, sp_signed_lanes b)
{
	sp_signed_lanes is_less = a < b;

	return (b & is_less) | (a & ~is_less);
}

static inline int32_t sp_lanes_least(sp_signed_lanes x)
{
	int32_t least = x[0];

	for (unsigned i = 1; i < SP_LANES; i++)
		least = x[i] < least ? x[i] : least;
	return least;
}

static inline int32_t sp_lanes_greatest(sp_signed_lanes x)
{
	int32_t greatest = x[0];

	for (unsigned i = 1; i < SP_LANES; i++)
		greatest = x[i] > greatest ? x[i] : greatest;
	return greatest;
}

#endif
