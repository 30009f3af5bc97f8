/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Prints rows as aligned text. The rows set the widths. A long table prints its first rows early
 * and keeps their widths, so that memory stays bounded.
 */
#ifndef STAGEPROF_ANALYZER_TABLE_H
#define STAGEPROF_ANALYZER_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "analyzer/print/cell.h"

/*
 * width: columns of the terminal, 0: no limit. Long texts are shortened to fit. leaves_out: where
 * that is not enough, columns are left out, too, and named below the table: those of the least
 * importance first, of equal ones the rightmost. importance: one a column, copied; NULL: all are
 * equal. Returns NULL where memory is out.
 */
struct sp_table *sp_table_create(FILE *file, const struct sp_column *columns, size_t n,
				 const unsigned char *importance, unsigned width, bool leaves_out,
				 bool color);

/* Returns 0 or -ENOMEM. */
int sp_table_row(struct sp_table *t, const struct sp_cell *cells);

/* One cell as text for people; the caller frees it. NULL where memory is out. */
char *sp_table_cell(const struct sp_column *column, const struct sp_cell *cell);

/* Prints the waiting rows. A table without rows has no head either: the view says why. */
void sp_table_destroy(struct sp_table *t);

#endif
