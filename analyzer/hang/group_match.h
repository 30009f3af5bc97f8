/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The ranks of a job that stands still, matched by the ordinals of their collectives in each group:
 * who is in a collective, and who never came to it.
 */
#ifndef STAGEPROF_ANALYZER_GROUP_MATCH_H
#define STAGEPROF_ANALYZER_GROUP_MATCH_H

#include "analyzer/hang/group_calls.h"

struct sp_report;

enum sp_rank_state {
	SP_RANK_APART,	   /* in no collective, and no rank waits for it */
	SP_RANK_WAITS,	   /* in a collective that others have not begun, or are not in the run */
	SP_RANK_TOGETHER,  /* in a collective that all of its group have begun */
	SP_RANK_ELSEWHERE, /* in a collective, while others wait for it in another group */
	SP_RANK_MISSING,   /* others wait for it in a group, and it is in no collective */
	SP_RANK_DIFFERS,   /* it called another operation, type or size than most */
	SP_RANK_GONE,	   /* its process has ended, and others wait for it */
	SP_RANK_STATES
};

/* In a collective. */
static inline bool sp_rank_is_inside(enum sp_rank_state state)
{
	return state >= SP_RANK_WAITS && state <= SP_RANK_ELSEWHERE;
}

/* A group of ranks, by what it is on all of them, or by its name there. A group is left out where
 * the trace lacks calls of a member, or where two processes that live say that they are the same
 * rank of it. */
struct sp_group {
	const char *name; /* as that of its calls */
	uint32_t name_bytes;
	uint64_t identity;    /* 0: known by its name, or not at all */
	uint64_t size;	      /* ranks, as its members say; 0: not known */
	uint32_t members;     /* whose calls are in the run */
	uint64_t least, most; /* of the last ordinals of its members */
	uint64_t differs;     /* the first kept ordinal that members called differently; 0: none */
	struct sp_group_call usual; /* what most called then */
};

struct sp_matched_rank {
	enum sp_rank_state state;
	uint32_t group;	  /* index in groups; SP_NO_GROUP: of none */
	uint64_t ordinal; /* of its last call there; in a call: of the first that others have not
			     begun; SP_RANK_DIFFERS: of the call that differs */
	struct sp_group_call call; /* that one */
	uint64_t number;	   /* its rank in its first group; UINT64_MAX: not known */
};

struct sp_group_match {
	struct sp_group *groups;
	uint32_t group_count, group_room;
	struct sp_matched_rank
		*ranks; /* by trainer of report->training; NULL: no rank has a group */
};

/* The state of a trainer's thread when training stood still. */
struct sp_standing {
	bool is_gone;	   /* its process had ended */
	bool is_waiting;   /* for another thread, process or device */
	bool is_on_device; /* inside a call of a device */
};

/* standing: by trainer, at until_ns (CLOCK_REALTIME). Returns 0 or -ENOMEM; call
 * sp_group_match_finish() in both cases. */
int sp_group_match_find(const struct sp_report *report, int64_t until_ns,
			const struct sp_standing *standing, struct sp_group_match *ret);
void sp_group_match_finish(struct sp_group_match *match);

/* The groups of the process of a trainer, as they were then. reader: the caller's, or NULL. Returns
 * 0 or -ENOMEM; call sp_process_groups_finish() in both cases. */
int sp_trainer_groups_read(struct sp_process_groups *groups, struct sp_reader *reader,
			   const struct sp_report *report, uint32_t trainer, int64_t until_ns);

/* The trainer with the greatest of the states that hold others up; UINT32_MAX: none does. */
uint32_t sp_group_match_culprit(const struct sp_group_match *match, uint32_t trainers);

#endif
