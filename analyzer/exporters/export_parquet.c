/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tables of a job for engines that read Parquet. The tables are a contract: docs/EXPORTS.md.
 *
 * Steps are read from the series of the trainers, so a job of ten thousand ranks fits in memory,
 * and digests give the same rows as the runs.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/base/order.h"
#include "analyzer/exporters/export.h"
#include "analyzer/exporters/parquet_folder.h"
#include "analyzer/totals/thread_end.h"
#include "analyzer/views/view.h"
#include "analyzer/workers/thread_role.h"

enum { STEP_HOST, STEP_PID, STEP, STEP_START, STEP_WALL, STEP_PHASES };

static const struct sp_parquet_column step_columns[] = {
	{"host", SP_PARQUET_TEXT},	{"pid", SP_PARQUET_INT64},     {"step", SP_PARQUET_INT64},
	{"start_ns", SP_PARQUET_INT64}, {"wall_ns", SP_PARQUET_INT64},
#define SP_ACCOUNT(name, title, missing, is) {#name "_ns", SP_PARQUET_INT64},
#include "analyzer/steps/account.def"
#undef SP_ACCOUNT
};

static const struct sp_parquet_column collective_columns[] = {
	{"host", SP_PARQUET_TEXT},     {"pid", SP_PARQUET_INT64},     {"step", SP_PARQUET_INT64},
	{"stay_ns", SP_PARQUET_INT64}, {"left_ns", SP_PARQUET_INT64},
};

static const struct sp_parquet_column stage_columns[] = {
	{"host", SP_PARQUET_TEXT},     {"pid", SP_PARQUET_INT64},   {"tid", SP_PARQUET_INT64},
	{"stage", SP_PARQUET_TEXT},    {"calls", SP_PARQUET_INT64}, {"total_ns", SP_PARQUET_INT64},
	{"max_ns", SP_PARQUET_INT64},  {"bytes", SP_PARQUET_INT64}, {"errors", SP_PARQUET_INT64},
	{"aborted", SP_PARQUET_INT64},
};

static const struct sp_parquet_column bin_columns[] = {
	{"stage", SP_PARQUET_TEXT},
	{"from_ns", SP_PARQUET_INT64},
	{"to_ns", SP_PARQUET_INT64},
	{"calls", SP_PARQUET_INT64},
};

static const struct sp_parquet_column thread_columns[] = {
	{"rank", SP_PARQUET_INT64},	{"host", SP_PARQUET_TEXT},
	{"pid", SP_PARQUET_INT64},	{"tid", SP_PARQUET_INT64},
	{"name", SP_PARQUET_TEXT},	{"role", SP_PARQUET_TEXT},
	{"start_ns", SP_PARQUET_INT64}, {"dur_ns", SP_PARQUET_INT64},
	{"events", SP_PARQUET_INT64},	{"events_lost", SP_PARQUET_INT64},
	{"ended", SP_PARQUET_TEXT},
};

static const struct sp_parquet_column process_columns[] = {
	{"rank", SP_PARQUET_INT64},	   {"local_rank", SP_PARQUET_INT64},
	{"world_size", SP_PARQUET_INT64},  {"host", SP_PARQUET_TEXT},
	{"pid", SP_PARQUET_INT64},	   {"ppid", SP_PARQUET_INT64},
	{"exe", SP_PARQUET_TEXT},	   {"start_ns", SP_PARQUET_INT64},
	{"ending", SP_PARQUET_TEXT},	   {"status", SP_PARQUET_INT64},
	{"events_lost", SP_PARQUET_INT64},
};

#define COLUMNS(list) (list), sizeof(list) / sizeof((list)[0])

/* A stream, or a trainer, beside the rank that it is of. */
struct of_rank {
	uint64_t rank;
	uint32_t index;
};

struct parquet_export {
	const struct sp_report *report;
	struct sp_parquet_folder folder;
	struct of_rank *streams, *trainers; /* both by rank */
	uint32_t stream_count, trainer_count;
};

static void put_host(struct parquet_export *e, uint32_t column,
		     const struct sp_process_image *image)
{
	const struct sp_host *host = &e->report->run.index.hosts[image->host];

	sp_parquet_bytes(&e->folder, column, host->name, strnlen(host->name, sizeof(host->name)));
}

/* The header stores this plus 1; 0: not known. */
static void put_number(struct parquet_export *e, uint32_t column, uint64_t number)
{
	if (number)
		sp_parquet_count(&e->folder, column, number - 1);
}

