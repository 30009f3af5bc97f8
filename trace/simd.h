/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Four numbers of 32 bits, or two of 64, in one register of every x86-64 and AArch64. The types are
 * vectors of gcc and clang: +, -, &, |, ^, <<, >> work number by number, and a < b gives all ones
 * or 0.
 */
#ifndef STAGEPROF_TRACE_SIMD_H
#define STAGEPROF_TRACE_SIMD_H

#include <stdint.h>
#include <string.h>

typedef uint32_t sp_simd __attribute__((vector_size(16)));
typedef int32_t sp_simd_signed __attribute__((vector_size(16)));
typedef uint64_t sp_pairs __attribute__((vector_size(16)));

#define SP_SIMD_NUMBERS (sizeof(sp_simd) / sizeof(uint32_t))

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "the halves of a number must be little-endian"
#endif

/* Numbers of a and b by constant indexes; the indexes of b follow those of a. */
#ifdef __clang__
#define SP_SIMD_OF(a, b, ...) __builtin_shufflevector(a, b, __VA_ARGS__)
#define SP_PAIRS_OF(a, b, ...) __builtin_shufflevector(a, b, __VA_ARGS__)
#else
#define SP_SIMD_OF(a, b, ...) __builtin_shuffle(a, b, (sp_simd_signed){__VA_ARGS__})
#define SP_PAIRS_OF(a, b, ...) __builtin_shuffle(a, b, (sp_pairs){__VA_ARGS__})
#endif

/* Sixteen copies of a loop's body are not faster, and evict other code from the cache. */
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

static inline sp_simd_signed sp_simd_load(const void *from)
{
	sp_simd_signed ret;

	memcpy(&ret, from, sizeof(ret));
	return ret;
}

static inline sp_simd_signed sp_simd_lesser(sp_simd_signed a, sp_simd_signed b)
{
	sp_simd_signed is_less = a < b;

	return (a & is_less) | (b & ~is_less);
}

static inline sp_simd_signed sp_simd_greater(sp_simd_signed a, sp_simd_signed b)
{
	sp_simd_signed is_less = a < b;

	return (b & is_less) | (a & ~is_less);
}

static inline int32_t sp_simd_least(sp_simd_signed x)
{
	int32_t least = x[0];

	for (unsigned i = 1; i < SP_SIMD_NUMBERS; i++)
		least = x[i] < least ? x[i] : least;
	return least;
}

static inline int32_t sp_simd_greatest(sp_simd_signed x)
{
	int32_t greatest = x[0];

	for (unsigned i = 1; i < SP_SIMD_NUMBERS; i++)
		greatest = x[i] > greatest ? x[i] : greatest;
	return greatest;
}

#endif
