/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The output of views: rows of typed cells, in the format that the user asked for.
 *
 * A view writes tables (in all formats), plain objects (JSON) and lines (table format). A format
 * leaves out the kinds that it lacks; HTML and Markdown take all that the table format takes. CSV
 * has the view's main table only.
 */
#ifndef STAGEPROF_ANALYZER_OUT_H
#define STAGEPROF_ANALYZER_OUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "analyzer/print/cell.h"
#include "analyzer/print/html_writer.h"
#include "analyzer/print/md.h"
#include "analyzer/text/json.h"
#include "analyzer/text/translate.h"

enum sp_format {
	SP_FORMAT_TABLE,
	SP_FORMAT_JSON,
	SP_FORMAT_CSV,
	SP_FORMAT_MD,
	SP_FORMAT_HTML, /* sections of the page of the view html; there is no --format=html */
	SP_FORMAT_ROWS, /* each table goes to out->rows, with the keys of CSV; there is no
			   --format=rows */
};

/* Receives tables row by row. The results become those of sp_out_table() and sp_out_row(). */
struct sp_rows {
	int (*table)(void *context, const char *key, const struct sp_column *columns, size_t n,
		     bool is_main);
	int (*row)(void *context, const struct sp_cell *cells);
	void *context;
};

struct sp_table; /* rows kept until the column widths are known */

struct sp_out {
	FILE *file;
	enum sp_format format;
	unsigned width;	     /* columns of the terminal; 0: no limit */
	bool width_is_asked; /* tables may leave columns out to fit; otherwise they only shorten
				texts */
	bool color;
	struct sp_json json;
	struct sp_html markup;
	struct sp_md md;
	const struct sp_rows *rows; /* SP_FORMAT_ROWS */
	bool is_part;		    /* one section of a page, which has the object "run" once */
	bool was_paused;	    /* sp_translate_pause() before sp_out_begin() */
	const struct sp_column *columns;
	size_t column_count;
	bool is_main; /* the open table is the view's main table, or the table asked for */
	const char
		*table_asked; /* SP_FORMAT_CSV: the key of the table to write; NULL: the main one */
	bool has_table;	      /* the table asked for was written */
	struct sp_table *table;
	const unsigned char *importance; /* of the next table's columns (table.h); NULL: equal */
};

/* Begins the output. Until sp_out_end() all text is English, unless the format is for people. */
void sp_out_begin(struct sp_out *out);

/* Returns 0, or -EIO where the output is incomplete. */
int sp_out_end(struct sp_out *out);

/* True where the format is for people: lines are shown, and a text says that a table is empty. */
static inline bool sp_out_is_read(const struct sp_out *out)
{
	return out->format == SP_FORMAT_TABLE || out->format == SP_FORMAT_HTML ||
	       out->format == SP_FORMAT_MD;
}

/*
 * key: the table's name in JSON; title: a line above the table, or NULL. The title and the columns'
 * titles are translated here. Returns 0 or -ENOMEM.
 */
int sp_out_table(struct sp_out *out, const char *key, const char *title,
		 const struct sp_column *columns, size_t n, bool is_main);
int sp_out_row(struct sp_out *out, const struct sp_cell *cells);
int sp_out_table_end(struct sp_out *out);

/* False after a write has failed: a long view may stop. */
static inline bool sp_out_is_open(const struct sp_out *out)
{
	return !ferror(out->file);
}

/* Writes a line of the table format. The format string is translated here; the caller has
 * escaped strings of the trace. */
void sp_out_line(struct sp_out *out, const char *format, ...) __attribute__((format(printf, 2, 3)));

/*
 * Writes text as lines that fit the terminal (analyzer/text/wrap.h). The head, translated here,
 * stands before the first line; the other lines are indented by its width. head: at most 24
 * columns.
 */
void sp_out_wrapped(struct sp_out *out, const char *head, const char *text);

#endif
