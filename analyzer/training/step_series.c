/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/training/step_series.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/base/each.h"
#include "analyzer/base/grow.h"
#include "analyzer/base/instant.h"
#include "analyzer/base/spill.h"
#include "trace/numbers.h"

#define DIGITS_LEAST 1000 /* of numbers with four digits */
#define DIGITS_RANGE 9000
#define EXPONENT_MAX 15
#define HEAD_BYTES_MAX (10u * (3 + SP_SERIES_COLUMNS))

/* Numbers below 10,000 are their own code. */
static int64_t code_of(int64_t ns)
{
	int64_t exponent = 0, x = ns > 0 ? ns : 0;

	if (x < 10 * DIGITS_LEAST)
		return x;
	for (int64_t unit = 1;; unit *= 10) {
		int64_t digits = (x / unit + (x % unit >= (unit + 1) / 2 && unit > 1));

		if (digits < 10 * DIGITS_LEAST)
			return digits + exponent * DIGITS_RANGE;
		if (exponent == EXPONENT_MAX)
			return 10 * DIGITS_LEAST - 1 + exponent * DIGITS_RANGE;
		exponent++;
	}
}

static int64_t of_code(int64_t code)
{
	int64_t exponent, x;

	if (code < 10 * DIGITS_LEAST)
		return code;
	exponent = (code - DIGITS_LEAST) / DIGITS_RANGE;
	if (exponent > EXPONENT_MAX)
		exponent = EXPONENT_MAX;
	x = code - exponent * DIGITS_RANGE;
	if (x >= 10 * DIGITS_LEAST)
		x = 10 * DIGITS_LEAST - 1;
	while (exponent--) {
		if (__builtin_mul_overflow(x, (int64_t)10, &x))
			return INT64_MAX; /* no writer makes such a code; hostile bytes may */
	}
	return x;
}

int64_t sp_series_round(int64_t ns)
{
	return of_code(code_of(ns));
}

static int64_t us_of(int64_t ns)
{
	return ns / 1000 - (ns % 1000 < 0);
}

/* Instants of hostile bytes wrap round. */
static int64_t add(int64_t a, int64_t b)
{
	return (int64_t)((uint64_t)a + (uint64_t)b);
}

static int64_t subtract(int64_t a, int64_t b)
{
	return (int64_t)((uint64_t)a - (uint64_t)b);
}

static int64_t ns_of(int64_t us)
{
	return (int64_t)((uint64_t)us * 1000);
}

/* A step begins where the one before it ended, more or less. */
static void code_starts(const struct sp_series_writer *f, int64_t *ret)
{
	int64_t expected_us = us_of(f->steps[0].of[SP_SERIES_START]);

	for (uint32_t i = 0; i < f->count; i++) {
		int64_t us = us_of(f->steps[i].of[SP_SERIES_START]);

		ret[i] = subtract(us, expected_us);
		expected_us = add(us, sp_series_round(f->steps[i].of[SP_SERIES_WALL]) / 1000);
	}
}

static int64_t code_step(const struct sp_series_step *s, enum sp_series_column column)
{
	int64_t end_us;

	switch (column) {
	case SP_SERIES_NUMBER:
		return s->number % SP_SERIES_STEPS;
	case SP_SERIES_KIND:
	case SP_SERIES_EPOCH:
		return s->of[column];
	case SP_SERIES_STAY:
		return s->of[column] < 0 ? 0 : code_of(s->of[column]) + 1;
	case SP_SERIES_LEFT:
		end_us = add(us_of(s->of[SP_SERIES_START]),
			     sp_series_round(s->of[SP_SERIES_WALL]) / 1000);
		return s->of[SP_SERIES_STAY] < 0 ? 0 : subtract(us_of(s->of[column]), end_us);
	default:
		return code_of(s->of[column]);
	}
}

static void code_column(const struct sp_series_writer *f, enum sp_series_column column,
			int64_t *ret)
{
	if (column == SP_SERIES_START) {
		code_starts(f, ret);
		return;
	}
	for (uint32_t i = 0; i < f->count; i++)
		ret[i] = code_step(&f->steps[i], column);
	if (column == SP_SERIES_NUMBER)
		for (uint32_t i = 0; i < f->count; i++)
			ret[i] -= i;
}

static int reserve(struct sp_step_series *series, size_t bytes)
{
	size_t room = series->size + bytes;
	uint8_t *new;

	if (room <= series->room)
		return 0;
	if (room > UINT32_MAX / 2)
		return -ENOMEM;
	room += room / 2;
	new = realloc(series->bytes, room);
	if (!new)
		return -ENOMEM;
	series->bytes = new;
	series->room = (uint32_t)room;
	return 0;
}

