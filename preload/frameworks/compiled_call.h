/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calls that may make a whole step of training: functions compiled by JAX and TensorFlow, and the
 * training function of Keras. Only the outermost such call of a thread is recorded. It is a step
 * (SP_PHASE_update) if gradients were taken while it, or a call inside of it, was traced; else it
 * is a range without a phase.
 *
 * A label begins with SP_STEP_LABEL, which is left out where the call is no step.
 *
 * All functions here need the GIL.
 */
#ifndef STAGEPROF_PRELOAD_COMPILED_CALL_H
#define STAGEPROF_PRELOAD_COMPILED_CALL_H

#include "preload/interpreter/python_api.h"
#include "preload/frameworks/range_stack.h"

#define SP_STEP_LABEL "step: "

struct sp_compiled_call {
	struct sp_range range;
	const struct sp_py_object *function;
	int is_outermost, trained_before;
};

struct sp_compiled_call sp_compiled_begin(const struct sp_py_object *function);

/*
 * `step`: the label of a call that is a step whatever it contains; NULL: the function's row says.
 * Returns true for an outermost call that takes gradients.
 */
int sp_compiled_end(const struct sp_compiled_call *call, struct sp_py_object *step,
		    const struct sp_py_object *result);

/* True inside of a call, where a function is traced. Notes that gradients are taken there. */
int sp_compiled_differentiates(void);

/* True inside of the call of a compiled function; a batch of Keras is none. */
int sp_compiled_is_inside(void);

/*
 * METH_VARARGS of the bootstrap:
 *   compiled_add(function, label)          its calls go through sp_compiled_begin()
 *   compiled_watch(function, label, bytes) the same for an object with a vectorcall slot whose type
 *                                          has basicsize `bytes`: the slot is replaced. False where
 *                                          the object is of another layout
 *   compiled_differentiates()
 *   compiled_replica()                     this thread traces for the one that is inside of a call
 *   step_begin(), step_end(label), step_drop()
 */
struct sp_py_object *sp_compiled_add(struct sp_py_object *self, struct sp_py_object *args);
struct sp_py_object *sp_compiled_watch(struct sp_py_object *self, struct sp_py_object *args);
struct sp_py_object *sp_compiled_note(struct sp_py_object *self, struct sp_py_object *args);
struct sp_py_object *sp_compiled_replica(struct sp_py_object *self, struct sp_py_object *args);
struct sp_py_object *sp_step_begin(struct sp_py_object *self, struct sp_py_object *args);
struct sp_py_object *sp_step_end(struct sp_py_object *self, struct sp_py_object *args);
struct sp_py_object *sp_step_drop(struct sp_py_object *self, struct sp_py_object *args);

#endif
