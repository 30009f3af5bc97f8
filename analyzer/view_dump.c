#include "analyzer/view.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#include "analyzer/clock.h"
#include "analyzer/merge.h"

enum { AT, DUR, PID, TID, EVENT, STAGE, VALUE, INSIDE, WIDTH, HEIGHT, FILE_NAME, CELLS };

static const struct sp_column columns[CELLS] = {
	[AT] = {"start_ns", "start", SP_CELL_AT_NS},
	[DUR] = {"dur_ns", "duration", SP_CELL_NS},
	[PID] = {"pid", "pid", SP_CELL_ID},
	[TID] = {"tid", "thread", SP_CELL_ID},
	[EVENT] = {"event", "event", SP_CELL_TEXT},
	[STAGE] = {"stage", "stage", SP_CELL_TEXT},
	[VALUE] = {"value", "value", SP_CELL_SIGNED},
	[INSIDE] = {"inside_ns", NULL, SP_CELL_NS},
	[WIDTH] = {"width", NULL, SP_CELL_ID},
	[HEIGHT] = {"height", NULL, SP_CELL_ID},
	[FILE_NAME] = {"file", "file", SP_CELL_TEXT},
};

static struct sp_cell file_cell(const struct sp_report *report, uint32_t image, uint32_t id)
{
	size_t bytes;
	uint32_t number = sp_image_file(&report->facts.images[image], id);
	const char *name = sp_names_text(&report->facts.files, number, &bytes);

	return number == SP_NAMES_REST ? sp_cell_null() : sp_cell_bytes(name, bytes);
}

static void add_image(const struct sp_report *report, const struct sp_merged *e, uint32_t host,
		     struct sp_cell *cells)
{
	uint64_t ns_per_tick = report->index.hosts[host].clock.ns_per_tick;

	cells[INSIDE] = sp_cell_count(sp_clock_span_ns(ns_per_tick, e->extra->start));
	cells[WIDTH] = sp_cell_count(e->extra->ticks >> 32);
	cells[HEIGHT] = sp_cell_count(e->extra->ticks & UINT32_MAX);
}

static int show_row(const struct sp_report *report, struct sp_out *out, const struct sp_merged *e)
{
	const struct sp_stream *s = report->index.streams[e->stream];
	const struct sp_image *image = &report->index.images[s->image];
	uint32_t kind = sp_commit_kind(e->slot->commit), arg = sp_commit_arg(e->slot->commit);
	const struct sp_event_info *info = sp_event_info(kind);
	enum sp_place place = SP_PLACE_UNKNOWN;
	char unknown[16];

	snprintf(unknown, sizeof(unknown), "kind-%" PRIu32, kind);
	if (info->arg == SP_ARG_FILE)
		place = sp_image_place(&report->facts.images[s->image], arg);
	else if (info->name && info->class == SP_CLASS_CUDA_COPY)
		place = sp_place_of_copy(arg);
	struct sp_cell cells[CELLS] = {
		[AT] = sp_cell_signed(e->start_ns - report->begin_ns),
		[DUR] = sp_cell_count(e->dur_ns),
		[PID] = sp_cell_count(image->pid),
		[TID] = sp_cell_count(s->tid),
		[EVENT] = sp_cell_text(info->name ? info->name : unknown),
		[STAGE] = sp_cell_text(sp_stage_name(sp_stage_of(kind, place))),
		[VALUE] = e->slot->value == SP_VALUE_ABANDONED ? sp_cell_null()
							       : sp_cell_signed(e->slot->value),
		[INSIDE] = sp_cell_null(),
		[WIDTH] = sp_cell_null(),
		[HEIGHT] = sp_cell_null(),
		[FILE_NAME] = info->arg == SP_ARG_FILE ? file_cell(report, s->image, arg)
						       : sp_cell_null(),
	};

	if (info->name && info->extra && e->extra)
		add_image(report, e, image->host, cells);
	return sp_out_row(out, cells);
}

static bool is_selected(const struct sp_report *report, const struct sp_merged *e)
{
	const struct sp_stream *s = report->index.streams[e->stream];
	struct sp_span span = sp_report_span(report, report->index.images[s->image].host);

	return e->slot->start >= span.from_ticks && e->slot->start < span.to_ticks;
}

int sp_view_dump(const struct sp_report *report, struct sp_out *out,
		 const struct sp_view_options *options)
{
	struct sp_merged event;
	struct sp_merge merge;
	uint32_t shown = 0;
	int r;

	if (options->sort)
		return -EINVAL;
	sp_run_json(report, out);
	r = sp_out_table(out, "events", NULL, columns, CELLS, true);
	if (r == 0) {
		r = sp_merge_init(&merge, report);
		while (r == 0 && shown < options->limit && sp_out_is_open(out)) {
			r = sp_merge_next(&merge, &event);
			if (r <= 0)
				break;
			r = is_selected(report, &event) ? show_row(report, out, &event) : 0;
			shown += is_selected(report, &event);
		}
		sp_merge_finish(&merge);
		sp_out_table_end(out);
	}
	return r;
}
