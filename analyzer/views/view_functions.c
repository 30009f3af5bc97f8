/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <uthash.h>

#include "analyzer/base/grow.h"
#include "analyzer/base/hash_free.h"
#include "analyzer/views/counted_rows.h"
#include "analyzer/views/view.h"

#define PLACE_BYTES 1200u
#define FILES_MAX (1u << 16)

enum {
	PHASE,
	FUNCTION,
	FILE_NAME,
	LINE,
	PLACE,
	SAMPLES,
	OWN,
	TOTAL,
	WAITED,
	SHARE,
	LIBRARY,
	LIBRARY_SHARE,
	CELLS
};

static const struct sp_column columns[CELLS] = {
	[PHASE] = {"phase", N_("phase"), SP_CELL_TEXT},
	[FUNCTION] = {"function", N_("function"), SP_CELL_TEXT},
	[FILE_NAME] = {"file", NULL, SP_CELL_TEXT},
	[LINE] = {"line", NULL, SP_CELL_ID},
	[PLACE] = {NULL, N_("place"), SP_CELL_TEXT},
	/* Looks that found the function innermost. */
	[SAMPLES] = {"samples", N_("samples"), SP_CELL_COUNT},
	[OWN] = {"own_ns", N_("own"), SP_CELL_NS},
	[TOTAL] = {"total_ns", N_("total"), SP_CELL_NS},
	/* The part of `own` in which the thread did not run. */
	[WAITED] = {"waited_ns", N_("waited"), SP_CELL_NS},
	[SHARE] = {"share", N_("share"), SP_CELL_SHARE},
	/* Where most of the looks at running code found the thread: CPython's own, or native code
	 * that the function called. The share is of all looks of `own` whose library is known. */
	[LIBRARY] = {"library", N_("in"), SP_CELL_TEXT},
	[LIBRARY_SHARE] = {"library_share", NULL, SP_CELL_SHARE},
};

struct row_key {
	uint32_t text; /* of the samples' texts, or of `files` */
	uint32_t line;
	uint32_t phase;
};

struct row_place {
	struct row_key key;
	uint32_t at;
	UT_hash_handle hh;
};

/* The looks at one row in one library. */
struct library_place {
	struct {
		uint32_t row, object;
	} key;
	uint64_t ns;
	UT_hash_handle hh;
};

struct function_row {
	struct row_key key;
	uint64_t samples, own_ns, total_ns, waited_ns;
	uint64_t library_ns, known_ns; /* in `library`; in any that is known */
	uint32_t object;	       /* in which most of `own` ran; 0: not known */
	uint32_t seen;		       /* number of the last stack that it was counted for */
};

struct function_rows {
	const struct sp_samples *samples;
	enum sp_function_rows by;
	struct sp_string_table files; /* of SP_ROWS_MODULE */
	struct function_row *list;
	uint32_t count, room;
	struct row_place *places;
	struct library_place *libraries;
	uint64_t all_ns;
};

static struct function_row *row_of(struct function_rows *rows, struct row_key key)
{
	struct function_row *list;
	struct row_place *place;

	HASH_FIND(hh, rows->places, &key, sizeof(key), place);
	if (place)
		return &rows->list[place->at];
	list = sp_list_grow(rows->list, rows->count, &rows->room, sizeof(*list));
	place = calloc(1, sizeof(*place));
	if (list)
		rows->list = list;
	if (!list || !place) {
		free(place);
		return NULL;
	}
	place->key = key;
	place->at = rows->count;
	HASH_ADD(hh, rows->places, key, sizeof(place->key), place);
	list[rows->count] = (struct function_row){.key = key};
	return &list[rows->count++];
}

static uint32_t file_of(struct function_rows *rows, uint32_t number)
{
	size_t bytes;
	const char *text = sp_string_table_text(&rows->samples->texts, number, &bytes);
	const char *tab = memchr(text, '\t', bytes);

	return sp_string_table_add(&rows->files, text, tab ? (size_t)(tab - text) : bytes);
}

static struct row_key key_of(struct function_rows *rows, uint32_t frame, uint32_t phase)
{
	const struct sp_sampled_frame *f = &rows->samples->frames[frame];
	struct row_key key = {.text = f->text, .line = f->first_line, .phase = phase};

