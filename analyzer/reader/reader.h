/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The slots of one stream, in the order of their numbers: its blocks, then its window.
 *
 * The window is read first and the blocks after it. A live writer may publish a block in
 * between; the slots of the block are then in the window, in the block, or in both. The reader
 * gives a slot that is in both once.
 *
 * A process that ends copies the windows of its threads while these go on, and once it is gone they
 * are copied again. A slot that one copy lacks is taken from another one.
 */
#ifndef STAGEPROF_ANALYZER_READER_H
#define STAGEPROF_ANALYZER_READER_H

#include <stdbool.h>
#include <stdint.h>

#include "analyzer/reader/index.h"
#include "analyzer/reader/source.h"
#include "analyzer/reader/unzstd.h"
#include "analyzer/reader/walk.h"
#include "analyzer/reader/window.h"

struct sp_columns; /* trace/columns.h */

struct sp_batch {
	const struct sp_slot *slots; /* valid until the next call; HOLE where a slot is missing */
	uint32_t n;
	uint64_t number; /* of the first slot; where it jumps, slots are missing or were declined by
			    `want` */
	struct sp_columns *columns; /* instead of slots, after sp_reader_by_kind() */
};

struct sp_reader {
	/* Set by the caller after init; both may be NULL. */
	bool (*want)(void *context, const struct sp_block_header *block); /* false: skip it */
	void (*damaged)(void *context, uint32_t file, uint64_t at, uint64_t bytes);
	void *context;

	struct sp_source source;
	struct sp_window window;
	struct sp_unzstd *unzstd;
	uint8_t *payload;
	struct sp_slot *slots;
	struct sp_columns *columns;
	uint32_t starts_of; /* a kind, set by the caller: a block without events of the kind may
			       come without starts */

	const struct sp_index *index;
	const struct sp_stream *stream;
	const struct sp_segment *segment;   /* with the next blocks; NULL: the window comes next */
	const struct sp_segment *window_of; /* which `window` was read from, at last */
	struct sp_walk walk;
	bool segment_is_open, has_window;
	uint64_t next;	 /* the least number of a slot that may still come */
	uint64_t passed; /* slots that `want` declined */
	uint64_t given;	 /* slots in batches, holes included */
};

/* A reader takes about 1.8 MB, by kind 0.4 MB more, for any trace. Returns 0 or -ENOMEM. */
int sp_reader_init(struct sp_reader *r);
void sp_reader_finish(struct sp_reader *r);

/* Call it after init: batches then come as columns, which cost less than slots. Returns 0 or
 * -ENOMEM. */
int sp_reader_by_kind(struct sp_reader *r);

/* Begins a stream, and counts one reading of the stream. A file that can no longer be read is
 * damage, not an error. */
void sp_reader_open(struct sp_reader *r, const struct sp_index *index, struct sp_stream *stream);

/* Returns true and a batch of slots below the stream's limit, or false at the end. */
bool sp_reader_next(struct sp_reader *r, struct sp_batch *ret);

/* The position of a reader between two batches. */
struct sp_reader_mark {
	const struct sp_segment *segment;
	uint64_t at, next, given;
};

struct sp_reader_mark sp_reader_mark(const struct sp_reader *r);

/* Continues a stream at a mark, so that many streams can take turns on one reader. */
void sp_reader_resume(struct sp_reader *r, const struct sp_index *index,
		      const struct sp_stream *stream, const struct sp_reader_mark *mark);

/* The number of missing slots of the stream; exact once sp_reader_next() has returned false. */
uint64_t sp_reader_missing(const struct sp_reader *r);

#endif
