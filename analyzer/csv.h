/*
 * CSV (RFC 4180, LF), safe to open in a spreadsheet.
 */
#ifndef STAGEPROF_ANALYZER_CSV_H
#define STAGEPROF_ANALYZER_CSV_H

#include "analyzer/out.h"

void sp_csv_head(FILE *file, const struct sp_column *columns, size_t n);

/* A null cell is empty. A text that a spreadsheet would take for a formula gets a ' in front. */
void sp_csv_row(FILE *file, const struct sp_column *columns, size_t n, const struct sp_cell *cells);

#endif
