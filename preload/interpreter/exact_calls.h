/* SPDX-License-Identifier: Apache-2.0 */
/*
 * STAGEPROF_CALLS=4/200: in about 4 of 200 fetches of a process, and in 4 of 200 steps of a
 * training loop, every call of a function on that thread is counted and timed; the other ones are
 * not touched. CPython 3.12 and later report calls by sys.monitoring, earlier ones by a C profile
 * function.
 *
 * The counting takes less than 0.3% of the process's time: a window that would take more begins
 * later, and one that takes more than it may is cut short and left out. Time for which another
 * program has the core is none of it (exact_cost.h). Nothing begins where the program has a profile
 * or trace function or a tool of sys.monitoring, and a window in which one comes is left out.
 *
 * All functions need the GIL.
 */
#ifndef STAGEPROF_PRELOAD_EXACT_CALLS_H
#define STAGEPROF_PRELOAD_EXACT_CALLS_H

#include "preload/interpreter/python_api.h"

/* 1 if STAGEPROF_CALLS asks for calls. A timed call reads it, so that it need not call the
 * functions below. */
extern int sp_exact_is_asked;

/* Reads the setting. Returns sp_exact_is_asked. */
int sp_exact_init(void);

/* METH_VARARGS of the bootstrap: exact_watch(on, off, empty). on() returns 2 if it has switched
 * sys.monitoring on, 1 where a profile function may be set, 0 to give way. off() switches
 * sys.monitoring off, and returns false if another tool was there. empty() makes calls that do
 * nothing. */
struct sp_py_object *sp_exact_watch(struct sp_py_object *self, struct sp_py_object *args);

/* The events of sys.monitoring, METH_FASTCALL. */
#define SP_EXACT_EVENT(name)                                                                       \
	struct sp_py_object *name(struct sp_py_object *self, struct sp_py_object *const *args,     \
				  ptrdiff_t count)
SP_EXACT_EVENT(sp_exact_entered);
SP_EXACT_EVENT(sp_exact_left);
SP_EXACT_EVENT(sp_exact_called);
SP_EXACT_EVENT(sp_exact_returned);

/* Around a fetch. begin returns 0 where calls are not asked for; end takes what begin returned.
 * has_result: the fetch raised nothing. The exception of a fetch stays what it is. */
uint64_t sp_exact_begin(void);
void sp_exact_end(uint64_t begun, int has_result);

/* The calls of this thread are in a phase (enum sp_phase) from here on. Returns the one before, for
 * the end of the phase. */
int sp_exact_phase(int phase);

/* An optimizer's step ended without an exception; steps:
 * of training, so far (sp_switch_steps()). */
void sp_exact_step(uint64_t steps);

/* The step at hand contains more than a step: the end of an epoch, an evaluation. */
void sp_exact_step_break(void);

/* torch.compile runs: no step is counted any more. */
void sp_exact_steps_end(void);

#endif
