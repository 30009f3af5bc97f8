/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Typed cells of tables, and the columns that they stand in.
 */
#ifndef STAGEPROF_ANALYZER_CELL_H
#define STAGEPROF_ANALYZER_CELL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum sp_cell_type {
	SP_CELL_TEXT,
	SP_CELL_WORD,  /* a short text that is never shortened */
	SP_CELL_CHAIN, /* a text whose start matters most: tables shorten its end, not its middle */
	SP_CELL_LIST,  /* a text of items separated by ';', null where empty: an array in JSON */
	SP_CELL_COUNT,
	SP_CELL_ID, /* a number that is a name: written without separators */
	SP_CELL_NS,
	SP_CELL_SIGNED, /* a number that may be negative */
	SP_CELL_AT_NS,	/* signed: an instant since the run began */
	SP_CELL_BYTES,
	SP_CELL_RATE, /* bytes per second */
	SP_CELL_SHARE,
};

static inline bool sp_cell_is_text(enum sp_cell_type type)
{
	return type == SP_CELL_TEXT || type == SP_CELL_WORD || type == SP_CELL_CHAIN ||
	       type == SP_CELL_LIST;
}

struct sp_column {
	const char *key;   /* of JSON and CSV; NULL: these formats leave the column out */
	const char *title; /* of the table, marked by N_(); NULL: the table leaves the column out */
	enum sp_cell_type type;
};

struct sp_cell {
	bool is_null;
	uint64_t count; /* COUNT, ID, NS, BYTES, RATE */
	int64_t value;	/* SIGNED, AT_NS */
	double share;
	const char *text; /* any bytes; read before the call returns */
	size_t bytes;
};

static inline struct sp_cell sp_cell_null(void)
{
	return (struct sp_cell){.is_null = true};
}

static inline struct sp_cell sp_cell_count(uint64_t n)
{
	return (struct sp_cell){.count = n};
}

/* Null where n is not known. */
static inline struct sp_cell sp_cell_if(bool is_known, uint64_t n)
{
	return is_known ? sp_cell_count(n) : sp_cell_null();
}

static inline struct sp_cell sp_cell_signed(int64_t n)
{
	return (struct sp_cell){.value = n};
}

static inline struct sp_cell sp_cell_share(double x)
{
	return (struct sp_cell){.share = x};
}

struct sp_cell sp_cell_text(const char *text); /* NULL: a null cell */
struct sp_cell sp_cell_bytes(const char *text, size_t bytes);

/* part / whole; null where whole is 0. */
struct sp_cell sp_cell_ratio(uint64_t part, uint64_t whole);

/* bytes in ns; null where either is 0. */
struct sp_cell sp_cell_rate(uint64_t bytes, uint64_t ns);

#endif
