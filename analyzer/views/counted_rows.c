/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/views/counted_rows.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/samples/sample_phase.h"
#include "analyzer/steps/phase_interval.h"
#include "analyzer/views/run_json.h"
#include "trace/events.h"

#define PLACE_BYTES 1200u
#define NUMBER_MOST 0x1p62

struct counted_row { /* sums of the whole run */
	const struct sp_counted_function *function;
	bool has_interval;
	uint64_t calls, calls_low, calls_high;
	uint64_t own_ns, own_low_ns, own_high_ns, total_ns;
};

/* Fetches, or steps: those whose calls were counted, and all. */
struct counted_part {
	double counted, all;
	double event_ns, event_error_ns;
};

struct counted_rows {
	struct counted_row *list;
	uint32_t count;
	uint64_t own_ns;
	struct counted_part parts[SP_COUNTED_KINDS];
};

static const char *phase_name(const struct sp_counted_function *f)
{
	if (!f->key.phase)
		return sp_sample_phase_name(SP_SAMPLE_FETCH);
	return sp_account_name(
		sp_phase_interval_phase(sp_phase_interval_kind_of((int64_t)f->key.phase - 1)));
}

/* A damaged trace may hold any number. */
static uint64_t whole(double x)
{
	if (x >= NUMBER_MOST)
		return (uint64_t)NUMBER_MOST;
	return x > 0 ? (uint64_t)(x + 0.5) : 0;
}

/* Two standard errors of the sum over all fetches, from the fetches that were counted. */
static double error_of(const struct counted_part *part, double sum, double squares)
{
	double n = part->counted, variance;

	if (n < 2)
		return 0;
	variance = (squares - sum * sum / n) / (n - 1);
	if (variance < 0)
		variance = 0;
	return 2 * part->all * sqrt(variance / n * (1 - n / part->all));
}

static struct counted_row row_make(const struct counted_part *part,
				   const struct sp_counted_function *f)
{
	double scale = part->all / part->counted;
	double calls = f->calls * scale, calls_error = error_of(part, f->calls, f->calls_squares);
	double own = (f->own_ns - f->own_spans * part->event_ns) * scale;
	double own_error = error_of(part, f->own_ns, f->own_squares_ns2) +
			   f->own_spans * part->event_error_ns * scale;
	double total = (f->total_ns - f->total_spans * part->event_ns) * scale;

	return (struct counted_row){
		.function = f,
		.has_interval = part->counted >= 2,
		.calls = whole(calls),
		.calls_low = whole(fmax(calls - calls_error, f->calls)),
		.calls_high = whole(calls + calls_error),
		.own_ns = whole(own),
		.own_low_ns = whole(own - own_error),
		.own_high_ns = whole(own + own_error),
		.total_ns = whole(fmax(total, own)),
	};
}

static double all_of(const struct sp_report *report, enum sp_counted_kind kind)
{
	double sum = 0;

	if (kind == SP_COUNTED_FETCHES)
		for (uint32_t i = 0; i < report->workers.count; i++)
			sum += (double)report->workers.list[i].fetches.batches;
	else
		for (uint32_t i = 0; i < report->training.count; i++)
			sum += (double)report->training.trainers[i].steps.count;
	return sum;
}

static int part_make(struct counted_rows *rows, const struct sp_report *report,
		     enum sp_counted_kind kind)
{
	const struct sp_counted_calls *counted = &report->run.metadata.counted[kind];
	struct counted_part *part = &rows->parts[kind];
	const struct sp_counted_function *f;
	struct counted_row *list;

	part->counted = counted->fetches;
	part->all = fmax(fmax((double)sp_counted_fetches(counted), all_of(report, kind)),
			 counted->fetches);
	part->event_ns = sp_counted_event_ns(counted, &part->event_error_ns);
	if (!counted->windows)
		return 0;
	list = realloc(rows->list,
		       (rows->count + HASH_COUNT(counted->by_key) + 1u) * sizeof(*rows->list));
	if (!list)
		return -ENOMEM;
	rows->list = list;
	for (f = counted->by_key; f; f = f->hh.next) {
		rows->list[rows->count] = row_make(part, f);
		rows->own_ns += rows->list[rows->count++].own_ns;
	}
	return 0;
}

static int rows_make(struct counted_rows *rows, const struct sp_report *report)
{
	int r = 0;

	for (int kind = 0; r == 0 && kind < SP_COUNTED_KINDS; kind++)
		r = part_make(rows, report, (enum sp_counted_kind)kind);
	return r;
}

SP_VALUE(by_own, struct counted_rows, rows->list[i].own_ns)
SP_VALUE(by_total, struct counted_rows, rows->list[i].total_ns)
SP_VALUE(by_calls, struct counted_rows, rows->list[i].calls)

static const struct sp_sort_key keys[] = {{"own", "own_ns", N_("own"), by_own},
					  {"total", "total_ns", N_("total"), by_total},
					  {"calls", "calls", N_("calls"), by_calls}};