	if (rows->by == SP_ROWS_LINE)
		key.line = f->line;
	if (rows->by == SP_ROWS_MODULE)
		key = (struct row_key){.text = file_of(rows, f->text), .phase = phase};
	return key;
}

static struct library_place *library_place_of(struct function_rows *rows,
					      const struct function_row *row, uint32_t library)
{
	struct library_place *place,
		key = {.key = {.row = (uint32_t)(row - rows->list), .object = library}};

	HASH_FIND(hh, rows->libraries, &key.key, sizeof(key.key), place);
	if (place)
		return place;
	place = calloc(1, sizeof(*place));
	if (!place)
		return NULL;
	place->key = key.key;
	HASH_ADD(hh, rows->libraries, key, sizeof(place->key), place);
	return place;
}

/* Without memory the row has no library. */
static void add_library(struct function_rows *rows, struct function_row *row,
			const struct sp_sample_sums *sums)
{
	struct library_place *place =
		sums->object ? library_place_of(rows, row, sums->object) : NULL;

	if (!place)
		return;
	place->ns += sums->ns;
	row->known_ns += sums->ns;
	if (place->ns > row->library_ns) {
		row->library_ns = place->ns;
		row->object = sums->object;
	}
}

static void add_own(struct function_rows *rows, struct function_row *row,
		    const struct sp_sample_sums *sums)
{
	add_library(rows, row, sums);
	row->samples += sums->samples;
	row->own_ns += sums->ns;
	row->waited_ns += sums->is_waiting ? sums->ns : 0;
}

/* A function that is on a stack several times has the stack's time once. */
static void add_total(struct function_row *row, const struct sp_sample_sums *sums, uint32_t number)
{
	if (row->seen != number)
		row->total_ns += sums->ns;
	row->seen = number;
}

/* Time in a recorded call has a row of the call, but its module is the caller's. */
static int add_call(struct function_rows *rows, const struct sp_sample_sums *sums, uint32_t number)
{
	struct row_key key = {.text = sums->call, .phase = sums->phase};
	struct function_row *row = row_of(rows, key);

	if (!row)
		return -ENOMEM;
	add_own(rows, row, sums);
	add_total(row, sums, number);
	return 0;
}

/* One row a library. */
static int add_library_row(struct function_rows *rows, const struct sp_sample_sums *sums,
			   uint32_t number)
{
	struct row_key key = {.phase = sums->phase};
	struct function_row *row;

	key.text = sums->object;
	row = row_of(rows, key);
	if (!row)
		return -ENOMEM;
	add_own(rows, row, sums);
	add_total(row, sums, number);
	rows->all_ns += sums->ns;
	return 0;
}

static int add_stack(struct function_rows *rows, const struct sp_sample_sums *sums, uint32_t number)
{
	const struct sp_sampled_stack *stack = &rows->samples->stacks[sums->stack];
	bool in_call = sums->call && rows->by != SP_ROWS_MODULE;
	uint32_t frames = stack->frames ? stack->frames : 1;

	if (rows->by == SP_ROWS_LIBRARY)
		return add_library_row(rows, sums, number);
	if (in_call && add_call(rows, sums, number) < 0)
		return -ENOMEM;
	for (uint32_t i = 0; i < frames; i++) {
		uint32_t frame =
			stack->frames ? rows->samples->frame_numbers[stack->frame_at + i] : 0;
		struct function_row *row = row_of(rows, key_of(rows, frame, sums->phase));

		if (!row)
			return -ENOMEM;
		if (i == 0 && !in_call)
			add_own(rows, row, sums);
		add_total(row, sums, number);
	}
	rows->all_ns += sums->ns;
	return 0;
}

static int add_stacks(struct function_rows *rows, unsigned phase)
{
	int r = 0;

	for (uint32_t i = 0; r == 0 && i < rows->samples->sum_count; i++) {
		const struct sp_sample_sums *sums = &rows->samples->sums[i];

		if ((!phase || sums->phase + 1u == phase) && sp_sample_counts(sums))
			r = add_stack(rows, sums, i + 1);
	}
	return r;
}

static uint64_t by_own(const void *context, uint32_t i)
{
	return ((const struct function_rows *)context)->list[i].own_ns;
}

static uint64_t by_total(const void *context, uint32_t i)
{
	return ((const struct function_rows *)context)->list[i].total_ns;
}

static uint64_t by_samples(const void *context, uint32_t i)
{
	return ((const struct function_rows *)context)->list[i].samples;
}

