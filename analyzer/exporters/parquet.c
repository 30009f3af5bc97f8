/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/exporters/parquet.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analyzer/exporters/thrift.h"
#include "analyzer/reader/unzstd.h"
#include "trace/varint.h"

#define GROUP_ROWS 16384u
#define GROUP_BYTES (4u << 20) /* of the texts of one column */

/* Numbers of parquet.thrift. */
enum { MAGIC_BYTES = 4, VERSION = 2 };
enum { TYPE_INT64 = 2, TYPE_DOUBLE = 5, TYPE_BYTE_ARRAY = 6 };
enum { IS_OPTIONAL = 1 };
enum { CONVERTED_UTF8 = 0 };
enum { ENCODING_PLAIN = 0, ENCODING_RLE = 3 };
enum { CODEC_UNCOMPRESSED = 0, CODEC_ZSTD = 6 };
enum { PAGE_DATA = 0 };

static const char magic[] = "PAR1";

struct parquet_values {
	struct sp_thrift values; /* PLAIN */
	struct sp_thrift levels; /* runs: 1 where a row has a value, else 0 */
	uint32_t run, level;	 /* the last run, which is not in `levels` yet */
	bool has_value;		 /* in the row that is open */
};

/* Where a row group's column lies. */
struct chunk {
	int64_t at;
	int64_t plain_bytes, stored_bytes; /* with the head of its page */
	int32_t codec;
};

struct group {
	struct chunk *chunks; /* of each column */
	uint32_t rows;
};

struct sp_parquet {
	FILE *file;
	const struct sp_parquet_column *definitions;
	const char *creator;
	uint32_t column_count;
	struct parquet_values *columns;
	uint32_t rows; /* of the row group that is open */
	struct group *groups;
	uint32_t group_count;
	int64_t size; /* of the file */
	int error;
};

static void put(struct sp_parquet *p, const void *bytes, size_t n)
{
	if (p->error == 0 && n && fwrite(bytes, 1, n, p->file) != n)
		p->error = errno ? -errno : -EIO;
	p->size += (int64_t)n;
}

int sp_parquet_open(struct sp_parquet **ret, const char *path,
		    const struct sp_parquet_column *columns, uint32_t n, const char *creator)
{
	struct sp_parquet *p = calloc(1, sizeof(*p));
	int fd, r = 0;

	*ret = NULL;
	if (!p)
		return -ENOMEM;
	p->columns = calloc(n + 1u, sizeof(*p->columns));
	fd = p->columns ? open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666) : -1;
	if (!p->columns || fd < 0)
		r = p->columns ? -errno : -ENOMEM;
	else if (!(p->file = fdopen(fd, "w")))
		r = -ENOMEM;
	if (r < 0) {
		if (fd >= 0)
			close(fd);
		free(p->columns);
		free(p);
		return r;
	}
	p->definitions = columns;
	p->column_count = n;
	p->creator = creator;
	put(p, magic, MAGIC_BYTES);
	*ret = p;
	return 0;
}

static void put_little(struct sp_thrift *t, uint64_t value, size_t bytes)
{
	uint8_t little[8];

	for (size_t i = 0; i < bytes; i++)
		little[i] = (uint8_t)(value >> (8 * i));
	sp_thrift_raw(t, little, bytes);
}

static struct sp_thrift *value_of(struct sp_parquet *p, uint32_t column)
{
	struct parquet_values *c = &p->columns[column];

	c->has_value = true;
	return &c->values;
}

void sp_parquet_int(struct sp_parquet *p, uint32_t column, int64_t value)
{
	put_little(value_of(p, column), (uint64_t)value, 8);
}

void sp_parquet_double(struct sp_parquet *p, uint32_t column, double value)
{
	uint64_t bits;

	memcpy(&bits, &value, sizeof(bits));
	put_little(value_of(p, column), bits, 8);
}

void sp_parquet_text(struct sp_parquet *p, uint32_t column, const char *text)
{
	struct sp_thrift *values = value_of(p, column);
	size_t n = strlen(text);

	put_little(values, n, 4);
	sp_thrift_raw(values, text, n);
}

