/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Exports a run for other programs. To add an exporter: a line in exporters.def and a file
 * export_NAME.c that defines sp_export_NAME().
 *
 * Exporters stream: threads, names and steps bound the memory, not events.
 */
#ifndef STAGEPROF_ANALYZER_EXPORT_H
#define STAGEPROF_ANALYZER_EXPORT_H

#include <stdbool.h>
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

struct sp_exporter {
	const char *name, *help, *next;
	bool is_binary;
	unsigned needs; /* enum sp_needs, enum sp_view_needs */
	/* Returns 0 or -errno. A failed write to the file may also show only in ferror(). */
	int (*write)(struct sp_export *export);
};

extern const struct sp_exporter sp_exporters[];
extern const unsigned sp_exporter_count;

/* NULL where there is none of this name. */
const struct sp_exporter *sp_exporter_find(const char *name);

#define SP_EXPORTER(name, binary, needs, help, next) int sp_export_##name(struct sp_export *export);
#include "analyzer/exporters/exporters.def"
#undef SP_EXPORTER

/* As sp_records_read(), with progress; ends early, with -EIO, after a failed write. */
int sp_export_records(struct sp_export *export,
		      int (*take)(void *context, const struct sp_record *record), void *context);

#endif