static const struct sp_sort_key keys[] = {{"own", "own_ns", N_("own"), by_own},
					  {"total", "total_ns", N_("total"), by_total},
					  {"samples", "samples", N_("samples"), by_samples}};

static struct sp_cell library_cell(const struct function_rows *rows, uint32_t library)
{
	size_t bytes;
	const char *text = sp_string_table_text(&rows->samples->texts, library, &bytes);
	const char *tab = memchr(text, '\t', bytes);

	if (!library || !tab)
		return rows->by == SP_ROWS_LIBRARY ? sp_cell_text(_("(not known)"))
						   : sp_cell_null();
	return sp_cell_bytes(text, (size_t)(tab - text));
}

static struct sp_cell function_cell(const struct function_rows *rows, const char *text,
				    size_t bytes, const char *tab)
{
	if (rows->by == SP_ROWS_LIBRARY || (!tab && rows->by == SP_ROWS_MODULE))
		return sp_cell_null();
	return tab ? sp_cell_bytes(tab + 1, bytes - (size_t)(tab + 1 - text))
		   : sp_cell_text(_("(no Python)"));
}

static int show_row(const void *context, struct sp_out *out, uint32_t i)
{
	const struct function_rows *rows = context;
	const struct function_row *row = &rows->list[i];
	bool is_file = rows->by == SP_ROWS_MODULE;
	size_t bytes, file;
	const char *text = sp_string_table_text(is_file ? &rows->files : &rows->samples->texts,
						row->key.text, &bytes),
		   *tab = memchr(text, '\t', bytes);
	char place[PLACE_BYTES];
	int n;

	file = tab ? (size_t)(tab - text) : bytes;
	file = rows->by == SP_ROWS_LIBRARY ? 0 : file;
	n = snprintf(place, sizeof(place), row->key.line ? "%.*s:%" PRIu32 : "%.*s", (int)file,
		     text, row->key.line);
	n = n < (int)sizeof(place) ? n : (int)sizeof(place) - 1;
	struct sp_cell cells[CELLS] = {
		[PHASE] = sp_cell_text(sp_sample_phase_name(row->key.phase)),
		[FUNCTION] = function_cell(rows, text, bytes, tab),
		[FILE_NAME] = file ? sp_cell_bytes(text, file) : sp_cell_null(),
		[LINE] = row->key.line ? sp_cell_count(row->key.line) : sp_cell_null(),
		[PLACE] = file ? sp_cell_bytes(place, (size_t)n) : sp_cell_null(),
		[SAMPLES] = sp_cell_count(row->samples),
		[OWN] = sp_cell_count(row->own_ns),
		[TOTAL] = sp_cell_count(row->total_ns),
		[WAITED] = sp_cell_count(row->waited_ns),
		[SHARE] = sp_cell_ratio(row->own_ns, rows->all_ns),
		[LIBRARY] = library_cell(rows, row->object),
		[LIBRARY_SHARE] = row->object ? sp_cell_ratio(row->library_ns, row->known_ns)
					      : sp_cell_null(),
	};

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
	struct function_rows all = {.samples = &report->samples, .by = options->function_rows};
	const struct sp_sort_key *key = SP_SORT_FIND(keys, options);
	struct sp_view_rows rows = {"functions", columns, CELLS, .show = show_row, .context = &all};
	int r;

	if (options->function_rows == SP_ROWS_CALLS || is_only_counted(report, options))
		return sp_counted_rows_show(report, out, options);
	if (!key)
		return -EINVAL;
	r = sp_string_table_init(&all.files, FILES_MAX);
	if (r == 0)
		r = add_stacks(&all, options->phase);
	rows.count = all.count;
	rows.value = key->value;
	sp_run_json(report, out);
	if (out->format == SP_FORMAT_JSON)
		sampler_json(&report->samples, &out->json);
	if (r == 0)
		r = sp_view_rows_show(&rows, out, options->limit);
	if (r == 0 && all.count == 0)
		explain_none(&report->samples, out);
	if (r == 0)
		show_losses(&report->samples, out);
	if (r == 0 && all.count)
		show_leafless(&report->samples, out);
	sp_string_table_finish(&all.files);
	SP_HASH_FREE(all.places);
	SP_HASH_FREE(all.libraries);
	free(all.list);
	return r;
}
