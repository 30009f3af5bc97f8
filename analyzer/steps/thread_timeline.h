/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The timeline of a training thread: ordered, disjoint segments, each nanosecond once. Its account
 * is the sum of them; every view that asks for the phase of an instant asks it.
 */
#ifndef STAGEPROF_ANALYZER_THREAD_TIMELINE_H
#define STAGEPROF_ANALYZER_THREAD_TIMELINE_H

#include <stdbool.h>
#include <stdint.h>

#include "analyzer/steps/account.h"

struct sp_spill;

#define SP_NO_PHASE SP_ACCOUNT_PHASES /* in no step, and in no pause that counts */

/* Ends where the next one begins. */
struct sp_phase_segment {
	int64_t start_ns;    /* CLOCK_REALTIME */
	uint32_t pass, file; /* as in sp_phase_interval; 0: none */
	uint8_t phase;	     /* enum sp_account_phase, or SP_NO_PHASE */
	uint8_t within; /* that of the call around a copy, a wait or a collective; else phase */
	uint8_t cause;	/* enum sp_phase_interval_kind; SP_INTERVAL_NONE: no known call */
	uint8_t source; /* enum sp_source_kind */
};

struct sp_thread_timeline {
	struct sp_spill *spill; /* borrowed: keeps the list; NULL: memory */
	struct sp_phase_segment *list;
	uint32_t count, room; /* the last one is of SP_NO_PHASE */
	bool is_cut;	      /* the next segment does not go on with the last one */
	bool is_out_of_memory;
};

/* Adds the time to end_ns, which follows the last segment. */
void sp_thread_timeline_add(struct sp_thread_timeline *timeline, struct sp_phase_segment segment,
			    int64_t end_ns);

/* The segments that begin in [from_ns, to_ns) and whose phase is in `phases`, a set of bits, get
 * another one. */
void sp_thread_timeline_relabel(struct sp_thread_timeline *timeline, int64_t from_ns, int64_t to_ns,
				uint32_t phases, uint8_t phase);

/* All of [from_ns, to_ns) but checkpoints is validation. Returns the wait for a loader in it. */
uint64_t sp_thread_timeline_validate(struct sp_thread_timeline *timeline, int64_t from_ns,
				     int64_t to_ns);

/* The segment of an instant; NULL: there is none, or it has SP_NO_PHASE. */
const struct sp_phase_segment *sp_thread_timeline_at(const struct sp_thread_timeline *timeline,
						     int64_t at_ns);

/* The phases of [from_ns, to_ns), added up. */
struct sp_account sp_thread_timeline_account(const struct sp_thread_timeline *timeline,
					     int64_t from_ns, int64_t to_ns);

/* Gives the list to a spill, after its last change. */
void sp_thread_timeline_keep(struct sp_thread_timeline *timeline, struct sp_spill *spill);
void sp_thread_timeline_finish(struct sp_thread_timeline *timeline);

#endif
