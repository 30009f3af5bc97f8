/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/views/view_ranges.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define NAME_BYTES 512u
#define INDENT 2u
#define PARTIAL_NODES "torch-nodes\t" /* a group of coverage */

enum { DEPTH, NAME, TITLE, EVENT, CALLS, TOTAL, SELF, MEAN, MAX, SHARE, SOURCE, CELLS };

static const struct sp_column columns[CELLS] = {
	[DEPTH] = {"depth", NULL, SP_CELL_ID},
	[NAME] = {"name", NULL, SP_CELL_TEXT},
	[TITLE] = {NULL, N_("range"), SP_CELL_TEXT},
	[EVENT] = {"event", NULL, SP_CELL_TEXT},
	[CALLS] = {"calls", N_("calls"), SP_CELL_COUNT},
	[TOTAL] = {"total_ns", N_("total"), SP_CELL_NS},
	[SELF] = {"self_ns", N_("self"), SP_CELL_NS},
	[MEAN] = {"mean_ns", N_("mean"), SP_CELL_NS},
	[MAX] = {"max_ns", N_("max"), SP_CELL_NS},
	[SHARE] = {"share", N_("share"), SP_CELL_SHARE},
	[SOURCE] = {"source", N_("source"), SP_CELL_TEXT},
};

static const struct sp_range_node *sibling(const void *context, uint32_t i)
{
	const struct sp_range_siblings *s = context;

	return &s->tree->nodes[s->list[i]];
}

static uint64_t by_total(const void *context, uint32_t i)
{
	return sibling(context, i)->total_ns;
}

static uint64_t by_self(const void *context, uint32_t i)
{
	return sp_range_self_ns(sibling(context, i));
}

static uint64_t by_calls(const void *context, uint32_t i)
{
	return sibling(context, i)->calls;
}

static uint64_t by_mean(const void *context, uint32_t i)
{
	return sibling(context, i)->total_ns / sibling(context, i)->calls;
}

static uint64_t by_max(const void *context, uint32_t i)
{
	return sibling(context, i)->max_ns;
}

/* Earlier is greater. */
static uint64_t by_begin(const void *context, uint32_t i)
{
	return UINT64_MAX - (uint64_t)sibling(context, i)->start_ns;
}

static const struct sp_sort_key keys[] = {
	{"total", "total_ns", N_("total"), by_total}, {"self", "self_ns", N_("self"), by_self},
	{"calls", "calls", N_("calls"), by_calls},    {"mean", "mean_ns", N_("mean"), by_mean},
	{"max", "max_ns", N_("max"), by_max},	      {"order", "order", N_("order"), by_begin},
};

const struct sp_sort_key *sp_ranges_key(const struct sp_view_options *options)
{
	return SP_SORT_FIND(keys, options);
}

static uint32_t *list_children(const struct sp_range_tree *tree, uint32_t parent, uint32_t *ret_n)
{
	uint32_t n = 0, *list;

	for (uint32_t i = tree->nodes[parent].child; i; i = tree->nodes[i].sibling)
		n++;
	list = calloc(n + 1u, sizeof(*list));
	*ret_n = n;
	n = 0;
	for (uint32_t i = tree->nodes[parent].child; list && i; i = tree->nodes[i].sibling)
		list[n++] = i;
	return list;
}

/* Recursion: RANGES_DEPTH_MAX. */
static int visit_children(struct sp_range_visit *v, uint32_t parent, uint32_t depth)
{
	struct sp_range_siblings s = {.tree = v->tree};
	uint32_t n, *order;
	int r = 0;

	s.list = list_children(s.tree, parent, &n);
	order = s.list ? sp_order_by(n, v->key->value, &s) : NULL;
	if (!order)
		r = -ENOMEM;
	for (uint32_t i = 0; r == 0 && i < n; i++) {
		uint32_t node = s.list[order[i]];

		if (v->rows++ < v->limit)
			r = v->show(v, &s.tree->nodes[node], depth);
		if (r == 0)
			r = visit_children(v, node, depth + 1);
	}
	free(order);
	free(s.list);
	return r;
}

