/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/views/ranks/rank_left_out.h"

#include "analyzer/base/each.h"
#include "analyzer/text/translate.h"
#include "analyzer/views/ranks/rank_text.h"

#define GAPS_SHOWN 4u

/* Ranks [from, to) of a job of `world` that no input has. */
struct rank_gap {
	uint64_t from, to, world;
	uint32_t next; /* of ranks.list */
};

/* The first gap after this one; false: there is none. The list is in the order of ranks. */
static bool find_gap(const struct sp_report *report, struct rank_gap *gap)
{
	gap->from = gap->to;
	for (; gap->next < report->ranks.count; gap->next++) {
		const struct sp_process_image *image =
			sp_rank_image(report, &report->ranks.list[gap->next]);

		if (!image->rank || image->world_size != gap->world || image->rank <= gap->from)
			continue;
		gap->to = image->rank - 1;
		if (gap->to > gap->from)
			return gap->to <= gap->world;
		gap->from++;
	}
	gap->to = gap->world;
	return gap->from < gap->to;
}

void sp_ranks_missing_show(const struct sp_report *report, struct sp_out *out)
{
	struct rank_gap gap = {.world = sp_ranks_world(report)};
	uint64_t more = 0;

	for (unsigned i = 0; find_gap(report, &gap); i++) {
		if (i >= GAPS_SHOWN)
			more += gap.to - gap.from;
		else if (gap.to - gap.from == 1)
			sp_out_line(out, "missing    rank %llu of %llu is in no input",
				    (unsigned long long)gap.from, (unsigned long long)gap.world);
		else
			sp_out_line(out, "missing    ranks %llu to %llu of %llu are in no input",
				    (unsigned long long)gap.from, (unsigned long long)gap.to - 1,
				    (unsigned long long)gap.world);
	}
	if (more)
		sp_out_line(out,
			    sp_translate_plural("           %llu more rank is in no input",
						"           %llu more ranks are in no input",
						(unsigned long)more),
			    (unsigned long long)more);
}

uint64_t sp_ranks_missing(const struct sp_report *report)
{
	struct rank_gap gap = {.world = sp_ranks_world(report)};
	uint64_t missing = 0;

	while (find_gap(report, &gap))
		missing += gap.to - gap.from;
	return missing;
}

static uint32_t count_excluded(const struct sp_ranks *ranks, enum sp_rank_exclusion why)
{
	return SP_SUM(uint32_t, i, ranks->count, ranks->list[i].exclusion == why);
}

void sp_ranks_excluded_show(const struct sp_report *report, struct sp_out *out)
{
	const struct sp_ranks *ranks = &report->ranks;
	uint32_t shorter = count_excluded(ranks, SP_RANK_SHORTER);
	uint32_t world = count_excluded(ranks, SP_RANK_OTHER_WORLD);
	uint32_t time = count_excluded(ranks, SP_RANK_OTHER_TIME);
	uint32_t few = count_excluded(ranks, SP_RANK_FEW_STEPS);

	if (shorter)
		sp_out_line(out,
			    sp_translate_plural("           %u more thread trains, of a rank that "
						"has another with more steps",
						"           %u more threads train, of ranks that "
						"have another with more steps",
						shorter),
			    shorter);
	if (world)
		sp_out_line(out,
			    sp_translate_plural("           %u rank is not compared: it is of a "
						"job of another size",
						"           %u ranks are not compared: they are of "
						"a job of another size",
						world),
			    world);
	if (time)
		sp_out_line(out,
			    sp_translate_plural("           %u rank is not compared: it trained at "
						"another time",
						"           %u ranks are not compared: they "
						"trained at another time",
						time),
			    time);
	if (few)
		sp_out_line(out,
			    sp_translate_plural("           %u rank is not compared: it took fewer "
						"than half of the steps",
						"           %u ranks are not compared: they took "
						"fewer than half of the steps",
						few),
			    few);
}
