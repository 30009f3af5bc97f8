/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The fields of a digest, written and read by the same function, so that both have one order. The
 * reader trusts no byte: a field that does not fit sets is_bad, and fields are then 0.
 */
#ifndef STAGEPROF_ANALYZER_DIGEST_FIELDS_H
#define STAGEPROF_ANALYZER_DIGEST_FIELDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "trace/varint.h"

struct sp_digest_fields {
	bool reads;
	bool is_bad; /* bytes that do not fit; while writing: no memory */
	struct sp_input in;
	uint8_t *bytes; /* written; the caller's to free */
	size_t size, room;
};

/* Fields to be read from bytes, which may be NULL where there are none. */
struct sp_digest_fields sp_digest_fields_of(const uint8_t *bytes, size_t size);

void sp_digest_number(struct sp_digest_fields *f, uint64_t *x); /* varint */
void sp_digest_instant(struct sp_digest_fields *f, int64_t *x); /* zigzag varint */
void sp_digest_u32(struct sp_digest_fields *f, uint32_t *x);	/* varint */
void sp_digest_bool(struct sp_digest_fields *f, bool *x);	/* varint, 0 or 1 */
void sp_digest_word(struct sp_digest_fields *f, uint64_t *x);	/* 8 bytes, little-endian */

/* A length and a text that ends before `room` or is NUL-padded to it. */
void sp_digest_text(struct sp_digest_fields *f, char *text, size_t room);

/* A length and bytes. The reader gets a copy in *bytes, which is the caller's to free. */
void sp_digest_bytes(struct sp_digest_fields *f, uint8_t **bytes, uint32_t *size);

/* True where all bytes were read, and each fitted. */
bool sp_digest_is_read(const struct sp_digest_fields *f);

#endif
