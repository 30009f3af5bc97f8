/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The ranks of a run that has hung: those that were in the same collective, or held up by the same,
 * share a row.
 */
#ifndef STAGEPROF_ANALYZER_RANK_HANG_H
#define STAGEPROF_ANALYZER_RANK_HANG_H

#include "analyzer/hang/hang.h"

#define SP_RANKS_TEXT_BYTES 256u
#define SP_RANK_CALL_BYTES 256u

struct sp_hang_row {
	struct sp_matched_rank rank;  /* of the first of them */
	struct sp_hang_link links[2]; /* of the first of them: the trainer, its worker */
	uint32_t link_count;
	uint32_t count;	 /* ranks */
	uint64_t for_ns; /* since the call, or in the last link without one; of them the longest */
};

struct sp_rank_hang {
	struct sp_group_match match;
	struct sp_hang_row *rows; /* those that hold others up come last */
	uint32_t row_count, row_room;
	uint32_t *row_of;  /* by trainer */
	uint64_t *numbers; /* of the ranks, by trainer */
	uint32_t *order;   /* trainers, by number */
	uint32_t trainers;
};

/* No rows where no rank of the run has a group. Returns 0 or -ENOMEM; call sp_rank_hang_finish() in
 * both cases. */
int sp_rank_hang_find(const struct sp_report *report, const struct sp_hang *hang,
		      struct sp_rank_hang *ret);
void sp_rank_hang_finish(struct sp_rank_hang *hang);

/* "0-3, 7": the ranks of a row; cut where they are too many. */
void sp_rank_hang_numbers(const struct sp_rank_hang *hang, uint32_t row,
			  char ret[SP_RANKS_TEXT_BYTES]);

/* Each rank waits in a group, and others wait for it in another group. */
bool sp_rank_hang_is_cycle(const struct sp_rank_hang *hang);

/* The contract of JSON: "waits", "missing", ... */
const char *sp_rank_state_name(enum sp_rank_state state);

/* "all_reduce", or NULL: none; "float32", or NULL: not known. */
const char *sp_collective_name(uint64_t operation);
const char *sp_element_name(uint64_t type);

/* The group's name, or "" where it is not known; *ret_bytes is set. */
const char *sp_rank_group_name(const struct sp_group *group, size_t *ret_bytes);

#endif
