/*
 * Rows as aligned text. Widths come from the rows; a table that grows long prints what it has and
 * keeps the widths found by then, so that memory stays bounded.
 */
#ifndef STAGEPROF_ANALYZER_TABLE_H
#define STAGEPROF_ANALYZER_TABLE_H

#include "analyzer/out.h"

/*
 * width: columns of the terminal, 0: no limit. Long texts are shortened for it; leaves_out: where that does not do,
 * columns are left out, too, and named under the table. Returns NULL where memory is out.
 */
struct sp_table *sp_table_create(FILE *file, const struct sp_column *columns, size_t n,
				 unsigned width, bool leaves_out, bool color);

/* Returns 0 or -ENOMEM. */
int sp_table_row(struct sp_table *t, const struct sp_cell *cells);

/* One cell as people read it, to free(); NULL where memory is out. */
char *sp_table_cell(const struct sp_column *column, const struct sp_cell *cell);

/* Prints what waits. */
void sp_table_destroy(struct sp_table *t);

#endif
