/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The end of a map of uthash.h.
 */
#ifndef STAGEPROF_ANALYZER_HASH_FREE_H
#define STAGEPROF_ANALYZER_HASH_FREE_H

#include <stdlib.h>
#include <uthash.h>

/* Frees the map of the handle `hh` and each of its elements, which own no memory. `head` is then
 * NULL. The elements are in no other map. */
#define SP_HASH_FREE(head)                                                                         \
	do {                                                                                       \
		__typeof__(head) element_, next_;                                                  \
                                                                                                   \
		HASH_ITER(hh, head, element_, next_)                                               \
		{                                                                                  \
			HASH_DELETE(hh, head, element_);                                           \
			free(element_);                                                            \
		}                                                                                  \
	} while (0)

#endif