/* A run of equal levels: its length without the lowest bit, and a byte. */
static void end_run(struct parquet_values *c)
{
	uint8_t bytes[11], *end;

	if (!c->run)
		return;
	end = sp_varint_put(bytes, (uint64_t)c->run << 1);
	*end++ = (uint8_t)c->level;
	sp_thrift_raw(&c->levels, bytes, (size_t)(end - bytes));
	c->run = 0;
}

static void end_value(struct parquet_values *c)
{
	uint32_t level = c->has_value;

	if (level != c->level)
		end_run(c);
	c->level = level;
	c->run++;
	c->has_value = false;
}

/* The head of the one page of a column. */
static void page_head(struct sp_thrift *t, uint32_t rows, size_t plain_bytes, size_t stored_bytes)
{
	sp_thrift_open(t, 0);
	sp_thrift_i32(t, 1, PAGE_DATA);
	sp_thrift_i32(t, 2, (int32_t)plain_bytes);
	sp_thrift_i32(t, 3, (int32_t)stored_bytes);
	sp_thrift_open(t, 5);
	sp_thrift_i32(t, 1, (int32_t)rows);
	sp_thrift_i32(t, 2, ENCODING_PLAIN);
	sp_thrift_i32(t, 3, ENCODING_RLE);
	sp_thrift_i32(t, 4, ENCODING_RLE);
	sp_thrift_close(t);
	sp_thrift_close(t);
}

/* Writes a column of the row group that is open, and empties it. */
static void put_chunk(struct sp_parquet *p, struct parquet_values *c, struct chunk *ret)
{
	struct sp_thrift page = {.size = 0}, head = {.size = 0};
	const void *stored;
	uint8_t *packed;
	size_t n;

	end_run(c);
	put_little(&page, c->levels.size, 4);
	sp_thrift_raw(&page, c->levels.bytes, c->levels.size);
	sp_thrift_raw(&page, c->values.bytes, c->values.size);
	packed = malloc(page.size + 1);
	n = packed ? sp_zstd_frame(packed, page.size, page.bytes, page.size) : 0;
	stored = n ? packed : page.bytes;
	n = n ? n : page.size;
	page_head(&head, p->rows, page.size, n);
	if (!packed || page.is_out_of_memory || head.is_out_of_memory ||
	    c->levels.is_out_of_memory || c->values.is_out_of_memory)
		p->error = p->error ? p->error : -ENOMEM;
	*ret = (struct chunk){.at = p->size,
			      .plain_bytes = (int64_t)(head.size + page.size),
			      .stored_bytes = (int64_t)(head.size + n),
			      .codec = stored == packed ? CODEC_ZSTD : CODEC_UNCOMPRESSED};
	if (p->error == 0) {
		put(p, head.bytes, head.size);
		put(p, stored, n);
	}
	free(packed);
	free(page.bytes);
	free(head.bytes);
	c->levels.size = c->values.size = 0;
}

static void put_group(struct sp_parquet *p)
{
	struct group *groups = realloc(p->groups, (p->group_count + 1u) * sizeof(*p->groups)),
		     *group;

	if (!groups) {
		p->error = p->error ? p->error : -ENOMEM;
		return;
	}
	p->groups = groups;
	group = &p->groups[p->group_count];
	*group = (struct group){calloc(p->column_count + 1u, sizeof(*group->chunks)), p->rows};
	if (!group->chunks) {
		p->error = p->error ? p->error : -ENOMEM;
		return;
	}
	p->group_count++;
	for (uint32_t i = 0; i < p->column_count; i++)
		put_chunk(p, &p->columns[i], &group->chunks[i]);
	p->rows = 0;
}

int sp_parquet_row(struct sp_parquet *p)
{
	bool is_full = ++p->rows == GROUP_ROWS;

	for (uint32_t i = 0; i < p->column_count; i++) {
		end_value(&p->columns[i]);
		is_full |= p->columns[i].values.size >= GROUP_BYTES;
	}
	if (is_full)
		put_group(p);
	return p->error;
}

static const int32_t types[] = {
	[SP_PARQUET_INT64] = TYPE_INT64,
	[SP_PARQUET_DOUBLE] = TYPE_DOUBLE,
	[SP_PARQUET_TEXT] = TYPE_BYTE_ARRAY,
};

