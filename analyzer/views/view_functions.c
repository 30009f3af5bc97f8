/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "analyzer/views/counted_rows.h"
#include "analyzer/views/function_table.h"
#include "analyzer/views/run_json.h"
#include "analyzer/views/view.h"

#define PLACE_BYTES 1200u

SP_VALUE(by_own, struct sp_function_table, rows->list[i].own_ns)
SP_VALUE(by_total, struct sp_function_table, rows->list[i].total_ns)
SP_VALUE(by_samples, struct sp_function_table, rows->list[i].samples)

static const struct sp_sort_key keys[] = {{"own", "own_ns", N_("own"), by_own},
					  {"total", "total_ns", N_("total"), by_total},
					  {"samples", "samples", N_("samples"), by_samples}};

static struct sp_cell library_cell(const struct sp_function_table *rows,
				   const struct sp_function_row *row)
{
	size_t bytes;
	const char *text = sp_string_table_text(&rows->samples->texts, row->object, &bytes);
	const char *tab = memchr(text, '\t', bytes);

	if (row->object && tab)
		return sp_cell_bytes(text, (size_t)(tab - text));
	if (rows->by != SP_ROWS_LIBRARY)
		return sp_cell_null();
	return sp_cell_text(row->key.line ? _("(waiting)") : _("(not known)"));
}

static uint32_t line_of(const struct sp_function_table *rows, const struct sp_function_row *row)
{
	return rows->by == SP_ROWS_LIBRARY ? 0 : row->key.line;
}

static struct sp_cell function_cell(const struct sp_function_table *rows, const char *text,
				    size_t bytes, const char *tab)
{
	if (rows->by == SP_ROWS_LIBRARY || (!tab && rows->by == SP_ROWS_MODULE))
		return sp_cell_null();
	return tab ? sp_cell_bytes(tab + 1, bytes - (size_t)(tab + 1 - text))
		   : sp_cell_text(_("(no Python)"));
}

/* samples: looks that found the function innermost. waited_ns: the part of `own` in which the
 * thread did not run. library: where most of the looks at running code found the thread: CPython's
 * own, or native code that the function called. The share is of all looks of `own` whose library is
 * known. */
#define COLUMNS(X)                                                                                 \
	X("phase", N_("phase"), WORD, sp_cell_text(sp_sample_phase_name(row->key.phase)))          \
	X("function", N_("function"), TEXT, function_cell(rows, text, bytes, tab))                 \
	X("file", NULL, TEXT, file ? sp_cell_bytes(text, file) : sp_cell_null())                   \
	X("line", NULL, ID, sp_cell_if(line, line))                                                \
	X(NULL, N_("place"), TEXT, file ? sp_cell_bytes(place, (size_t)n) : sp_cell_null())        \
	X("samples", N_("samples"), COUNT, sp_cell_count(row->samples))                            \
	X("own_ns", N_("own"), NS, sp_cell_count(row->own_ns))                                     \
	X("total_ns", N_("total"), NS, sp_cell_count(row->total_ns))                               \
	X("waited_ns", N_("waited"), NS, sp_cell_count(row->waited_ns))                            \
	X("share", N_("share"), SHARE, sp_cell_ratio(row->own_ns, rows->all_ns))                   \
	X("library", N_("in"), TEXT, library_cell(rows, row))                                      \
	X("library_share", NULL, SHARE,                                                            \
	  row->object ? sp_cell_ratio(row->library_ns, row->known_ns) : sp_cell_null())

static const struct sp_column columns[] = {COLUMNS(SP_COLUMN)};

/* The columns above, own time before total and samples. */
static const unsigned char importance[] = {3, 3, 0, 0, 3, 1, 3, 2, 0, 3, 0, 0};
_Static_assert(sizeof(importance) == sizeof(columns) / sizeof(columns[0]), "one for each column");

static int show_row(const void *context, struct sp_out *out, uint32_t i)
{
	const struct sp_function_table *rows = context;
	const struct sp_function_row *row = &rows->list[i];
	bool is_file = rows->by == SP_ROWS_MODULE;
	uint32_t line = line_of(rows, row);
	size_t bytes, file;
	const char *text = sp_string_table_text(is_file ? &rows->files : &rows->samples->texts,
						row->key.text, &bytes),
		   *tab = memchr(text, '\t', bytes);
	char place[PLACE_BYTES];
	int n;

	file = tab ? (size_t)(tab - text) : bytes;
	file = rows->by == SP_ROWS_LIBRARY ? 0 : file;
	n = snprintf(place, sizeof(place), line ? "%.*s:%" PRIu32 : "%.*s", (int)file, text, line);
	n = n < (int)sizeof(place) ? n : (int)sizeof(place) - 1;
	const struct sp_cell cells[] = {COLUMNS(SP_CELL)};

	return sp_out_row(out, cells);
}

