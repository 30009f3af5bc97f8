/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/base/add_up.h"
#include "analyzer/base/each.h"
#include "analyzer/views/view.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/text/text.h"
#include "analyzer/views/run_json.h"
#include "analyzer/workers/thread_role.h"

enum {
	ROLE,
	PID,
	TID,
	START,
	LIFE,
	BATCHES,
	OBSERVED,
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
	[LIFE] = {"dur_ns", N_("lifetime"), SP_CELL_NS},
	[BATCHES] = {"batches", N_("batches"), SP_CELL_COUNT},
	[OBSERVED] = {"observed_batches", NULL, SP_CELL_COUNT}, /* no record was lost */
	[SENDING] = {"sending_ns", NULL, SP_CELL_NS},
	/* Sums over fetches; null where rusage was not recorded. */
	[CPU] = {"cpu_ns", N_("CPU time"), SP_CELL_NS},
	[PREEMPTED] = {"preempted_ns", NULL, SP_CELL_NS},
	[BLOCKED] = {"blocked_ns", NULL, SP_CELL_NS},
	[MAJOR] = {"major_faults", NULL, SP_CELL_COUNT},
	[MINOR] = {"minor_faults", NULL, SP_CELL_COUNT},
#define SP_WORK(name, title, kind, inside)                                                         \
	[WORKS + SP_WORK_##name] = {#name "_ns", title, SP_CELL_NS},
#include "analyzer/workers/work.def"
#undef SP_WORK
};

static struct sp_work_sums sum_of(const struct sp_report *report, bool meanwhile)
{
	struct sp_work_sums sum = {.ns = {0}};