int sp_ranges_visit(struct sp_range_visit *visit)
{
	return visit->tree->count ? visit_children(visit, 0, 0) : 0;
}

static const char *source_of(uint32_t kind)
{
	return kind == SP_EV_python_call || kind == SP_EV_module_forward ||
			       kind == SP_EV_loader_begin || kind == SP_EV_loader_next
		       ? sp_source_name(SP_FROM_WRAPPED)
		       : sp_source_name(SP_FROM_OBSERVED);
}

static int show_row(struct sp_range_visit *v, const struct sp_range_node *node, uint32_t depth)
{
	const char *event = node->kind ? sp_event_info(node->kind)->name : NULL;
	size_t bytes, room, indent = depth * INDENT;
	const char *name =
		sp_string_table_text(&v->report->run.metadata.labels, node->label, &bytes);
	char title[NAME_BYTES], spaced[SP_LABEL_ROOM];

	name = sp_label_spaced(spaced, name, &bytes);
	if (!bytes) {
		name = _("(other)");
		bytes = strlen(name);
	}
	indent = indent < sizeof(title) / 2 ? indent : sizeof(title) / 2;
	room = sizeof(title) - indent;
	memset(title, ' ', indent);
	memcpy(title + indent, name, bytes < room ? bytes : room);
	struct sp_cell cells[CELLS] = {
		[DEPTH] = sp_cell_count(depth),
		[NAME] = sp_cell_bytes(name, bytes),
		[TITLE] = sp_cell_bytes(title, indent + (bytes < room ? bytes : room)),
		[EVENT] = sp_cell_text(event),
		[CALLS] = sp_cell_count(node->calls),
		[TOTAL] = sp_cell_count(node->total_ns),
		[SELF] = sp_cell_count(sp_range_self_ns(node)),
		[MEAN] = sp_cell_count(node->total_ns / node->calls),
		[MAX] = sp_cell_count(node->max_ns),
		[SHARE] = sp_cell_ratio(node->total_ns, v->tree->nodes[0].inside_ns),
		[SOURCE] = sp_cell_text(source_of(node->kind)),
	};

	return sp_out_row(v->out, cells);
}

int sp_ranges_table(struct sp_range_visit *visit, const struct sp_view_options *options,
		    const char *name, const struct sp_column *shown, unsigned cells)
{
	struct sp_out *out = visit->out;
	int r;

	visit->key = sp_ranges_key(options);
	visit->limit = options->limit;
	if (!visit->key)
		return -EINVAL;
	sp_run_json(visit->report, out);
	r = sp_out_table(out, name, NULL, shown, cells, true);
	if (r == 0)
		r = sp_ranges_visit(visit);
	sp_out_table_end(out);
	sp_view_more(out, visit->rows > visit->limit ? visit->rows - visit->limit : 0);
	return r;
}

int sp_view_ranges(const struct sp_report *report, struct sp_out *out,
		   const struct sp_view_options *options)
{
	struct sp_range_visit visit = {.report = report,
				       .tree = &report->ranges,
				       .show = show_row,
				       .out = out};
	int r = sp_ranges_table(&visit, options, "ranges", columns, CELLS);

	if (r == -EINVAL)
		return r;
	if (visit.rows)
		sp_out_line(out, "share: of the time of the outermost ranges of all threads");
	else
		sp_out_line(out, "no ranges: none of PyTorch, record_function or NVTX was seen, or "
				 "none is selected");
	if (sp_metadata_has_coverage(&report->run.metadata, PARTIAL_NODES))
		sp_out_line(out, "nodes of autograd are those of the first steps; "
				 "STAGEPROF_NODES=all times all of them");
	if (report->ranges.was_cut)
		sp_out_line(out, "some ranges are shown outside their enclosing ranges, because "
				 "there are too many");
	return r;
}
