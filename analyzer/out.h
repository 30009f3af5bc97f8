/*
 * Where views write: rows of typed cells, in whatever format was asked for.
 *
 * A view writes tables (all formats), plain objects (JSON) and lines (table format); what does not
 * fit the format is left out; HTML and Markdown take what the table format does. CSV carries the view's main table alone.
 */
#ifndef STAGEPROF_ANALYZER_OUT_H
#define STAGEPROF_ANALYZER_OUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "analyzer/json.h"
#include "analyzer/markup.h"
#include "analyzer/translate.h"

enum sp_format {
	SP_FORMAT_TABLE,
	SP_FORMAT_JSON,
	SP_FORMAT_CSV,
	SP_FORMAT_MD,
	SP_FORMAT_HTML, /* pieces of the page that view_html.c makes; no --format of its own */
	SP_FORMAT_ROWS, /* each table, with the keys of CSV, to out->rows; likewise */
};

enum sp_cell_type {
	SP_CELL_TEXT,
	SP_CELL_CHAIN, /* a text whose beginning tells most: for people it is shortened at its end, not in its middle */
	SP_CELL_LIST,  /* a text of items between ';', an empty one is null: an array in JSON */
	SP_CELL_COUNT,
	SP_CELL_ID,	/* a number that is a name: no separators */
	SP_CELL_NS,
	SP_CELL_SIGNED, /* a number that may be negative */
	SP_CELL_AT_NS,	/* signed: an instant since the run began */
	SP_CELL_BYTES,
	SP_CELL_RATE, /* bytes in a second */
	SP_CELL_SHARE,
};

static inline bool sp_cell_is_text(enum sp_cell_type type)
{
	return type == SP_CELL_TEXT || type == SP_CELL_CHAIN || type == SP_CELL_LIST;
}

struct sp_column {
	const char *key;   /* of JSON and CSV; NULL: not there */
	const char *title; /* of the table, marked by N_(); NULL: not there */
	enum sp_cell_type type;
};

struct sp_cell {
	bool is_null;
	uint64_t count; /* COUNT, ID, NS, BYTES, RATE */
	int64_t value;	/* SIGNED, AT_NS */
	double share;
	const char *text; /* any bytes; not kept */
	size_t bytes;
};

struct sp_md {
	FILE *file;
	bool in_lines; /* a block of lines is open */
};

/* Takes tables row by row. Results are those of sp_out_table() and sp_out_row(). */
struct sp_rows {
	int (*table)(void *context, const char *key, const struct sp_column *columns, size_t n,
		     bool is_main);
	int (*row)(void *context, const struct sp_cell *cells);
	void *context;
};

struct sp_table; /* rows that wait for their widths */

struct sp_out {
	FILE *file;
	enum sp_format format;
	unsigned width; /* columns of the terminal; 0: no limit */
	bool width_is_asked; /* tables leave columns out for it; else they only shorten texts */
	bool color;
	struct sp_json json;
	struct sp_markup markup;
	struct sp_md md;
	const struct sp_rows *rows; /* SP_FORMAT_ROWS */
	bool is_part; /* of a page that has the object "run" once */
	bool was_paused; /* sp_translate_pause() before sp_out_begin() */
	const struct sp_column *columns;
	size_t column_count;
	bool is_main; /* the table that is open is the view's main one, or the one asked for */
	const char *table_asked; /* SP_FORMAT_CSV: the key of the table to write; NULL: the main one */
	bool has_table;		 /* it came */
	struct sp_table *table;
};

static inline struct sp_cell sp_cell_null(void)
{
	return (struct sp_cell){.is_null = true};
}

static inline struct sp_cell sp_cell_count(uint64_t n)
{
	return (struct sp_cell){.count = n};
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

/* part/whole; null where whole is 0. */
struct sp_cell sp_cell_ratio(uint64_t part, uint64_t whole);

/* bytes in ns; null where either is 0. */
struct sp_cell sp_cell_rate(uint64_t bytes, uint64_t ns);

/* From here to sp_out_end() all text is English, unless people read this format. */
void sp_out_begin(struct sp_out *out);

/* Returns 0, or -EIO where not everything could be written. */
int sp_out_end(struct sp_out *out);

/* True where a person reads what is written: lines are shown, and what is empty is said in words. */
static inline bool sp_out_is_read(const struct sp_out *out)
{
	return out->format == SP_FORMAT_TABLE || out->format == SP_FORMAT_HTML ||
	       out->format == SP_FORMAT_MD;
}

/*
 * key: the table's name in JSON; title: a line over it, or NULL. That and the columns' titles are translated
 * here. Returns 0 or -ENOMEM.
 */
int sp_out_table(struct sp_out *out, const char *key, const char *title,
		 const struct sp_column *columns, size_t n, bool is_main);
int sp_out_row(struct sp_out *out, const struct sp_cell *cells);
int sp_out_table_end(struct sp_out *out);

/* False once something could not be written: a long view may stop. */
static inline bool sp_out_is_open(const struct sp_out *out)
{
	return !ferror(out->file);
}

/* Where a line begins with the name of a fact, the columns that the name takes. */
#define SP_LINE_NAME 11u

/* A line of the table format, which is translated here; the caller has escaped what comes from a trace. */
void sp_out_line(struct sp_out *out, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/*
 * Text as lines no wider than the terminal (analyzer/wrap.h); the head, which is translated here, stands before the
 * first, and as much room before the others. head: at most 24 columns.
 */
void sp_out_wrapped(struct sp_out *out, const char *head, const char *text);

#endif
