/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/exporters/thrift.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "trace/varint.h"

void sp_thrift_raw(struct sp_thrift *t, const void *bytes, size_t n)
{
	if (t->room - t->size < n) {
		size_t room = 2 * (t->size + n);
		uint8_t *new = realloc(t->bytes, room);

		if (!new) {
			t->is_out_of_memory = true;
			return;
		}
		t->bytes = new;
		t->room = room;
	}
	if (n)
		memcpy(t->bytes + t->size, bytes, n);
	t->size += n;
}

static void put_number(struct sp_thrift *t, uint64_t n)
{
	uint8_t bytes[10] = {0};

	sp_thrift_raw(t, bytes, (size_t)(sp_varint_put(bytes, n) - bytes));
}

static void put_byte(struct sp_thrift *t, unsigned byte)
{
	uint8_t one = (uint8_t)byte;

	sp_thrift_raw(t, &one, 1);
}

static void put_field(struct sp_thrift *t, uint32_t field, enum sp_thrift_type type)
{
	uint32_t *last = &t->last[t->depth - 1];

	assert(field > *last && field - *last <= 15); /* no field of Parquet is further away */
	put_byte(t, (field - *last) << 4 | type);
	*last = field;
}

void sp_thrift_i32_element(struct sp_thrift *t, int32_t value)
{
	put_number(t, sp_zigzag(value));
}

void sp_thrift_text_element(struct sp_thrift *t, const char *text)
{
	size_t n = strlen(text);

	put_number(t, n);
	sp_thrift_raw(t, text, n);
}

void sp_thrift_i32(struct sp_thrift *t, uint32_t field, int32_t value)
{
	put_field(t, field, SP_THRIFT_I32);
	put_number(t, sp_zigzag(value));
}

void sp_thrift_i64(struct sp_thrift *t, uint32_t field, int64_t value)
{
	put_field(t, field, SP_THRIFT_I64);
	put_number(t, sp_zigzag(value));
}

void sp_thrift_text(struct sp_thrift *t, uint32_t field, const char *text)
{
	put_field(t, field, SP_THRIFT_BINARY);
	sp_thrift_text_element(t, text);
}

void sp_thrift_list(struct sp_thrift *t, uint32_t field, enum sp_thrift_type of, uint32_t n)
{
	put_field(t, field, SP_THRIFT_LIST);
	put_byte(t, (n < 15 ? n : 15) << 4 | of);
	if (n >= 15)
		put_number(t, n);
}

void sp_thrift_open(struct sp_thrift *t, uint32_t field)
{
	if (field)
		put_field(t, field, SP_THRIFT_STRUCT);
	assert(t->depth < SP_THRIFT_DEPTH_MAX);
	t->last[t->depth++] = 0;
}

void sp_thrift_close(struct sp_thrift *t)
{
	put_byte(t, 0);
	t->depth--;
}
