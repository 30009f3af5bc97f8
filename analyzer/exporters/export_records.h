/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One export: its run, its output, and the events that it reads.
 */
#ifndef STAGEPROF_ANALYZER_EXPORT_RECORDS_H
#define STAGEPROF_ANALYZER_EXPORT_RECORDS_H

#include <stdio.h>

#include "analyzer/base/progress.h"
#include "analyzer/events/event_record.h"
#include "analyzer/report/report.h"

struct sp_export {
	struct sp_report *report; /* aggregated, with the exporter's needs */
	FILE *file;		  /* may be a pipe */
	const char *path;	  /* path of the file, where it is new and has a name; else NULL;
				     SP_IS_FOLDER: always */
	struct sp_progress *progress;
	const char *version; /* of this program */
};

/* As sp_records_read(), with progress; ends early, with -EIO, after a failed write. */
int sp_export_records(struct sp_export *export,
		      int (*take)(void *context, const struct sp_record *record), void *context);

#endif
