/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Samples name a line; the page shows its text. The text is read from a regular file PATH.py of at
 * most 4 MiB that has not changed since the run began.
 */
#ifndef STAGEPROF_ANALYZER_PAGE_SOURCE_H
#define STAGEPROF_ANALYZER_PAGE_SOURCE_H

#include <stdint.h>
#include <stdio.h>

#include "analyzer/report/report.h"

/* Writes the line and its neighbours; nothing where the file is not there, or another. */
void sp_page_source_put(FILE *file, const struct sp_report *report, uint32_t frame);

#endif
