#include <errno.h>
#include <string.h>

#include "analyzer/view_ranges.h"

#define NAME_BYTES 512u
#define INDENT 2u

enum { DEPTH, PATH, TITLE, CLASS, SHAPES, CALLS, TOTAL, SELF, FIRST, MEAN, MAX, GPU, SHARE, CELLS };

static const struct sp_column columns[CELLS] = {
	[DEPTH] = {"depth", NULL, SP_CELL_ID},
	[PATH] = {"path", NULL, SP_CELL_TEXT},
	[TITLE] = {NULL, N_("module"), SP_CELL_TEXT},
	[CLASS] = {"class", N_("class"), SP_CELL_TEXT},
	[SHAPES] = {"input_shapes", N_("inputs"), SP_CELL_TEXT},
	[CALLS] = {"calls", N_("calls"), SP_CELL_COUNT},
	[TOTAL] = {"total_ns", N_("total"), SP_CELL_NS},
	[SELF] = {"self_ns", N_("self"), SP_CELL_NS},
	/* A call's, in the first iteration and in those after it; null where there was none. */
	[FIRST] = {"first_mean_ns", N_("first"), SP_CELL_NS},
	[MEAN] = {"mean_ns", N_("mean"), SP_CELL_NS},
	[MAX] = {"max_ns", N_("max"), SP_CELL_NS},
	[GPU] = {"gpu_ns", N_("on the GPU"), SP_CELL_NS},
	[SHARE] = {"share", N_("share"), SP_CELL_SHARE},
};

struct piece {
	const char *text;
	size_t bytes;
};

/* The label is "path\tclass\tshapes"; what is missing is empty. */
static struct piece cut(struct piece *rest)
{
	const char *tab = memchr(rest->text, '\t', rest->bytes);
	struct piece first = {rest->text, tab ? (size_t)(tab - rest->text) : rest->bytes};

	rest->text += first.bytes + (tab != NULL);
	rest->bytes -= first.bytes + (tab != NULL);
	return first;
}

static size_t make_title(char title[NAME_BYTES], uint32_t depth, struct piece path)
{
	size_t indent = depth * INDENT, room;

	if (!path.bytes)
		path = (struct piece){_("(model)"), strlen(_("(model)"))};
	indent = indent < NAME_BYTES / 2 ? indent : NAME_BYTES / 2;
	room = NAME_BYTES - indent;
	path.bytes = path.bytes < room ? path.bytes : room;
	memset(title, ' ', indent);
	memcpy(title + indent, path.text, path.bytes);
	return indent + path.bytes;
}

static struct sp_cell mean(uint64_t ns, uint64_t calls)
{
	return calls ? sp_cell_count(ns / calls) : sp_cell_null();
}

static int show_row(struct sp_range_visit *v, const struct sp_range_node *node, uint32_t depth)
{
	struct piece rest, path, class;
	char title[NAME_BYTES];
	size_t title_bytes;

	rest.text = sp_names_text(&v->report->facts.labels, node->label, &rest.bytes);
	path = cut(&rest);
	class = cut(&rest);
	title_bytes = make_title(title, depth, path);
	struct sp_cell cells[CELLS] = {
		[DEPTH] = sp_cell_count(depth),
		[PATH] = sp_cell_bytes(path.text, path.bytes),
		[TITLE] = sp_cell_bytes(title, title_bytes),
		[CLASS] = sp_cell_bytes(class.text, class.bytes),
		[SHAPES] = sp_cell_bytes(rest.text, rest.bytes),
		[CALLS] = sp_cell_count(node->calls),
		[TOTAL] = sp_cell_count(node->total_ns),
		[SELF] = sp_cell_count(sp_range_self_ns(node)),
		[FIRST] = mean(node->first_ns, node->first_calls),
		[MEAN] = mean(node->total_ns - node->first_ns, node->calls - node->first_calls),
		[MAX] = sp_cell_count(node->max_ns),
		[GPU] = v->report->ranges.has_gpu ? sp_cell_count(node->gpu_ns) : sp_cell_null(),
		[SHARE] = sp_cell_ratio(node->total_ns, v->report->ranges.nodes[0].inside_ns),
	};

	return sp_out_row(v->out, cells);
}

int sp_view_modules(const struct sp_report *report, struct sp_out *out,
		    const struct sp_view_options *options)
{
	struct sp_range_visit visit = {.report = report, .show = show_row, .out = out};
	int r = sp_ranges_table(&visit, options, "modules", columns, CELLS);

	if (r == -EINVAL)
		return r;
	if (visit.rows) {
		sp_out_line(out, "first: a call in the first iteration; mean: a call in those after it");
		sp_out_line(out, "own cost: timing a call takes some microseconds of Python, which are in the modules around it");
	}
	if (report->ranges.has_gpu)
		sp_out_line(out, "on the GPU: streams from a module's first work to its last, modules in it included");
	if (visit.rows == 0)
		sp_out_line(out, "no modules: they are recorded with STAGEPROF_MODULES=depth");
	return r;
}
