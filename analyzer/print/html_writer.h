/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An HTML writer: text, tables and name-value pairs. Input bytes never become a tag, an attribute
 * or a character that a browser acts on.
 */
#ifndef STAGEPROF_ANALYZER_HTML_WRITER_H
#define STAGEPROF_ANALYZER_HTML_WRITER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct sp_column;
struct sp_cell;

/* Where a line begins with the name of a fact, the columns that the name takes. */
#define SP_LINE_NAME 11u

struct sp_html {
	FILE *file;
	bool in_list; /* a <dl> is open */
};

/* Writes text for people: sp_text_escape(), shortened in the middle where it is long, then
 * entities. */
void sp_html_text(FILE *file, const char *text, size_t bytes);

/* As sp_html_text(), for text that is safe on a terminal: valid UTF-8, no control characters. */
void sp_html_plain(FILE *file, const char *text);

/* Columns without a title are left out. A column with a key has it as data-key, for scripts. */
void sp_html_table(struct sp_html *m, const char *key, const char *title,
		   const struct sp_column *columns, size_t n);
/* Returns 0 or -ENOMEM. */
int sp_html_row(struct sp_html *m, const struct sp_column *columns, size_t n,
		const struct sp_cell *cells);
void sp_html_table_end(struct sp_html *m);

/*
 * Writes a line of sp_out_line(). A line whose first SP_LINE_NAME columns are a name becomes a name
 * and its value; where these columns are blank, the line continues the value before.
 */
void sp_html_line(struct sp_html *m, const char *line);
/* Closes the list that lines opened. */
void sp_html_end(struct sp_html *m);

#endif
