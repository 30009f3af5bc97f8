/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The view `ranges`: a tree of ranges or of modules; labels and operators, a row each.
 */
#include "analyzer/views/view.h"
#include "analyzer/views/run_json.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define NAME_BYTES 512u
#define INDENT 2u
#define PARTIAL_NODES "torch-nodes\t" /* a group of coverage */

/* A group of coverage: Paddle's autograd calls its operators in C++,
 * where nothing asks for them. */
#define PADDLE_OPERATORS "paddle-operators\t"

/* A walk of a tree, in its display order. */
struct visit {
	const struct sp_report *report;
	const struct sp_range_tree *tree; /* of the report */
	const struct sp_sort_key *key;	  /* orders siblings */
	/* Called for each node before its children; returns 0 or a negative error. */
	int (*show)(struct visit *visit, const struct sp_range_node *node, uint32_t depth);
	struct sp_out *out;
	uint32_t limit, rows; /* rows: the number of rows without a limit */
};

/* The context of keys: nodes of one parent. */
struct siblings {
	const struct sp_range_tree *tree;
	uint32_t *list;
};

static uint64_t self_ns(const struct sp_range_node *node)
{
	return node->total_ns > node->inside_ns ? node->total_ns - node->inside_ns : 0;
}

static const struct sp_range_node *node_of(const struct siblings *s, uint32_t i)
{
	return &s->tree->nodes[s->list[i]];
}

SP_VALUE(by_total, struct siblings, node_of(rows, i)->total_ns)
SP_VALUE(by_self, struct siblings, self_ns(node_of(rows, i)))
SP_VALUE(by_calls, struct siblings, node_of(rows, i)->calls)
SP_VALUE(by_mean, struct siblings, node_of(rows, i)->total_ns / node_of(rows, i)->calls)
SP_VALUE(by_max, struct siblings, node_of(rows, i)->max_ns)
SP_VALUE(by_begin, struct siblings, UINT64_MAX - (uint64_t)node_of(rows, i)->start_ns)

