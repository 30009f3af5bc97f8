/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/views/view_ranges.h"

#define NAME_BYTES 512u
#define INDENT 2u

enum {
	DEPTH,
	PATH,
	TITLE,
	CLASS,
	SHAPES,
	OUTPUTS,
	IN_BACKWARD,
	CALLS,
	TOTAL,
	SELF,
	MEAN,
	FIRST,
	MAX,
	GPU,
	ORDER,
	SHARE,
	CELLS
};

static const struct sp_column columns[CELLS] = {
	[DEPTH] = {"depth", NULL, SP_CELL_ID},
	[PATH] = {"path", NULL, SP_CELL_TEXT},
	[TITLE] = {NULL, N_("module"), SP_CELL_TEXT},
	[CLASS] = {"class", N_("class"), SP_CELL_TEXT},
	[SHAPES] = {"input_shapes", N_("inputs"), SP_CELL_TEXT},
	[OUTPUTS] = {"output_shapes", N_("outputs"), SP_CELL_TEXT},
	[IN_BACKWARD] = {"in_backward", NULL, SP_CELL_TEXT},
	[CALLS] = {"calls", N_("calls"), SP_CELL_COUNT},
	[TOTAL] = {"total_ns", N_("total"), SP_CELL_NS},
	[SELF] = {"self_ns", N_("self"), SP_CELL_NS},
	/* The time of a call in the first iteration and in later ones; null where there was
	 * none. */
	[FIRST] = {"first_mean_ns", N_("first"), SP_CELL_NS},
	[MEAN] = {"mean_ns", N_("mean"), SP_CELL_NS},
	[MAX] = {"max_ns", N_("max"), SP_CELL_NS},
	[GPU] = {"gpu_ns", N_("on the GPU"), SP_CELL_NS},
	/* The rows are counted from 1 in the order of their first calls. */
	[ORDER] = {"order", N_("order"), SP_CELL_COUNT},
	[SHARE] = {"share", N_("share"), SP_CELL_SHARE},
};

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

/* The label is "path\tclass\tinputs -> outputs", and "\tbackward" of a call that backward makes:
 * activation checkpointing computes forward again. Missing fields are empty. */
static struct label_field cut(struct label_field *rest)
{
	return cut_at(rest, "\t");
}

static size_t make_title(char title[NAME_BYTES], uint32_t depth, struct label_field path,
			 bool is_in_backward)
{
	const char *note = is_in_backward && depth == 0 ? _(" (again, in backward)") : "";
	size_t note_bytes = strlen(note);
	size_t indent = depth * INDENT, room;

	if (!path.bytes)
		path = (struct label_field){_("(model)"), strlen(_("(model)"))};
	indent = indent < NAME_BYTES / 2 ? indent : NAME_BYTES / 2;
	room = NAME_BYTES - indent - note_bytes;
	path.bytes = path.bytes < room ? path.bytes : room;
	memset(title, ' ', indent);
	memcpy(title + indent, path.text, path.bytes);
	memcpy(title + indent + path.bytes, note, note_bytes);
	return indent + path.bytes + note_bytes;
}

static struct sp_cell mean(uint64_t ns, uint64_t calls)
{
	return calls ? sp_cell_count(ns / calls) : sp_cell_null();
}

struct modules_visit {
	struct sp_range_visit visit;
	uint32_t *order; /* by node: the number of its first call, from 1 */
};

/* sp_order_by() puts the greatest first. */
static uint64_t by_begin(const void *context, uint32_t i)
{
	const struct sp_range_tree *tree = context;

	return UINT64_MAX - (uint64_t)tree->nodes[i + 1].start_ns;
}

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
	uint32_t *by_time = sp_order_by(nodes, by_begin, tree);

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

static int show_row(struct sp_range_visit *v, const struct sp_range_node *node, uint32_t depth)
{
	struct label_field rest, path, class, inputs, outputs;
	char title[NAME_BYTES];
	size_t title_bytes;

	rest.text = sp_string_table_text(&v->report->run.metadata.labels, node->label, &rest.bytes);
	path = cut(&rest);
	class = cut(&rest);
	outputs = cut(&rest);
	inputs = cut_at(&outputs, " -> ");
	title_bytes = make_title(title, depth, path, rest.bytes);
	struct sp_cell cells[CELLS] = {
		[DEPTH] = sp_cell_count(depth),
		[PATH] = sp_cell_bytes(path.text, path.bytes),
		[TITLE] = sp_cell_bytes(title, title_bytes),
		[CLASS] = sp_cell_bytes(class.text, class.bytes),
		[SHAPES] = sp_cell_bytes(inputs.text, inputs.bytes),
		[OUTPUTS] = sp_cell_bytes(outputs.text, outputs.bytes),
		[IN_BACKWARD] = sp_cell_text(rest.bytes ? "yes" : ""),
		[CALLS] = sp_cell_count(node->calls),
		[TOTAL] = sp_cell_count(node->total_ns),
		[SELF] = sp_cell_count(sp_range_self_ns(node)),
		[FIRST] = mean(node->first_ns, node->first_calls),
		[MEAN] = mean(node->total_ns - node->first_ns, node->calls - node->first_calls),
		[MAX] = sp_cell_count(node->max_ns),
		[GPU] = v->tree->has_gpu ? sp_cell_count(node->gpu_ns) : sp_cell_null(),
		[ORDER] = sp_cell_count(
			((const struct modules_visit *)v)->order[node - v->tree->nodes]),
		[SHARE] = sp_cell_ratio(node->total_ns, v->tree->nodes[0].inside_ns),
	};

	return sp_out_row(v->out, cells);
}

int sp_view_modules(const struct sp_report *report, struct sp_out *out,
		    const struct sp_view_options *options)
{
	struct modules_visit modules = {
		.visit = {.report = report, .tree = &report->modules, .show = show_row, .out = out},
		.order = order_of_first_calls(&report->modules),
	};
	struct sp_range_visit *visit = &modules.visit;
	int r = modules.order ? sp_ranges_table(visit, options, "modules", columns, CELLS)
			      : -ENOMEM;

	free(modules.order);
	if (r == -EINVAL || r == -ENOMEM)
		return r;
	if (visit->rows) {
		sp_out_line(out, "first: a call in the first iteration; mean: a call in later "
				 "iterations");
		sp_out_line(out, "own cost: timing a call takes some microseconds of Python, which "
				 "count in the enclosing modules");
	}
	if (report->modules.has_gpu)
		sp_out_line(out, "on the GPU: time of streams from a module's first work to its "
				 "last, inner modules included");
	if (visit->rows == 0)
		sp_out_line(out, "no modules: STAGEPROF_MODULES=depth records them");
	return r;
}
