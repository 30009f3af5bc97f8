/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Nesting of a thread's intervals. Events come in the order in which they ended, so an event that
 * begins before earlier ones contains them. An interval keeps where the calls inside it that stand
 * apart lie (`apart` in interval.def), because their time is theirs and not its own.
 */
#ifndef STAGEPROF_ANALYZER_INTERVAL_NEST_H
#define STAGEPROF_ANALYZER_INTERVAL_NEST_H

#include "analyzer/steps/phase_interval.h"

/* A part of an interval that belongs to a row of the account of its own. */
struct sp_apart {
	int64_t start_ns, end_ns;
	uint8_t phase;	/* enum sp_account_phase */
	uint8_t kind;	/* of the interval that it was */
	uint8_t source; /* enum sp_source_kind */
};

/* The parts of all intervals at hand, as a stack: in the order of time, disjoint. */
struct sp_aparts {
	struct sp_apart *list, *scratch;
	uint32_t count, room, scratch_count, scratch_room;
	bool is_out_of_memory; /* some are missing, and their time is the interval's own */
};

void sp_aparts_finish(struct sp_aparts *aparts);

/*
 * Puts the interval on top of n intervals, those that it contains into it. Returns the new n, n + 1
 * at most.
 */
uint32_t sp_interval_put(struct sp_phase_interval *intervals, uint32_t n,
			 struct sp_phase_interval interval, struct sp_aparts *aparts);

/* The time in the interval's parts of one row of the account. */
uint64_t sp_interval_apart_ns(const struct sp_phase_interval *interval,
			      const struct sp_aparts *aparts, enum sp_account_phase phase);

/* The n intervals are all that stay: drops the parts of others. */
void sp_aparts_pack(struct sp_aparts *aparts, struct sp_phase_interval *intervals, uint32_t n);

struct sp_process_calls;

/*
 * Takes the time of the interval's own that the calls cover, of whatever threads, out of it: it is
 * communication. Returns that time.
 */
uint64_t sp_interval_cut_collectives(struct sp_phase_interval *interval, struct sp_aparts *aparts,
				     const struct sp_process_calls *calls);

#endif
