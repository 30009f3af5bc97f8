/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The raw slots of a thread that did not end cleanly, or that still runs.
 */
#ifndef STAGEPROF_ANALYZER_WINDOW_H
#define STAGEPROF_ANALYZER_WINDOW_H

#include <stdbool.h>
#include <stdint.h>

#include "analyzer/reader/source.h"
#include "trace/format.h"

/*
 * A window as it was on disk, read twice. Slots are committed in the order of their numbers, but a
 * read of a live window is not instantaneous. A slot that the first read misses before its last
 * slot is in the second read, unless the slot was never committed.
 */
struct sp_window {
	struct sp_window_header header;
	uint32_t slots;	       /* in the file; below the capacity if the file was cut */
	struct sp_slot *first; /* SP_WINDOW_SLOTS_MAX each */
	struct sp_slot *second;
};

/* Returns 0 or -ENOMEM. */
int sp_window_init(struct sp_window *w);
void sp_window_finish(struct sp_window *w);

/*
 * Reads the window whose frame is at `at`. Returns 1; 0 where there is no window of this stream, or
 * the writer moved it meanwhile (find it again); or -errno.
 */
int sp_window_read(struct sp_window *w, struct sp_source *source, uint64_t at, uint64_t stream_id);

/*
 * One past the highest slot number in the first read; at least `end`, the end of the known blocks,
 * and at least the window's first number.
 */
uint64_t sp_window_limit(const struct sp_window *w, uint64_t end);

/* One past the number of the newest slot in the first read, as far as generations say it: modulo
 * 256 times the capacity. UINT64_MAX: there is no slot. */
uint64_t sp_window_newest(const struct sp_window *w);

/* That number, where it is known that it is near another one. */
uint64_t sp_window_number_near(uint64_t newest, uint32_t capacity, uint64_t near);

/*
 * Fills out[i] with slot number from + i for i < n. A missing slot becomes a HOLE. Returns the
 * number of slots that are there.
 */
uint32_t sp_window_slots(const struct sp_window *w, uint64_t from, uint32_t n, struct sp_slot *out);

/*
 * Fills the HOLEs of out[i], slot number from + i for i < n, with slots of another copy of the
 * stream's window. `limit` is one past the newest slot of that copy. Returns the number of slots
 * that it filled.
 */
uint32_t sp_window_fill(const struct sp_window *w, uint64_t limit, uint64_t from, uint32_t n,
			struct sp_slot *out);

/* The number of slots that are neither valid nor empty: damaged, or half written by a thread that
 * was killed. */
uint32_t sp_window_unfinished(const struct sp_window *w);

#endif
