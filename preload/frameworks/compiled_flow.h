/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Two compiled functions that make a step together: the first gives gradients, and the second
 * applies them. The objects that go from call to call tell them from one function that makes the
 * whole step: the whole step gets back what it returned, and the first of two gets what the second
 * returned. Up to its second call the first function counts as a whole step.
 *
 * Objects are compared by address and never read later, so that nothing lives longer because of us.
 * All functions here need the GIL; one state belongs to one thread.
 */
#ifndef STAGEPROF_PRELOAD_COMPILED_FLOW_H
#define STAGEPROF_PRELOAD_COMPILED_FLOW_H

#include <stddef.h>

struct sp_py_object;

#define SP_FLOW_OBJECTS 8u

/* The part of a compiled function in a step. */
enum sp_flow_role {
	SP_FLOW_UNKNOWN,
	SP_FLOW_WHOLE,	   /* gets back what it returned */
	SP_FLOW_GRADIENTS, /* another function applies what it returns */
	SP_FLOW_APPLIES,
};

/* The last call of a function: its result, and the items where the result is a tuple. */
struct sp_flow_call {
	enum sp_flow_role *role;
	const struct sp_py_object *objects[SP_FLOW_OBJECTS];
	unsigned count;
};

struct sp_flow {
	struct sp_flow_call gave, applied;
};

/*
 * A call of the function with *role begins. It may change *role and the role of the function that
 * was called before. Returns true where the call gets what the last call with gradients returned.
 */
int sp_flow_begin(struct sp_flow *flow, enum sp_flow_role *role, int takes_gradients,
		  struct sp_py_object *const *args, size_t count);

/* The call returned `result`; `is_fed`: what sp_flow_begin() returned. */
void sp_flow_end(struct sp_flow *flow, enum sp_flow_role *role, int takes_gradients, int is_fed,
		 struct sp_py_object *result);

#endif
