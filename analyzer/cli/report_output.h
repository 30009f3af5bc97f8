/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The file or folder that -o names, or stdout.
 */
#ifndef STAGEPROF_ANALYZER_REPORT_OUTPUT_H
#define STAGEPROF_ANALYZER_REPORT_OUTPUT_H

#include "analyzer/cli/options.h"
#include "analyzer/print/output_file.h"

/* Before hours of reading. Returns 0 or -errno, after a line on stderr. */
int sp_report_output_open(struct sp_output_file *file, const struct sp_options *options);

/* Keeps what was written under its name. Returns an exit status, after a line on stderr where that
 * is not 0. */
int sp_report_output_keep(const struct sp_options *options, struct sp_output_file *file);

#endif
