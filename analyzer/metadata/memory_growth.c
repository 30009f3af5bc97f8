/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/metadata/memory_growth.h"

#include <stdbool.h>

#define REPORTS_LEAST 4u
#define GREW_LEAST 33554432.0 /* bytes: allocators and imports keep as much */
#define LINE_LEAST 0.8	      /* of the variance: R squared of the line */
#define RESIDENT_LEAST 0.5    /* of the growth: below, the pages were there before */

static uint64_t least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

void sp_memory_growth_add(struct sp_memory_growth *g, const struct sp_memory_metadata *r)
{
	double n = (double)r->batches, dirty = (double)r->private_dirty_bytes,
	       resident = (double)r->resident_bytes;

	if (r->private_dirty_bytes == UINT64_MAX || r->resident_bytes == UINT64_MAX)
		return;
	if (!g->reports++) {
		g->first = g->last = *r;
		g->shm_bytes = g->shm_free_least = UINT64_MAX;
	}
	g->batches += n;
	g->batches2 += n * n;
	g->dirty += dirty;
	g->dirty_batches += dirty * n;
	g->dirty2 += dirty * dirty;
	g->resident += resident;
	g->resident_batches += resident * n;
	if (r->batches < g->first.batches)
		g->first = *r;
	if (r->batches > g->last.batches)
		g->last = *r;
	g->shm_bytes = r->shm_bytes;
	g->shm_free_least = least(g->shm_free_least, r->shm_free_bytes);
}

/* Least squares: of y over the number of batches. */
static double slope(const struct sp_memory_growth *g, double y, double y_batches)
{
	double n = g->reports, spread = n * g->batches2 - g->batches * g->batches;

	return spread > 0 ? (n * y_batches - g->batches * y) / spread : 0;
}

/* The part of the variance of the bytes that the line explains. */
static double fit(const struct sp_memory_growth *g)
{
	double n = g->reports, all = n * g->dirty2 - g->dirty * g->dirty;
	double line = n * g->dirty_batches - g->batches * g->dirty;
	double spread = n * g->batches2 - g->batches * g->batches;

	return all > 0 && spread > 0 ? line * line / (all * spread) : 0;
}

static double grew(uint64_t before, uint64_t after)
{
	return (double)after - (double)before;
}

static bool has_grown(const struct sp_memory_growth *g)
{
	return grew(g->first.private_dirty_bytes, g->last.private_dirty_bytes) >= GREW_LEAST;
}

enum sp_memory_kind sp_memory_growth_kind(const struct sp_memory_growth *g)
{
	double dirty = slope(g, g->dirty, g->dirty_batches);

	if (g->reports < REPORTS_LEAST)
		return SP_MEMORY_UNKNOWN;
	if (!has_grown(g))
		return SP_MEMORY_STEADY;
	if (fit(g) < LINE_LEAST || dirty <= 0)
		return SP_MEMORY_UNKNOWN;
	return slope(g, g->resident, g->resident_batches) >= RESIDENT_LEAST * dirty
		       ? SP_MEMORY_LEAK
		       : SP_MEMORY_COPY_ON_WRITE;
}

double sp_memory_growth_a_batch(const struct sp_memory_growth *g)
{
	return sp_memory_growth_kind(g) > SP_MEMORY_STEADY ? slope(g, g->dirty, g->dirty_batches)
							   : 0;
}
