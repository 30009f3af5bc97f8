/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdlib.h>

#include "analyzer/views/view_ranges.h"

enum { NAME, CALLS, TOTAL, SELF, MEAN, MAX, SHARE, CELLS };

static const struct sp_column columns[CELLS] = {
	[NAME] = {"label", N_("label"), SP_CELL_TEXT},
	[CALLS] = {"calls", N_("calls"), SP_CELL_COUNT},
	[TOTAL] = {"total_ns", N_("total"), SP_CELL_NS},
	[SELF] = {"self_ns", N_("self"), SP_CELL_NS},
	[MEAN] = {"mean_ns", N_("mean"), SP_CELL_NS},
	[MAX] = {"max_ns", N_("max"), SP_CELL_NS},
	[SHARE] = {"share", N_("share"), SP_CELL_SHARE},
};

/* mean_ns: of all calls, those that lie in a call of the same label included. */
struct label {
	uint64_t calls, total_ns, self_ns, all_ns, max_ns;
};

struct labels {
	struct sp_range_visit visit;
	struct label *list; /* by label */
	uint32_t enclosing[RANGES_DEPTH_MAX + 1];
};

static bool is_recursive(const struct labels *labels, uint32_t label, uint32_t depth)
{
	for (uint32_t i = 0; i < depth && i <= RANGES_DEPTH_MAX; i++)
		if (labels->enclosing[i] == label)
			return true;
	return false;
}

static int add(struct sp_range_visit *visit, const struct sp_range_node *node, uint32_t depth)
{
	struct labels *labels = (struct labels *)visit;
	struct label *label = &labels->list[node->label];

	label->calls += node->calls;
	label->all_ns += node->total_ns;
	label->self_ns += sp_range_self_ns(node);
	label->max_ns = node->max_ns > label->max_ns ? node->max_ns : label->max_ns;
	if (!is_recursive(labels, node->label, depth))
		label->total_ns += node->total_ns;
	if (depth <= RANGES_DEPTH_MAX)
		labels->enclosing[depth] = node->label;
	return 0;
}

static uint64_t by_self(const void *context, uint32_t i)
{
	return ((const struct label *)context)[i].self_ns;
}

static uint64_t by_total(const void *context, uint32_t i)
{
	return ((const struct label *)context)[i].total_ns;
}

static uint64_t by_calls(const void *context, uint32_t i)
{
	return ((const struct label *)context)[i].calls;
}

static uint64_t by_max(const void *context, uint32_t i)
{
	return ((const struct label *)context)[i].max_ns;
}

static const struct sp_sort_key keys[] = {{"total", "total_ns", N_("total"), by_total},
					  {"self", "self_ns", N_("self"), by_self},
					  {"calls", "calls", N_("calls"), by_calls},
					  {"max", "max_ns", N_("max"), by_max}};

static int show_row(const struct labels *labels, uint32_t number)
{
	const struct label *label = &labels->list[number];
	size_t bytes;
	const char *name =
		sp_string_table_text(&labels->visit.report->run.metadata.labels, number, &bytes);
	char spaced[SP_LABEL_ROOM];

	name = sp_label_spaced(spaced, name, &bytes);
	struct sp_cell cells[CELLS] = {
		[NAME] = bytes ? sp_cell_bytes(name, bytes) : sp_cell_text(_("(other)")),
		[CALLS] = sp_cell_count(label->calls),
		[TOTAL] = sp_cell_count(label->total_ns),
		[SELF] = sp_cell_count(label->self_ns),
		[MEAN] = sp_cell_count(label->all_ns / label->calls),
		[MAX] = sp_cell_count(label->max_ns),
		[SHARE] = sp_cell_ratio(label->total_ns, labels->visit.tree->nodes[0].inside_ns),
	};

	return sp_out_row(labels->visit.out, cells);
}

static int show_labels(struct labels *labels, const uint32_t *order, uint32_t limit)
{
	uint32_t n = labels->visit.report->run.metadata.labels.count, rows = 0;
	int r = sp_out_table(labels->visit.out, "labels", NULL, columns, CELLS, true);

	for (uint32_t i = 0; r == 0 && i < n; i++)
		if (labels->list[order[i]].calls && rows++ < limit)
			r = show_row(labels, order[i]);
	sp_out_table_end(labels->visit.out);
	sp_view_more(labels->visit.out, rows > limit ? rows - limit : 0);
	if (rows)
		sp_out_line(labels->visit.out, "share: of the time of the outermost ranges of all "
					       "threads");
	else
		sp_out_line(labels->visit.out, "no labels: none of PyTorch, record_function or "
					       "NVTX was seen, or none is selected");
	return r;
}

int sp_view_labels(const struct sp_report *report, struct sp_out *out,
		   const struct sp_view_options *options)
{
	const struct sp_sort_key *key = SP_SORT_FIND(keys, options);
	uint32_t n = report->run.metadata.labels.count, *order = NULL;
	struct labels labels = {
		.visit = {.report = report,
			  .tree = &report->ranges,
			  .key = sp_ranges_key(&(struct sp_view_options){.sort = NULL}),
			  .show = add,
			  .out = out,
			  .limit = UINT32_MAX},
	};
	int r = key ? 0 : -EINVAL;

	labels.list = calloc(n + 1u, sizeof(*labels.list));
	if (r == 0)
		r = labels.list ? sp_ranges_visit(&labels.visit) : -ENOMEM;
	if (r == 0)
		order = sp_order_by(n, key->value, labels.list);
	if (r == 0 && !order)
		r = -ENOMEM;
	if (r == 0) {
		sp_run_json(report, out);
		r = show_labels(&labels, order, options->limit);
	}
	free(order);
	free(labels.list);
	return r;
}
