/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/views/view.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/views/inflight.h"
#include "analyzer/workers/thread_role.h"
#include "analyzer/totals/thread_end.h"

enum {
	HOST,
	PID,
	TID,
	NAME,
	ROLE,
	PART,
	START,
	LIFE,
	EVENTS,
	INSIDE,
	TOP,
	TOP_TITLE,
	TOP_NS,
	READ,
	WRITTEN,
	LOST,
	ENDED,
	CPU,
	READY,
	FAULTS,
	CELLS
};

static const struct sp_column columns[CELLS] = {
	[HOST] = {"host", NULL, SP_CELL_TEXT},
	[PID] = {"pid", N_("pid"), SP_CELL_ID},
	[TID] = {"tid", N_("thread"), SP_CELL_ID},
	[NAME] = {"name", N_("name"), SP_CELL_TEXT},
	[ROLE] = {"role", N_("role"), SP_CELL_WORD},
	[PART] = {"part", NULL, SP_CELL_ID},
	[START] = {"start_ns", N_("start"), SP_CELL_AT_NS},
	[LIFE] = {"dur_ns", N_("lifetime"), SP_CELL_NS},
	[EVENTS] = {"events", N_("events"), SP_CELL_COUNT},
	[INSIDE] = {"total_ns", N_("in calls"), SP_CELL_NS},
	[TOP] = {"top_stage", NULL, SP_CELL_TEXT},
	[TOP_TITLE] = {NULL, N_("most time in"), SP_CELL_TEXT},
	[TOP_NS] = {"top_stage_ns", NULL, SP_CELL_NS},
	[READ] = {"read_bytes", N_("read"), SP_CELL_BYTES},
	[WRITTEN] = {"written_bytes", NULL, SP_CELL_BYTES},
	[LOST] = {"events_lost", N_("lost"), SP_CELL_COUNT},
	[ENDED] = {"end", N_("end"), SP_CELL_WORD},
	[CPU] = {"cpu_ns", NULL, SP_CELL_NS},
	[READY] = {"ready_ns", NULL, SP_CELL_NS},
	[FAULTS] = {"major_faults", NULL, SP_CELL_COUNT},
};

/* Where a terminal has no room for all columns. */
static const unsigned char importance[CELLS] = {
	[PID] = 4,    [TID] = 4,    [ROLE] = 3, [START] = 1, [LIFE] = 2,
	[EVENTS] = 1, [INSIDE] = 2, [LOST] = 3, [ENDED] = 3,
};

static const char *end_of(const struct sp_report *report, uint32_t i)
{
	const struct sp_stream *s = report->run.index.streams[i];
	enum sp_thread_end end = sp_thread_end_of(&report->run, &report->totals, i);

	if (end != SP_THREAD_END_NONE)
		return end == SP_THREAD_END_CLEAN ? _("clean") : _("with process");
	if (sp_inflight_ns(report, i))
		return _("in a call");
	if (sp_stream_tail_is_away(s))
		return _("not here");
	return s->has_window ? _("none") : _("cut");
}

static uint64_t total_of(const struct sp_stream_sums *sums)
{
	uint64_t total = 0;

	for (int stage = 0; stage < SP_STAGE_off; stage++)
		total += sums->stages[stage].total_ns;
	return total;
}