SP_ORDER(compare_ranked, struct of_rank, SP_UP(rank) ?: SP_UP(index))

static int list_ranked(struct parquet_export *e)
{
	const struct sp_report *report = e->report;

	e->streams = calloc(report->run.index.stream_count + 1u, sizeof(*e->streams));
	e->trainers = calloc(report->training.count + 1u, sizeof(*e->trainers));
	if (!e->streams || !e->trainers)
		return -ENOMEM;
	for (uint32_t i = 0; i < report->run.index.stream_count; i++)
		if (sp_run_selects(&report->run, i))
			e->streams[e->stream_count++] =
				(struct of_rank){sp_run_image(&report->run, i)->rank, i};
	for (uint32_t i = 0; i < report->training.count; i++)
		e->trainers[e->trainer_count++] = (struct of_rank){
			sp_run_image(&report->run, report->training.trainers[i].stream)->rank, i};
	qsort(e->streams, e->stream_count, sizeof(*e->streams), compare_ranked);
	qsort(e->trainers, e->trainer_count, sizeof(*e->trainers), compare_ranked);
	return 0;
}

/* One block of a series. */
struct series_block {
	uint32_t first, count; /* the number of its first step is at least `first` */
	int64_t of[SP_SERIES_COLUMNS][SP_SERIES_STEPS];
};

static int read_block(struct series_block *ret, const struct sp_step_series *series, uint32_t at)
{
	ret->first = series->blocks[at].number * SP_SERIES_STEPS;
	ret->count = series->blocks[at].steps;
	for (int column = 0; column < SP_SERIES_COLUMNS; column++)
		if (sp_series_column(series, at, (enum sp_series_column)column, ret->of[column]) <
		    0)
			return -EBADMSG;
	return 0;
}

static void put_step(struct parquet_export *e, const struct sp_trainer *t,
		     const struct series_block *b, uint32_t i)
{
	struct sp_parquet *file = e->folder.file;
	const struct sp_process_image *image = sp_run_image(&e->report->run, t->stream);

	put_host(e, STEP_HOST, image);
	sp_parquet_int(file, STEP_PID, image->pid);
	sp_parquet_int(file, STEP, b->first + b->of[SP_SERIES_NUMBER][i]);
	sp_parquet_int(file, STEP_START, b->of[SP_SERIES_START][i]);
	sp_parquet_int(file, STEP_WALL, b->of[SP_SERIES_WALL][i]);
	for (uint32_t phase = 0; phase < SP_ACCOUNT_PHASES; phase++)
		/* Validation lies between steps, never in one. */
		if (phase != SP_ACCOUNT_validation && t->steps.sources[phase] != SP_FROM_NOTHING)
			sp_parquet_int(file, STEP_PHASES + phase,
				       b->of[SP_SERIES_PHASE + phase][i]);
}

static void put_collective(struct parquet_export *e, const struct sp_trainer *t,
			   const struct series_block *b, uint32_t i)
{
	struct sp_parquet *file = e->folder.file;
	const struct sp_process_image *image = sp_run_image(&e->report->run, t->stream);

	put_host(e, 0, image);
	sp_parquet_int(file, 1, image->pid);
	sp_parquet_int(file, 2, b->first + b->of[SP_SERIES_NUMBER][i]);
	sp_parquet_int(file, 3, b->of[SP_SERIES_STAY][i]);
	sp_parquet_int(file, 4, b->of[SP_SERIES_LEFT][i]);
}

static int put_series(struct parquet_export *e, const struct of_rank *ranked, bool collectives)
{
	const struct sp_trainer *t = &e->report->training.trainers[ranked->index];
	struct series_block block;
	int r = 0;

	for (uint32_t at = 0; r == 0 && at < t->series.block_count; at++) {
		r = read_block(&block, &t->series, at);
		for (uint32_t i = 0; r == 0 && i < block.count; i++) {
			if (collectives && block.of[SP_SERIES_STAY][i] < 0)
				continue;
			r = sp_parquet_partition(&e->folder, ranked->rank);
			if (r < 0)
				return r;
			(collectives ? put_collective : put_step)(e, t, &block, i);
			r = sp_parquet_row(e->folder.file);
		}
	}
	return r;
}

static int put_steps(struct parquet_export *e)
{
	int r = sp_parquet_table(&e->folder, "steps", COLUMNS(step_columns));

	for (uint32_t i = 0; r == 0 && i < e->trainer_count; i++)
		r = put_series(e, &e->trainers[i], false);
	return r;
}

