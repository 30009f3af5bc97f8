/* SPDX-License-Identifier: Apache-2.0 */
/*
 * CPython's Objects/lnotab_notes.txt (3.8 to 3.10) and Objects/locations.md describe the tables.
 */
#include "scripts/sampler/line_table.h"

#define NO_LINE (-128)
#define CODE_NONE 15u
#define CODE_LONG 14u
#define CODE_NO_COLUMN 13u
#define CODE_ONE_LINE 10u

static uint32_t of_lnotab(const uint8_t *table, uint32_t bytes, uint32_t first_line, int64_t at)
{
	int64_t address = 0, line = first_line;

	for (uint32_t i = 0; i + 1 < bytes; i += 2) {
		address += table[i];
		if (address > at)
			break;
		line += (int8_t)table[i + 1];
	}
	return line > 0 ? (uint32_t)line : 0;
}

static uint32_t of_pairs(const uint8_t *table, uint32_t bytes, uint32_t first_line, int64_t at)
{
	int64_t end = 0, line = first_line;

	for (uint32_t i = 0; i + 1 < bytes; i += 2) {
		int delta = (int8_t)table[i + 1];

		end += table[i];
		line += delta == NO_LINE ? 0 : delta;
		if (at < end)
			return delta == NO_LINE || line <= 0 ? 0 : (uint32_t)line;
	}
	return 0;
}

struct cursor {
	const uint8_t *at, *end;
};

static uint32_t varint(struct cursor *c)
{
	uint32_t value = 0;

	for (unsigned shift = 0; c->at < c->end && shift < 30; shift += 6) {
		uint8_t byte = *c->at++;

		value |= (uint32_t)(byte & 0x3F) << shift;
		if (!(byte & 0x40))
			break;
	}
	return value;
}

static int64_t signed_varint(struct cursor *c)
{
	uint32_t value = varint(c);

	return value & 1 ? -(int64_t)(value >> 1) : (int64_t)(value >> 1);
}

/* Skips an entry's columns. Returns the difference to the line of the entry before. */
static int64_t line_delta(struct cursor *c, uint32_t code)
{
	int64_t delta = 0;

	if (code == CODE_NONE)
		return 0;
	if (code == CODE_LONG || code == CODE_NO_COLUMN)
		delta = signed_varint(c);
	else if (code >= CODE_ONE_LINE)
		delta = code - CODE_ONE_LINE;
	if (code == CODE_LONG)
		for (int i = 0; i < 3; i++)
			varint(c);
	else if (code < CODE_NO_COLUMN)
		c->at += code >= CODE_ONE_LINE ? 2 : 1;
	return delta;
}

static uint32_t of_locations(const uint8_t *table, uint32_t bytes, uint32_t first_line, int64_t at)
{
	struct cursor c = {table, table + bytes};
	int64_t end = 0, line = first_line;

	while (c.at < c.end) {
		uint32_t head = *c.at++, code = head >> 3 & 15;

		line += line_delta(&c, code);
		end += ((head & 7) + 1) * 2;
		if (at < end)
			return code == CODE_NONE || line <= 0 ? 0 : (uint32_t)line;
	}
	return 0;
}

uint32_t sp_line_table_find(const uint8_t *table, uint32_t bytes, enum sp_python_place place,
			    uint32_t first_line, int64_t instruction)
{
	if (instruction < 0)
		return first_line;
	if (place == SP_PLACE_BYTES)
		return of_lnotab(table, bytes, first_line, instruction);
	if (place == SP_PLACE_UNITS)
		return of_pairs(table, bytes, first_line, instruction * 2);
	return of_locations(table, bytes, first_line, instruction);
}
