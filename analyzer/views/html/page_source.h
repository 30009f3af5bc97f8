/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The text of a line that samples name, for the page: of a regular file PATH.py that has not
 * changed since the run began, and is not larger than 4 MiB.
 */
#ifndef STAGEPROF_ANALYZER_PAGE_SOURCE_H
#define STAGEPROF_ANALYZER_PAGE_SOURCE_H

#include <stdint.h>
#include <stdio.h>

#include "analyzer/report/report.h"

/* Writes the line and its neighbours; nothing where the file is not there, or another. */
void sp_page_source_put(FILE *file, const struct sp_report *report, uint32_t frame);

#endif
