/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Questions to all elements of a list: expressions of an index, whose name the caller gives.
 */
#ifndef STAGEPROF_ANALYZER_EACH_H
#define STAGEPROF_ANALYZER_EACH_H

#include <stdbool.h>
#include <stdint.h>

/* True where `when` holds for one of the indices below `count`. */
#define SP_ANY(index, count, when)                                                                 \
	({                                                                                         \
		bool any_ = false;                                                                 \
                                                                                                   \
		for (uint32_t index = 0; !any_ && index < (count); index++)                        \
			any_ = (when);                                                             \
		any_;                                                                              \
	})

/* The sum of `term` over the indices below `count`. */
#define SP_SUM(type, index, count, term)                                                           \
	({                                                                                         \
		type sum_ = 0;                                                                     \
                                                                                                   \
		for (uint32_t index = 0; index < (count); index++)                                 \
			sum_ += (term);                                                            \
		sum_;                                                                              \
	})

#endif
