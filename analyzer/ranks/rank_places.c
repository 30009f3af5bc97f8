/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/ranks/rank_places.h"

#include <errno.h>
#include <stdlib.h>

#include "analyzer/base/order.h"
#include "analyzer/training/training.h"

#define MEMBERS_MIN 2u /* one rank has no place in common with another */

struct member {
	struct sp_rank *rank;
	uint32_t host;
	uint64_t slot; /* as in the header */
};

SP_ORDER(compare_hosts, struct member, SP_UP(host))

SP_ORDER(compare_slots, struct member, SP_UP(slot))

/* Members [from, to) are all of one place; those that another group explains count for nothing. */
static void judge(struct member *list, uint32_t from, uint32_t to, enum sp_rank_group group)
{
	uint32_t members = 0, stragglers = 0;

	for (uint32_t i = from; i < to; i++) {
		if (list[i].rank->group != SP_RANK_ALONE)
			continue;
		members++;
		stragglers += list[i].rank->is_straggler;
	}
	if (stragglers < MEMBERS_MIN || stragglers != members)
		return;
	for (uint32_t i = from; i < to; i++)
		if (list[i].rank->group == SP_RANK_ALONE)
			list[i].rank->group = group;
}

static void judge_all(struct member *list, uint32_t n, enum sp_rank_group group,
		      int (*compare)(const void *a, const void *b))
{
	qsort(list, n, sizeof(*list), compare);
	for (uint32_t from = 0, to; from < n; from = to) {
		for (to = from + 1; to < n && compare(&list[from], &list[to]) == 0; to++)
			;
		if (group == SP_RANK_HOST || list[from].slot)
			judge(list, from, to, group);
	}
}

int sp_rank_places_group(struct sp_ranks *ranks, const struct sp_training *training)
{
	struct member *list = calloc(ranks->count + 1u, sizeof(*list));
	uint32_t n = 0;

	if (!list)
		return -ENOMEM;
	for (uint32_t i = 0; i < ranks->count; i++) {
		struct sp_rank *rank = &ranks->list[i];
		const struct sp_process_image *image = sp_trainer_image(training, rank->trainer);

		if (rank->is_compared)
			list[n++] = (struct member){rank, image->host, image->local_rank};
	}
	judge_all(list, n, SP_RANK_HOST, compare_hosts);
	judge_all(list, n, SP_RANK_SLOT, compare_slots);
	free(list);
	return 0;
}
