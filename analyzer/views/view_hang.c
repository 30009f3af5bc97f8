/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "analyzer/hang/hang_text.h"
#include "analyzer/hang/rank_hang_text.h"
#include "analyzer/sections/ending.h"
#include "analyzer/text/text.h"
#include "analyzer/text/translate.h"
#include "analyzer/views/run_json.h"
#include "analyzer/views/view.h"

#define ROW_COLUMNS(X)                                                                             \
	X("ranks", N_("ranks"), WORD, sp_cell_text(numbers))                                       \
	X("rank_count", NULL, COUNT, sp_cell_count(row->count))                                    \
	X("state", N_("state"), WORD, sp_cell_text(sp_rank_state_name(row->rank.state)))           \
	X("group", N_("group"), TEXT, group ? sp_cell_bytes(group, group_bytes) : sp_cell_null())  \
	X("operation", N_("last call"), WORD, sp_cell_text(sp_collective_name(call->operation)))   \
	X("ordinal", N_("ordinal"), ID, sp_cell_if(group != NULL, row->rank.ordinal))              \
	X("elements", N_("elements"), COUNT,                                                       \
	  sp_cell_if(call->operation && call->elements >= 0, (uint64_t)call->elements))            \
	X("element_type", N_("type"), WORD,                                                        \
	  sp_cell_text(call->operation ? sp_element_name(call->type) : NULL))                      \
	X("for_ns", N_("duration"), NS, sp_cell_count(row->for_ns))                                \
	X("inside", N_("inside"), CHAIN, sp_cell_text(inside))

static const struct sp_column row_columns[] = {ROW_COLUMNS(SP_COLUMN)};

static int show_row(const struct sp_report *report, const struct sp_rank_hang *hang, uint32_t k,
		    struct sp_out *out)
{
	const struct sp_hang_row *row = &hang->rows[k];
	const struct sp_group_call *call = &row->rank.call;
	char numbers[SP_RANKS_TEXT_BYTES], inside[1024];
	size_t group_bytes = 0;
	const char *group =
		row->rank.group == SP_NO_GROUP
			? NULL
			: sp_rank_group_name(&hang->match.groups[row->rank.group], &group_bytes);

	sp_rank_hang_numbers(hang, k, numbers);
	sp_hang_link_text(report, &row->links[row->link_count - 1], inside, sizeof(inside));
	{
		const struct sp_cell cells[] = {ROW_COLUMNS(SP_CELL)};

		return sp_out_row(out, cells);
	}
}

static int show_ranks(const struct sp_report *report, const struct sp_hang *hang,
		      struct sp_out *out)
{
	struct sp_rank_hang ranks = {.trainers = 0};
	int r = hang->is_hung ? sp_rank_hang_find(report, hang, &ranks) : 0;

	if (r == 0)
		r = sp_out_table(out, "ranks", NULL, SP_COLUMNS_OF(row_columns), true);
	for (int state = SP_RANK_STATES - 1; r == 0 && state >= 0; state--)
		for (uint32_t k = 0; r == 0 && k < ranks.row_count; k++)
			if (ranks.rows[k].rank.state == (enum sp_rank_state)state)
				r = show_row(report, &ranks, k, out);
	sp_out_table_end(out);
	sp_rank_hang_finish(&ranks);
	return r;
}

int sp_view_hang(const struct sp_report *report, struct sp_out *out,
		 const struct sp_view_options *options)
{
	char text[4096], ns[SP_NUMBER_BYTES];
	struct sp_hang hang;
	int r;

	sp_run_json(report, out);
	sp_hang_find(report, &hang);
	if (hang.is_hung) {
		sp_out_line(out, "no step has ended for %s", sp_text_ns(ns, hang.for_ns));
		sp_hang_text(report, &hang, text, sizeof(text));
		sp_out_wrapped(out, "", text);
	} else if (sp_index_has_digested(&report->run.index)) {
		sp_out_wrapped(out, "",
			       _("no hang is known at the end of the run; a wait that was given up "
				 "before needs events, and a digest has none"));
	} else {
		sp_out_line(out, "no hang is known");
	}
	if (out->format == SP_FORMAT_JSON)
		sp_ending_hang_json(report, &out->json);
	r = show_ranks(report, &hang, out);
	if (r == 0 && options->hung_limit_ns && hang.is_hung &&
	    hang.for_ns >= options->hung_limit_ns)
		r = SP_EXIT_HUNG;
	return r;
}
