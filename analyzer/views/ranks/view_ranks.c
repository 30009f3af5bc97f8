/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The view `ranks`: the lines of the comparison, then a row for each rank.
 */
#include "analyzer/views/view.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/text/text.h"
#include "analyzer/views/ranks/rank_comparison.h"
#include "analyzer/views/ranks/rank_text.h"
#include "analyzer/views/run_json.h"

#define ROWS_UNFOLDED 16u

enum {
	RANK,
	LOCAL,
	WORLD,
	HOST,
	PID,
	STEPS,
	WALL,
	LOADER,
	WAIT,
	BEHIND,
	LATE,
	LAST,
	STRAGGLER,
	CAUSE,
	PHASE,
	GROUP,
	PEERS,
	FROM,
	TO,
	LATE_STEPS,
	LATE_NS,
	EXCLUSION,
	CELLS
};

static const struct sp_column columns[CELLS] = {
	[RANK] = {"rank", N_("rank"), SP_CELL_ID},
	[LOCAL] = {"local_rank", N_("local"), SP_CELL_ID},
	[WORLD] = {"world_size", NULL, SP_CELL_ID},
	[HOST] = {"host", N_("host"), SP_CELL_TEXT},
	[PID] = {"pid", N_("pid"), SP_CELL_ID},
	[STEPS] = {"steps", N_("steps"), SP_CELL_COUNT},
	[WALL] = {"wall_ns_p50", N_("step"), SP_CELL_NS},
	[LOADER] = {"loader_wait_ns_p50", N_("input wait"), SP_CELL_NS},
	[WAIT] = {"peer_wait_ns_p50", N_("waits for others"), SP_CELL_NS},
	[BEHIND] = {"behind_ns_p50", NULL, SP_CELL_SIGNED},
	[LATE] = {NULL, N_("behind"), SP_CELL_NS}, /* empty for a rank without a clock */
	[LAST] = {"steps_last", N_("last in"), SP_CELL_COUNT},
	[STRAGGLER] = {"straggler", NULL, SP_CELL_TEXT},
	[CAUSE] = {"straggles_in", NULL, SP_CELL_TEXT},
	[PHASE] = {NULL, N_("slow phase"), SP_CELL_TEXT},
	[GROUP] = {"straggles_with", NULL, SP_CELL_TEXT},
	[PEERS] = {"peer_group", NULL, SP_CELL_ID}, /* compared with each other alone */
	[FROM] = {"late_from_step", NULL, SP_CELL_ID},
	[TO] = {"late_to_step", NULL, SP_CELL_ID},
	[LATE_STEPS] = {"late_steps", NULL, SP_CELL_COUNT}, /* null: most of these */
	[LATE_NS] = {"late_ns_p50", NULL, SP_CELL_SIGNED},
	[EXCLUSION] = {"not_compared", NULL, SP_CELL_TEXT},
};

static const char *const group_names[] = {
	[SP_RANK_ALONE] = "none",
	[SP_RANK_HOST] = "host",
	[SP_RANK_SLOT] = "local_rank",
};

static const char *const exclusion_names[] = {
	[SP_RANK_SHORTER] = "another_has_more_steps",
	[SP_RANK_OTHER_WORLD] = "other_world_size",
	[SP_RANK_OTHER_TIME] = "other_time",
	[SP_RANK_FEW_STEPS] = "few_steps",
};

/* The header stores this plus 1. */
static struct sp_cell number_cell(uint64_t number)
{
	return number ? sp_cell_count(number - 1) : sp_cell_null();
}

static void fill_compared(const struct sp_report *report, const struct sp_rank *rank,
			  struct sp_cell cells[CELLS])
{
	const struct sp_ranks *ranks = &report->ranks;

	if (!rank->is_compared || ranks->step_count == 0)
		return;
	cells[WALL] = sp_cell_count(rank->wall_p50_ns);
	cells[LOADER] = sp_cell_count(rank->loader_p50_ns);
	if (ranks->compared < 2)
		return;
	if (ranks->by_collectives)
		cells[WAIT] = sp_cell_count(rank->wait_p50_ns);
	cells[BEHIND] = sp_cell_signed(rank->behind_p50_ns);
	if (ranks->division.block)
		cells[PEERS] = sp_cell_count(
			sp_rank_peers_of(&ranks->division, sp_rank_image(report, rank)->rank - 1));
	if (rank->behind_p50_ns > 0)
		cells[LATE] = sp_cell_count((uint64_t)rank->behind_p50_ns);
	cells[LAST] = sp_cell_count(rank->last_in);
	if (sp_rank_is_judged(ranks, rank))
		cells[STRAGGLER] = sp_cell_text(rank->is_straggler ? "yes" : "no");
	if (!rank->is_straggler)
		return;
	cells[CAUSE] = sp_cell_text(sp_account_name(rank->cause));
	cells[PHASE] = sp_cell_text(sp_account_title(rank->cause));
	cells[GROUP] = sp_cell_text(group_names[rank->group]);
	cells[FROM] = sp_cell_count(ranks->steps[rank->late_from]);
	cells[TO] = sp_cell_count(ranks->steps[rank->late_to - 1]);
	if (rank->late_steps)
		cells[LATE_STEPS] = sp_cell_count(rank->late_steps);
	cells[LATE_NS] = sp_cell_signed(rank->late_p50_ns);
}

