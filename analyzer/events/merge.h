/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The events of many streams in the order in which they ended. One reader serves all streams.
 * Each stream holds one batch of its slots, and only from its thread's begin to its end.
 */
#ifndef STAGEPROF_ANALYZER_MERGE_H
#define STAGEPROF_ANALYZER_MERGE_H

#include "analyzer/reader/reader.h"
#include "analyzer/report/report.h"

struct sp_merged {
	uint32_t stream; /* index into report->run.index.streams */
	const struct sp_slot *slot;
	const struct sp_slot *extra; /* its EXTRA slot; NULL: none */
	int64_t start_ns;	     /* CLOCK_REALTIME */
	uint64_t dur_ns;
};

struct sp_merge_cursor;

struct sp_merge {
	const struct sp_report *report;
	struct sp_reader reader;
	struct sp_merge_cursor *cursors, *last; /* last: whose event was given */
	struct sp_merge_cursor **heap;
	uint32_t count;
};

/* Over the selected streams; the selected time is for the caller to check. Returns 0 or -ENOMEM. */
int sp_merge_init(struct sp_merge *merge, const struct sp_report *report);
void sp_merge_finish(struct sp_merge *merge);

/* Returns 1 and an event, good until the next call; 0 at the end; or -ENOMEM. */
int sp_merge_next(struct sp_merge *merge, struct sp_merged *ret);

#endif
