/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Slots by kind: the fields of all events of one kind lie side by side, so that sums are loops over
 * arrays. This header also has the parts that the decoders of all codings share: the columns of a
 * payload, and slots that hold bytes. No byte is trusted.
 */
#ifndef STAGEPROF_TRACE_COLUMNS_H
#define STAGEPROF_TRACE_COLUMNS_H

#include <stddef.h>
#include <stdint.h>

#include "trace/codec.h"
#include "trace/varint.h"

#define SP_COLUMNS_KINDS_MAX (SP_KIND_EVENTS + 256u)
#define SP_COLUMNS_NONE UINT32_MAX	   /* no index: neither an event nor a definition */
#define SP_COLUMNS_ALL UINT32_MAX	   /* no kind: all kinds */
#define SP_COLUMNS_BEFORE (UINT32_MAX - 1) /* no index: before the first slot */

/*
 * A kind with more tokens than slots continues into the indexes of the next kinds, at most
 * SP_BLOCK_SLOTS_MAX past the last. The decoder detects this after the last token.
 */
#define SP_COLUMNS_ROOM (2 * SP_BLOCK_SLOTS_MAX)

struct sp_column_kind {
	uint32_t kind; /* an event's or a definition's */
	/* The kind's slots are [first, limit) of the arrays, in the order of their numbers. */
	uint32_t first, limit;
};

/* 0.4 MB. */
struct sp_columns {
	uint32_t kind_count;
	uint32_t extra_count;
	uint32_t holes;	    /* HOLE slots */
	uint32_t last;	    /* index of the last slot, or SP_COLUMNS_NONE */
	int has_starts;	    /* 0: `starts` and `end_ticks` are not known */
	uint64_t grain;	    /* of `ticks` */
	uint64_t end_ticks; /* latest end of an event; 0: none */
	struct sp_column_kind kinds[SP_COLUMNS_KINDS_MAX];
	int64_t ticks[SP_COLUMNS_ROOM];	  /* durations, divided by grain; modulo 2^64 */
	uint64_t starts[SP_COLUMNS_ROOM]; /* in ticks */
	int64_t values[SP_COLUMNS_ROOM];
	uint32_t args[SP_COLUMNS_ROOM];
	int64_t extras[3][SP_BLOCK_SLOTS_MAX]; /* the words of EXTRA slots; not divided */
	/* For each EXTRA slot the index of the slot before it. */
	uint32_t owners[SP_BLOCK_SLOTS_MAX];
};

/*
 * Decodes into columns; accepts the same payloads as sp_payload_decode(). starts_of: a kind. A
 * block without that kind is decoded without starts, because starts cost time. Returns 0 or
 * -EBADMSG.
 */
int sp_payload_columns(struct sp_columns *c, uint32_t starts_of, uint32_t n, const uint8_t *payload,
		       size_t bytes);

/*
 * Fills the columns from slots, at most SP_BLOCK_SLOTS_MAX. Only events get an index. Kinds that no
 * version can have are joined as kind SP_KIND_EVENTS; definitions are left out.
 */
void sp_columns_take(struct sp_columns *c, const struct sp_slot *slots, uint32_t n);

/* Keeps the events that start at or after `from` and before `to`, and no definitions. */
void sp_columns_keep(struct sp_columns *c, uint64_t from_ticks, uint64_t to_ticks);

/* Opens the columns of a payload. Returns 0, or -EBADMSG if the lengths in its head do not add up
 * to `bytes` exactly. */
int sp_columns_open(struct sp_input in[SP_COLUMNS], const struct sp_payload_head *head,
		    const uint8_t *payload, size_t bytes);

/* Returns 0, or -EBADMSG if a column was short or has bytes left. */
int sp_columns_close(const struct sp_input in[SP_COLUMNS]);

/* Reads a BLOB slot. Sets in->bad if the column has no whole slot. */
void sp_blob_get(struct sp_slot *slot, struct sp_input *in);

#endif
