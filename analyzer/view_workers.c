#include "analyzer/view.h"

#include <errno.h>
#include <string.h>

enum {
	ROLE,
	PID,
	TID,
	START,
	LIFE,
	BATCHES,
	SENDING,
	CPU,
	PREEMPTED,
	BLOCKED,
	MAJOR,
	MINOR,
	WORKS,
	CELLS = WORKS + SP_WORKS
};

static const struct sp_column all_columns[CELLS] = {
	[ROLE] = {"role", N_("role"), SP_CELL_TEXT},
	[PID] = {"pid", N_("pid"), SP_CELL_ID},
	[TID] = {"tid", NULL, SP_CELL_ID},
	[START] = {"start_ns", NULL, SP_CELL_AT_NS},
	[LIFE] = {"dur_ns", N_("lived"), SP_CELL_NS},
	[BATCHES] = {"batches", N_("batches"), SP_CELL_COUNT},
	[SENDING] = {"sending_ns", NULL, SP_CELL_NS},
	/* Of fetches; null where the kernel was not asked. */
	[CPU] = {"cpu_ns", N_("on a core"), SP_CELL_NS},
	[PREEMPTED] = {"preempted_ns", NULL, SP_CELL_NS},
	[BLOCKED] = {"blocked_ns", NULL, SP_CELL_NS},
	[MAJOR] = {"major_faults", NULL, SP_CELL_COUNT},
	[MINOR] = {"minor_faults", NULL, SP_CELL_COUNT},
#define SP_WORK(name, title) [WORKS + SP_WORK_##name] = {#name "_ns", title, SP_CELL_NS},
#include "analyzer/work.def"
#undef SP_WORK
};

static struct sp_work_sums sum_of(const struct sp_report *report, bool meanwhile)
{
	struct sp_work_sums sum = {.ns = {0}};

	for (uint32_t i = 0; i < report->workers.count; i++) {
		const struct sp_worker *w = &report->workers.list[i];

		for (int work = 0; work < SP_WORKS; work++)
			sum.ns[work] += (meanwhile ? &w->meanwhile : &w->whole)->ns[work];
	}
	return sum;
}

/* On a terminal, only what any worker did. */
static void choose_columns(const struct sp_report *report, struct sp_column columns[CELLS])
{
	struct sp_work_sums sum = sum_of(report, false);

	memcpy(columns, all_columns, sizeof(all_columns));
	for (int work = 0; work < SP_WORKS; work++)
		if (sum.ns[work] == 0)
			columns[WORKS + work].title = NULL;
}

/* Queues send from a thread of their own: the whole process counts. */
static uint64_t sending_ns(const struct sp_report *report, const struct sp_worker *w)
{
	uint32_t image = report->index.streams[w->stream]->image;
	uint64_t ns = 0;

	for (uint32_t i = 0; i < report->index.stream_count; i++)
		if (report->index.streams[i]->image == image)
			ns += report->streams[i].stages[SP_STAGE_ipc_write].total_ns;
	return ns;
}

static int show_worker(const struct sp_report *report, struct sp_out *out,
		       const struct sp_worker *w)
{
	const struct sp_stream *stream = report->index.streams[w->stream];
	struct sp_cell cells[CELLS] = {
		[ROLE] = sp_cell_text(w->is_trainer ? _("trainer") : _("worker")),
		[PID] = sp_cell_count(report->index.images[stream->image].pid),
		[TID] = sp_cell_count(stream->tid),
		[START] = sp_cell_signed(w->begin_ns - report->begin_ns),
		[LIFE] = sp_cell_count((uint64_t)(w->end_ns - w->begin_ns)),
		[BATCHES] = sp_cell_count(w->batches),
		[SENDING] = w->is_trainer ? sp_cell_null()
					  : sp_cell_count(sending_ns(report, w)),
		[CPU] = sp_cell_null(),
		[PREEMPTED] = sp_cell_null(),
		[BLOCKED] = sp_cell_null(),
		[MAJOR] = sp_cell_null(),
		[MINOR] = sp_cell_null(),
	};

	for (int work = 0; work < SP_WORKS; work++)
		cells[WORKS + work] = sp_cell_count(w->whole.ns[work]);
	if (w->usage.calls) {
		cells[CPU] = sp_cell_count(w->usage.cpu_ns);
		cells[PREEMPTED] = sp_cell_count(w->usage.preempted_ns);
		cells[BLOCKED] = sp_cell_count(w->usage.blocked_ns);
		cells[MAJOR] = sp_cell_count(w->usage.major_faults);
		cells[MINOR] = sp_cell_count(w->usage.minor_faults);
	}
	/* What a trainer does besides making batches is in its steps. */
	if (w->is_trainer)
		cells[WORKS + SP_WORK_idle] = cells[WORKS + SP_WORK_other] = sp_cell_null();
	return sp_out_row(out, cells);
}

static int show_workers(const struct sp_report *report, struct sp_out *out, uint32_t limit)
{
	struct sp_column columns[CELLS];
	uint32_t n = report->workers.count;
	int r;

	choose_columns(report, columns);
	r = sp_out_table(out, "workers", NULL, columns, CELLS, true);
	for (uint32_t i = 0; r == 0 && i < n && i < limit; i++)
		r = show_worker(report, out, &report->workers.list[i]);
	sp_out_table_end(out);
	sp_view_more(out, n > limit ? n - limit : 0);
	return r;
}

enum { W_WORK, W_TITLE, W_TIME, W_SHARE, W_CELLS };

static const struct sp_column meanwhile_columns[W_CELLS] = {
	[W_WORK] = {"part", NULL, SP_CELL_TEXT},
	[W_TITLE] = {NULL, N_("while the trainer waited"), SP_CELL_TEXT},
	[W_TIME] = {"ns", N_("time"), SP_CELL_NS},
	[W_SHARE] = {"share", N_("share"), SP_CELL_SHARE},
};

static int show_meanwhile(const struct sp_report *report, struct sp_out *out)
{
	struct sp_work_sums sum = sum_of(report, true);
	uint64_t total = 0;
	int r = sp_out_table(out, "while_waiting", NULL, meanwhile_columns, W_CELLS, false);

	for (int work = 0; work < SP_WORKS; work++)
		total += sum.ns[work];
	for (int work = 0; r == 0 && work < SP_WORKS; work++) {
		struct sp_cell cells[W_CELLS] = {
			[W_WORK] = sp_cell_text(sp_work_name((enum sp_work)work)),
			[W_TITLE] = sp_cell_text(sp_work_title((enum sp_work)work)),
			[W_TIME] = sp_cell_count(sum.ns[work]),
			[W_SHARE] = sp_cell_ratio(sum.ns[work], total),
		};

		if (sum.ns[work])
			r = sp_out_row(out, cells);
	}
	sp_out_table_end(out);
	sp_out_line(out, "what the workers did while the trainer waited for a batch, added up");
	return r;
}

int sp_view_workers(const struct sp_report *report, struct sp_out *out,
		    const struct sp_view_options *options)
{
	int r;

	if (options->sort)
		return -EINVAL;
	sp_run_json(report, out);
	if (report->workers.count == 0)
		sp_out_line(out, "no workers: no batch was seen being made for a trainer");
	if (report->workers.count == 0 && sp_out_is_read(out))
		return 0;
	r = show_workers(report, out, options->limit);
	sp_out_line(out, "%s", "");
	return r == 0 ? show_meanwhile(report, out) : r;
}
