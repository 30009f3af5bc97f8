/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Bounds for times that come from outside: the difference of two of them fits in an int64_t, and so
 * does the sum of two that are not negative.
 */
#ifndef STAGEPROF_ANALYZER_INSTANT_H
#define STAGEPROF_ANALYZER_INSTANT_H

#include <stdint.h>

#define SP_INSTANT_MAX (INT64_MAX / 2) /* ns: the year 2116 by CLOCK_REALTIME */

/* The time in ns, moved into the bounds. Only hostile bytes lie outside. */
static inline int64_t sp_instant(int64_t ns)
{
	if (ns > SP_INSTANT_MAX)
		return SP_INSTANT_MAX;
	return ns < -SP_INSTANT_MAX ? -SP_INSTANT_MAX : ns;
}

#endif
