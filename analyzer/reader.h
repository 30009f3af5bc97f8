/*
 * The slots of one stream, in the order of their numbers: its blocks, then its window.
 *
 * The window is read first and the blocks after it, so that what a live writer publishes in between
 * is seen in at least one of them; what is seen in both is given once.
 */
#ifndef STAGEPROF_ANALYZER_READER_H
#define STAGEPROF_ANALYZER_READER_H

#include <stdbool.h>
#include <stdint.h>

#include "analyzer/index.h"
#include "analyzer/source.h"
#include "analyzer/unzstd.h"
#include "analyzer/walk.h"
#include "analyzer/window.h"

struct sp_columns; /* trace/columns.h */

struct sp_batch {
	const struct sp_slot *slots; /* good until the next call; HOLE where a slot is not there */
	uint32_t n;
	uint64_t number; /* of the first slot; after a jump, slots are missing or were passed over */
	struct sp_columns *columns; /* of a reader by kind: these in place of slots, likewise */
};

struct sp_reader {
	/* Set by the caller after init; both may be NULL. */
	bool (*want)(void *context, const struct sp_block_header *block); /* false: pass over it */
	void (*damaged)(void *context, uint32_t file, uint64_t at, uint64_t bytes);
	void *context;

	struct sp_source source;
	struct sp_window window;
	struct sp_unzstd *unzstd;
	uint8_t *payload;
	struct sp_slot *slots;
	struct sp_columns *columns;
	uint32_t starts_of; /* a kind: a block without it may come without starts; the caller's to set anew */

	const struct sp_index *index;
	const struct sp_stream *stream;
	const struct sp_segment *segment; /* whose blocks come next; NULL: the window comes */
	struct sp_walk walk;
	bool segment_is_open, has_window;
	uint64_t next;	 /* no slot below this comes again */
	uint64_t passed; /* slots that `want` declined */
	uint64_t given;	 /* slots in batches, holes included */
};

/* Takes about 1.8 MB, by kind 0.4 MB more, whatever is read. Returns 0 or -ENOMEM. */
int sp_reader_init(struct sp_reader *r);
void sp_reader_finish(struct sp_reader *r);

/* After init: batches come as columns, not as slots, which costs less. Returns 0 or -ENOMEM. */
int sp_reader_by_kind(struct sp_reader *r);

/* Begins a stream. A file that cannot be read any more is damage, not an error. */
void sp_reader_open(struct sp_reader *r, const struct sp_index *index,
		    const struct sp_stream *stream);

/* Returns true and a batch of slots below the stream's limit, or false at the end. */
bool sp_reader_next(struct sp_reader *r, struct sp_batch *ret);

/* Where a reader stands between two batches. */
struct sp_reader_mark {
	const struct sp_segment *segment;
	uint64_t at, next, given;
};

struct sp_reader_mark sp_reader_mark(const struct sp_reader *r);

/* As sp_reader_open(), to go on at a mark: many streams can take turns on one reader. */
void sp_reader_resume(struct sp_reader *r, const struct sp_index *index,
		      const struct sp_stream *stream, const struct sp_reader_mark *mark);

/* Slots of the stream that are nowhere; right once sp_reader_next() has returned false. */
uint64_t sp_reader_missing(const struct sp_reader *r);

#endif
