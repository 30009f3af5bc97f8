/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/exporters/proto.h"

#include <errno.h>
#include <string.h>

enum { VARINT = 0, FIXED64 = 1, BYTES = 2 };

/* A length that is filled in later: a varint may have more bytes than it needs. */
#define LENGTH_BYTES 3u
#define VARINT_BYTES_MAX 10u

void sp_proto_begin(struct sp_proto *p)
{
	p->used = 0;
	p->is_full = false;
}

static size_t put_varint(uint8_t *to, uint64_t n)
{
	size_t used = 0;

	for (; n >= 0x80; n >>= 7)
		to[used++] = (uint8_t)(n | 0x80);
	to[used++] = (uint8_t)n;
	return used;
}

static bool has_room(struct sp_proto *p, size_t n)
{
	if (p->used + n <= sizeof(p->bytes))
		return true;
	p->is_full = true;
	return false;
}

static bool put_key(struct sp_proto *p, uint32_t field, unsigned type, size_t more)
{
	if (!has_room(p, VARINT_BYTES_MAX + more))
		return false;
	p->used += put_varint(p->bytes + p->used, (uint64_t)field << 3 | type);
	return true;
}

void sp_proto_number(struct sp_proto *p, uint32_t field, uint64_t n)
{
	if (put_key(p, field, VARINT, VARINT_BYTES_MAX))
		p->used += put_varint(p->bytes + p->used, n);
}

void sp_proto_fixed64(struct sp_proto *p, uint32_t field, uint64_t n)
{
	if (!put_key(p, field, FIXED64, sizeof(n)))
		return;
	for (size_t i = 0; i < sizeof(n); i++)
		p->bytes[p->used++] = (uint8_t)(n >> 8 * i);
}

void sp_proto_bytes(struct sp_proto *p, uint32_t field, const void *bytes, size_t n)
{
	if (!put_key(p, field, BYTES, VARINT_BYTES_MAX + n))
		return;
	p->used += put_varint(p->bytes + p->used, n);
	memcpy(p->bytes + p->used, bytes, n);
	p->used += n;
}

size_t sp_proto_open(struct sp_proto *p, uint32_t field)
{
	if (!put_key(p, field, BYTES, LENGTH_BYTES))
		return SIZE_MAX;
	p->used += LENGTH_BYTES;
	return p->used;
}

void sp_proto_close(struct sp_proto *p, size_t mark)
{
	size_t n = p->used - mark;

	if (mark == SIZE_MAX)
		return;
	for (size_t i = 0; i < LENGTH_BYTES; i++)
		p->bytes[mark - LENGTH_BYTES + i] =
			(uint8_t)((n >> 7 * i & 0x7F) | (i + 1 < LENGTH_BYTES ? 0x80 : 0));
}

int sp_proto_write(const struct sp_proto *p, uint32_t field, FILE *file)
{
	uint8_t head[2 * VARINT_BYTES_MAX];
	size_t n = put_varint(head, (uint64_t)field << 3 | BYTES);

	if (p->is_full)
		return -EMSGSIZE;
	n += put_varint(head + n, p->used);
	return fwrite(head, 1, n, file) == n && fwrite(p->bytes, 1, p->used, file) == p->used
		       ? 0
		       : -EIO;
}
