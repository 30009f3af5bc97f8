/* SPDX-License-Identifier: Apache-2.0 */
/* Counted calls of the GPU's interfaces, whose success is 0. The macros evaluate `row` twice. */
#ifndef TESTS_CUDA_COUNT_H
#define TESTS_CUDA_COUNT_H

#include "tests/programs/victims/tally.h"

/* A call that must succeed; `moved`: the bytes that it moves. */
#define COUNT(row, moved, call)                                                                    \
	do {                                                                                       \
		tally_begin(row);                                                                  \
		EXPECT((call) == 0);                                                               \
		tally_end(row, (int64_t)(moved));                                                  \
	} while (0)

/* A call that must fail with `error`. */
#define COUNT_FAILURE(row, error, call)                                                            \
	do {                                                                                       \
		tally_begin(row);                                                                  \
		EXPECT((call) == (error));                                                         \
		tally_end(row, 0);                                                                 \
	} while (0)

#endif
