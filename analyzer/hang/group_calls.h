/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The collectives that a process handed to each of its groups of ranks, in its order. The events
 * are written when a collective is handed over, so one that never ended is among them.
 */
#ifndef STAGEPROF_ANALYZER_GROUP_CALLS_H
#define STAGEPROF_ANALYZER_GROUP_CALLS_H

#include <stdbool.h>
#include <stdint.h>

struct sp_reader;
struct sp_run;

#define SP_GROUP_CALLS_KEPT 64u /* of each group, the last ones */
#define SP_GROUPS_MAX 256u	/* of a process; further ones are not followed */
#define SP_NO_GROUP UINT32_MAX
#define SP_GROUP_NO_RANK (UINT64_C(1) << 32)

struct sp_group_call {
	uint64_t operation; /* enum sp_collective; 0: none */
	uint64_t type;	    /* of its elements, of collectives.def */
	int64_t elements;   /* -1: not known */
	int64_t at_ns;	    /* CLOCK_REALTIME */
};

/* The words of the event that made the group, as trace/collectives.h has them. */
struct sp_group_origin_words {
	uint32_t origin; /* enum sp_group_origin */
	uint64_t which;
};

struct sp_group_calls {
	uint32_t group; /* for the caller */
	uint32_t address;
	int64_t since_ns;
	const char *name; /* borrowed: "process group NAME"; NULL: not known */
	uint32_t name_bytes;
	uint64_t size; /* ranks; 0: not known */
	uint64_t rank; /* of this process in it; SP_GROUP_NO_RANK or more: not known */
	/* The same on all its ranks, and on no other group; 0: the group is known by its name, or
	 * not at all. */
	uint64_t identity;
	bool is_gone;	/* the process has destroyed it */
	bool is_device; /* calls are enqueued on a device, and end there */
	uint32_t parts; /* divisions of the group so far */
	struct sp_group_origin_words origin;
	uint64_t count; /* collectives handed over; the ordinal of the last one */
	uint32_t kept;
	struct sp_group_call last[SP_GROUP_CALLS_KEPT]; /* by time */
};

struct sp_process_groups {
	struct sp_group_calls *list;
	uint32_t count, room;
	bool is_partial; /* recording was off for a time, or there were more groups */
	/* When a thread of the library began to work on the last collective that it was seen to
	 * end. It ends one after the waiter has woken, so its end says less. */
	int64_t ended_since_ns;
	/* The last wait for a device that has ended, or the last message from rank to rank that was
	 * enqueued: a collective enqueued before may have ended. */
	int64_t synced_since_ns;
};

/* Reads the groups of one process as they were at until_ns, by the caller's reader. Returns 0 or
 * -ENOMEM; call sp_process_groups_finish() in both cases. */
int sp_process_groups_read(struct sp_process_groups *groups, struct sp_reader *reader,
			   const struct sp_run *run, uint32_t image, int64_t until_ns);
void sp_process_groups_finish(struct sp_process_groups *groups);

/* The call with this ordinal, counted from 1; NULL: it is not kept. */
const struct sp_group_call *sp_group_call_at(const struct sp_group_calls *group, uint64_t ordinal);

/* The group with the last call of all; NULL: there was none. */
const struct sp_group_calls *sp_process_groups_last(const struct sp_process_groups *groups);

#endif
