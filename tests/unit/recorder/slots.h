/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A reader of trace files for the recorder's tests, independent of the analyzer: what is in a run's
 * directory, counted, with the format's rules checked strictly (any oddity is an error).
 */
#ifndef STAGEPROF_TESTS_RECORDER_SLOTS_H
#define STAGEPROF_TESTS_RECORDER_SLOTS_H

#include <stdint.h>

#include "trace/format.h"

struct slots_count {
	uint64_t files, streams, blocks, windows;
	uint64_t events, lost;	      /* lost: by threads and by processes */
	uint64_t holes;		      /* slots never committed, before the last committed one */
	uint64_t definitions;	      /* whole ones */
	uint64_t ended;		      /* streams with a clean end */
	uint64_t abandoned;	      /* events with SP_VALUE_ABANDONED */
	int64_t value_sum;	      /* of the others */
	uint64_t extra_sum;	      /* of the first extra words */
	uint64_t last_value_in_order; /* 1: values of each file's events never fell */
	/* From headers: words that all files of an image share, and the greatest of the others. */
	uint64_t rank, local_rank, world_size, event_ps;
	uint64_t own_ns, stall_ns;
};

/* Called for each definition with its blob, where not NULL. */
typedef void slots_definition(void *argument, uint32_t which, uint32_t id, const uint8_t *blob,
			      uint32_t bytes);

/* Reads every *.zst of a directory. Returns 0, or -1 with the reason on stderr. */
int slots_read_directory(const char *directory, struct slots_count *ret, slots_definition *each,
			 void *argument);

#endif
