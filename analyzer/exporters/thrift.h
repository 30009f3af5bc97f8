/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A writer of Thrift's compact protocol, into memory that grows:
 * https://github.com/apache/thrift/blob/master/doc/specs/thrift-compact-protocol.md
 *
 * It has what the metadata of Parquet needs.
 */
#ifndef STAGEPROF_ANALYZER_THRIFT_H
#define STAGEPROF_ANALYZER_THRIFT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SP_THRIFT_DEPTH_MAX 8u

enum sp_thrift_type {
	SP_THRIFT_I32 = 5,
	SP_THRIFT_I64 = 6,
	SP_THRIFT_BINARY = 8,
	SP_THRIFT_LIST = 9,
	SP_THRIFT_STRUCT = 12,
};

/* Zero it. */
struct sp_thrift {
	uint8_t *bytes; /* owned by the caller, who frees it */
	size_t size, room;
	bool is_out_of_memory; /* the bytes are not complete */
	unsigned depth;
	uint32_t last[SP_THRIFT_DEPTH_MAX]; /* field of each struct that is open */
};

/* Adds bytes as they are. */
void sp_thrift_raw(struct sp_thrift *t, const void *bytes, size_t n);

/* Fields of the struct that is open, in the order of their numbers. */
void sp_thrift_i32(struct sp_thrift *t, uint32_t field, int32_t value);
void sp_thrift_i64(struct sp_thrift *t, uint32_t field, int64_t value);
void sp_thrift_text(struct sp_thrift *t, uint32_t field, const char *text);
void sp_thrift_list(struct sp_thrift *t, uint32_t field, enum sp_thrift_type of, uint32_t n);

/* field: 0 for an element of a list, and for the outermost struct. */
void sp_thrift_open(struct sp_thrift *t, uint32_t field);
void sp_thrift_close(struct sp_thrift *t);

/* Elements of a list. */
void sp_thrift_i32_element(struct sp_thrift *t, int32_t value);
void sp_thrift_text_element(struct sp_thrift *t, const char *text);

#endif
