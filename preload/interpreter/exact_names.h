/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Python's side of the table of STAGEPROF_CALLS: which object a function is, and its name. All
 * functions need the GIL.
 */
#ifndef STAGEPROF_PRELOAD_EXACT_NAMES_H
#define STAGEPROF_PRELOAD_EXACT_NAMES_H

#include "preload/interpreter/exact_table.h"
#include "preload/interpreter/python_api.h"
#include "preload/recorder/recorder.h"

/* The code object of a frame, borrowed. */
void *sp_exact_code_of(struct sp_py_object *frame);

/* Opens the functions that this thread is in. */
void sp_exact_open_callers(struct sp_exact_table *table);

/* The PyMethodDef of a function in C, the same for all objects that it is bound to; NULL for other
 * callables, which Python has no return event for or which are none of C. */
void *sp_exact_method_of(struct sp_py_object *callable);

/* Forgets all functions, and gives back a reference to each code object; the sums of the window
 * stay. */
void sp_exact_clear(struct sp_exact_table *table);

/* Writes SP_DEFINE_CALLED for each function. has_phases: each stands in a phase of a step. */
void sp_exact_write(struct sp_thread *t, const struct sp_exact_table *table, int has_phases);

#endif
