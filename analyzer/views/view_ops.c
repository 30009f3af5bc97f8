/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdlib.h>

#include "analyzer/views/view_ranges.h"

/* A group of coverage: Paddle's autograd calls its operators in C++, where nothing asks for them.
 */
#define PADDLE_OPERATORS "paddle-operators\t"

enum { NAME, CALLS, TOTAL, SELF, MEAN, SHARE, CELLS };

static const struct sp_column columns[CELLS] = {
	[NAME] = {"op", N_("operator"), SP_CELL_TEXT},
	[CALLS] = {"calls", N_("calls"), SP_CELL_COUNT},
	[TOTAL] = {"total_ns", N_("total"), SP_CELL_NS},
	[SELF] = {"self_ns", N_("self"), SP_CELL_NS},
	[MEAN] = {"mean_ns", N_("mean"), SP_CELL_NS},
	[SHARE] = {"share", N_("share"), SP_CELL_SHARE},
};

struct op {
	uint64_t calls, total_ns, self_ns;
};

struct ops {
	struct sp_range_visit visit;
	struct op *list; /* by label */
	uint64_t self_ns;
};

static int add(struct sp_range_visit *visit, const struct sp_range_node *node, uint32_t depth)
{
	struct ops *ops = (struct ops *)visit;
	struct op *op = &ops->list[node->label];
	uint64_t self_ns = sp_range_self_ns(node);

	(void)depth;
	op->calls += node->calls;
	op->total_ns += node->total_ns;
	op->self_ns += self_ns;
	ops->self_ns += self_ns;
	return 0;
}

static uint64_t by_self(const void *context, uint32_t i)
{
	return ((const struct op *)context)[i].self_ns;
}

static uint64_t by_total(const void *context, uint32_t i)
{
	return ((const struct op *)context)[i].total_ns;
}

static uint64_t by_calls(const void *context, uint32_t i)
{
	return ((const struct op *)context)[i].calls;
}

static const struct sp_sort_key keys[] = {{"self", "self_ns", N_("self"), by_self},
					  {"total", "total_ns", N_("total"), by_total},
					  {"calls", "calls", N_("calls"), by_calls}};

static int show_row(const struct ops *ops, uint32_t label)
{
	const struct op *op = &ops->list[label];
	size_t bytes;
	const char *name =
		sp_string_table_text(&ops->visit.report->run.metadata.labels, label, &bytes);
	struct sp_cell cells[CELLS] = {
		[NAME] = bytes ? sp_cell_bytes(name, bytes) : sp_cell_text(_("(other)")),
		[CALLS] = sp_cell_count(op->calls),
		[TOTAL] = sp_cell_count(op->total_ns),
		[SELF] = sp_cell_count(op->self_ns),
		[MEAN] = sp_cell_count(op->total_ns / op->calls),
		[SHARE] = sp_cell_ratio(op->self_ns, ops->self_ns),
	};

	return sp_out_row(ops->visit.out, cells);
}

static int show_ops(struct ops *ops, const uint32_t *order, uint32_t limit)
{
	uint32_t n = ops->visit.report->run.metadata.labels.count, rows = 0;
	int r = sp_out_table(ops->visit.out, "ops", NULL, columns, CELLS, true);

	for (uint32_t i = 0; r == 0 && i < n; i++)
		if (ops->list[order[i]].calls && rows++ < limit)
			r = show_row(ops, order[i]);
	sp_out_table_end(ops->visit.out);
	sp_view_more(ops->visit.out, rows > limit ? rows - limit : 0);
	if (rows == 0)
		sp_out_line(ops->visit.out, "no operators: STAGEPROF_OPS=1 records them");
	else if (sp_metadata_has_coverage(&ops->visit.report->run.metadata, PADDLE_OPERATORS))
		sp_out_line(ops->visit.out, "Paddle's operators of backward are not recorded");
	return r;
}

int sp_view_ops(const struct sp_report *report, struct sp_out *out,
		const struct sp_view_options *options)
{
	const struct sp_sort_key *key = SP_SORT_FIND(keys, options);
	uint32_t n = report->run.metadata.labels.count, *order = NULL;
	struct ops ops = {
		.visit = {.report = report,
			  .tree = &report->ops,
			  .key = sp_ranges_key(&(struct sp_view_options){.sort = NULL}),
			  .show = add,
			  .out = out,
			  .limit = UINT32_MAX},
	};
	int r = key ? 0 : -EINVAL;

	ops.list = calloc(n + 1u, sizeof(*ops.list));
	if (r == 0)
		r = ops.list ? sp_ranges_visit(&ops.visit) : -ENOMEM;
	if (r == 0)
		order = sp_order_by(n, key->value, ops.list);
	if (r == 0 && !order)
		r = -ENOMEM;
	if (r == 0) {
		sp_run_json(report, out);
		r = show_ops(&ops, order, options->limit);
	}
	free(order);
	free(ops.list);
	return r;
}