#define COLUMNS(X)                                                                                 \
	X("function", N_("function"), TEXT,                                                        \
	  tab ? sp_cell_bytes(tab + 1, f->bytes - file - 1) : sp_cell_null())                      \
	X("file", NULL, TEXT, file ? sp_cell_bytes(f->key.text, file) : sp_cell_null())            \
	X("line", NULL, ID, sp_cell_if(file, f->key.first_line))                                   \
	X(NULL, N_("place"), TEXT, file ? sp_cell_bytes(place, (size_t)n) : sp_cell_null())        \
	X("phase", N_("phase"), TEXT, sp_cell_text(phase_name(f)))                                 \
	X("calls", N_("calls"), COUNT, sp_cell_count(row->calls))                                  \
	X("calls_low", N_("at least"), COUNT, sp_cell_if(row->has_interval, row->calls_low))       \
	X("calls_high", N_("at most"), COUNT, sp_cell_if(row->has_interval, row->calls_high))      \
	X("own_ns", N_("own"), NS, sp_cell_count(row->own_ns))                                     \
	X("own_low_ns", N_("at least"), NS, sp_cell_if(row->has_interval, row->own_low_ns))        \
	X("own_high_ns", N_("at most"), NS, sp_cell_if(row->has_interval, row->own_high_ns))       \
	X("total_ns", N_("total"), NS, sp_cell_count(row->total_ns))                               \
	X("per_call_ns", N_("per call"), NS,                                                       \
	  row->calls ? sp_cell_count(row->total_ns / row->calls) : sp_cell_null())                 \
	X("share", N_("share"), SHARE, sp_cell_ratio(row->own_ns, rows->own_ns))

static const struct sp_column columns[] = {COLUMNS(SP_COLUMN)};

static int show_row(const void *context, struct sp_out *out, uint32_t i)
{
	const struct counted_rows *rows = context;
	const struct counted_row *row = &rows->list[i];
	const struct sp_counted_function *f = row->function;
	const char *tab = memchr(f->key.text, '\t', f->bytes);
	size_t file = tab ? (size_t)(tab - f->key.text) : 0;
	char place[PLACE_BYTES];
	int n = snprintf(place, sizeof(place), "%.*s:%" PRIu32, (int)file, f->key.text,
			 f->key.first_line);

	n = n < (int)sizeof(place) ? n : (int)sizeof(place) - 1;
	const struct sp_cell cells[] = {COLUMNS(SP_CELL)};

	return sp_out_row(out, cells);
}

static void counted_json(const struct sp_counted_calls *counted, const struct counted_rows *rows,
			 enum sp_counted_kind kind, struct sp_json *j)
{
	static const char *const names[][3] = {
		[SP_COUNTED_FETCHES] = {"counted", "fetches_counted", "fetches"},
		[SP_COUNTED_STEPS] = {"counted_steps", "steps_counted", "steps"},
	};
	const struct counted_part *part = &rows->parts[kind];

	sp_json_open(j, names[kind][0], '{');
	sp_json_count(j, "windows", counted->windows);
	sp_json_count(j, names[kind][1], whole(part->counted));
	sp_json_count(j, names[kind][2], whole(part->all));
	sp_json_count(j, "events", whole(counted->events));
	sp_json_count(j, "callback_ns", whole(counted->callback_ns));
	sp_json_count(j, "event_ns", whole(part->event_ns));
	sp_json_count(j, "event_error_ns", whole(part->event_error_ns));
	sp_json_count(j, "counted_ns", whole(counted->fetch_ns));
	sp_json_count(j, "neighbours_ns", whole(counted->neighbour_ns));
	sp_json_close(j, '}');
}

static void explain(const struct sp_counted_calls *counted, const struct counted_rows *rows,
		    struct sp_out *out)
{
	const struct counted_part *fetches = &rows->parts[SP_COUNTED_FETCHES];
	const struct counted_part *steps = &rows->parts[SP_COUNTED_STEPS];
	uint64_t turned_away = 0;

	if (counted[SP_COUNTED_FETCHES].windows)
		sp_out_line(out,
			    "Calls in %.0f of %.0f fetches were counted; the rows are of all "
			    "fetches, and the price of counting is taken out.",
			    fetches->counted, fetches->all);
	if (counted[SP_COUNTED_STEPS].windows)
		sp_out_line(out,
			    "Calls in %.0f of %.0f steps of the training loop were counted; the "
			    "rows are of all steps, and the price of counting is taken out.",
			    steps->counted, steps->all);
	if (!rows->count)
		sp_out_line(out, "No calls were counted; STAGEPROF_CALLS=4/200 counts them in a "
				 "loader's fetches and in steps.");
	for (int kind = 0; kind < SP_COUNTED_KINDS; kind++)
		turned_away += counted[kind].turned_away;
	if (turned_away)
		sp_out_line(out, "functions without room in the table: %llu",
			    (unsigned long long)turned_away);
}

bool sp_counted_has_rows(const struct sp_report *report)
{
	const struct sp_counted_calls *counted = report->run.metadata.counted;

	return counted[SP_COUNTED_FETCHES].windows || counted[SP_COUNTED_STEPS].windows;
}

int sp_counted_rows_show(const struct sp_report *report, struct sp_out *out,
			 const struct sp_view_options *options)
{
	const struct sp_counted_calls *counted = report->run.metadata.counted;
	struct counted_rows all = {.list = NULL};
	const struct sp_sort_key *key = SP_SORT_FIND(keys, options);
	struct sp_view_rows rows = {"functions", SP_COLUMNS_OF(columns), .show = show_row,
				    .context = &all};
	int r;

	if (!key)
		return -EINVAL;
	r = rows_make(&all, report);
	rows.count = all.count;
	rows.value = key->value;
	sp_run_json(report, out);
	for (int kind = 0; out->format == SP_FORMAT_JSON && kind < SP_COUNTED_KINDS; kind++)
		counted_json(&counted[kind], &all, (enum sp_counted_kind)kind, &out->json);
	if (r == 0)
		r = sp_view_rows_show(&rows, out, options->limit);
	if (r == 0)
		explain(counted, &all, out);
	free(all.list);
	return r;
}
