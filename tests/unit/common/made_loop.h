/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The parts of a training loop, each at the clock of the made trace, which it puts forward. The
 * account of the loop is known to the ns.
 */
#ifndef STAGEPROF_TESTS_MADE_LOOP_H
#define STAGEPROF_TESTS_MADE_LOOP_H

#include "analyzer/training/training_account.h"
#include "tests/unit/common/judged_trace.h"

/* Names that the trace defines. */
enum { LOADER = 1, ZERO, ADAM, LABEL };

enum {
	WAIT_NS = 1000,
	ZERO_NS = 20,
	FORWARD_NS = 3000,
	NODE_NS = 700,
	BACKWARD_NS = 2 * NODE_NS + 100, /* and a gap between two nodes */
	OPTIMIZER_NS = 400,
	AFTER_NS = 50, /* from a step's end to the loader */
	LAST_NS = 7,   /* the loader's call that finds no more */
	FORK_NS = 90,
	SAVE_NS = 5000,
};

/* judged_trace_begin(), with the names above. judged_trace_end() is its end. */
void loop_begin(void);

void work(uint64_t ns);
void batch(void);
void last_batch(void); /* a call of the loader that finds no more */
void zero_grad(void);
void call_model(enum sp_phase phase);
void backward(void);
void optimize(void);
void forward_backward(void);
void train_batch(void); /* all of a step */

/* Ends the trace and reads it: the steps of its one trainer,
 * which live until judged_trace_end(). */
const struct sp_steps *steps(void);

/* The account of that trainer, after steps(). */
struct sp_account account(void);

/* Fails the test where the phases of a step, or of all, do not add up to its time. */
void check_whole(const struct sp_steps *s);

/* steps(), of which the test expects `count`, each whole. */
const struct sp_steps *whole_steps(uint32_t count);

#define ck_part(sum, part, expected) ck_assert_uint_eq((sum).ns[SP_ACCOUNT_##part], (expected))

#endif
