/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/totals/sums.h"

#include <stddef.h>

#include "analyzer/reader/clock_convert.h"
#include "trace/format.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

void sp_sums_merge(struct sp_sums *into, const struct sp_sums *from)
{
	into->calls += from->calls;
	into->total_ns += from->total_ns;
	into->max_ns = from->max_ns > into->max_ns ? from->max_ns : into->max_ns;
	into->bytes += from->bytes;
	into->errors += from->errors;
	into->aborted += from->aborted;
}

static void add_times(struct sp_sums *s, struct sp_hist *hist, const int64_t *ticks, uint32_t n,
		      const struct sp_tick_unit *unit)
{
	for (uint32_t i = 0; i < n; i++) {
		uint64_t ns = sp_clock_span_ns(unit->ns_per_tick, (uint64_t)ticks[i] * unit->grain);

		s->total_ns += ns;
		s->max_ns = ns > s->max_ns ? ns : s->max_ns;
		sp_hist_add(hist, ns);
	}
}

/* Returns the sum of the values that are no errors. */
static uint64_t add_values(struct sp_sums *s, const int64_t *values, uint32_t n)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < n; i++) {
		s->errors += values[i] < 0 && values[i] != SP_VALUE_ABANDONED;
		s->aborted += values[i] == SP_VALUE_ABANDONED;
		sum += values[i] < 0 ? 0 : (uint64_t)values[i];
	}
	return sum;
}

#if defined(__x86_64__)
#define AVX2 __attribute__((target("avx2")))
#define LANES 4u

AVX2 static inline __m256i load(const int64_t *p)
{
	return _mm256_loadu_si256((const __m256i *)p);
}

AVX2 static uint64_t add_lanes(__m256i x)
{
	__m128i two = _mm_add_epi64(_mm256_castsi256_si128(x), _mm256_extracti128_si256(x, 1));

	return (uint64_t)_mm_cvtsi128_si64(two) + (uint64_t)_mm_extract_epi64(two, 1);
}

AVX2 static double max_lane(__m256d x)
{
	__m128d two = _mm_max_pd(_mm256_castpd256_pd128(x), _mm256_extractf128_pd(x, 1));

	return _mm_cvtsd_f64(_mm_max_sd(two, _mm_unpackhi_pd(two, two)));
}

/*
 * Four durations at once, below 2^31 each, of a unit of less than 2^63: none is clipped, products
 * of halves fit 64 bits, and the result is below 2^46. As floating-point numbers those are whole,
 * with the histogram's bin on top; a half stands for 0, so that it has the bin below that of 1.
 */
AVX2 static void add_times_avx2(struct sp_sums *s, struct sp_hist *hist, const int64_t *ticks,
				uint32_t n, const struct sp_tick_unit *unit)
{
	const __m256i low =
		_mm256_set1_epi64x((int64_t)(unit->grain * unit->ns_per_tick & UINT32_MAX));
	const __m256i high = _mm256_set1_epi64x((int64_t)(unit->grain * unit->ns_per_tick >> 32));
	const __m256i half = _mm256_set1_epi64x(INT64_C(1) << (SP_CLOCK_SHIFT - 1));
	const __m256i wide = _mm256_set1_epi64x(-(INT64_C(1) << 31)),
		      two52 = _mm256_set1_epi64x(0x4330000000000000);
	const __m256i first_bin =
		_mm256_set1_epi64x(1022 * SP_HIST_STEPS); /* of a half: exponents are from 1023 */
	__m256i total = _mm256_setzero_si256();
	__m256d max = _mm256_setzero_pd();
	uint64_t most;
	uint32_t i;

	for (i = 0; i + LANES <= n; i += LANES) {
		__m256i x = load(ticks + i), ns;
		uint64_t bins[LANES];
		__m256d number;

		if (__builtin_expect(!_mm256_testz_si256(x, wide), 0)) {
			add_times(s, hist, ticks + i, LANES, unit);
			continue;
		}
		ns = _mm256_srli_epi64(_mm256_add_epi64(_mm256_mul_epu32(x, low), half), 32);
		ns = _mm256_srli_epi64(_mm256_add_epi64(_mm256_mul_epu32(x, high), ns),
				       SP_CLOCK_SHIFT - 32);
		total = _mm256_add_epi64(total, ns);
		number = _mm256_sub_pd(_mm256_castsi256_pd(_mm256_or_si256(ns, two52)),
				       _mm256_castsi256_pd(two52));
		max = _mm256_max_pd(max, number);
		number = _mm256_max_pd(number, _mm256_set1_pd(0.5));
		x = _mm256_sub_epi64(_mm256_srli_epi64(_mm256_castpd_si256(number), 47), first_bin);
		_mm256_storeu_si256((__m256i *)bins, x);
		hist->bins[bins[0]]++;
		hist->bins[bins[1]]++;
		hist->bins[bins[2]]++;
		hist->bins[bins[3]]++;
	}
	most = (uint64_t)max_lane(max);
	s->total_ns += add_lanes(total);
	s->max_ns = most > s->max_ns ? most : s->max_ns;
	add_times(s, hist, ticks + i, n - i, unit);
}

AVX2 static uint64_t add_values_avx2(struct sp_sums *s, const int64_t *values, uint32_t n)
{
	__m256i total = _mm256_setzero_si256();
	uint64_t sum = 0;
	uint32_t i;

	for (i = 0; i + LANES <= n; i += LANES) {
		__m256i x = load(values + i);

		if (__builtin_expect(_mm256_movemask_pd(_mm256_castsi256_pd(x)), 0))
			sum += add_values(s, values + i, LANES);
		else
			total = _mm256_add_epi64(total, x);
	}
	return sum + add_lanes(total) + add_values(s, values + i, n - i);
}

static bool has_avx2(const struct sp_tick_unit *unit)
{
	return __builtin_cpu_supports("avx2") &&
	       (!unit || unit->ns_per_tick <= INT64_MAX / (unit->grain ? unit->grain : 1));
}
#else
#define add_times_avx2 add_times
#define add_values_avx2 add_values

static bool has_avx2(const struct sp_tick_unit *unit)
{
	(void)unit;
	return false;
}
#endif

void sp_sums_add_times(struct sp_sums *s, struct sp_hist *hist, const int64_t *ticks, uint32_t n,
		       const struct sp_tick_unit *unit)
{
	s->calls += n;
	if (has_avx2(unit))
		add_times_avx2(s, hist, ticks, n, unit);
	else
		add_times(s, hist, ticks, n, unit);
}

void sp_sums_add_values(struct sp_sums *s, const int64_t *values, uint32_t n, bool are_bytes)
{
	uint64_t sum = has_avx2(NULL) ? add_values_avx2(s, values, n) : add_values(s, values, n);

	s->bytes += are_bytes ? sum : 0;
}
