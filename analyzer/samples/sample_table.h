/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Samples added up by what they show, in the order in which each was met first.
 */
#ifndef STAGEPROF_ANALYZER_SAMPLE_TABLE_H
#define STAGEPROF_ANALYZER_SAMPLE_TABLE_H

#include <stdbool.h>
#include <stdint.h>

#include "analyzer/samples/sample_phase.h"

struct sp_sample_sums {
	uint32_t stack;
	enum sp_sample_phase phase;
	bool is_waiting;  /* the thread did not run */
	uint32_t object;  /* text of "file\t": where the thread executed; 0: not known */
	uint32_t call;	  /* text of the recorded call inside of the innermost frame; 0: none */
	uint64_t samples; /* looks at the thread */
	uint64_t ns;	  /* that they stand for */
};

struct sp_sample_place;

/* Set `most`; the rest begins as zeros. */
struct sp_sample_table {
	uint32_t most;		     /* rows; samples that need another one are left out */
	struct sp_sample_sums *sums; /* the caller's to free */
	uint32_t count, room;
	struct sp_sample_place *places;
};

/* Adds looks and time to the row that is like `sums` otherwise. Returns 1, 0 where there is no room
 * for the row, or -ENOMEM. */
int sp_sample_table_add(struct sp_sample_table *table, const struct sp_sample_sums *sums);

/* Frees all but the sums. */
void sp_sample_table_close(struct sp_sample_table *table);

#endif