/* The head of the last block. */
static uint8_t *put_head(uint8_t *p, const struct sp_step_series *series,
			 const struct sp_series_block *b, const size_t bytes[SP_SERIES_COLUMNS])
{
	const struct sp_series_block *before = series->block_count > 1 ? b - 1 : NULL;

	p = sp_varint_put(p, before ? b->number - before->number - 1 : b->number);
	p = sp_varint_put(p, b->steps);
	p = sp_varint_put(p, sp_zigzag(subtract(b->start_us, before ? before->start_us : 0)));
	for (int column = 0; column < SP_SERIES_COLUMNS; column++)
		p = sp_varint_put(p, bytes[column]);
	return p;
}

static int put_block(struct sp_series_writer *f)
{
	uint8_t columns[SP_SERIES_COLUMNS *
			(SP_SERIES_STEPS * 11 + (SP_SERIES_STEPS / 64 + 1) * 20 + 40)];
	struct sp_step_series *series = f->series;
	size_t bytes[SP_SERIES_COLUMNS], all;
	int64_t codes[SP_SERIES_STEPS];
	struct sp_series_block *block;
	uint8_t *end = columns;

	for (int column = 0; column < SP_SERIES_COLUMNS; column++) {
		uint8_t *begin = end;

		code_column(f, (enum sp_series_column)column, codes);
		end = sp_numbers_pack(end, codes, f->count);
		bytes[column] = (size_t)(end - begin);
	}
	all = (size_t)(end - columns);
	block = SP_LIST_ADD(series->blocks, series->block_count, series->block_room);
	if (!block || reserve(series, all + HEAD_BYTES_MAX) < 0)
		return -ENOMEM;
	*block = (struct sp_series_block){.number = f->steps[0].number / SP_SERIES_STEPS,
					  .steps = f->count,
					  .start_us = us_of(f->steps[0].of[SP_SERIES_START])};
	end = put_head(series->bytes + series->size, series, block, bytes);
	memcpy(end, columns, all);
	block->at = series->size;
	series->size = (uint32_t)(end + all - series->bytes);
	series->steps += f->count;
	f->count = 0;
	return 0;
}

int sp_series_writer_take(struct sp_series_writer *f, const struct sp_series_step *step)
{
	int r = 0;

	if (f->count && step->number <= f->steps[f->count - 1].number)
		return 0;
	if (f->count && step->number / SP_SERIES_STEPS != f->steps[0].number / SP_SERIES_STEPS)
		r = put_block(f);
	if (r == 0)
		f->steps[f->count++] = *step;
	return r;
}

/* There may be ten thousand series. */
static void trim(struct sp_step_series *series)
{
	uint8_t *bytes = series->size ? realloc(series->bytes, series->size) : NULL;
	struct sp_series_block *blocks =
		series->block_count ? realloc(series->blocks, series->block_count * sizeof(*blocks))
				    : NULL;

	if (bytes) {
		series->bytes = bytes;
		series->room = series->size;
	}
	if (blocks) {
		series->blocks = blocks;
		series->block_room = series->block_count;
	}
}

int sp_series_writer_finish(struct sp_series_writer *f)
{
	int r = f->count ? put_block(f) : 0;

	trim(f->series);
	return r;
}

void sp_series_keep(struct sp_step_series *series, struct sp_spill *spill)
{
	series->spill = spill;
	series->bytes = sp_spill_keep(spill, series->bytes, series->size);
	series->blocks =
		sp_spill_keep(spill, series->blocks, series->block_count * sizeof(*series->blocks));
}

void sp_series_finish(struct sp_step_series *series)
{
	sp_spill_free(series->spill, series->bytes);
	sp_spill_free(series->spill, series->blocks);
	*series = (struct sp_step_series){.bytes = NULL};
}

/* The head of a block; in.at is then at its first column. */
struct block_head {
	uint64_t number, steps, bytes[SP_SERIES_COLUMNS];
	int64_t start_us;
};

static bool get_head(struct sp_input *in, struct block_head *ret)
{
	uint64_t all = 0;

	ret->number = sp_varint_get(in);
	ret->steps = sp_varint_get(in);
	ret->start_us = sp_unzigzag(sp_varint_get(in));
	for (int column = 0; column < SP_SERIES_COLUMNS; column++) {
		ret->bytes[column] = sp_varint_get(in);
		if (ret->bytes[column] > (uint64_t)(in->end - in->at))
			return false;
		all += ret->bytes[column];
	}
	return !in->bad && ret->steps && ret->steps <= SP_SERIES_STEPS &&
	       all <= (uint64_t)(in->end - in->at);
}

/* Reads a column's codes; in is then at its end. */
static bool get_codes(struct sp_input *in, uint64_t bytes, uint32_t n, int64_t *ret)
{
	struct sp_input column = {in->at, in->at + bytes, 0};

	sp_numbers_unpack(ret, n, &column);
	in->at += bytes;
	return !column.bad && column.at == column.end;
}

static bool numbers_are_right(const int64_t *codes, uint32_t n)
{
	return !SP_ANY(i, n,
		       codes[i] < (i ? codes[i - 1] : 0) ||
			       codes[i] >= (int64_t)SP_SERIES_STEPS - i);
}

