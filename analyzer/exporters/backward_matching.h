/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Matches calls of operators with the autograd nodes that they made, within a training step, where
 * operators were recorded (STAGEPROF_OPS).
 *
 * A node's name is made of its operator's: AddmmBackward0 of aten::addmm. The engine of autograd
 * runs the nodes of one thread in the reverse order of their creation, so a node belongs to the
 * last call of its operator that has none yet. An operator that made a node calls others below
 * autograd, which make none. The name does not tell aten::log_softmax from the aten::_log_softmax
 * in it: the outer call is taken.
 *
 * Returns no match of a name where that would be a guess: where a step has more calls of the
 * operator than nodes or fewer, where nodes lie in each other, or where the order of nodes
 * contradicts that of calls; and no match of a step at all where its nodes ran on several threads,
 * where it has more than BACKWARD_CALLS_MAX calls, or where the run lost events.
 */
#ifndef STAGEPROF_ANALYZER_BACKWARD_MATCHING_H
#define STAGEPROF_ANALYZER_BACKWARD_MATCHING_H

#include <stdbool.h>
#include <stdint.h>

#include "analyzer/events/event_record.h"

#define BACKWARD_CALLS_MAX 262144u /* of a step, kept: 10 MiB a trainer */

struct sp_backward_step;

/* An operator and its node: where each begins. */
struct sp_backward_match {
	uint32_t forward_stream, backward_stream;
	int64_t forward_ns, backward_ns;
};

struct sp_backwards {
	/* Set by the caller. A nonzero result is returned at once. */
	int (*matched)(void *context, const struct sp_backward_match *match);
	void *context;

	const struct sp_report *report;
	struct sp_backward_step *steps;	 /* parallel to trainers; NULL: no matching */
	struct sp_string_table makers;	 /* names of operators as nodes have them */
	uint32_t *of_operator, *of_node; /* by label: number in makers; MAKER_UNKNOWN: not yet */
	struct sp_backward_maker *maker_room; /* parallel to makers */
};

/* Returns 0 or -ENOMEM. */
int sp_backwards_init(struct sp_backwards *backwards, const struct sp_report *report);
void sp_backwards_finish(struct sp_backwards *backwards);

/* Takes all records in the order of their ends. Returns 0, -ENOMEM, or the result of matched(). */
int sp_backwards_take(struct sp_backwards *backwards, const struct sp_record *record);

/* Gives the matches of the last steps. */
int sp_backwards_flush(struct sp_backwards *backwards);

#endif
