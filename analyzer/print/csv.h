/* SPDX-License-Identifier: Apache-2.0 */
/*
 * CSV (RFC 4180, LF), safe to open in a spreadsheet.
 */
#ifndef STAGEPROF_ANALYZER_CSV_H
#define STAGEPROF_ANALYZER_CSV_H

#include <stdio.h>

#include "analyzer/print/cell.h"

void sp_csv_head(FILE *file, const struct sp_column *columns, size_t n);

/* A null cell is empty. A "'" is put before a text that a spreadsheet would take for a formula. */
void sp_csv_row(FILE *file, const struct sp_column *columns, size_t n, const struct sp_cell *cells);

#endif
