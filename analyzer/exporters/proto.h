/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A writer of Protocol Buffers' wire format: https://protobuf.dev/programming-guides/encoding/
 *
 * It writes one message at a time, into a bounded buffer. Fields that do not fit are left out and
 * reported.
 */
#ifndef STAGEPROF_ANALYZER_PROTO_H
#define STAGEPROF_ANALYZER_PROTO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define SP_PROTO_BYTES_MAX (64u * 1024u)

struct sp_proto {
	size_t used;
	bool is_full; /* a field did not fit */
	uint8_t bytes[SP_PROTO_BYTES_MAX];
};

void sp_proto_begin(struct sp_proto *p);

void sp_proto_number(struct sp_proto *p, uint32_t field,
		     uint64_t n); /* uint, enum, bool; int64 as it is */
void sp_proto_fixed64(struct sp_proto *p, uint32_t field, uint64_t n);
void sp_proto_bytes(struct sp_proto *p, uint32_t field, const void *bytes, size_t n);

/* Fields up to the close are those of a message inside. Returns a mark for it. */
size_t sp_proto_open(struct sp_proto *p, uint32_t field);
void sp_proto_close(struct sp_proto *p, size_t mark);

/* Writes the message as a field of another one.
 * Returns 0, or -EIO, or -EMSGSIZE where it was full. */
int sp_proto_write(const struct sp_proto *p, uint32_t field, FILE *file);

#endif
