/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers that look like any, the same on every run. */
#ifndef STAGEPROF_TESTS_DRAW_H
#define STAGEPROF_TESTS_DRAW_H

#include <stdint.h>

/* xorshift64; *state is not 0. */
static inline uint64_t sp_draw(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

#endif