static void sampler_json(const struct sp_samples *samples, struct sp_json *j)
{
	sp_json_open(j, "sampler", '{');
	sp_json_count(j, "rate", samples->counts.rate);
	sp_json_count(j, "looks", samples->counts.ticks);
	sp_json_count(j, "samples", samples->counts.samples);
	sp_json_count(j, "torn", samples->counts.torn);
	sp_json_count(j, "processes_refused", samples->counts.refused);
	sp_json_count(j, "processes_unknown", samples->counts.foreign);
	sp_json_count(j, "cpu_ns", samples->counts.cpu_ns);
	sp_json_count(j, "wall_ns", samples->counts.wall_ns);
	sp_json_count(j, "threads_leafless", samples->counts.leafless);
	sp_json_close(j, '}');
}

static void show_losses(const struct sp_samples *samples, struct sp_out *out)
{
	if (samples->counts.torn)
		sp_out_line(out,
			    "%llu of %llu stacks changed while they were read; they are in no row",
			    (unsigned long long)samples->counts.torn,
			    (unsigned long long)(samples->counts.torn + samples->counts.samples));
	if (samples->counts.refused)
		sp_out_line(out, "processes that the sampler had no right to read: %llu",
			    (unsigned long long)samples->counts.refused);
	if (samples->counts.foreign)
		sp_out_line(out, "processes with a Python that the sampler does not know: %llu",
			    (unsigned long long)samples->counts.foreign);
}

/* Samples of threads that ran, whose library is not known. */
static void show_leafless(const struct sp_samples *samples, struct sp_out *out)
{
	if (samples->counts.leafless)
		sp_out_line(out,
			    "threads whose native code is not known, because the kernel refuses "
			    "perf "
			    "events (perf_event_paranoid above 2, or a container): %llu",
			    (unsigned long long)samples->counts.leafless);
}

static void show_spread(struct sp_out *out)
{
	sp_out_line(out, "Looks by chance asked for the library, and samples counts them. They "
			 "stand "
			 "for all looks of their phase that found a thread running.");
}

static void explain_none(const struct sp_samples *samples, struct sp_out *out)
{
	if (!samples->is_known)
		sp_out_line(out, "The trace has no samples; stageprof run --sample records them.");
	else
		sp_out_line(out, "The sampler found no Python stack in this part of the run.");
}

/* Without samples, counted calls answer what is asked for without other words. */
static bool is_only_counted(const struct sp_report *report, const struct sp_view_options *options)
{
	return options->function_rows == SP_ROWS_FUNCTION && !options->phase &&
	       !report->samples.is_known && sp_counted_has_rows(report);
}

int sp_view_functions(const struct sp_report *report, struct sp_out *out,
		      const struct sp_view_options *options)
{
	struct sp_function_table all = {.samples = &report->samples, .by = options->function_rows};
	const struct sp_sort_key *key = SP_SORT_FIND(keys, options);
	struct sp_view_rows rows = {"functions", SP_COLUMNS_OF(columns), .show = show_row,
				    .context = &all};
	int r;

	if (options->function_rows == SP_ROWS_CALLS || is_only_counted(report, options))
		return sp_counted_rows_show(report, out, options);
	if (!key)
		return -EINVAL;
	r = sp_function_table_make(&all, options->phase);
	rows.count = all.count;
	rows.value = key->value;
	sp_run_json(report, out);
	if (out->format == SP_FORMAT_JSON)
		sampler_json(&report->samples, &out->json);
	out->importance = importance;
	if (r == 0)
		r = sp_view_rows_show(&rows, out, options->limit);
	if (r == 0 && all.count == 0)
		explain_none(&report->samples, out);
	if (r == 0)
		show_losses(&report->samples, out);
	if (r == 0 && all.is_spread)
		show_spread(out);
	if (r == 0 && all.count)
		show_leafless(&report->samples, out);
	sp_function_table_finish(&all);
	return r;
}
