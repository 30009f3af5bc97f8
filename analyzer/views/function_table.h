/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rows of the view `functions`: samples added up by function, line, module or library.
 */
#ifndef STAGEPROF_FUNCTION_TABLE_H
#define STAGEPROF_FUNCTION_TABLE_H

#include <stdbool.h>
#include <stdint.h>

#include "analyzer/metadata/string_table.h"
#include "analyzer/samples/samples.h"
#include "analyzer/views/view.h"

struct sp_function_key {
	uint32_t text; /* of the samples' texts, or of `files` */
	uint32_t line; /* SP_ROWS_LIBRARY: 1: of threads that did not run */
	uint32_t phase;
};

struct sp_function_row {
	struct sp_function_key key;
	uint64_t samples, own_ns, total_ns, waited_ns;
	uint64_t library_ns, known_ns; /* in `library`; in any that is known */
	uint32_t object;	       /* in which most of `own` ran; 0: not known */
	uint32_t seen;		       /* number of the last stack that it was counted for */
};

struct sp_function_table {
	const struct sp_samples *samples;
	enum sp_function_rows by;
	struct sp_string_table files; /* of SP_ROWS_MODULE */
	struct sp_function_row *list;
	uint32_t count, room;
	struct row_place *places;
	struct library_place *libraries;
	uint64_t all_ns;
	bool is_spread; /* libraries have the time of looks that did not ask for theirs */
};

/* The caller sets `samples` and `by` of an empty table. phase: 0: all, else that phase plus 1.
 * Returns 0, or -ENOMEM; sp_function_table_finish() is due in both cases. */
int sp_function_table_make(struct sp_function_table *table, unsigned phase);

void sp_function_table_finish(struct sp_function_table *table);

#endif
