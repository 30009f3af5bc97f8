/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Makes traces in memory, byte for byte as docs/FORMAT.md says, from events with known sums. Shares
 * the codec with the recorder, and nothing else. Aborts where memory is out.
 */
#ifndef STAGEPROF_TESTS_TRACE_MAKER_H
#define STAGEPROF_TESTS_TRACE_MAKER_H

#include <stddef.h>
#include <stdint.h>

#include "trace/events.h"
#include "trace/format.h"

struct sp_maker {
	uint8_t *bytes; /* the file so far */
	size_t size, room;
	struct sp_file_header header;
	struct sp_slot *slots; /* not yet in a block */
	uint32_t slot_count;
	uint64_t first_index; /* of slots[0] */
	uint64_t now_ticks;   /* end of the last event */
	uint64_t lost;
	int64_t ahead_ns; /* of this host's CLOCK_REALTIME; set it after sp_maker_init() */
};

/* Fills m->header; one tick is one ns, or where `counter` a third of one. Then sp_maker_header()
 * writes it. */
void sp_maker_init(struct sp_maker *m, uint32_t pid, uint32_t tid, int counter);
void sp_maker_header(struct sp_maker *m);
void sp_maker_finish(struct sp_maker *m);

/* An event of `ticks` that begins 10 ticks after the last one's end. */
void sp_maker_event(struct sp_maker *m, uint32_t kind, uint32_t arg, uint64_t ticks, int64_t value);
/* An event from start_ticks to now, around what was made since. */
void sp_maker_around(struct sp_maker *m, uint32_t kind, uint32_t arg, uint64_t start_ticks,
		     int64_t value);
/* An event from `from` to `to`, which becomes now. */
void sp_maker_span(struct sp_maker *m, uint32_t kind, uint32_t arg, uint64_t from, uint64_t to,
		   int64_t value);
void sp_maker_extra(struct sp_maker *m, uint64_t a, uint64_t b, uint64_t c);
void sp_maker_hole(struct sp_maker *m);
void sp_maker_jpeg(struct sp_maker *m, uint64_t inside_ticks, uint32_t width, uint32_t height,
		   enum sp_decode_end end);

void sp_maker_define(struct sp_maker *m, enum sp_define what, uint32_t id, const void *blob,
		     size_t bytes);
void sp_maker_file(struct sp_maker *m, uint32_t id, enum sp_file_type type, const char *path);

/* Moves the slots at hand into a block, with the pad that follows one.
 * flags: enum sp_block_flags. */
void sp_maker_block(struct sp_maker *m, unsigned flags);

/* Adds any payload as a block, its hashes right; the block claims `slots` and `payload_bytes`. */
void sp_maker_block_raw(struct sp_maker *m, const void *zstd, size_t zstd_bytes, uint32_t slots,
			uint32_t payload_bytes);

/* A FREE frame of `bytes` in all, >= 8, filled with `fill`. */
void sp_maker_free(struct sp_maker *m, size_t bytes, uint8_t fill);

/* Moves the slots at hand into a window, which is the end of the file. Returns where its frame
 * begins. */
size_t sp_maker_window(struct sp_maker *m, uint32_t capacity);

void sp_maker_append(struct sp_maker *m, const void *bytes, size_t n);

/* Writes bytes to DIRECTORY/NAME, making the directory; returns 0 or -errno. */
int sp_maker_write(const char *directory, const char *name, const void *bytes, size_t n);

/* Makes the slots at hand the last block, writes the file as sp_maker_write() does, and finishes
 * `m`. Aborts where it cannot be written. */
void sp_maker_put(struct sp_maker *m, const char *directory, const char *name);

/* zstd-compresses; the result is the caller's to free. */
uint8_t *sp_maker_compress(const void *bytes, size_t n, size_t *ret_bytes);

#endif