	for (uint32_t i = 0; i < report->workers.count; i++) {
		const struct sp_worker *w = &report->workers.list[i];

		SP_ADD_UP(&sum, meanwhile ? &w->meanwhile : &w->whole);
	}
	return sum;
}

/* A terminal gets only columns with a value. */
static void choose_columns(const struct sp_report *report, struct sp_column columns[CELLS])
{
	struct sp_work_sums sum = sum_of(report, false);

	memcpy(columns, all_columns, sizeof(all_columns));
	for (int work = 0; work < SP_WORKS; work++)
		if (sum.ns[work] == 0)
			columns[WORKS + work].title = NULL;
}

/* Queues send from a separate thread, so the whole process counts. */
static uint64_t sending_ns(const struct sp_report *report, const struct sp_worker *w)
{
	uint32_t image = report->run.index.streams[w->stream]->image;

	return SP_SUM(uint64_t, i, report->run.index.stream_count,
		      (report->run.index.streams[i]->image == image)
			      ? report->totals.streams[i].stages[SP_STAGE_ipc_write].total_ns
			      : 0);
}

static int show_worker(const struct sp_report *report, struct sp_out *out,
		       const struct sp_worker *w)
{
	const struct sp_stream *stream = report->run.index.streams[w->stream];
	struct sp_cell cells[CELLS] = {
		[ROLE] = sp_cell_text(w->is_trainer ? _("trainer") : _("worker")),
		[PID] = sp_cell_count(report->run.index.images[stream->image].pid),
		[TID] = sp_cell_count(stream->tid),
		[START] = sp_cell_signed(w->begin_ns - report->run.begin_ns),
		[LIFE] = sp_cell_count((uint64_t)(w->end_ns - w->begin_ns)),
		[BATCHES] = sp_cell_count(w->fetches.batches),
		[OBSERVED] = sp_cell_count(w->fetches.usage.observed),
		[SENDING] = w->is_trainer ? sp_cell_null() : sp_cell_count(sending_ns(report, w)),
		[CPU] = sp_cell_null(),
		[PREEMPTED] = sp_cell_null(),
		[BLOCKED] = sp_cell_null(),
		[MAJOR] = sp_cell_null(),
		[MINOR] = sp_cell_null(),
	};

	for (int work = 0; work < SP_WORKS; work++)
		cells[WORKS + work] = sp_cell_count(w->whole.ns[work]);
	if (w->fetches.usage.calls) {
		cells[CPU] = sp_cell_count(w->fetches.usage.cpu_ns);
		cells[PREEMPTED] = sp_cell_count(w->fetches.usage.preempted_ns);
		cells[BLOCKED] = sp_cell_count(w->fetches.usage.blocked_ns);
		cells[MAJOR] = sp_cell_count(w->fetches.usage.major_faults);
		cells[MINOR] = sp_cell_count(w->fetches.usage.minor_faults);
	}
	if (!w->fetches.usage.observed)
		cells[WORKS + SP_WORK_core_wait] = sp_cell_null();
	/* A trainer's other work is in its steps. */
	if (w->is_trainer)
		cells[WORKS + SP_WORK_idle] = cells[WORKS + SP_WORK_other] = sp_cell_null();
	return sp_out_row(out, cells);
}

SP_VALUE(by_time, struct sp_report, UINT64_MAX - i)
SP_VALUE(by_life, struct sp_report,
	 (uint64_t)(rows->workers.list[i].end_ns - rows->workers.list[i].begin_ns))
SP_VALUE(by_batches, struct sp_report, rows->workers.list[i].fetches.batches)
SP_VALUE(by_cpu, struct sp_report, rows->workers.list[i].fetches.usage.cpu_ns)
#define SP_WORK(name, title, kind, inside)                                                         \
	SP_VALUE(by_##name, struct sp_report, rows->workers.list[i].whole.ns[SP_WORK_##name])
#include "analyzer/workers/work.def"
#undef SP_WORK

static const struct sp_sort_key keys[] = {
	{"at", "start_ns", N_("at"), by_time},
	{"lived", "dur_ns", N_("lifetime"), by_life},
	{"batches", "batches", N_("batches"), by_batches},
	{"cpu", "cpu_ns", N_("CPU time"), by_cpu},
#define SP_WORK(name, title, kind, inside) {#name, #name "_ns", title, by_##name},
#include "analyzer/workers/work.def"
#undef SP_WORK
};

static int show_workers(const struct sp_report *report, struct sp_out *out, uint32_t limit,
			const uint32_t *order)
{
	struct sp_column columns[CELLS];
	uint32_t n = report->workers.count;
	int r;

	choose_columns(report, columns);
	r = sp_out_table(out, "workers", NULL, columns, CELLS, true);
	for (uint32_t i = 0; r == 0 && i < n && i < limit; i++)
		r = show_worker(report, out, &report->workers.list[order[i]]);
	sp_out_table_end(out);
	sp_view_more(out, n > limit ? n - limit : 0);
	return r;
}

static uint64_t total_of(const struct sp_work_sums *sum)
{
	return SP_SUM(uint64_t, work, SP_WORKS, sum->ns[work]);
}

#define TOGETHER_COLUMNS(X)                                                                        \
	X("part", NULL, TEXT, sp_cell_text(sp_work_name((enum sp_work)work)))                      \
	X(NULL, N_("all workers"), TEXT, sp_cell_text(sp_work_title((enum sp_work)work)))          \
	X("ns", N_("while the trainer waited"), NS, sp_cell_count(sum.ns[work]))                   \
	X("share", N_("share"), SHARE, sp_cell_ratio(sum.ns[work], total))                         \
	X("whole_ns", N_("in all"), NS, sp_cell_count(all.ns[work]))                               \
	X("whole_share", N_("share"), SHARE, sp_cell_ratio(all.ns[work], all_ns))

static const struct sp_column together_columns[] = {TOGETHER_COLUMNS(SP_COLUMN)};

/* JSON has the rows that it always had: work that was done while the trainer waited. */
static int show_together(const struct sp_report *report, struct sp_out *out)
{
	struct sp_work_sums all = sum_of(report, false), sum = sum_of(report, true);
	uint64_t all_ns = total_of(&all), total = total_of(&sum);
	int r = sp_out_table(out, "while_waiting", NULL, SP_COLUMNS_OF(together_columns), false);

	for (int work = 0; r == 0 && work < SP_WORKS; work++) {
		const struct sp_cell cells[] = {TOGETHER_COLUMNS(SP_CELL)};

		if (sum.ns[work] || (sp_out_is_read(out) && all.ns[work]))
			r = sp_out_row(out, cells);
	}
	sp_out_table_end(out);
	return r;
}

static const char *role_of(const struct sp_report *report, const struct sp_thread_waits *waits)
{
	return sp_role_of(&report->training, waits->stream);
}

static uint32_t pid_of(const struct sp_report *report, const struct sp_thread_waits *waits)
{
	return report->run.index.images[report->run.index.streams[waits->stream]->image].pid;
}

/* The file or the peer of a row; null where there is none, or several. */
static struct sp_cell file_cell(const struct sp_report *report, const struct sp_thread_waits *waits,
				const struct sp_wait_row *row, bool is_peer)
{
	const struct sp_process_metadata *process = sp_run_process(&report->run, waits->stream);
	uint32_t number = row->id ? sp_process_file(process, row->id) : SP_STRINGS_REST;
	size_t bytes;
	const char *text = sp_string_table_text(&report->run.metadata.files, number, &bytes);

	if (number == SP_STRINGS_REST || !bytes || is_peer != (row->cause == SP_CAUSE_socket))
		return sp_cell_null();
	return sp_cell_bytes(text, bytes);
}

#define WAIT_COLUMNS(X)                                                                            \
	X("process", NULL, ID, sp_cell_count(pid_of(report, waits)))                               \
	X("thread", NULL, ID, sp_cell_count(report->run.index.streams[waits->stream]->tid))        \
	X("role", NULL, TEXT, sp_cell_text(role_of(report, waits)))                                \
	X("cause", NULL, TEXT, sp_cell_text(sp_cause_name(row->cause)))                            \
	X("ns", NULL, NS, sp_cell_count(row->ns))                                                  \
	X("count", NULL, COUNT, row->count ? sp_cell_count(row->count) : sp_cell_null())           \
	X("of_ns", NULL, NS, sp_cell_count(waits->ns))                                             \
	X("source", NULL, TEXT, sp_cell_text(sp_wait_source_name(row->source)))                    \
	X("file", NULL, TEXT, file_cell(report, waits, row, false))                                \
	X("peer", NULL, TEXT, file_cell(report, waits, row, true))

static const struct sp_column wait_columns[] = {WAIT_COLUMNS(SP_COLUMN)};

/* For programs: a row for each thread, cause and file. */
static int list_waits(const struct sp_report *report, struct sp_out *out)
{
	int r = sp_out_table(out, "waits", NULL, SP_COLUMNS_OF(wait_columns), false);

	for (uint32_t i = 0; r == 0 && i < report->workers.wait_count; i++) {
		const struct sp_thread_waits *waits = &report->workers.waits[i];

		for (uint32_t j = 0; r == 0 && j < waits->count; j++) {
			const struct sp_wait_row *row = &waits->rows[j];
			const struct sp_cell cells[] = {WAIT_COLUMNS(SP_CELL)};

			r = sp_out_row(out, cells);
		}
	}
	sp_out_table_end(out);
	return r;
}

/* The waits of all trainers, and of all workers. */
struct role_waits {
	uint64_t ns[SP_CAUSES], all_ns;
};

static struct role_waits waits_of(const struct sp_report *report, bool is_trainer)
{
	struct role_waits sum = {.all_ns = 0};

	for (uint32_t i = 0; i < report->workers.wait_count; i++) {
		const struct sp_thread_waits *waits = &report->workers.waits[i];

		if (is_trainer != (strcmp(role_of(report, waits), "trainer") == 0))
			continue;
		sum.all_ns += waits->ns;
		for (uint32_t j = 0; j < waits->count; j++)
			sum.ns[waits->rows[j].cause] += waits->rows[j].ns;
	}
	return sum;
}

#define CAUSE_COLUMNS(X)                                                                           \
	X("cause", N_("waits for"), TEXT, sp_cell_text(sp_cause_title((enum sp_cause)cause)))      \
	X("trainer_ns", N_("the trainer"), NS, sp_cell_count(trainers.ns[cause]))                  \
	X("trainer_share", N_("share"), SHARE, sp_cell_ratio(trainers.ns[cause], trainers.all_ns)) \
	X("worker_ns", N_("the workers"), NS, sp_cell_count(workers.ns[cause]))                    \
	X("worker_share", N_("share"), SHARE, sp_cell_ratio(workers.ns[cause], workers.all_ns))

static const struct sp_column cause_columns[] = {CAUSE_COLUMNS(SP_COLUMN)};

static int show_waits(const struct sp_report *report, struct sp_out *out)
{
	struct role_waits trainers = waits_of(report, true), workers = waits_of(report, false);
	int r;

	if (!sp_out_is_read(out))
		return list_waits(report, out);
	r = sp_out_table(out, "waits", NULL, SP_COLUMNS_OF(cause_columns), false);
	for (int cause = 0; r == 0 && cause < SP_CAUSES; cause++) {
		const struct sp_cell cells[] = {CAUSE_COLUMNS(SP_CELL)};

		if (trainers.ns[cause] || workers.ns[cause])
			r = sp_out_row(out, cells);
	}
	sp_out_table_end(out);
	return r;
}

static void show_count(const struct sp_report *report, struct sp_out *out)
{
	char a[SP_NUMBER_BYTES], b[SP_NUMBER_BYTES];
	uint64_t batches = 0, life_ns = 0;
	uint32_t workers = 0;

	for (uint32_t i = 0; i < report->workers.count; i++) {
		const struct sp_worker *w = &report->workers.list[i];

		workers += !w->is_trainer;
		batches += w->fetches.batches;
		life_ns += (uint64_t)(w->end_ns - w->begin_ns);
	}
	if (workers)
		sp_out_line(out,
			    sp_translate_plural("%u worker made %s batches in %s",
						"%u workers made %s batches in lifetimes of %s "
						"together",
						workers),
			    workers, sp_text_count(a, batches), sp_text_ns(b, life_ns));
	else
		sp_out_line(out,
			    sp_translate_plural("the trainer made %s batch itself",
						"the trainer made %s batches itself", batches),
			    sp_text_count(a, batches));
}

int sp_view_workers(const struct sp_report *report, struct sp_out *out,
		    const struct sp_view_options *options)
{
	const struct sp_sort_key *key = SP_SORT_FIND(keys, options);
	uint32_t *order;
	int r;

	if (!key)
		return -EINVAL;
	sp_run_json(report, out);
	if (report->workers.count == 0)
		sp_out_line(out, "no workers: no work on a trainer's batch was seen");
	if (report->workers.count == 0 && sp_out_is_read(out))
		return 0;
	order = sp_order_by(report->workers.count, key->value, report);
	r = order ? 0 : -ENOMEM;
	if (r == 0) {
		show_count(report, out);
		r = show_together(report, out);
	}
	sp_out_line(out, "%s", "");
	if (r == 0)
		r = show_waits(report, out);
	sp_out_line(out, "%s", "");
	if (r == 0)
		r = show_workers(report, out, options->limit, order);
	free(order);
	return r;
}
