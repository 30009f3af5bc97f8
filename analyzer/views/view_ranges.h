/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The common part of the views of ranges: the tree in its display order.
 */
#ifndef STAGEPROF_ANALYZER_VIEW_RANGES_H
#define STAGEPROF_ANALYZER_VIEW_RANGES_H

#include "analyzer/views/view.h"

struct sp_range_visit {
	const struct sp_report *report;
	const struct sp_range_tree *tree; /* of the report */
	/* orders siblings; its context is a struct sp_range_siblings */
	const struct sp_sort_key *key;
	/* Called for each node before its children; returns 0 or a negative error. */
	int (*show)(struct sp_range_visit *visit, const struct sp_range_node *node, uint32_t depth);
	struct sp_out *out;
	uint32_t limit, rows; /* rows: the number of rows without a limit */
};

struct sp_range_siblings {
	const struct sp_range_tree *tree;
	uint32_t *list;
};

/* Returns 0, -ENOMEM, or the result of show(). */
int sp_ranges_visit(struct sp_range_visit *visit);

/*
 * Writes the table of a view of ranges. visit: the caller sets report, show and out; this function
 * sets the rest. Returns 0, -EINVAL, with nothing written, where there is no such sort key, or a
 * negative error.
 */
int sp_ranges_table(struct sp_range_visit *visit, const struct sp_view_options *options,
		    const char *name, const struct sp_column *columns, unsigned cells);

/* Sorting by "total" (first), "self", "calls", "mean", "max" or "order" (of the first calls); NULL
 * where there is no such key. */
const struct sp_sort_key *sp_ranges_key(const struct sp_view_options *options);

static inline uint64_t sp_range_self_ns(const struct sp_range_node *node)
{
	return node->total_ns > node->inside_ns ? node->total_ns - node->inside_ns : 0;
}

#endif