static int put_collectives(struct parquet_export *e)
{
	int r = sp_parquet_table(&e->folder, "collectives", COLUMNS(collective_columns));

	for (uint32_t i = 0; r == 0 && i < e->trainer_count; i++)
		r = put_series(e, &e->trainers[i], true);
	return r;
}

static int put_stage(struct parquet_export *e, const struct of_rank *ranked, enum sp_stage stage,
		     const struct sp_sums *sums)
{
	const struct sp_stream *stream = e->report->run.index.streams[ranked->index];
	const struct sp_process_image *image = sp_run_image(&e->report->run, ranked->index);
	int r = sp_parquet_partition(&e->folder, ranked->rank);

	if (r < 0)
		return r;
	put_host(e, 0, image);
	sp_parquet_int(e->folder.file, 1, image->pid);
	sp_parquet_int(e->folder.file, 2, stream->tid);
	sp_parquet_text(e->folder.file, 3, sp_stage_name(stage));
	sp_parquet_count(&e->folder, 4, sums->calls);
	sp_parquet_count(&e->folder, 5, sums->total_ns);
	sp_parquet_count(&e->folder, 6, sums->max_ns);
	sp_parquet_count(&e->folder, 7, sums->bytes);
	sp_parquet_count(&e->folder, 8, sums->errors);
	sp_parquet_count(&e->folder, 9, sums->aborted);
	return sp_parquet_row(e->folder.file);
}

static int put_stages(struct parquet_export *e)
{
	int r = sp_parquet_table(&e->folder, "stages", COLUMNS(stage_columns));

	for (uint32_t i = 0; r == 0 && i < e->stream_count; i++) {
		const struct sp_sums *sums = e->report->totals.streams[e->streams[i].index].stages;

		for (int stage = 0; r == 0 && stage < SP_STAGES; stage++)
			if (sums[stage].calls)
				r = put_stage(e, &e->streams[i], (enum sp_stage)stage,
					      &sums[stage]);
	}
	return r;
}

/* The least number of a bin, and the least of the next one (histogram.h). */
static void bin_range(uint32_t bin, uint64_t *ret_from, uint64_t *ret_to)
{
	uint32_t exponent = bin / SP_HIST_STEPS - 1, part = bin % SP_HIST_STEPS;

	if (bin < SP_HIST_STEPS) { /* of 0 alone; a hostile digest may have the bins before 1 */
		*ret_from = 0;
		*ret_to = 1;
	} else if (exponent < 5) {
		*ret_from = (UINT64_C(1) << exponent) + (part >> (5 - exponent));
		*ret_to = *ret_from + 1;
	} else {
		*ret_from = (uint64_t)(SP_HIST_STEPS + part) << (exponent - 5);
		*ret_to = *ret_from + (UINT64_C(1) << (exponent - 5));
	}
}

static int put_bins(struct parquet_export *e)
{
	const struct sp_hist *hists = e->report->totals.partial.hists;
	int r = sp_parquet_table(&e->folder, "stage_bins", COLUMNS(bin_columns));

	if (r == 0)
		r = sp_parquet_whole(&e->folder);
	for (int stage = 0; r == 0 && hists && stage < SP_STAGES; stage++) {
		for (uint32_t bin = 0; r == 0 && bin < SP_HIST_BINS; bin++) {
			uint64_t from, to;

			if (!hists[stage].bins[bin])
				continue;
			bin_range(bin, &from, &to);
			sp_parquet_text(e->folder.file, 0, sp_stage_name((enum sp_stage)stage));
			sp_parquet_count(&e->folder, 1, from);
			sp_parquet_count(&e->folder, 2, to);
			sp_parquet_count(&e->folder, 3, hists[stage].bins[bin]);
			r = sp_parquet_row(e->folder.file);
		}
	}
	return r;
}

