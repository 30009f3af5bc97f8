/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sums of events. All sums are integers and commute, so the order of reading and the number of
 * threads do not change the result.
 */
#ifndef STAGEPROF_ANALYZER_AGGREGATE_H
#define STAGEPROF_ANALYZER_AGGREGATE_H

#include <stdbool.h>
#include <stdint.h>

#include "analyzer/metadata/run.h"
#include "analyzer/base/histogram.h"
#include "analyzer/reader/index.h"
#include "analyzer/reader/reader.h"
#include "analyzer/totals/memory_samples.h"
#include "analyzer/metadata/stage.h"
#include "analyzer/totals/sums.h"

/* The sums of one stream. */
struct sp_stream_sums {
	struct sp_sums stages[SP_STAGES];
	uint64_t events;
	uint64_t holes;		/* slots never committed */
	uint64_t missing;	/* slots lost with damaged or missing blocks */
	uint64_t unknown;	/* events of kinds that this version does not know */
	uint64_t end_ticks;	/* latest end of an event; 0: none */
	uint64_t lines, pixels; /* of finished images */
	uint64_t phases;	/* of Python calls: a bit for each enum sp_phase that occurs */
	uint64_t nodes;		/* of the autograd graph, which ran on this thread */
	struct sp_memory_samples resident; /* samples that this thread took */
};

/*
 * True for a read that took longer than a copy from the page cache: it waited for a device, a
 * server or a processor. The limit is 20 µs and 0.4 ns a byte (2.5 GB/s): the fastest devices need
 * more than 20 µs, and memory is faster than 2.5 GB/s. With read-ahead, a read of data from a
 * device can be fast.
 */
static inline bool sp_read_is_slow(uint64_t ns, uint64_t bytes)
{
	return ns > 20000 + bytes * 2 / 5;
}

/* The sums of the files of one name. */
struct sp_file_sums {
	uint64_t opens, reads, writes;
	uint64_t streams; /* opens by fopen, after which lines and characters may be read or written
			     unseen */
	uint64_t read_ns, write_ns, other_ns;
	uint64_t wait_ns; /* in calls that wait for the file (poll) and move no bytes */
	uint64_t read_bytes, write_bytes;
	uint64_t slow_reads, slow_read_ns, slow_read_bytes; /* sp_read_is_slow() */
	uint64_t maps, mapped_bytes;
	uint64_t mapped_reads, mapped_read_ns; /* page faults that waited for their page */
};

/* The sums that one thread of the analyzer makes; they merge in any order. */
struct sp_partial_sums {
	struct sp_hist hists[SP_STAGES];
	struct sp_file_sums *files; /* by name number; NULL where files are not wanted */
	uint32_t file_count;
};

/* A picture that was decoded. */
struct sp_aggregate_picture {
	uint32_t kind;
	uint64_t ticks; /* of the slot: from the first call to the last */
	int64_t value;
};

struct sp_aggregate {
	struct sp_partial_sums *partial;
	struct sp_stream_sums *sums;
	const struct sp_process_metadata *image;
	uint64_t ns_per_tick;
	struct sp_tick_range span;
	bool all;			   /* every event counts */
	bool has_carry;			   /* the batch ended after a picture */
	struct sp_aggregate_picture carry; /* waits for its EXTRA slot; see has_carry */
	uint64_t number;		   /* of the slot after the last one */
};

/* file_count: names of files; 0 where sums by file are not wanted. Returns 0 or -ENOMEM. */
int sp_partial_sums_init(struct sp_partial_sums *partial, uint32_t file_count);
void sp_partial_sums_finish(struct sp_partial_sums *partial);
void sp_partial_sums_merge(struct sp_partial_sums *into, const struct sp_partial_sums *from);

/* batch->columns must be set; the call overwrites them. */
void sp_aggregate_take(struct sp_aggregate *aggregate, const struct sp_batch *batch);

/* Call it after the last batch of a stream. */
void sp_aggregate_end(struct sp_aggregate *aggregate);

#endif