static int read_block(struct sp_step_series *series, struct sp_input *in)
{
	const struct sp_series_block *before =
		series->block_count ? &series->blocks[series->block_count - 1] : NULL;
	uint64_t number = before ? before->number + 1u : 0;
	int64_t start_us = before ? before->start_us : 0;
	uint32_t at = (uint32_t)(in->at - series->bytes);
	int64_t codes[SP_SERIES_STEPS];
	struct sp_series_block *block;
	struct block_head head;

	if (!get_head(in, &head) || head.number > UINT32_MAX / SP_SERIES_STEPS ||
	    number + head.number > UINT32_MAX / SP_SERIES_STEPS)
		return -EBADMSG;
	for (int column = 0; column < SP_SERIES_COLUMNS; column++) {
		if (!get_codes(in, head.bytes[column], (uint32_t)head.steps, codes))
			return -EBADMSG;
		if (column == SP_SERIES_NUMBER && !numbers_are_right(codes, (uint32_t)head.steps))
			return -EBADMSG;
	}
	block = SP_LIST_ADD(series->blocks, series->block_count, series->block_room);
	if (!block)
		return -ENOMEM;
	*block = (struct sp_series_block){.number = (uint32_t)(number + head.number),
					  .steps = (uint32_t)head.steps,
					  .at = at,
					  .start_us = add(start_us, head.start_us)};
	series->steps += block->steps;
	return 0;
}

int sp_series_read(struct sp_step_series *series, const uint8_t *bytes, size_t n)
{
	struct sp_input in;
	int r = n > UINT32_MAX / 2 ? -EBADMSG : 0;

	*series = (struct sp_step_series){.bytes = NULL};
	if (r == 0)
		r = reserve(series, n + 1);
	if (r < 0)
		return r;
	if (n)
		memcpy(series->bytes, bytes, n);
	series->size = (uint32_t)n;
	in = (struct sp_input){series->bytes, series->bytes + n, 0};
	while (r == 0 && in.at < in.end)
		r = read_block(series, &in);
	trim(series);
	if (r < 0)
		sp_series_finish(series);
	return r;
}

static bool column_codes(const struct sp_step_series *series, const struct sp_series_block *block,
			 enum sp_series_column column, int64_t *ret)
{
	struct sp_input in = {series->bytes + block->at, series->bytes + series->size, 0};
	struct block_head head;

	if (!get_head(&in, &head))
		return false;
	for (int i = 0; i < (int)column; i++)
		in.at += head.bytes[i];
	return get_codes(&in, head.bytes[column], block->steps, ret);
}

static int64_t clip(int64_t code)
{
	return code < 0 ? 0 : code;
}

static int starts_of(const struct sp_step_series *series, const struct sp_series_block *b,
		     int64_t *ret)
{
	int64_t walls[SP_SERIES_STEPS], us = b->start_us;

	if (!column_codes(series, b, SP_SERIES_START, ret) ||
	    !column_codes(series, b, SP_SERIES_WALL, walls))
		return -EBADMSG;
	for (uint32_t i = 0; i < b->steps; i++) {
		us = add(us, ret[i]);
		ret[i] = sp_instant(ns_of(us));
		us = add(us, of_code(clip(walls[i])) / 1000);
	}
	return 0;
}

static int lefts_of(const struct sp_step_series *series, const struct sp_series_block *b,
		    int64_t *ret)
{
	int64_t walls[SP_SERIES_STEPS], starts[SP_SERIES_STEPS];

	if (!column_codes(series, b, SP_SERIES_LEFT, ret) ||
	    !column_codes(series, b, SP_SERIES_WALL, walls) || starts_of(series, b, starts) < 0)
		return -EBADMSG;
	for (uint32_t i = 0; i < b->steps; i++)
		ret[i] = sp_instant(
			add(starts[i], ns_of(add(of_code(clip(walls[i])) / 1000, ret[i]))));
	return 0;
}

int sp_series_column(const struct sp_step_series *series, uint32_t block,
		     enum sp_series_column column, int64_t *ret)
{
	const struct sp_series_block *b = &series->blocks[block];

	if (column == SP_SERIES_START)
		return starts_of(series, b, ret);
	if (column == SP_SERIES_LEFT)
		return lefts_of(series, b, ret);
	if (!column_codes(series, b, column, ret))
		return -EBADMSG;
	for (uint32_t i = 0; i < b->steps; i++) {
		if (column == SP_SERIES_NUMBER)
			ret[i] += i;
		else if (column == SP_SERIES_KIND || column == SP_SERIES_EPOCH)
			ret[i] = clip(ret[i]);
		else if (column == SP_SERIES_STAY)
			ret[i] = ret[i] <= 0 ? -1 : sp_instant(of_code(ret[i] - 1));
		else
			ret[i] = sp_instant(of_code(clip(ret[i])));
	}
	return 0;
}
