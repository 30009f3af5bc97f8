/*
 * What the decoders of all codings share: the columns of a payload, and slots that are bytes. No byte is trusted.
 */
#ifndef STAGEPROF_TRACE_COLUMNS_H
#define STAGEPROF_TRACE_COLUMNS_H

#include <stddef.h>
#include <stdint.h>

#include "trace/codec.h"
#include "trace/varint.h"

/* The columns of the payload that the head begins. Returns 0, or -EBADMSG where they are not its bytes exactly. */
int sp_columns_open(struct sp_input in[SP_COLUMNS], const struct sp_payload_head *head,
		    const uint8_t *payload, size_t bytes);

/* Returns 0, or -EBADMSG where a column was short, or has bytes left. */
int sp_columns_close(const struct sp_input in[SP_COLUMNS]);

/* A BLOB slot; `in` is bad where it is not whole. */
void sp_blob_get(struct sp_slot *slot, struct sp_input *in);

#endif