static void put_schema(struct sp_thrift *t, const struct sp_parquet *p)
{
	sp_thrift_list(t, 2, SP_THRIFT_STRUCT, p->column_count + 1);
	sp_thrift_open(t, 0);
	sp_thrift_text(t, 4, "schema");
	sp_thrift_i32(t, 5, (int32_t)p->column_count);
	sp_thrift_close(t);
	for (uint32_t i = 0; i < p->column_count; i++) {
		sp_thrift_open(t, 0);
		sp_thrift_i32(t, 1, types[p->definitions[i].type]);
		sp_thrift_i32(t, 3, IS_OPTIONAL);
		sp_thrift_text(t, 4, p->definitions[i].name);
		if (p->definitions[i].type == SP_PARQUET_TEXT) {
			sp_thrift_i32(t, 6, CONVERTED_UTF8);
			sp_thrift_open(t, 10); /* the logical type: */
			sp_thrift_open(t, 1);  /* a string */
			sp_thrift_close(t);
			sp_thrift_close(t);
		}
		sp_thrift_close(t);
	}
}

static void put_chunk_metadata(struct sp_thrift *t, const struct sp_parquet_column *column,
			       const struct chunk *chunk, uint32_t rows)
{
	sp_thrift_open(t, 0);
	sp_thrift_i64(t, 2, chunk->at);
	sp_thrift_open(t, 3);
	sp_thrift_i32(t, 1, types[column->type]);
	sp_thrift_list(t, 2, SP_THRIFT_I32, 2);
	sp_thrift_i32_element(t, ENCODING_PLAIN);
	sp_thrift_i32_element(t, ENCODING_RLE);
	sp_thrift_list(t, 3, SP_THRIFT_BINARY, 1);
	sp_thrift_text_element(t, column->name);
	sp_thrift_i32(t, 4, chunk->codec);
	sp_thrift_i64(t, 5, rows);
	sp_thrift_i64(t, 6, chunk->plain_bytes);
	sp_thrift_i64(t, 7, chunk->stored_bytes);
	sp_thrift_i64(t, 9, chunk->at);
	sp_thrift_close(t);
	sp_thrift_close(t);
}

static void put_group_metadata(struct sp_thrift *t, const struct sp_parquet *p,
			       const struct group *group)
{
	int64_t bytes = 0;

	sp_thrift_open(t, 0);
	sp_thrift_list(t, 1, SP_THRIFT_STRUCT, p->column_count);
	for (uint32_t i = 0; i < p->column_count; i++) {
		put_chunk_metadata(t, &p->definitions[i], &group->chunks[i], group->rows);
		bytes += group->chunks[i].plain_bytes;
	}
	sp_thrift_i64(t, 2, bytes);
	sp_thrift_i64(t, 3, group->rows);
	sp_thrift_close(t);
}

static void put_footer(struct sp_parquet *p)
{
	struct sp_thrift t = {.size = 0};
	int64_t rows = 0;
	size_t size;

	for (uint32_t i = 0; i < p->group_count; i++)
		rows += p->groups[i].rows;
	sp_thrift_open(&t, 0);
	sp_thrift_i32(&t, 1, VERSION);
	put_schema(&t, p);
	sp_thrift_i64(&t, 3, rows);
	sp_thrift_list(&t, 4, SP_THRIFT_STRUCT, p->group_count);
	for (uint32_t i = 0; i < p->group_count; i++)
		put_group_metadata(&t, p, &p->groups[i]);
	sp_thrift_text(&t, 6, p->creator);
	sp_thrift_close(&t);
	size = t.size;
	put_little(&t, size, 4);
	sp_thrift_raw(&t, magic, MAGIC_BYTES);
	if (t.is_out_of_memory)
		p->error = p->error ? p->error : -ENOMEM;
	else
		put(p, t.bytes, t.size);
	free(t.bytes);
}

int sp_parquet_close(struct sp_parquet *p)
{
	int r;

	if (!p)
		return 0;
	if (p->rows)
		put_group(p);
	if (p->error == 0)
		put_footer(p);
	/* Network file systems report a full disk when the file is closed. */
	if (fclose(p->file) != 0 && p->error == 0)
		p->error = -errno;
	r = p->error;
	for (uint32_t i = 0; i < p->column_count; i++) {
		free(p->columns[i].values.bytes);
		free(p->columns[i].levels.bytes);
	}
	for (uint32_t i = 0; i < p->group_count; i++)
		free(p->groups[i].chunks);
	free(p->groups);
	free(p->columns);
	free(p);
	return r;
}
