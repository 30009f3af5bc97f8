/*
 * Samples of the memory that processes hold (RSS), in the order of time. At most SP_RESIDENT_MAX a thread
 * are kept: beyond, every second one is dropped, and from then on half as many are taken.
 */
#ifndef STAGEPROF_ANALYZER_RESIDENT_H
#define STAGEPROF_ANALYZER_RESIDENT_H

#include <stdbool.h>
#include <stdint.h>

#define SP_RESIDENT_MAX 65536u /* even */

struct sp_report;

struct sp_resident_sample {
	uint64_t ticks, bytes;
};

/* Of one thread; zeros: none. */
struct sp_resident {
	struct sp_resident_sample *list;
	uint32_t count, room;
	uint32_t every, passed; /* one of so many is kept; passed over since the last that was */
	uint64_t max_bytes;	/* of all, kept or not */
};

/* Where there is no memory for it, the sample is dropped. */
void sp_resident_put(struct sp_resident *resident, uint64_t ticks, uint64_t bytes);
void sp_resident_finish(struct sp_resident *resident);

/* The stream's last sample at or before an instant of CLOCK_REALTIME, or NULL. */
const struct sp_resident_sample *sp_resident_at(const struct sp_report *report, uint32_t stream, int64_t at_ns);

/* Threads with samples of a trainer's process (first) and of those that it started. */
struct sp_resident_streams {
	uint32_t *list;
	uint32_t count, own; /* own: how many of them are of the trainer's process */
};

/* Returns 0 or -ENOMEM. */
int sp_resident_find(struct sp_resident_streams *streams, const struct sp_report *report,
		     uint32_t trainer_image);
void sp_resident_streams_finish(struct sp_resident_streams *streams);

/* What a thread's process held at the end of [start_ns, end_ns]. False: not known, or it had ended before. */
bool sp_resident_in(const struct sp_report *report, uint32_t stream, int64_t start_ns, int64_t end_ns,
		    uint64_t *ret_bytes);

#endif
