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

#include "analyzer/exporters/export_records.h"

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

#endif
