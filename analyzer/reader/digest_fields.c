/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/reader/digest_fields.h"

#include <stdlib.h>
#include <string.h>

#include "analyzer/base/instant.h"

#define VARINT_BYTES 10u

/* NULL: no memory. */
static uint8_t *reserve(struct sp_digest_fields *f, size_t bytes)
{
	size_t room = f->size + bytes;
	uint8_t *new;

	if (f->is_bad)
		return NULL;
	if (room > f->room) {
		room += room / 2 + 256;
		new = realloc(f->bytes, room);
		if (!new) {
			f->is_bad = true;
			return NULL;
		}
		f->bytes = new;
		f->room = room;
	}
	return f->bytes + f->size;
}

struct sp_digest_fields sp_digest_fields_of(const uint8_t *bytes, size_t size)
{
	static const uint8_t none[1];
	const uint8_t *from = bytes ? bytes : none;

	return (struct sp_digest_fields){.reads = true, .in = {from, from + size, 0}};
}

static uint64_t read_number(struct sp_digest_fields *f)
{
	uint64_t x = f->is_bad ? 0 : sp_varint_get(&f->in);

	f->is_bad |= f->in.bad != 0;
	return f->is_bad ? 0 : x;
}

void sp_digest_number(struct sp_digest_fields *f, uint64_t *x)
{
	uint8_t *p;

	if (f->reads) {
		*x = read_number(f);
		return;
	}
	p = reserve(f, VARINT_BYTES);
	if (p)
		f->size = (size_t)(sp_varint_put(p, *x) - f->bytes);
}

void sp_digest_instant(struct sp_digest_fields *f, int64_t *x)
{
	uint64_t coded = f->reads ? 0 : sp_zigzag(*x);

	sp_digest_number(f, &coded);
	if (f->reads)
		*x = sp_instant(sp_unzigzag(coded));
}

void sp_digest_u32(struct sp_digest_fields *f, uint32_t *x)
{
	uint64_t wide = f->reads ? 0 : *x;

	sp_digest_number(f, &wide);
	f->is_bad |= wide > UINT32_MAX;
	*x = (uint32_t)wide;
}

void sp_digest_bool(struct sp_digest_fields *f, bool *x)
{
	uint64_t wide = f->reads ? 0 : *x;

	sp_digest_number(f, &wide);
	f->is_bad |= wide > 1;
	*x = wide == 1;
}

/* NULL where fewer are left. */
static const uint8_t *take(struct sp_digest_fields *f, size_t bytes)
{
	const uint8_t *at = f->in.at;

	if (f->is_bad || bytes > (size_t)(f->in.end - at)) {
		f->is_bad = true;
		return NULL;
	}
	f->in.at += bytes;
	return at;
}

static void put(struct sp_digest_fields *f, const void *bytes, size_t size)
{
	uint8_t *p = reserve(f, size);

	if (p && size)
		memcpy(p, bytes, size);
	if (p)
		f->size += size;
}

void sp_digest_word(struct sp_digest_fields *f, uint64_t *x)
{
	const uint8_t *p;

	if (!f->reads) {
		put(f, x, sizeof(*x));
		return;
	}
	*x = 0;
	p = take(f, sizeof(*x));
	if (p)
		memcpy(x, p, sizeof(*x));
}

void sp_digest_text(struct sp_digest_fields *f, char *text, size_t room)
{
	uint64_t size = f->reads ? 0 : strnlen(text, room);
	const uint8_t *p;

	sp_digest_number(f, &size);
	if (!f->reads) {
		put(f, text, size);
		return;
	}
	memset(text, 0, room);
	f->is_bad |= size > room;
	p = f->is_bad ? NULL : take(f, size);
	if (p)
		memcpy(text, p, size);
}

void sp_digest_bytes(struct sp_digest_fields *f, uint8_t **bytes, uint32_t *size)
{
	const uint8_t *p;

	sp_digest_u32(f, size);
	if (!f->reads) {
		put(f, *bytes, *size);
		return;
	}
	*bytes = NULL;
	p = take(f, *size);
	if (!p || !*size)
		return;
	*bytes = malloc(*size);
	f->is_bad |= !*bytes;
	if (*bytes)
		memcpy(*bytes, p, *size);
}

bool sp_digest_is_read(const struct sp_digest_fields *f)
{
	return !f->is_bad && f->in.at == f->in.end;
}
