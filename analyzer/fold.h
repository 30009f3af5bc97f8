/*
 * Events into sums. All sums are integers and commute, so that the order of reading and the number
 * of threads leave no mark on the result.
 */
#ifndef STAGEPROF_ANALYZER_FOLD_H
#define STAGEPROF_ANALYZER_FOLD_H

#include <stdbool.h>
#include <stdint.h>

#include "analyzer/facts.h"
#include "analyzer/hist.h"
#include "analyzer/index.h"
#include "analyzer/reader.h"
#include "analyzer/resident.h"
#include "analyzer/stage.h"
#include "analyzer/sums.h"

/* Of one stream. */
struct sp_stream_sums {
	struct sp_sums stages[SP_STAGES];
	uint64_t events;
	uint64_t holes;	  /* slots never committed */
	uint64_t missing; /* slots lost with damaged or missing blocks */
	uint64_t unknown; /* events of kinds that this version does not know */
	uint64_t end_ticks; /* latest end of an event; 0: none */
	uint64_t lines, pixels; /* of finished images */
	struct sp_resident resident; /* samples that this thread took */
};

/*
 * Whether a read took longer than a copy from the page cache does: it waited for a device or a server, or
 * for a processor. 20 us, and 0.4 ns a byte (2.5 GB/s): a device's fastest answer takes longer than the
 * first, memory is faster than the second. Read-ahead makes reads fast that a device served before.
 */
static inline bool sp_read_is_slow(uint64_t ns, uint64_t bytes)
{
	return ns > 20000 + bytes * 2 / 5;
}

/* Of one name of a file. */
struct sp_file_sums {
	uint64_t opens, reads, writes;
	uint64_t streams; /* of opens: by fopen, so that lines and characters may have been read or written unseen */
	uint64_t read_ns, write_ns, other_ns;
	uint64_t wait_ns; /* in calls that wait for it (poll) and move no bytes */
	uint64_t read_bytes, write_bytes;
	uint64_t slow_reads, slow_read_ns, slow_read_bytes; /* sp_read_is_slow() */
	uint64_t maps, mapped_bytes;
};

/* What one worker adds up; merge in any order. */
struct sp_fold_part {
	struct sp_hist hists[SP_STAGES];
	struct sp_file_sums *files; /* by name number; NULL where files are not wanted */
	uint32_t file_count;
};

/* Which events count: those that start at or after `from` and before `to`. */
struct sp_span {
	uint64_t from_ticks, to_ticks;
};

/* An image that was decoded. */
struct sp_fold_image {
	uint32_t kind;
	uint64_t ticks; /* of its slot, from the first call to the last */
	int64_t value;
};

struct sp_fold {
	struct sp_fold_part *part;
	struct sp_stream_sums *sums;
	const struct sp_image_facts *image;
	uint64_t ns_per_tick;
	struct sp_span span;
	bool all; /* every event counts */
	bool has_carry;
	struct sp_fold_image carry; /* at a batch's end, waits for its EXTRA slot */
	uint64_t number;	    /* of the slot after the last one */
};

/* file_count: names of files; 0 where sums by file are not wanted. Returns 0 or -ENOMEM. */
int sp_fold_part_init(struct sp_fold_part *part, uint32_t file_count);
void sp_fold_part_finish(struct sp_fold_part *part);
void sp_fold_part_merge(struct sp_fold_part *into, const struct sp_fold_part *from);

/* batch->columns is set, and is used up. */
void sp_fold_take(struct sp_fold *fold, const struct sp_batch *batch);

/* After the last batch of a stream. */
void sp_fold_end(struct sp_fold *fold);

#endif