static int show_rank(const struct sp_report *report, struct sp_out *out, const struct sp_rank *rank)
{
	const struct sp_process_image *image = sp_rank_image(report, rank);
	const struct sp_host *host = &report->run.index.hosts[image->host];
	struct sp_cell cells[CELLS];

	for (int i = 0; i < CELLS; i++)
		cells[i] = sp_cell_null();
	cells[RANK] = number_cell(image->rank);
	cells[LOCAL] = number_cell(image->local_rank);
	cells[WORLD] = image->world_size ? sp_cell_count(image->world_size) : sp_cell_null();
	cells[HOST] = sp_cell_bytes(host->name, strnlen(host->name, sizeof(host->name)));
	cells[PID] = sp_cell_count(image->pid);
	cells[STEPS] = sp_cell_count(report->training.trainers[rank->trainer].steps.count);
	fill_compared(report, rank, cells);
	if (rank->exclusion != SP_RANK_COMPARED)
		cells[EXCLUSION] = sp_cell_text(exclusion_names[rank->exclusion]);
	return sp_out_row(out, cells);
}

static uint64_t by_rank(const void *context, uint32_t i)
{
	(void)context;
	return UINT64_MAX - i;
}

static uint64_t by_behind(const void *context, uint32_t i)
{
	const struct sp_ranks *ranks = context;

	return (uint64_t)ranks->list[i].behind_p50_ns + (UINT64_C(1) << 63);
}

static uint64_t by_loader(const void *context, uint32_t i)
{
	return ((const struct sp_ranks *)context)->list[i].loader_p50_ns;
}

static const struct sp_sort_key keys[] = {{"rank", "rank", N_("rank"), by_rank},
					  {"behind", "behind_ns_p50", N_("behind"), by_behind},
					  {"loader_wait", "loader_wait_ns_p50", N_("input wait"),
					   by_loader}};

/* True for a rank that is neither late nor early, with about as many steps as most; such ranks
 * share a row where there are many. */
static bool is_like_median(const struct sp_rank *rank)
{
	double off = rank->behind_p50_ns < 0 ? -(double)rank->behind_p50_ns
					     : (double)rank->behind_p50_ns;

	return rank->is_compared && !rank->is_straggler && !rank->has_many_steps &&
	       off < SP_STRAGGLER_SHARE / 2 * (double)rank->wall_p50_ns;
}

/* Rows of the table, which share a row where they are many, and their numbers. */
struct rank_rows {
	bool folds_like, folds_excluded;
	uint32_t shown, like, excluded;
};

static struct rank_rows rows_of(const struct sp_ranks *ranks, const struct sp_out *out,
				const struct sp_view_options *options)
{
	bool folds =
		out->format == SP_FORMAT_TABLE && !options->sort && ranks->compared > ROWS_UNFOLDED;

	return (struct rank_rows){.folds_like = folds,
				  .folds_excluded =
					  folds && ranks->count - ranks->compared > ROWS_UNFOLDED};
}

static int show_rows(struct rank_rows *rows, const struct sp_report *report, struct sp_out *out,
		     const uint32_t *order, uint32_t limit)
{
	int r = 0;

	for (uint32_t i = 0; r == 0 && i < report->ranks.count; i++) {
		const struct sp_rank *rank = &report->ranks.list[order[i]];

		if (rows->folds_like && is_like_median(rank))
			rows->like++;
		else if (rows->folds_excluded && !rank->is_compared)
			rows->excluded++;
		else if (rows->shown++ < limit)
			r = show_rank(report, out, rank);
	}
	return r;
}

static void show_folded(const struct rank_rows *rows, struct sp_out *out)
{
	char text[SP_NUMBER_BYTES];

	if (rows->like)
		sp_out_line(out,
			    sp_translate_plural("%s rank like the median: --sort=rank "
						"--limit=all",
						"%s ranks like the median: --sort=rank "
						"--limit=all",
						rows->like),
			    sp_text_count(text, rows->like));
	if (rows->excluded)
		sp_out_line(out,
			    sp_translate_plural("%s rank that is not compared: --sort=rank "
						"--limit=all",
						"%s ranks that are not compared: "
						"--sort=rank --limit=all",
						rows->excluded),
			    sp_text_count(text, rows->excluded));
}

static int show_table(const struct sp_report *report, struct sp_out *out, const uint32_t *order,
		      const struct sp_view_options *options)
{
	struct rank_rows rows = rows_of(&report->ranks, out, options);
	int r = sp_out_table(out, "ranks", NULL, columns, CELLS, true);

	if (r == 0)
		r = show_rows(&rows, report, out, order, options->limit);
	if (r != 0)
		return r;
	sp_out_table_end(out);
	sp_view_more(out, rows.shown > options->limit ? rows.shown - options->limit : 0);
	show_folded(&rows, out);
	return 0;
}

int sp_view_ranks(const struct sp_report *report, struct sp_out *out,
		  const struct sp_view_options *options)
{
	const struct sp_ranks *ranks = &report->ranks;
	const struct sp_sort_key *key = SP_SORT_FIND(keys, options);
	uint32_t *order = key ? sp_order_by(ranks->count, key->value, ranks) : NULL;
	int r = !key ? -EINVAL : !order ? -ENOMEM : 0;

	if (r == 0) {
		sp_run_json(report, out);
		r = sp_rank_comparison_show(report, out);
	}
	if (r == 0)
		r = show_table(report, out, order, options);
	free(order);
	return r;
}
