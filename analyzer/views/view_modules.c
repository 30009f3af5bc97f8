/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
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
	IN_BACKWARD,
	CALLS,
	TOTAL,
	SELF,
	FIRST,
	MEAN,
	MAX,
	GPU,
	SHARE,
	CELLS
};

static const struct sp_column columns[CELLS] = {
	[DEPTH] = {"depth", NULL, SP_CELL_ID},
	[PATH] = {"path", NULL, SP_CELL_TEXT},
	[TITLE] = {NULL, N_("module"), SP_CELL_TEXT},
	[CLASS] = {"class", N_("class"), SP_CELL_TEXT},
	[SHAPES] = {"input_shapes", N_("inputs"), SP_CELL_TEXT},
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
	[SHARE] = {"share", N_("share"), SP_CELL_SHARE},
};

struct label_field {
	const char *text;
	size_t bytes;
};

/* The label is "path\tclass\tshapes", and "\tbackward" of a call that backward makes: activation
 * checkpointing computes forward again. Missing fields are empty. */
static struct label_field cut(struct label_field *rest)
{
	const char *tab = memchr(rest->text, '\t', rest->bytes);
	struct label_field first = {rest->text, tab ? (size_t)(tab - rest->text) : rest->bytes};

	rest->text += first.bytes + (tab != NULL);
	rest->bytes -= first.bytes + (tab != NULL);
	return first;
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

static int show_row(struct sp_range_visit *v, const struct sp_range_node *node, uint32_t depth)
{
	struct label_field rest, path, class, shapes;
	char title[NAME_BYTES];
	size_t title_bytes;

	rest.text = sp_string_table_text(&v->report->run.metadata.labels, node->label, &rest.bytes);
	path = cut(&rest);
	class = cut(&rest);
	shapes = cut(&rest);
	title_bytes = make_title(title, depth, path, rest.bytes);
	struct sp_cell cells[CELLS] = {
		[DEPTH] = sp_cell_count(depth),
		[PATH] = sp_cell_bytes(path.text, path.bytes),
		[TITLE] = sp_cell_bytes(title, title_bytes),
		[CLASS] = sp_cell_bytes(class.text, class.bytes),
		[SHAPES] = sp_cell_bytes(shapes.text, shapes.bytes),
		[IN_BACKWARD] = sp_cell_text(rest.bytes ? "yes" : ""),
		[CALLS] = sp_cell_count(node->calls),
		[TOTAL] = sp_cell_count(node->total_ns),
		[SELF] = sp_cell_count(sp_range_self_ns(node)),
		[FIRST] = mean(node->first_ns, node->first_calls),
		[MEAN] = mean(node->total_ns - node->first_ns, node->calls - node->first_calls),
		[MAX] = sp_cell_count(node->max_ns),
		[GPU] = v->tree->has_gpu ? sp_cell_count(node->gpu_ns) : sp_cell_null(),
		[SHARE] = sp_cell_ratio(node->total_ns, v->tree->nodes[0].inside_ns),
	};

	return sp_out_row(v->out, cells);
}

int sp_view_modules(const struct sp_report *report, struct sp_out *out,
		    const struct sp_view_options *options)
{
	struct sp_range_visit visit = {.report = report,
				       .tree = &report->modules,
				       .show = show_row,
				       .out = out};
	int r = sp_ranges_table(&visit, options, "modules", columns, CELLS);

	if (r == -EINVAL)
		return r;
	if (visit.rows) {
		sp_out_line(out, "first: a call in the first iteration; mean: a call in later "
				 "iterations");
		sp_out_line(out, "own cost: timing a call takes some microseconds of Python, which "
				 "count in the enclosing modules");
	}
	if (report->modules.has_gpu)
		sp_out_line(out, "on the GPU: time of streams from a module's first work to its "
				 "last, inner modules included");
	if (visit.rows == 0)
		sp_out_line(out, "no modules: STAGEPROF_MODULES=depth records them");
	return r;
}
