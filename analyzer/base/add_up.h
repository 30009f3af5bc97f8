/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Adding up structures of which each member is a number of 64 bits, an array of such, or another
 * such structure: a new member is in all sums.
 */
#ifndef STAGEPROF_ANALYZER_ADD_UP_H
#define STAGEPROF_ANALYZER_ADD_UP_H

#include <stddef.h>
#include <stdint.h>

/* Both are pointers to the same structure. */
#define SP_ADD_UP(into, from) sp_add_up(into, 1 ? (from) : (into), sizeof(*(into)))

static inline void sp_add_up(void *into, const void *from, size_t bytes)
{
	const uint64_t *added = from;
	uint64_t *sums = into;

	for (size_t i = 0; i < bytes / sizeof(*sums); i++)
		sums[i] += added[i];
}

#endif
