/*
 * Slots by kind: what the events of one kind have lies side by side, so that sums over them are loops over arrays.
 * Beside it, what the decoders of all codings share: the columns of a payload, and slots that are bytes. No byte
 * is trusted.
 */
#ifndef STAGEPROF_TRACE_COLUMNS_H
#define STAGEPROF_TRACE_COLUMNS_H

#include <stddef.h>
#include <stdint.h>

#include "trace/codec.h"
#include "trace/varint.h"

#define SP_COLUMNS_KINDS_MAX (SP_KIND_EVENTS + 256u)
#define SP_COLUMNS_NONE UINT32_MAX /* no place: neither an event nor a definition */
#define SP_COLUMNS_ALL UINT32_MAX  /* no kind: any */
#define SP_COLUMNS_BEFORE (UINT32_MAX - 1) /* nor here: what comes before the first slot */

/*
 * A kind with more tokens than slots runs on into the places of the next ones, at most SP_BLOCK_SLOTS_MAX past the
 * last: it is found when all is done.
 */
#define SP_COLUMNS_ROOM (2 * SP_BLOCK_SLOTS_MAX)

struct sp_column_kind {
	uint32_t kind;	      /* an event's or a definition's */
	uint32_t first, limit; /* where its slots lie in the arrays, in the order of their numbers */
};

/* 0.4 MB. */
struct sp_columns {
	uint32_t kind_count;
	uint32_t extra_count;
	uint32_t holes;	    /* HOLE slots */
	uint32_t last;	    /* place of the last slot, or SP_COLUMNS_NONE */
	int has_starts;	    /* else `starts` and `end_ticks` are not known */
	uint64_t grain;	    /* of `ticks` */
	uint64_t end_ticks; /* latest end of an event; 0: none */
	struct sp_column_kind kinds[SP_COLUMNS_KINDS_MAX];
	int64_t ticks[SP_COLUMNS_ROOM]; /* durations, divided by grain; modulo 2^64 */
	uint64_t starts[SP_COLUMNS_ROOM]; /* in ticks */
	int64_t values[SP_COLUMNS_ROOM];
	uint32_t args[SP_COLUMNS_ROOM];
	int64_t extras[3][SP_BLOCK_SLOTS_MAX]; /* the words of EXTRA slots; not divided */
	uint32_t owners[SP_BLOCK_SLOTS_MAX];   /* of each EXTRA slot the place of the slot before it */
};

/*
 * As sp_payload_decode(): accepts and refuses the same. starts_of: a kind; a block without it comes without starts,
 * which cost. Returns 0, -EBADMSG, or -ENOTSUP where the payload's coding has no columns by kind: its
 * slots can be decoded and taken by sp_columns_take().
 */
int sp_payload_columns(struct sp_columns *c, uint32_t starts_of, uint32_t n, const uint8_t *payload, size_t bytes);

/*
 * The same from slots, at most SP_BLOCK_SLOTS_MAX. Only events come with places: kinds that no version can have
 * as one kind, SP_KIND_EVENTS; definitions not at all.
 */
void sp_columns_take(struct sp_columns *c, const struct sp_slot *slots, uint32_t n);

/* Keeps the events that start at or after `from` and before `to`, and no definitions. */
void sp_columns_keep(struct sp_columns *c, uint64_t from_ticks, uint64_t to_ticks);

/* The columns of the payload that the head begins. Returns 0, or -EBADMSG where they are not its bytes exactly. */
int sp_columns_open(struct sp_input in[SP_COLUMNS], const struct sp_payload_head *head,
		    const uint8_t *payload, size_t bytes);

/* Returns 0, or -EBADMSG where a column was short, or has bytes left. */
int sp_columns_close(const struct sp_input in[SP_COLUMNS]);

/* A BLOB slot; `in` is bad where it is not whole. */
void sp_blob_get(struct sp_slot *slot, struct sp_input *in);

#endif
