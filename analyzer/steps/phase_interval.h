/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The intervals of a step: the events of a thread that matter, none inside another. Events come
 * in the order in which they ended, so an event that begins before earlier ones contains them.
 */
#ifndef STAGEPROF_ANALYZER_PHASE_INTERVAL_H
#define STAGEPROF_ANALYZER_PHASE_INTERVAL_H

#include <stdbool.h>
#include <stdint.h>

#include "analyzer/metadata/metadata.h"
#include "analyzer/steps/account.h"

struct sp_slot;

/* interval.def has the meaning of each. */
enum sp_phase_interval_kind {
#define SP_INTERVAL(name, account, part, apart) SP_INTERVAL_##name,
#include "analyzer/steps/interval.def"
#undef SP_INTERVAL
	SP_INTERVAL_KINDS
};

/* The meaning of an interval in a step. */
enum sp_interval_part {
	SP_PART_NONE,
	SP_PART_INPUT, /* of a loader; this and the following separate the parts of a step */
	SP_PART_MODEL, /* a call of a model */
	SP_PART_END,   /* comes after a step's batches */
	SP_PART_LEARN, /* the same, and the step computes in it */
};

struct sp_phase_interval {
	int64_t start_ns, end_ns;
	uint64_t apart_ns; /* inside it, in its calls that stand apart: struct sp_apart */
	uint64_t lock_ns;  /* inside it, of its own time: waits on a condition */
	uint64_t loop_ns;  /* before it: the loop's own code, from the end of the interval before */
	uint64_t input_ns; /* inside a call of a model: SP_INTERVAL_INPUT */
	uint64_t node_ns;  /* inside a backward: nodes of the graph, but not collectives there */
	int64_t iterator;  /* of the loader; 0: not known */
	int64_t bytes;	   /* that a socket of the internet moved; else 0 */
	uint32_t pass;	   /* number in sp_steps.passes, from 1; 0: not known */
	uint32_t file;	   /* that a call reads or writes, by 1 + its number; 0: none */
	uint32_t label;	   /* of a call of Python; else 0 */
	uint32_t apart_at, apart_count; /* in sp_aparts.list */
	uint8_t kind;
	uint8_t source;
	uint8_t evaluated; /* the row of an evaluation of which it is a part; 0: of none */
	bool has_fetch;
	bool is_sample;		   /* a batch out of a replay memory */
	bool is_round;		   /* of boosting */
	bool is_load;		   /* of a checkpoint, or of data in a file of its form */
	bool is_own;		   /* a batch is made of it, in a step that no loader feeds */
	bool is_exchange;	   /* with a server: a send, an answer, or a wait between the two */
	bool is_message;	   /* of an exchange whose answers are no data */
	bool follows_call;	   /* of the model, which no backward has followed yet */
	bool is_led_by_evaluation; /* the time from the structure before it on is as such */
	bool has_gradients;	   /* a call of a model that kept what a backward needs */
	bool optimizer_follows;	   /* in a closure: the optimizer goes on from its end */
	bool is_skipped;	   /* a scaler's step that did not call its optimizer */
	bool is_node;		   /* a node of the graph, or some that follow each other */
	bool is_in_other;	   /* what it has no phase for is SP_ACCOUNT_other */
};

struct sp_phase_interval sp_phase_interval_of(const struct sp_process_metadata *image,
					      const struct sp_slot *slot, int64_t start_ns,
					      int64_t end_ns);

/* phase: of trace/phases.def; a damaged event has any number, and SP_INTERVAL_NONE. */
enum sp_phase_interval_kind sp_phase_interval_kind_of(int64_t phase);

/* The row of the account that an interval's own time belongs to; SP_ACCOUNT_other for those that
 * have none. */
enum sp_account_phase sp_phase_interval_phase(enum sp_phase_interval_kind kind);

/* True for kinds of events that sp_phase_interval_of() looks at. */
bool sp_phase_interval_wants(uint32_t kind);

static inline uint64_t sp_phase_interval_ns(const struct sp_phase_interval *interval)
{
	return (uint64_t)(interval->end_ns - interval->start_ns);
}

/* The time in none of its calls that stand apart. */
static inline uint64_t sp_phase_interval_own_ns(const struct sp_phase_interval *interval)
{
	return sp_phase_interval_ns(interval) - interval->apart_ns;
}

#endif