static const struct sp_sort_key keys[] = {
	{"total", "total_ns", N_("total"), by_total}, {"self", "self_ns", N_("self"), by_self},
	{"calls", "calls", N_("calls"), by_calls},    {"mean", "mean_ns", N_("mean"), by_mean},
	{"max", "max_ns", N_("max"), by_max},	      {"order", "order", N_("order"), by_begin},
};

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
static int visit_children(struct visit *v, uint32_t parent, uint32_t depth)
{
	struct siblings s = {.tree = v->tree};
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

static int visit_tree(struct visit *v)
{
	return v->tree->count ? visit_children(v, 0, 0) : 0;
}

/* Writes the table of a tree. visit: the caller sets report, tree, show and out. Returns 0,
 * -EINVAL, with nothing written, where there is no such sort key, or a negative error. */
static int show_tree(struct visit *visit, const struct sp_view_options *options, const char *name,
		     const struct sp_column *columns, unsigned cells)
{
	struct sp_out *out = visit->out;
	int r;

	visit->key = SP_SORT_FIND(keys, options);
	visit->limit = options->limit;
	if (!visit->key)
		return -EINVAL;
	sp_run_json(visit->report, out);
	r = sp_out_table(out, name, NULL, columns, cells, true);
	if (r == 0)
		r = visit_tree(visit);
	sp_out_table_end(out);
	sp_view_more(out, visit->rows > visit->limit ? visit->rows - visit->limit : 0);
	return r;
}

/* The indented name of a row, and a note after it. */
static struct sp_cell title_cell(char title[NAME_BYTES], uint32_t depth, const char *name,
				 size_t bytes, const char *note)
{
	size_t note_bytes = strlen(note), indent = depth * INDENT, room;

	indent = indent < NAME_BYTES / 2 ? indent : NAME_BYTES / 2;
	room = NAME_BYTES - indent - note_bytes;
	bytes = bytes < room ? bytes : room;
	memset(title, ' ', indent);
	memcpy(title + indent, name, bytes);
	memcpy(title + indent + bytes, note, note_bytes);
	return sp_cell_bytes(title, indent + bytes + note_bytes);
}

static const char *source_of(uint32_t kind)
{
	return kind == SP_EV_python_call || kind == SP_EV_module_forward ||
			       kind == SP_EV_loader_begin || kind == SP_EV_loader_next
		       ? sp_source_name(SP_FROM_WRAPPED)
		       : sp_source_name(SP_FROM_OBSERVED);
}

#define RANGE_COLUMNS(X)                                                                           \
	X("depth", NULL, ID, sp_cell_count(depth))                                                 \
	X("name", NULL, TEXT, sp_cell_bytes(name, bytes))                                          \
	X(NULL, N_("range"), TEXT, title_cell(title, depth, name, bytes, ""))                      \
	X("event", NULL, TEXT, sp_cell_text(node->kind ? sp_event_info(node->kind)->name : NULL))  \
	X("calls", N_("calls"), COUNT, sp_cell_count(node->calls))                                 \
	X("total_ns", N_("total"), NS, sp_cell_count(node->total_ns))                              \
	X("self_ns", N_("self"), NS, sp_cell_count(self_ns(node)))                                 \
	X("mean_ns", N_("mean"), NS, sp_cell_count(node->total_ns / node->calls))                  \
	X("max_ns", N_("max"), NS, sp_cell_count(node->max_ns))                                    \
	X("share", N_("share"), SHARE, sp_cell_ratio(node->total_ns, v->tree->nodes[0].inside_ns)) \
	X("source", N_("source"), TEXT, sp_cell_text(source_of(node->kind)))

static const struct sp_column range_columns[] = {RANGE_COLUMNS(SP_COLUMN)};

static int show_range(struct visit *v, const struct sp_range_node *node, uint32_t depth)
{
	char title[NAME_BYTES], spaced[SP_LABEL_ROOM];
	size_t bytes;
	const char *name =
		sp_string_table_text(&v->report->run.metadata.labels, node->label, &bytes);

	name = sp_label_spaced(spaced, name, &bytes);
	if (!bytes) {
		name = _("(other)");
		bytes = strlen(name);
	}
	const struct sp_cell cells[] = {RANGE_COLUMNS(SP_CELL)};

	return sp_out_row(v->out, cells);
}

int sp_view_ranges(const struct sp_report *report, struct sp_out *out,
		   const struct sp_view_options *options)
{
	struct visit v = {.report = report,
			  .tree = &report->ranges,
			  .show = show_range,
			  .out = out};
	int r = show_tree(&v, options, "ranges", SP_COLUMNS_OF(range_columns));

	if (r == -EINVAL)
		return r;
	if (v.rows)
		sp_out_line(out, "share: of the time of the outermost ranges of all threads");
	else
		sp_out_line(out, "no ranges: none of PyTorch, record_function or NVTX was seen, or "
				 "none is selected");
	if (sp_metadata_has_coverage(&report->run.metadata, PARTIAL_NODES))
		sp_out_line(out, "nodes of autograd are those of the first steps; "
				 "STAGEPROF_OPS=nodes times all of them");
	if (report->ranges.was_cut)
		sp_out_line(out, "some ranges are shown outside their enclosing ranges, because "
				 "there are too many");
	return r;
}

struct label_field {
	const char *text;
	size_t bytes;
};

/* Returns the text up to the separator, or all of it; *rest becomes the text after it. */
static struct label_field cut_at(struct label_field *rest, const char *separator)
{
	size_t width = strlen(separator);
	const char *end = rest->bytes ? memmem(rest->text, rest->bytes, separator, width) : NULL;
	struct label_field first = {rest->text, end ? (size_t)(end - rest->text) : rest->bytes};
	size_t gone = first.bytes + (end ? width : 0);

	rest->text += gone;
	rest->bytes -= gone;
	return first;
}

struct modules_visit {
	struct visit visit;
	uint32_t *order; /* by node: the number of its first call, from 1 */
};

/* sp_order_by() puts the greatest first. */
SP_VALUE(by_first_call, struct sp_range_tree, UINT64_MAX - (uint64_t)rows->nodes[i + 1].start_ns)

/* Nodes that were freed are in no row. Recursion: RANGES_DEPTH_MAX. */
static void mark_shown(const struct sp_range_tree *tree, uint32_t parent, uint32_t *ret_shown)
{
	for (uint32_t i = tree->nodes[parent].child; i; i = tree->nodes[i].sibling) {
		ret_shown[i] = 1;
		mark_shown(tree, i, ret_shown);
	}
}

/* Returns a list to free(), or NULL where memory is out. */
static uint32_t *order_of_first_calls(const struct sp_range_tree *tree)
{
	uint32_t nodes = tree->count ? tree->count - 1 : 0, last = 0;
	uint32_t *order = calloc(nodes + 1u, sizeof(*order));
	uint32_t *by_time = sp_order_by(nodes, by_first_call, tree);

	if (order && by_time && nodes)
		mark_shown(tree, 0, order);
	for (uint32_t i = 0; order && by_time && i < nodes; i++)
		if (order[by_time[i] + 1])
			order[by_time[i] + 1] = ++last;
	if (!by_time) {
		free(order);
		order = NULL;
	}
	free(by_time);
	return order;
}

static struct sp_cell mean(uint64_t ns, uint64_t calls)
{
	return calls ? sp_cell_count(ns / calls) : sp_cell_null();
}

/* first_mean_ns, mean_ns: a call in the first iteration and in later ones; null where there was
 * none. The rows are counted from 1 in the order of their first calls. */
#define MODULE_COLUMNS(X)                                                                          \
	X("depth", NULL, ID, sp_cell_count(depth))                                                 \
	X("path", NULL, TEXT, sp_cell_bytes(path.text, path.bytes))                                \
	X(NULL, N_("module"), TEXT, title_cell(title, depth, name.text, name.bytes, note))         \
	X("class", N_("class"), TEXT, sp_cell_bytes(class.text, class.bytes))                      \
	X("input_shapes", N_("inputs"), TEXT, sp_cell_bytes(inputs.text, inputs.bytes))            \
	X("output_shapes", N_("outputs"), TEXT, sp_cell_bytes(outputs.text, outputs.bytes))        \
	X("in_backward", NULL, TEXT, sp_cell_text(rest.bytes ? "yes" : ""))                        \
	X("calls", N_("calls"), COUNT, sp_cell_count(node->calls))                                 \
	X("total_ns", N_("total"), NS, sp_cell_count(node->total_ns))                              \
	X("self_ns", N_("self"), NS, sp_cell_count(self_ns(node)))                                 \
	X("mean_ns", N_("mean"), NS,                                                               \
	  mean(node->total_ns - node->first_ns, node->calls - node->first_calls))                  \
	X("first_mean_ns", N_("first"), NS, mean(node->first_ns, node->first_calls))               \
	X("max_ns", N_("max"), NS, sp_cell_count(node->max_ns))                                    \
	X("gpu_ns", N_("on the GPU"), NS,                                                          \
	  v->tree->has_gpu ? sp_cell_count(node->gpu_ns) : sp_cell_null())                         \
	X("order", N_("order"), COUNT,                                                             \
	  sp_cell_count(((const struct modules_visit *)v)->order[node - v->tree->nodes]))          \
	X("share", N_("share"), SHARE, sp_cell_ratio(node->total_ns, v->tree->nodes[0].inside_ns))

static const struct sp_column module_columns[] = {MODULE_COLUMNS(SP_COLUMN)};

/* The label is "path\tclass\tinputs -> outputs", and "\tbackward" of a call that backward makes:
 * activation checkpointing computes forward again. Missing fields are empty. */
static int show_module(struct visit *v, const struct sp_range_node *node, uint32_t depth)
{
	struct label_field rest, path, class, inputs, outputs, name;
	char title[NAME_BYTES];
	const char *note;

	rest.text = sp_string_table_text(&v->report->run.metadata.labels, node->label, &rest.bytes);
	path = cut_at(&rest, "\t");
	class = cut_at(&rest, "\t");
	outputs = cut_at(&rest, "\t");
	inputs = cut_at(&outputs, " -> ");
	note = rest.bytes && depth == 0 ? _(" (again, in backward)") : "";
	name = path.bytes ? path : (struct label_field){_("(model)"), strlen(_("(model)"))};
	const struct sp_cell cells[] = {MODULE_COLUMNS(SP_CELL)};

	return sp_out_row(v->out, cells);
}

int sp_view_modules(const struct sp_report *report, struct sp_out *out,
		    const struct sp_view_options *options)
{
	struct modules_visit modules = {
		.visit = {.report = report,
			  .tree = &report->modules,
			  .show = show_module,
			  .out = out},
		.order = order_of_first_calls(&report->modules),
	};
	int r = modules.order ? show_tree(&modules.visit, options, "modules",
					  SP_COLUMNS_OF(module_columns))
			      : -ENOMEM;

	free(modules.order);
	if (r == -EINVAL || r == -ENOMEM)
		return r;
	if (modules.visit.rows) {
		sp_out_line(out, "first: a call in the first iteration; mean: a call in later "
				 "iterations");
		sp_out_line(out, "own cost: timing a call takes some microseconds of Python, which "
				 "count in the enclosing modules");
	}
	if (report->modules.has_gpu)
		sp_out_line(out, "on the GPU: time of streams from a module's first work to its "
				 "last, inner modules included");
	if (modules.visit.rows == 0)
		sp_out_line(out, "no modules: STAGEPROF_MODULES=depth records them");
	return r;
}

/* Sums of a label. total_ns: without the calls inside of a call of the same label. */
struct label {
	uint64_t calls, all_ns, total_ns, self_ns, max_ns;
};

struct labels {
	struct visit visit;
	struct label *list; /* by number of the label */
	uint64_t self_ns;   /* of all */
	uint32_t enclosing[RANGES_DEPTH_MAX + 1];
};

static bool is_recursive(const struct labels *labels, uint32_t label, uint32_t depth)
{
	for (uint32_t i = 0; i < depth && i <= RANGES_DEPTH_MAX; i++)
		if (labels->enclosing[i] == label)
			return true;
	return false;
}

static int add_label(struct visit *visit, const struct sp_range_node *node, uint32_t depth)
{
	struct labels *labels = (struct labels *)visit;
	struct label *label = &labels->list[node->label];

	label->calls += node->calls;
	label->all_ns += node->total_ns;
	label->self_ns += self_ns(node);
	labels->self_ns += self_ns(node);
	label->max_ns = node->max_ns > label->max_ns ? node->max_ns : label->max_ns;
	if (!is_recursive(labels, node->label, depth))
		label->total_ns += node->total_ns;
	if (depth <= RANGES_DEPTH_MAX)
		labels->enclosing[depth] = node->label;
	return 0;
}

static bool was_called(const void *context, uint32_t i)
{
	return ((const struct labels *)context)->list[i].calls != 0;
}

static struct sp_cell name_cell(const struct labels *labels, uint32_t number,
				char spaced[SP_LABEL_ROOM])
{
	size_t bytes;
	const char *name =
		sp_string_table_text(&labels->visit.report->run.metadata.labels, number, &bytes);

	if (spaced)
		name = sp_label_spaced(spaced, name, &bytes);
	return bytes ? sp_cell_bytes(name, bytes) : sp_cell_text(_("(other)"));
}

#define LABEL_COLUMNS(X)                                                                           \
	X("label", N_("label"), TEXT, name_cell(labels, number, spaced))                           \
	X("calls", N_("calls"), COUNT, sp_cell_count(label->calls))                                \
	X("total_ns", N_("total"), NS, sp_cell_count(label->total_ns))                             \
	X("self_ns", N_("self"), NS, sp_cell_count(label->self_ns))                                \
	X("mean_ns", N_("mean"), NS, sp_cell_count(label->all_ns / label->calls))                  \
	X("max_ns", N_("max"), NS, sp_cell_count(label->max_ns))                                   \
	X("share", N_("share"), SHARE,                                                             \
	  sp_cell_ratio(label->total_ns, labels->visit.tree->nodes[0].inside_ns))

static const struct sp_column label_columns[] = {LABEL_COLUMNS(SP_COLUMN)};

static int show_label(const void *context, struct sp_out *out, uint32_t number)
{
	const struct labels *labels = context;
	const struct label *label = &labels->list[number];
	char spaced[SP_LABEL_ROOM];
	const struct sp_cell cells[] = {LABEL_COLUMNS(SP_CELL)};

	return sp_out_row(out, cells);
}

#define OP_COLUMNS(X)                                                                              \
	X("op", N_("operator"), TEXT, name_cell(ops, number, NULL))                                \
	X("calls", N_("calls"), COUNT, sp_cell_count(op->calls))                                   \
	X("total_ns", N_("total"), NS, sp_cell_count(op->all_ns))                                  \
	X("self_ns", N_("self"), NS, sp_cell_count(op->self_ns))                                   \
	X("mean_ns", N_("mean"), NS, sp_cell_count(op->all_ns / op->calls))                        \
	X("share", N_("share"), SHARE, sp_cell_ratio(op->self_ns, ops->self_ns))

static const struct sp_column op_columns[] = {OP_COLUMNS(SP_COLUMN)};

static int show_op(const void *context, struct sp_out *out, uint32_t number)
{
	const struct labels *ops = context;
	const struct label *op = &ops->list[number];
	const struct sp_cell cells[] = {OP_COLUMNS(SP_CELL)};

	return sp_out_row(out, cells);
}

SP_VALUE(by_label_self, struct labels, rows->list[i].self_ns)
SP_VALUE(by_label_total, struct labels, rows->list[i].total_ns)
SP_VALUE(by_label_all, struct labels, rows->list[i].all_ns)
SP_VALUE(by_label_calls, struct labels, rows->list[i].calls)
SP_VALUE(by_label_max, struct labels, rows->list[i].max_ns)

static const struct sp_sort_key label_keys[] = {{"total", "total_ns", N_("total"), by_label_total},
						{"self", "self_ns", N_("self"), by_label_self},
						{"calls", "calls", N_("calls"), by_label_calls},
						{"max", "max_ns", N_("max"), by_label_max}};

static const struct sp_sort_key op_keys[] = {{"self", "self_ns", N_("self"), by_label_self},
					     {"total", "total_ns", N_("total"), by_label_all},
					     {"calls", "calls", N_("calls"), by_label_calls}};

/* Sums the tree by label, and writes a row for each. */
static int show_labels(const struct sp_range_tree *tree, struct sp_view_rows *rows,
		       const struct sp_report *report, struct sp_out *out,
		       const struct sp_view_options *options)
{
	struct labels labels = {
		.visit = {.report = report,
			  .tree = tree,
			  .key = &keys[0],
			  .show = add_label,
			  .limit = UINT32_MAX},
		.list = calloc(report->run.metadata.labels.count + 1u, sizeof(*labels.list)),
	};
	int r = labels.list ? visit_tree(&labels.visit) : -ENOMEM;

	rows->count = report->run.metadata.labels.count;
	rows->is_shown = was_called;
	rows->context = &labels;
	if (r == 0)
		r = sp_view_sorted_show(rows, report, out, options);
	free(labels.list);
	return r;
}

int sp_view_labels(const struct sp_report *report, struct sp_out *out,
		   const struct sp_view_options *options)
{
	struct sp_view_rows rows = {"labels", SP_COLUMNS_OF(label_columns), SP_KEYS(label_keys),
				    .show = show_label};
	int r = show_labels(&report->ranges, &rows, report, out, options);

	if (r == 0 && rows.shown)
		sp_out_line(out, "share: of the time of the outermost ranges of all threads");
	else if (r == 0)
		sp_out_line(out, "no labels: none of PyTorch, record_function or NVTX was seen, or "
				 "none is selected");
	return r;
}

int sp_view_ops(const struct sp_report *report, struct sp_out *out,
		const struct sp_view_options *options)
{
	struct sp_view_rows rows = {"ops", SP_COLUMNS_OF(op_columns), SP_KEYS(op_keys),
				    .show = show_op};
	int r = show_labels(&report->ops, &rows, report, out, options);

	if (r == 0 && !rows.shown)
		sp_out_line(out, "no operators: STAGEPROF_OPS=1 records them");
	else if (r == 0 && sp_metadata_has_coverage(&report->run.metadata, PADDLE_OPERATORS))
		sp_out_line(out, "Paddle's operators of backward are not recorded");
	return r;
}
