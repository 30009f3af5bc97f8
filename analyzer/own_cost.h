/*
 * What recording took from the processes that are shown: events at the price measured when each process
 * began, and the time for blocks and files as the recorder took it.
 */
#ifndef STAGEPROF_ANALYZER_OWN_COST_H
#define STAGEPROF_ANALYZER_OWN_COST_H

#include <stdbool.h>
#include <stdint.h>

#include "analyzer/out.h"

struct sp_report;

struct sp_own_cost {
	uint64_t events;    /* of processes that told the price of one */
	uint64_t record_ns; /* theirs */
	uint64_t block_ns;  /* blocks, files and their growth; of whole processes */
	uint64_t stall_ns;  /* the longest of these that one call waited for */
	uint64_t thread_ns; /* lives of the threads, added up */
	uint32_t untold;    /* processes that did not tell the price of an event */
	bool has_blocks;    /* whole processes are selected, and at least one told */
};

struct sp_own_cost sp_own_cost_of(const struct sp_report *report);

/* Lines of the summary, and "own_cost" in JSON. */
void sp_own_cost_show(const struct sp_report *report, struct sp_out *out);

#endif
