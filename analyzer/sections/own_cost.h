/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The time that recording took from the selected processes: events at the price measured when each
 * process began, and the recorder's own times for blocks and files.
 */
#ifndef STAGEPROF_ANALYZER_OWN_COST_H
#define STAGEPROF_ANALYZER_OWN_COST_H

#include <stdbool.h>
#include <stdint.h>

#include "analyzer/print/out.h"

struct sp_report;

struct sp_own_cost {
	uint64_t events;    /* of processes with a known price of an event */
	uint64_t record_ns; /* of the same processes */
	uint64_t block_ns;  /* blocks, files and their growth; of whole processes */
	uint64_t stall_ns;  /* the longest wait of one call for these */
	uint64_t thread_ns; /* sum of the threads' lifetimes */
	uint32_t unpriced;  /* processes without a known price of an event */
	bool has_blocks;    /* whole processes are selected, and at least one reported blocks */
};

struct sp_own_cost sp_own_cost_of(const struct sp_report *report);

/* Writes lines of the summary, and "own_cost" in JSON. */
void sp_own_cost_show(const struct sp_report *report, struct sp_out *out);

#endif