static int put_thread(struct parquet_export *e, const struct of_rank *ranked)
{
	static const char *const ends[] = {
		[SP_THREAD_END_CLEAN] = "clean",
		[SP_THREAD_END_WITH_PROCESS] = "with_process",
		[SP_THREAD_END_NONE] = "none",
	};
	const struct sp_report *report = e->report;
	const struct sp_stream *stream = report->run.index.streams[ranked->index];
	const char *name = sp_run_thread_name(&report->run, ranked->index);
	int64_t begin_ns, end_ns;

	sp_stream_life(&report->run, &report->totals, ranked->index, &begin_ns, &end_ns);
	put_number(e, 0, ranked->rank);
	put_host(e, 1, sp_run_image(&report->run, ranked->index));
	sp_parquet_int(e->folder.file, 2, sp_run_image(&report->run, ranked->index)->pid);
	sp_parquet_int(e->folder.file, 3, stream->tid);
	sp_parquet_bytes(&e->folder, 4, name, strlen(name));
	sp_parquet_text(e->folder.file, 5, sp_role_of(&report->training, ranked->index));
	sp_parquet_int(e->folder.file, 6, begin_ns);
	sp_parquet_int(e->folder.file, 7, end_ns - begin_ns);
	sp_parquet_count(&e->folder, 8, report->totals.streams[ranked->index].events);
	sp_parquet_count(&e->folder, 9, stream->lost);
	sp_parquet_text(e->folder.file, 10,
			ends[sp_thread_end_of(&report->run, &report->totals, ranked->index)]);
	return sp_parquet_row(e->folder.file);
}

static int put_threads(struct parquet_export *e)
{
	int r = sp_parquet_table(&e->folder, "threads", COLUMNS(thread_columns));

	if (r == 0)
		r = sp_parquet_whole(&e->folder);
	for (uint32_t i = 0; r == 0 && i < e->stream_count; i++)
		r = put_thread(e, &e->streams[i]);
	return r;
}

static int put_process(struct parquet_export *e, const struct sp_process_image *image)
{
	struct sp_parquet *file = e->folder.file;
	uint64_t how = image->ending >> 8;

	put_number(e, 0, image->rank);
	put_number(e, 1, image->local_rank);
	if (image->world_size)
		sp_parquet_count(&e->folder, 2, image->world_size);
	put_host(e, 3, image);
	sp_parquet_int(file, 4, image->pid);
	if (image->ppid)
		sp_parquet_int(file, 5, image->ppid);
	sp_parquet_bytes(&e->folder, 6, image->exe, strnlen(image->exe, sizeof(image->exe)));
	if (image->start_ns)
		sp_parquet_count(&e->folder, 7, image->start_ns);
	if (how == SP_ENDING_EXITED || how == SP_ENDING_SIGNALED) {
		sp_parquet_text(file, 8, how == SP_ENDING_EXITED ? "exited" : "signaled");
		sp_parquet_int(file, 9, (int64_t)(image->ending & 0xFF));
	}
	sp_parquet_count(&e->folder, 10, image->process_lost);
	return sp_parquet_row(file);
}

/* The streams of an image lie together. */
static int put_processes(struct parquet_export *e)
{
	const struct sp_index *index = &e->report->run.index;
	uint32_t last = UINT32_MAX;
	int r = sp_parquet_table(&e->folder, "processes", COLUMNS(process_columns));

	if (r == 0)
		r = sp_parquet_whole(&e->folder);
	for (uint32_t i = 0; r == 0 && i < index->stream_count; i++) {
		uint32_t image = index->streams[i]->image;

		if (image == last || !sp_run_selects(&e->report->run, i))
			continue;
		last = image;
		r = put_process(e, &index->images[image]);
	}
	return r;
}

/* The main table of a view, as its CSV. */
static int put_view(struct parquet_export *e, FILE *file, const char *name)
{
	struct sp_view_options all = {.limit = UINT32_MAX, .slower_limit = -1};
	struct sp_out out = {.file = file, .format = SP_FORMAT_ROWS, .rows = &e->folder.rows};

	return sp_view_find(name)->show(e->report, &out, &all);
}

int sp_export_parquet(struct sp_export *export)
{
	struct parquet_export e = {.report = export->report};
	char creator[128];
	int r = list_ranked(&e), ended;

	snprintf(creator, sizeof(creator), "stageprof version %s", export->version);
	sp_parquet_folder_init(&e.folder, export->path, creator);
	/* Threads without a rank come first. */
	e.folder.has_ranks = e.stream_count && e.streams[e.stream_count - 1].rank;
	r = r ? r : put_steps(&e);
	r = r ? r : put_collectives(&e);
	r = r ? r : put_stages(&e);
	r = r ? r : put_bins(&e);
	r = r ? r : put_threads(&e);
	r = r ? r : put_processes(&e);
	r = r ? r : put_view(&e, export->file, "ranks");
	if (export->report->needs & SP_NEEDS_FILES)
		r = r ? r : put_view(&e, export->file, "files");
	ended = sp_parquet_folder_end(&e.folder);
	free(e.streams);
	free(e.trainers);
	return r ? r : ended;
}
