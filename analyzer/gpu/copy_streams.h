/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Streams of a training process that have copies to the device and nothing else: a prefetcher's.
 * While such a stream copies and no other runs, kernels may wait for the copy.
 */
#ifndef STAGEPROF_ANALYZER_COPY_STREAMS_H
#define STAGEPROF_ANALYZER_COPY_STREAMS_H

#include <stdbool.h>
#include <stdint.h>

#define SP_COPY_STREAMS_MAX 64u

struct sp_trainer;

struct sp_copy_streams {
	uint32_t count;
	bool is_full; /* a stream had no room: nothing is known */
	struct sp_copy_stream {
		uint32_t stream; /* as in the events' arg, >> 8 */
		bool has_other;
	} streams[SP_COPY_STREAMS_MAX];
};

/* Takes a call of any thread. `class`: the event's. */
void sp_copy_streams_take(struct sp_copy_streams *list, uint8_t class, uint32_t arg);

/* Time from the first step to the last in which only these streams ran; 0 where it is not known. */
uint64_t sp_copy_streams_alone_ns(const struct sp_copy_streams *list,
				  const struct sp_trainer *trainer);

#endif
