/*
 * HTML as a stream: text, tables and facts. Whatever bytes come in, what comes out has no tag,
 * attribute or character of theirs that a browser would act on.
 */
#ifndef STAGEPROF_ANALYZER_MARKUP_H
#define STAGEPROF_ANALYZER_MARKUP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct sp_column;
struct sp_cell;

struct sp_markup {
	FILE *file;
	bool in_facts; /* a <dl> is open */
};

/* Text for people: sp_text_escape(), shortened in the middle where it is long, then entities. */
void sp_markup_text(FILE *file, const char *text, size_t bytes);

/* The same, of text that is safe on a terminal: valid UTF-8, no control characters. */
void sp_markup_plain(FILE *file, const char *text);

/* A column with no title is left out; one with a key has it as data-key, for scripts. */
void sp_markup_table(struct sp_markup *m, const char *key, const char *title,
		     const struct sp_column *columns, size_t n);
/* Returns 0 or -ENOMEM. */
int sp_markup_row(struct sp_markup *m, const struct sp_column *columns, size_t n,
		  const struct sp_cell *cells);
void sp_markup_table_end(struct sp_markup *m);

/*
 * A line of sp_out_line(). One whose first SP_LINE_NAME columns are a name becomes a name and its
 * value; where they are blank it goes on with the value of the line before.
 */
void sp_markup_line(struct sp_markup *m, const char *line);
/* Closes what lines have opened. */
void sp_markup_end(struct sp_markup *m);

#endif