static int show_row(const void *context, struct sp_out *out, uint32_t i)
{
	const struct sp_report *report = context;
	const struct sp_stream *s = report->run.index.streams[i];
	const struct sp_stream_sums *sums = &report->totals.streams[i];
	const struct sp_host *host =
		&report->run.index.hosts[report->run.index.images[s->image].host];
	const struct sp_thread_usage *use = &report->run.metadata.usages[i];
	struct sp_traffic traffic = sp_stages_traffic(sums->stages);
	int64_t begin, end;
	int top = 0;

	for (int stage = 1; stage < SP_STAGE_off; stage++)
		if (!sums->stages[top].calls ||
		    sums->stages[stage].total_ns > sums->stages[top].total_ns)
			top = stage;
	sp_stream_life(&report->run, &report->totals, i, &begin, &end);
	struct sp_cell cells[CELLS] = {
		[HOST] = sp_cell_bytes(host->name, strnlen(host->name, sizeof(host->name))),
		[PID] = sp_cell_count(report->run.index.images[s->image].pid),
		[TID] = sp_cell_count(s->tid),
		[NAME] = sp_cell_text(sp_run_thread_name(&report->run, i)),
		[ROLE] = sp_cell_text(_(sp_role_of(&report->training, i))),
		[PART] = sp_cell_count(s->segment),
		[START] = sp_cell_signed(begin - report->run.begin_ns),
		[LIFE] = sp_cell_count((uint64_t)(end - begin)),
		[CPU] = sp_cell_null(),
		[READY] = sp_cell_null(),
		[FAULTS] = sp_cell_null(),
		[EVENTS] = sp_cell_count(sums->events),
		[INSIDE] = sp_cell_count(total_of(sums)),
		[TOP] = sums->events ? sp_cell_text(sp_stage_name(top)) : sp_cell_null(),
		[TOP_TITLE] = sums->events ? sp_cell_text(sp_stage_title(top)) : sp_cell_null(),
		[TOP_NS] = sp_cell_count(sums->stages[top].total_ns),
		[READ] = sp_cell_count(traffic.read_bytes),
		[WRITTEN] = sp_cell_count(traffic.written_bytes),
		[LOST] = sp_cell_count(s->lost),
		[ENDED] = sp_cell_text(end_of(report, i)),
	};

	if (use->is_known) {
		cells[CPU] = sp_cell_count(use->whole.cpu_ns);
		cells[FAULTS] = sp_cell_count(use->whole.major_faults);
		if (use->whole.ready_ns != UINT64_MAX)
			cells[READY] = sp_cell_count(use->whole.ready_ns);
	}
	return sp_out_row(out, cells);
}

static bool is_selected(const void *context, uint32_t i)
{
	const struct sp_report *report = context;

	return sp_run_selects(&report->run, i);
}

static uint64_t by_start(const void *context, uint32_t i)
{
	const struct sp_report *report = context;
	int64_t begin, end;

	sp_stream_life(&report->run, &report->totals, i, &begin, &end);
	return UINT64_MAX - (uint64_t)begin;
}

static uint64_t by_events(const void *context, uint32_t i)
{
	return ((const struct sp_report *)context)->totals.streams[i].events;
}

static uint64_t by_life(const void *context, uint32_t i)
{
	const struct sp_report *report = context;
	int64_t begin, end;

	sp_stream_life(&report->run, &report->totals, i, &begin, &end);
	return (uint64_t)(end - begin);
}

static uint64_t by_total(const void *context, uint32_t i)
{
	return total_of(&((const struct sp_report *)context)->totals.streams[i]);
}

static const struct sp_sort_key keys[] = {{"at", "start_ns", N_("start"), by_start},
					  {"events", "events", N_("events"), by_events},
					  {"lived", "dur_ns", N_("lifetime"), by_life},
					  {"total", "total_ns", N_("in calls"), by_total}};

int sp_view_threads(const struct sp_report *report, struct sp_out *out,
		    const struct sp_view_options *options)
{
	const struct sp_sort_key *key = SP_SORT_FIND(keys, options);
	struct sp_view_rows rows = {"threads",
				    columns,
				    CELLS,
				    report->run.index.stream_count,
				    .is_shown = is_selected,
				    .show = show_row,
				    .context = report};
	int r;

	if (!key)
		return -EINVAL;
	rows.value = key->value;
	sp_run_json(report, out);
	out->importance = importance;
	r = sp_view_rows_show(&rows, out, options->limit);
	return r == 0 ? sp_inflight_show(report, out) : r;
}
