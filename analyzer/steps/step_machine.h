/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rows of step.def, by number, and the words in them.
 */
#ifndef STAGEPROF_ANALYZER_STEP_MACHINE_H
#define STAGEPROF_ANALYZER_STEP_MACHINE_H

#include <stdbool.h>
#include <stdint.h>

#include "analyzer/steps/phase_interval.h"

/* Tokens, and sets of them, by the columns of interval.def. */
#define T(kind) (UINT64_C(1) << SP_INTERVAL_##kind)
#define COMPUTES (UINT64_C(1) << 57) /* the computing of a step, in which other work may stand */
#define ROWS (UINT64_C(1) << 58)     /* with a row of the account that is not `other` */
#define ENDS (UINT64_C(1) << 59)     /* what comes after a step's batches */
#define LOADERS (UINT64_C(1) << 60)
#define MODELS (UINT64_C(1) << 61)
#define STRUCTURE (UINT64_C(1) << 62)
#define EVALUATED (T(EVALUATION) | T(GENERATION)) /* calls that no backward follows */
#define EVERY (UINT64_C(1) << 63)

/* The token and the sets of an interval. */
uint64_t sp_interval_tokens(const struct sp_phase_interval *interval);

static inline bool sp_interval_is(const struct sp_phase_interval *interval, uint64_t tokens)
{
	return (sp_interval_tokens(interval) & tokens) != 0;
}

/* The first of the intervals [i, n) that is of the tokens; n: none is. */
uint32_t sp_interval_next(const struct sp_phase_interval *intervals, uint32_t i, uint32_t n,
			  uint64_t tokens);

/* The number of intervals up to the last of n that is of the tokens; 0: none is. */
uint32_t sp_interval_last(const struct sp_phase_interval *intervals, uint32_t n, uint64_t tokens);

enum sp_step_state {
	SP_STATE_SAME = 0,
	SP_STATE_START = 1, /* ahead of the first step */
	SP_STATE_TRAINING = 2,
	SP_STATE_CAPTURE = 4,
	SP_STATE_ENDED = 8, /* the intervals at hand end in what ends a step */
	SP_STATE_ANY = SP_STATE_START | SP_STATE_TRAINING | SP_STATE_CAPTURE,
};

/* Rows are numbered in the order of step.def. */
enum sp_step_rule {
#define SP_TRANSITION(state, token, guard, next, action, why, suite, test)                         \
	SP_ROW_##state##_##guard##_##action##_##test,
#define SP_STEP_BEGIN(token, guard, why, suite, test) SP_ROW_begin_##guard,
#define SP_STEP_END(by, token, guard, why, suite, test) SP_ROW_end_##by,
#define SP_GAP(token, guard, phase, why, suite, test) SP_ROW_gap_##phase##_##guard,
#define SP_PAUSE(what, when, why, suite, test) SP_ROW_pause_##what##_##test,
#define SP_STEP_KIND(kind, when, why, suite, test) SP_ROW_kind_##kind,
#include "analyzer/steps/step.def"
	SP_STEP_ROWS
};

/* The tests switch one row off, to see that a test fails without it; else it is SP_STEP_ROWS. */
extern uint32_t sp_step_row_off;

#endif
