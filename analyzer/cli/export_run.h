/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs one export: progress, the work, and the hint about the file.
 */
#ifndef STAGEPROF_ANALYZER_EXPORT_RUN_H
#define STAGEPROF_ANALYZER_EXPORT_RUN_H

#include "analyzer/exporters/export.h"
#include "analyzer/cli/options.h"
#include "analyzer/print/output_file.h"

/* Draws on stderr where that is a terminal. Returns 0 or -errno. */
int sp_export_run(struct sp_report *report, const struct sp_options *options,
		  const struct sp_output_file *file);

#define SP_NEXT_BYTES 8192u

/* "wrote FILE (12 MB): what to do with it"; the file's name is quoted for a shell, and escaped. */
void sp_export_next(char ret[SP_NEXT_BYTES], const struct sp_exporter *exporter, const char *path);

#endif
