/*
 * A run for other programs. To add an exporter: a line in exporters.def and a file export_NAME.c that defines
 * sp_export_NAME().
 *
 * Exporters stream: memory is bounded by threads, names and steps, not by events.
 */
#ifndef STAGEPROF_ANALYZER_EXPORT_H
#define STAGEPROF_ANALYZER_EXPORT_H

#include <stdbool.h>
#include <stdio.h>

#include "analyzer/progress.h"
#include "analyzer/record.h"
#include "analyzer/report.h"

struct sp_export {
	struct sp_report *report; /* folded, with what the exporter needs */
	FILE *file;		  /* may be a pipe */
	const char *path;	  /* of file, where it is a new one that has a name; else NULL */
	struct sp_progress *progress;
	const char *version; /* of this program */
};

struct sp_exporter {
	const char *name, *help, *next;
	bool is_binary;
	unsigned needs; /* enum sp_view_needs */
	/* Returns 0 or -errno. What could not be written to the file may also be left for ferror(). */
	int (*write)(struct sp_export *export);
};

extern const struct sp_exporter sp_exporters[];
extern const unsigned sp_exporter_count;

/* NULL where there is none of this name. */
const struct sp_exporter *sp_exporter_find(const char *name);

#define SP_EXPORTER(name, binary, needs, help, next) int sp_export_##name(struct sp_export *export);
#include "analyzer/exporters.def"
#undef SP_EXPORTER

/* As sp_records_read(), with progress; ends early, with -EIO, where the file has taken no more. */
int sp_export_records(struct sp_export *export,
		      int (*take)(void *context, const struct sp_record *record), void *context);

#endif
